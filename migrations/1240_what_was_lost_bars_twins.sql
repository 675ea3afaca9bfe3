-- Up Migration
-- A payout that may have been sent before the database was put back stands in the way of the next
-- request of the same content, as one that is paid does. What a person refunded by hand is entered
-- as a call by hand again when a database has lost it, and counts once.
CREATE OR REPLACE FUNCTION tieout.bars_twins(i tieout.instructions)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  select i.state in ('sending', 'accepted', 'unknown', 'confirmed')
    or i.replan_id is null and (i.state = 'rejected' or i.is_refused)
    or exists (select from tieout.calls_by_hand(i.transaction_id))
    -- sent before the database was put back, or perhaps: who takes its request out says nothing
    or i.operation = 'payout' and (exists (
        select from tieout.lost_permits l
        where l.account_id = i.account_id and l.order_no = i.order_no and l.operation = 'payout')
      or exists (
        select from tieout.instruction_events e
        where e.instruction_id = i.instruction_id and e.to_state = 'held'
          and e.reason = 'restored'))
$function$;

CREATE OR REPLACE FUNCTION tieout.refunded_beside(account text, transaction text, look bigint)
 RETURNS numeric
 LANGUAGE sql
 STABLE
AS $function$
  select sum(amount)
  from (
    select (e ->> 'refund_amount')::numeric as amount
    from tieout.gateway_calls c
    cross join jsonb_array_elements(c.entries) e
    where c.entries @> jsonb_build_array(jsonb_build_object('transaction_id', transaction))
      and c.account_id = account and c.operation = 'refund'
      and coalesce(c.outcome, '') not in ('rejected', 'not_sent')
      and c.at <= (select as_of from tieout.pulls where pull_id = look)
      and e ->> 'transaction_id' = transaction
      -- one that was lost with a database counts from when it was found
      and not exists (select from tieout.lost_permits l where l.attempt_id = c.permit_id)
      and e ->> 'refund_amount' ~ '^[0-9]{1,18}[.][0-9]{2}$'
    union all
    (select distinct on (coalesce(l.refund_id, l.attempt_id::text)) l.amount::numeric
      from tieout.lost_permits l
      where l.account_id = account and l.operation = 'refund' and l.transaction_id = transaction
        and l.found_at <= (select as_of from tieout.pulls where pull_id = look)
        and l.amount ~ '^[0-9]{1,18}[.][0-9]{2}$'
      order by coalesce(l.refund_id, l.attempt_id::text), l.sent_at desc)
  ) as beside
$function$;

-- Down Migration
CREATE OR REPLACE FUNCTION tieout.bars_twins(i tieout.instructions)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  select i.state in ('sending', 'accepted', 'unknown', 'confirmed')
    or i.replan_id is null and (i.state = 'rejected' or i.is_refused)
    or exists (select from tieout.calls_by_hand(i.transaction_id))
$function$;

CREATE OR REPLACE FUNCTION tieout.refunded_beside(account text, transaction text, look bigint)
 RETURNS numeric
 LANGUAGE sql
 STABLE
AS $function$
  select sum(amount)
  from (
    select (e ->> 'refund_amount')::numeric as amount
    from tieout.gateway_calls c
    cross join jsonb_array_elements(c.entries) e
    where c.entries @> jsonb_build_array(jsonb_build_object('transaction_id', transaction))
      and c.account_id = account and c.operation = 'refund'
      and coalesce(c.outcome, '') not in ('rejected', 'not_sent')
      and c.at <= (select as_of from tieout.pulls where pull_id = look)
      and e ->> 'transaction_id' = transaction
      and e ->> 'refund_amount' ~ '^[0-9]{1,18}[.][0-9]{2}$'
    union all
    (select distinct on (coalesce(l.refund_id, l.attempt_id::text)) l.amount::numeric
      from tieout.lost_permits l
      where l.account_id = account and l.operation = 'refund' and l.transaction_id = transaction
        and l.found_at <= (select as_of from tieout.pulls where pull_id = look)
        and l.amount ~ '^[0-9]{1,18}[.][0-9]{2}$'
      order by coalesce(l.refund_id, l.attempt_id::text), l.sent_at desc)
  ) as beside
$function$;
