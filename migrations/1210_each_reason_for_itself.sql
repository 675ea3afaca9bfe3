-- Up Migration
-- What waits for several reasons is asked about each of them: an approval is for the reason that it
-- was given for, in sight of what is seen, and says nothing of another one. The newest approval
-- alone was asked for the one reason that was found first: the second hid behind the first, or
-- both were asked for in turn for ever. `instructions.doubled` has all that the newest plan found,
-- in the order in which they are asked, with a blank between.

-- Why it may be a movement that was made already: each reason that holds, once.
create function tieout.doubles(of_account text, of_order text, of_operation text,
  by text, of_refund text, money numeric, of_currency text)
returns table (reason text)
language sql stable rows 1 as $$
  (select 'second_capture'
   from tieout.instructions i
   where of_operation = 'capture' and i.account_id = of_account and i.order_no = of_order
     and i.operation = 'capture' and i.state = 'confirmed' and i.transaction_id <> by
   limit 1)
  union all
  (select 'moved_already'
   from tieout.instructions i
   where of_operation in ('capture', 'cancel') and i.account_id = of_account
     and i.order_no = of_order and i.transaction_id = by and i.state = 'confirmed'
     and i.operation in ('capture', 'cancel')
   limit 1)
  union all
  (select case of_operation when 'refund' then 'shared_refund' else 'shared_transaction' end
   from tieout.instructions i
   where i.transaction_id = by and i.operation <> 'payout' and not i.is_void
     and (i.account_id = of_account) <> (i.order_no = of_order)
     and case when i.account_id <> of_account
         then replace(i.operation, 'cancel', 'capture') = replace(of_operation, 'cancel', 'capture')
       when of_operation = 'refund' then i.operation = 'refund'
       else (of_operation, i.operation) in (('capture', 'cancel'), ('cancel', 'capture')) end
   limit 1)
  union all
  (select 'by_hand'
   from tieout.gateway_calls c
   where (c.account_id = of_account
       or c.entries @> jsonb_build_array(jsonb_build_object('transaction_id', by)))
     and replace(c.operation, 'cancel', 'capture') = replace(of_operation, 'cancel', 'capture')
     and (c.outcome is null or c.outcome not in ('rejected', 'not_sent'))
     -- the contrary of it only of this very transaction: the other of two may be let go by hand
     and c.entries @> any (array[
       case when c.operation = of_operation
         then jsonb_build_array(jsonb_build_object('order_no', of_order)) end,
       jsonb_build_array(jsonb_build_object('transaction_id', by))])
   limit 1)
  union all
  (select twin.reason
   from (
     select 'twin_request' as reason
     from tieout.instructions i
     where of_operation = 'refund' and i.account_id = of_account and i.order_no = of_order
       and i.operation = 'refund' and i.refund_id <> of_refund
       and case when i.state = 'rejected' or i.is_refused then i.replan_id is null
           and (i.refund_amount = money
             or tieout.plain_id(i.refund_id) = tieout.plain_id(of_refund))
         else not i.is_void and tieout.plain_id(i.refund_id) = tieout.plain_id(of_refund) end
     union all
     select 'twin_request' as reason
     from tieout.instructions i
     where of_operation = 'refund' and i.operation = 'refund' and i.refund_id = of_refund
       and (i.state = 'rejected' or i.is_refused) and i.replan_id is null
       and (i.account_id, i.order_no, i.transaction_id) <> (of_account, of_order, by)
       -- another shop may number its requests alike
       and (i.account_id = of_account or i.transaction_id = by or i.refund_amount = money)
     union all
     select 'twin_request' as reason
     from tieout.instructions i
     where of_operation in ('capture', 'cancel') and i.operation = of_operation
       and i.operation in ('capture', 'cancel') and i.transaction_id = by
       and (i.state = 'rejected' or i.is_refused) and i.replan_id is null
       and (i.account_id, i.order_no) <> (of_account, of_order)
   ) twin limit 1)
  union all
  (select 'over_captured'
   from tieout.instructions i
   where of_operation = 'refund'
     and i.operation = 'capture' and i.state = 'confirmed' and i.transaction_id = by
     and not i.is_void -- by which it is found
     and (i.currency <> of_currency or exists (
       select from tieout.instructions other
       where other.transaction_id = by and other.operation = 'refund' and not other.is_void
         and other.currency <> of_currency
       ) or i.amount < money + coalesce((
       select sum(paid.refund_amount) from tieout.instructions paid
       where paid.transaction_id = by and paid.operation = 'refund' and not paid.is_void
         and (paid.account_id, paid.refund_id) <> (of_account, of_refund)), 0))
   limit 1)
$$;

-- The first of them, for a process of the version before this one.
create or replace function tieout.doubled(of_account text, of_order text, of_operation text,
  by text, of_refund text, money numeric, of_currency text)
returns table (reason text)
language sql stable rows 1 as $$
  select d.reason from tieout.doubles(of_account, of_order, of_operation, by, of_refund, money,
    of_currency) d
  limit 1
$$;

-- For what it was approved, as far as that holds: unexpired, and what is seen is still the same.
create function tieout.approvals_in_sight(i tieout.instructions)
returns table (reason text, decision_id bigint)
language sql stable rows 1 as $$
  select d.row_before ->> 'hold_reason', max(d.decision_id)
  from tieout.decisions d
  where d.instruction_id = i.instruction_id and d.decision = 'approve'
    and d.expires_at > clock_timestamp()
    and d.seen_sha256 = tieout.seen_sha256(tieout.seen_of(i))
  group by 1
$$;

-- The first of these reasons that nobody has approved it for.
create function tieout.unseen(i tieout.instructions, reasons text[])
returns text language sql stable as $$
  select r.reason
  from unnest(reasons) with ordinality as r (reason, place)
  where r.reason is not null
    and not exists (select from tieout.approvals_in_sight(i) a where a.reason = r.reason)
  order by r.place limit 1
$$;

-- Of what the newest plan found the first that will be asked next.
create or replace function tieout.unseen_double(i tieout.instructions)
returns text language sql stable as $$
  select case when i.doubled is not null then
    tieout.unseen(i, array_remove(string_to_array(i.doubled, ' '), i.hold_reason)) end
$$;

create or replace function tieout.waits_still(i tieout.instructions)
returns table (restored boolean, doubled text, freed boolean, left_disputed boolean,
  over_limit boolean)
language sql stable rows 1 as $$
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
            and gone.operation = 'refund' and gone.state = 'rejected' and gone.replan_id is null
            and exists (select from tieout.decisions d
              where d.instruction_id = gone.instruction_id and d.finding = 'not_happened')
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
$$;

-- Down Migration
-- The first of several, which is all that the functions below know.
update tieout.instructions set doubled = split_part(doubled, ' ', 1) where doubled like '% %';

create or replace function tieout.waits_still(i tieout.instructions)
returns table (restored boolean, doubled text, freed boolean, left_disputed boolean,
  over_limit boolean)
language sql stable rows 1 as $$
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
    (select made.reason
      from (select case when past.was_second then 'second_capture'
        when past.stood > past.replanned or i.operation = 'refund' and exists (
          select from tieout.instructions gone
          where gone.account_id = i.account_id and gone.order_no = i.order_no
            and gone.operation = 'refund' and gone.state = 'rejected' and gone.replan_id is null
            and exists (select from tieout.decisions d
              where d.instruction_id = gone.instruction_id and d.finding = 'not_happened')
            and not exists (select from tieout.ledger_refunds() r
              where r.account_id collate "C" = gone.account_id
                and r.refund_id collate "C" = gone.refund_id
                and r.order_no collate "C" = gone.order_no))
          then 'twin_request' end as reason) made
      -- as of what the newest plan found (tieout.unseen_double)
      where made.reason is not null and not exists (
        select from tieout.decisions d
        where d.instruction_id = i.instruction_id and d.decision = 'approve'
          and d.row_before ->> 'hold_reason' = made.reason and d.expires_at > clock_timestamp()
          and d.seen_sha256 = tieout.seen_sha256(tieout.seen_of(i)))),
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
$$;

create or replace function tieout.unseen_double(i tieout.instructions)
returns text language sql stable as $$
  select i.doubled
  where not exists (
    select from tieout.decisions d
    where d.instruction_id = i.instruction_id and d.decision = 'approve'
      and d.row_before ->> 'hold_reason' = i.doubled and d.expires_at > clock_timestamp()
      and d.seen_sha256 = tieout.seen_sha256(tieout.seen_of(i)))
$$;

create or replace function tieout.doubled(of_account text, of_order text, of_operation text,
  by text, of_refund text, money numeric, of_currency text)
returns table (reason text)
language sql stable rows 1 as $$
  select 'second_capture'
  from tieout.instructions i
  where of_operation = 'capture' and i.account_id = of_account and i.order_no = of_order
    and i.operation = 'capture' and i.state = 'confirmed' and i.transaction_id <> by
  union all
  select 'moved_already'
  from tieout.instructions i
  where of_operation in ('capture', 'cancel') and i.account_id = of_account
    and i.order_no = of_order and i.transaction_id = by and i.state = 'confirmed'
    and i.operation in ('capture', 'cancel')
  union all
  select case of_operation when 'refund' then 'shared_refund' else 'shared_transaction' end
  from tieout.instructions i
  where i.transaction_id = by and i.operation <> 'payout' and not i.is_void
    and (i.account_id = of_account) <> (i.order_no = of_order)
    and case when i.account_id <> of_account
        then replace(i.operation, 'cancel', 'capture') = replace(of_operation, 'cancel', 'capture')
      when of_operation = 'refund' then i.operation = 'refund'
      else (of_operation, i.operation) in (('capture', 'cancel'), ('cancel', 'capture')) end
  union all
  select 'by_hand'
  from tieout.gateway_calls c
  where (c.account_id = of_account
      or c.entries @> jsonb_build_array(jsonb_build_object('transaction_id', by)))
    and replace(c.operation, 'cancel', 'capture') = replace(of_operation, 'cancel', 'capture')
    and (c.outcome is null or c.outcome not in ('rejected', 'not_sent'))
    -- the contrary of it only of this very transaction: the other of two may be let go by hand
    and c.entries @> any (array[
      case when c.operation = of_operation
        then jsonb_build_array(jsonb_build_object('order_no', of_order)) end,
      jsonb_build_array(jsonb_build_object('transaction_id', by))])
  union all
  select 'twin_request'
  from tieout.instructions i
  where of_operation = 'refund' and i.account_id = of_account and i.order_no = of_order
    and i.operation = 'refund' and i.refund_id <> of_refund
    and case when i.state = 'rejected' or i.is_refused then i.replan_id is null
        and (i.refund_amount = money or tieout.plain_id(i.refund_id) = tieout.plain_id(of_refund))
      else not i.is_void and tieout.plain_id(i.refund_id) = tieout.plain_id(of_refund) end
  union all
  select 'twin_request'
  from tieout.instructions i
  where of_operation = 'refund' and i.operation = 'refund' and i.refund_id = of_refund
    and (i.state = 'rejected' or i.is_refused) and i.replan_id is null
    and (i.account_id, i.order_no, i.transaction_id) <> (of_account, of_order, by)
    -- another shop may number its requests alike
    and (i.account_id = of_account or i.transaction_id = by or i.refund_amount = money)
  union all
  select 'twin_request'
  from tieout.instructions i
  where of_operation in ('capture', 'cancel') and i.operation = of_operation
    and i.operation in ('capture', 'cancel') and i.transaction_id = by
    and (i.state = 'rejected' or i.is_refused) and i.replan_id is null
    and (i.account_id, i.order_no) <> (of_account, of_order)
  union all
  select 'over_captured'
  from tieout.instructions i
  where of_operation = 'refund'
    and i.operation = 'capture' and i.state = 'confirmed' and i.transaction_id = by
    and (i.currency <> of_currency or exists (
      select from tieout.instructions other
      where other.transaction_id = by and other.operation = 'refund' and not other.is_void
        and other.currency <> of_currency
      ) or i.amount < money + coalesce((
      select sum(paid.refund_amount) from tieout.instructions paid
      where paid.transaction_id = by and paid.operation = 'refund' and not paid.is_void
        and (paid.account_id, paid.refund_id) <> (of_account, of_refund)), 0))
  limit 1
$$;

drop function tieout.unseen;
drop function tieout.approvals_in_sight;
drop function tieout.doubles;
