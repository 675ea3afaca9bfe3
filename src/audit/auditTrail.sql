-- What people decided, newest first, each with whether it is sealed in the chain. $1 text that
-- stands in it, or null, $2 how many, $3 how many before them, $4 words by code. A code is found by
-- itself and by all words that it may be shown in. Of the reason no digits are searched that could
-- be a card number's: they are not shown, and a search must not spell them out.
with said as (
  select d.at, d.account_id, d.decided_by as who, d.is_claim,
    concat_ws(' ', d.decision, i.operation, d.finding) as what, null::text as event_id,
    null::text as break_kind, 'instruction' as kind, d.instruction_id::text as id,
    i.order_no as about,
    concat_ws(' ', d.reason, d.reference) as why, d.link_id is not null as is_sealed
  from tieout.decisions d join tieout.instructions i using (instruction_id)
  union all
  select e.at, b.account_id, e.by, e.is_claim, e.event, e.event_id::text, b.kind,
    'break', b.break_id::text, b.order_no, coalesce(e.reason, ''), e.link_id is not null
  from tieout.break_events e join tieout.breaks b using (break_id)
  where e.by <> 'tieout'
  union all
  select at, account_id, by, is_claim, event || ' day', null, null, 'day', business_date::text,
    business_date::text, reason, link_id is not null
  from tieout.day_events
  union all
  select at, coalesce(account_id, ''), by, is_claim,
    case when kind = 'put_back' then 'database put back'
      when is_on then kind || ' on' else kind || ' off' end, null, null, 'brake', '', 'sending',
    reason, link_id is not null
  from tieout.brakes
)
select at, account_id as "accountId", who, is_claim as "isClaim", what, event_id as "eventId",
  break_kind as "breakKind", kind, id, about, why, is_sealed as "isSealed"
from said
where $1::text is null
  or position(lower($1) in lower(concat_ws(' ', who, what, break_kind,
    replace(what, '_', ' '), $4::jsonb ->> what, $4::jsonb ->> break_kind, about,
    regexp_replace(why, '(?:\d[^0-9a-zA-Z]{0,6}){13,}', ' ', 'g'), account_id))) > 0
order by at desc, kind, id
limit $2 offset $3
