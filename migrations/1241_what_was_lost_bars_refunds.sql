-- Up Migration
-- A refund that may have been sent before the database was put back, and whose request has left the
-- ledger since, may be what another request of the order is for.

-- Whether another refund of its order, of whatever amount, may stand in its place: a person found
-- it not made, or it waited as sent before the database was put back; its request is gone, and
-- nobody had it planned again.
create function tieout.leaves_a_place(i tieout.instructions)
returns boolean language sql stable as $$
  select i.operation = 'refund' and i.replan_id is null
    and case i.state
      when 'rejected' then exists (
        select from tieout.decisions d
        where d.instruction_id = i.instruction_id and d.finding = 'not_happened')
      when 'withdrawn' then exists (
        select from tieout.instruction_events e
        where e.instruction_id = i.instruction_id and e.to_state = 'held'
          and e.reason = 'restored')
      else false end
    and not exists (
      select from tieout.ledger_refunds() r
      where r.account_id collate "C" = i.account_id and r.refund_id collate "C" = i.refund_id
        and r.order_no collate "C" = i.order_no)
$$;

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

-- Down Migration
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
            and gone.operation = 'refund' and gone.replan_id is null
            and (gone.state = 'rejected' and exists (select from tieout.decisions d
                where d.instruction_id = gone.instruction_id and d.finding = 'not_happened')
              or gone.state = 'withdrawn' and exists (select from tieout.instruction_events e
                where e.instruction_id = gone.instruction_id and e.to_state = 'held'
                  and e.reason = 'restored'))
            and not exists (select from tieout.ledger_refunds() r
              where r.account_id collate "C" = gone.account_id
                and r.refund_id collate "C" = gone.refund_id
                and r.order_no collate "C" = gone.order_no))
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

drop function tieout.leaves_a_place(tieout.instructions);
