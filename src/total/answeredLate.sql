-- Instructions that a person found not to have happened and to which an answer came after all,
-- where something went in their place and cannot be called back: nobody is asked again, and the
-- money may have moved twice. The newest first, so many of each account, with how many there are;
-- for so many days from the answer. $1 accounts, $2 limit, $3 days.
with said as materialized (
  select distinct on (instruction_id) instruction_id, decided_by, answers_known
  from tieout.decisions
  where finding = 'not_happened' order by instruction_id, decision_id desc
)
select told.account_id, told.instruction_id, told.operation, told.order_no, told.decided_by,
  gone.instead, told.found
from (
  select i.*, said.decided_by, count(*) over (partition by i.account_id) as found,
    row_number() over (partition by i.account_id order by i.instruction_id desc) as place
  from said
  cross join lateral (
    select i as whole, i.account_id, i.instruction_id, i.operation, i.order_no, i.transaction_id,
      i.refund_id
    from tieout.instructions i
    where i.instruction_id = said.instruction_id and i.account_id = any ($1::text[])
      and i.state = 'rejected' offset 0
  ) i
  where exists (
      select from tieout.answers a
      where a.attempt_id = any (tieout.answers_to(i.whole))
        and a.attempt_id <> all (coalesce(said.answers_known, '{}'))
        and a.received_at > now() - make_interval(days => $3::int))
    and tieout.is_barred(i.instruction_id, '{planned,held,queued}')
) told
-- Of those that are named alone, and by the keys of what bars it.
left join lateral (
  select max((near.other).instruction_id) as instead
  from (
    select other from tieout.instructions other
    where other.account_id = told.account_id and other.order_no = told.order_no
    union all
    select other from tieout.instructions other
    where other.transaction_id = told.transaction_id and other.operation = told.operation
      and other.operation <> 'payout' and not other.is_void
    union all
    select other from tieout.instructions other
    where other.payload - 'request_id' = (told.whole).payload - 'request_id'
      and other.operation = 'payout'
    union all
    select other from tieout.instructions other
    where other.account_id = told.account_id and other.refund_id = told.refund_id
      and other.operation = 'refund' and not other.is_void
  ) near
  where (near.other).instruction_id > told.instruction_id
    and (near.other).account_id = told.account_id
    and (near.other).state in ('sending', 'accepted', 'unknown', 'confirmed')
    and not (near.other).is_void and tieout.is_in_place_of(near.other, told.whole)
) gone on true
where told.place <= $2::bigint
order by told.account_id, told.place
