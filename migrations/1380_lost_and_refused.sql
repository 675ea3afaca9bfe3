-- Up Migration
-- What the host that sent it knows to have moved nothing stands in the way of nothing, though it
-- was entered as lost before its answer came.
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
        select from tieout.lost_moves l
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
      from tieout.lost_moves l
      where l.account_id = account and l.operation = 'refund' and l.transaction_id = transaction
        and l.found_at <= (select as_of from tieout.pulls where pull_id = look)
        and l.amount ~ '^[0-9]{1,18}[.][0-9]{2}$'
      order by coalesce(l.refund_id, l.attempt_id::text), l.sent_at desc)
  ) as beside
$function$;

CREATE OR REPLACE FUNCTION tieout.waits_still(i tieout.instructions)
 RETURNS TABLE(
  restored boolean, doubled text, freed boolean, left_disputed boolean, over_limit boolean)
 LANGUAGE sql
 STABLE ROWS 1
AS $function$
  select exists (
      select from tieout.lost_moves l
      where l.account_id = i.account_id
        and replace(l.operation, 'cancel', 'capture') = replace(i.operation, 'cancel', 'capture')
        and (case i.operation when 'refund' then l.refund_id = i.refund_id
            when 'payout' then l.order_no = i.order_no
            else l.transaction_id = i.transaction_id end
          or l.found_at > past.first_at and (l.order_no = i.order_no
            or l.refund_id = i.refund_id or l.transaction_id = i.transaction_id)))
    or past.first_at < (select max(at) from tieout.put_backs)
      and (i.operation = 'payout' or i.operation = 'refund'
        and i.from_state = 'partially_refunded' and 'partially_refunded' = any (i.done_states)),
    (select tieout.unseen(i, array[made.reason])
      from (select case when past.was_second then 'second_capture'
        when past.stood > past.replanned or i.operation = 'refund' and exists (
          select from tieout.instructions gone
          where gone.account_id = i.account_id and gone.order_no = i.order_no
            and gone.operation = 'refund' and tieout.leaves_a_place(gone))
          then 'twin_request' end as reason) made
      where made.reason is not null),
    i.freed_by is not null and not coalesce((select d.row_before ->> 'freed_by' = i.freed_by
        from tieout.decisions d where d.decision_id = i.approval_id), false)
      or i.approval_id is null and exists (
        select from tieout.instructions f
        where f.freed_by is not null and f.state = 'withdrawn' and not f.is_refused
          and f.approval_id is null and f.account_id = i.account_id and f.order_no = i.order_no
          and f.operation = i.operation and f.refund_id is not distinct from i.refund_id),
    i.approval_id is null and coalesce(past.last = 'disputed', false)
      and tieout.disputes_seen(i) = '{}',
    i.approval_id is null and coalesce(past.over_limit, false)
  from (
    -- what waited for that is known from ever, as in plan.sql
    select min(case when e.reason = 'restored' then '-infinity' else b.created_at end)
        filter (where b.is_same and not b.is_done) as first_at,
      bool_or(e.reason = 'second_capture') filter (where i.operation = 'capture') as was_second,
      bool_or(e.reason = 'over_limit_of_run') filter (where b.is_same) as over_limit,
      (array_agg(e.reason order by e.seq desc) filter (where b.is_same and not b.is_done
        and i.operation = 'refund' and e.reason <> 'restored'))[1] as last,
      max(b.instruction_id) filter (where i.operation = 'payout' and b.replan_id is null
        and e.reason = 'twin_request') as stood,
      coalesce(max(b.instruction_id) filter (where b.replan_id is not null), 0) as replanned
    from (
      select one.instruction_id, one.created_at, one.replan_id,
        one.transaction_id = i.transaction_id as is_same,
        one.state = 'rejected' or one.is_refused as is_done
      from tieout.instructions one
      where i.operation not in ('refund', 'payout') and one.account_id = i.account_id
        and one.order_no = i.order_no and one.operation = i.operation
      union all
      select one.instruction_id, one.created_at, one.replan_id, true,
        one.state = 'rejected' or one.is_refused
      from tieout.instructions one
      where i.operation = 'refund' and one.operation = 'refund' and one.refund_id = i.refund_id
        and one.account_id = i.account_id
      union all
      select one.instruction_id, one.created_at, one.replan_id, true,
        one.state = 'rejected' or one.is_refused
      from tieout.instructions one
      where i.operation = 'payout' and one.operation = 'payout'
        and one.transaction_id = i.transaction_id and one.account_id = i.account_id
    ) b
    left join tieout.instruction_events e
      on e.instruction_id = b.instruction_id and e.to_state = 'held'
  ) past
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

CREATE OR REPLACE FUNCTION tieout.waits_still(i tieout.instructions)
 RETURNS TABLE(
  restored boolean, doubled text, freed boolean, left_disputed boolean, over_limit boolean)
 LANGUAGE sql
 STABLE ROWS 1
AS $function$
  select exists (
      select from tieout.lost_permits l
      where l.account_id = i.account_id
        and replace(l.operation, 'cancel', 'capture') = replace(i.operation, 'cancel', 'capture')
        and (case i.operation when 'refund' then l.refund_id = i.refund_id
            when 'payout' then l.order_no = i.order_no
            else l.transaction_id = i.transaction_id end
          or l.found_at > past.first_at and (l.order_no = i.order_no
            or l.refund_id = i.refund_id or l.transaction_id = i.transaction_id)))
    or past.first_at < (select max(at) from tieout.put_backs)
      and (i.operation = 'payout' or i.operation = 'refund'
        and i.from_state = 'partially_refunded' and 'partially_refunded' = any (i.done_states)),
    (select tieout.unseen(i, array[made.reason])
      from (select case when past.was_second then 'second_capture'
        when past.stood > past.replanned or i.operation = 'refund' and exists (
          select from tieout.instructions gone
          where gone.account_id = i.account_id and gone.order_no = i.order_no
            and gone.operation = 'refund' and tieout.leaves_a_place(gone))
          then 'twin_request' end as reason) made
      where made.reason is not null),
    i.freed_by is not null and not coalesce((select d.row_before ->> 'freed_by' = i.freed_by
        from tieout.decisions d where d.decision_id = i.approval_id), false)
      or i.approval_id is null and exists (
        select from tieout.instructions f
        where f.freed_by is not null and f.state = 'withdrawn' and not f.is_refused
          and f.approval_id is null and f.account_id = i.account_id and f.order_no = i.order_no
          and f.operation = i.operation and f.refund_id is not distinct from i.refund_id),
    i.approval_id is null and coalesce(past.last = 'disputed', false)
      and tieout.disputes_seen(i) = '{}',
    i.approval_id is null and coalesce(past.over_limit, false)
  from (
    -- what waited for that is known from ever, as in plan.sql
    select min(case when e.reason = 'restored' then '-infinity' else b.created_at end)
        filter (where b.is_same and not b.is_done) as first_at,
      bool_or(e.reason = 'second_capture') filter (where i.operation = 'capture') as was_second,
      bool_or(e.reason = 'over_limit_of_run') filter (where b.is_same) as over_limit,
      (array_agg(e.reason order by e.seq desc) filter (where b.is_same and not b.is_done
        and i.operation = 'refund' and e.reason <> 'restored'))[1] as last,
      max(b.instruction_id) filter (where i.operation = 'payout' and b.replan_id is null
        and e.reason = 'twin_request') as stood,
      coalesce(max(b.instruction_id) filter (where b.replan_id is not null), 0) as replanned
    from (
      select one.instruction_id, one.created_at, one.replan_id,
        one.transaction_id = i.transaction_id as is_same,
        one.state = 'rejected' or one.is_refused as is_done
      from tieout.instructions one
      where i.operation not in ('refund', 'payout') and one.account_id = i.account_id
        and one.order_no = i.order_no and one.operation = i.operation
      union all
      select one.instruction_id, one.created_at, one.replan_id, true,
        one.state = 'rejected' or one.is_refused
      from tieout.instructions one
      where i.operation = 'refund' and one.operation = 'refund' and one.refund_id = i.refund_id
        and one.account_id = i.account_id
      union all
      select one.instruction_id, one.created_at, one.replan_id, true,
        one.state = 'rejected' or one.is_refused
      from tieout.instructions one
      where i.operation = 'payout' and one.operation = 'payout'
        and one.transaction_id = i.transaction_id and one.account_id = i.account_id
    ) b
    left join tieout.instruction_events e
      on e.instruction_id = b.instruction_id and e.to_state = 'held'
  ) past
$function$;
