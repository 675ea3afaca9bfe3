-- Up Migration
-- For what an instruction waits still, whatever its row says: by what only grows, so that whoever
-- may change rows lets nothing go that a plan would hold. No more than a plan would hold: what it
-- let go by looks that are gone since is not asked again. Instructions before of the same movement
-- count. `restored` is overruled by its approval where that was given in sight of it, `doubled` by
-- one that was and holds, `freed` by one that saw the setting, the rest by any.
create function tieout.waits_still(i tieout.instructions) returns table (restored boolean,
  doubled text, freed boolean, left_disputed boolean, over_limit boolean)
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

-- That it waited past the limits of a run is remembered, too, whatever else was said of it.
create or replace function tieout.is_remembered(hold_reason text) returns boolean
language sql immutable parallel safe as $$
  select hold_reason in ('disputed', 'over_limit_of_run', 'restored', 'second_capture',
    'twin_request')
$$;

-- What was refused by a person, freed by a setting, or may have been paid, is so until somebody
-- decides otherwise; and what a plan said of a movement stays as it was said.
create or replace function tieout.guard_decided() returns trigger language plpgsql as $$
begin
  if new.state <> old.state and old.replan_id is not null then
    new.replan_id := null;
  end if;
  if new.approval_id is distinct from old.approval_id then
    perform from tieout.decisions d where d.decision_id = new.approval_id
      and d.instruction_id = new.instruction_id and d.decision = 'approve';
    if not found then
      raise exception 'instruction %: that is no approval of it', old.instruction_id
        using errcode = 'check_violation';
    end if;
  end if;
  if new.payload is distinct from old.payload then
    raise exception 'instruction %: what it moves cannot be changed', old.instruction_id
      using errcode = 'check_violation';
  end if;
  if new.replan_id is not null and new.replan_id is distinct from old.replan_id then
    perform from tieout.decisions d where d.decision_id = new.replan_id
      and d.instruction_id = new.instruction_id and d.decision = 'replan';
    if not found then
      raise exception 'instruction %: nobody had it planned again', old.instruction_id
        using errcode = 'check_violation';
    end if;
  end if;
  if old.state = 'held' and new.state = 'queued' and new.approval_id is null then
    raise exception 'instruction %: nobody approved it', old.instruction_id
      using errcode = 'check_violation';
  end if;
  -- That something may have been paid is over by what a look shows, or by what a person found.
  if old.state in ('accepted', 'unknown') and new.state = 'rejected' and not exists (
    select from tieout.decisions d
    where d.instruction_id = old.instruction_id and d.finding = 'not_happened'
      and d.decision_id = (select max(last.decision_id) from tieout.decisions last
        where last.instruction_id = old.instruction_id)) then
    raise exception 'instruction %: nobody found that it did not happen', old.instruction_id
      using errcode = 'check_violation';
  end if;
  if old.is_refused and not new.is_refused then
    raise exception 'instruction %: that a person refused it stays', old.instruction_id
      using errcode = 'check_violation';
  end if;
  if old.freed_by is not null and new.freed_by is null then
    raise exception 'instruction %: that a setting freed it stays', old.instruction_id
      using errcode = 'check_violation';
  end if;
  if new.state = 'sending' and old.state <> 'sending' and new.approval_id is not null
    and tieout.approval_lapse(new) is not null then
    raise exception 'instruction %: its approval holds no more', old.instruction_id
      using errcode = 'check_violation';
  end if;
  return new;
end $$;
drop trigger guard_decided on tieout.instructions;
create trigger guard_decided before update on tieout.instructions for each row when (
  old.replan_id is not null
  or new.replan_id is not null
  or new.approval_id is distinct from old.approval_id
  or new.payload is distinct from old.payload
  or old.state = 'held' and new.state = 'queued'
  or new.state = 'sending' and new.approval_id is not null
  or old.state in ('accepted', 'unknown') and new.state = 'rejected'
  or old.is_refused and not new.is_refused
  or old.freed_by is not null and new.freed_by is null)
  execute function tieout.guard_decided();
drop trigger guard_instruction on tieout.instructions;
create trigger guard_instruction before update on tieout.instructions for each row when (
  old.account_id is distinct from new.account_id
  or old.order_no is distinct from new.order_no
  or old.operation is distinct from new.operation
  or old.transaction_id is distinct from new.transaction_id
  or old.currency is distinct from new.currency
  or old.amount is distinct from new.amount
  or old.refund_id is distinct from new.refund_id
  or old.refund_amount is distinct from new.refund_amount
  or old.run_id is distinct from new.run_id
  or old.created_at is distinct from new.created_at
  or old.from_state is distinct from new.from_state
  or old.done_states is distinct from new.done_states
  or old.review_decision is distinct from new.review_decision
  or old.is_in_totals is distinct from new.is_in_totals
  or old.is_part is distinct from new.is_part
  or old.source_currency is distinct from new.source_currency
  or old.source_amount is distinct from new.source_amount)
  execute function tieout.guard_instruction();

-- Down Migration
drop trigger guard_instruction on tieout.instructions;
create trigger guard_instruction before update on tieout.instructions for each row when (
  old.account_id is distinct from new.account_id
  or old.order_no is distinct from new.order_no
  or old.operation is distinct from new.operation
  or old.transaction_id is distinct from new.transaction_id
  or old.currency is distinct from new.currency
  or old.amount is distinct from new.amount
  or old.refund_id is distinct from new.refund_id
  or old.refund_amount is distinct from new.refund_amount)
  execute function tieout.guard_instruction();
drop trigger guard_decided on tieout.instructions;
create trigger guard_decided before update on tieout.instructions for each row when (
  old.replan_id is not null
  or new.replan_id is not null
  or new.approval_id is distinct from old.approval_id
  or new.payload is distinct from old.payload
  or old.state = 'held' and new.state = 'queued'
  or new.state = 'sending' and new.approval_id is not null)
  execute function tieout.guard_decided();
create or replace function tieout.guard_decided() returns trigger language plpgsql as $$
begin
  if new.state <> old.state and old.replan_id is not null then
    new.replan_id := null;
  end if;
  if new.approval_id is distinct from old.approval_id then
    perform from tieout.decisions d where d.decision_id = new.approval_id
      and d.instruction_id = new.instruction_id and d.decision = 'approve';
    if not found then
      raise exception 'instruction %: that is no approval of it', old.instruction_id
        using errcode = 'check_violation';
    end if;
  end if;
  if new.payload is distinct from old.payload then
    raise exception 'instruction %: what it moves cannot be changed', old.instruction_id
      using errcode = 'check_violation';
  end if;
  if new.replan_id is not null and new.replan_id is distinct from old.replan_id then
    perform from tieout.decisions d where d.decision_id = new.replan_id
      and d.instruction_id = new.instruction_id and d.decision = 'replan';
    if not found then
      raise exception 'instruction %: nobody had it planned again', old.instruction_id
        using errcode = 'check_violation';
    end if;
  end if;
  if old.state = 'held' and new.state = 'queued' and new.approval_id is null then
    raise exception 'instruction %: nobody approved it', old.instruction_id
      using errcode = 'check_violation';
  end if;
  if new.state = 'sending' and old.state <> 'sending' and new.approval_id is not null
    and tieout.approval_lapse(new) is not null then
    raise exception 'instruction %: its approval holds no more', old.instruction_id
      using errcode = 'check_violation';
  end if;
  return new;
end $$;
create or replace function tieout.is_remembered(hold_reason text) returns boolean
language sql immutable parallel safe as $$
  select hold_reason in ('disputed', 'restored', 'second_capture', 'twin_request')
$$;
drop function tieout.waits_still;
