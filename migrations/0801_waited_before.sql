-- Up Migration
-- What an instruction of the same request waited for that was withdrawn meanwhile, since its
-- request was gone for the moment of a plan, or its order stood otherwise in one look: what is
-- planned for it anew waits for that, too. Since when it was known: from ever, if it waited because
-- the database was put back; and whether its last waiting was for a dispute that has left the
-- ledger. One of both numbers is null.
create function tieout.waited_before(of_account text, refund text, payout text)
returns table (known_at timestamptz, is_left_disputed boolean) language sql stable as $$
  select case when bool_or(waited.restored) then '-infinity' else min((i).created_at) end,
    (array_agg(waited.last = 'disputed' and tieout.disputes_seen(i) = '{}'
      order by (i).instruction_id desc))[1]
  from (
    select i from tieout.instructions i where i.operation = 'refund' and i.refund_id = refund
      and i.account_id = of_account and i.state = 'withdrawn' and not i.is_refused
    union all
    select i from tieout.instructions i where i.operation = 'payout'
      and i.transaction_id = payout and i.account_id = of_account and i.state = 'withdrawn'
      and not i.is_refused
  ) one (i)
  cross join lateral (
    select bool_or(e.reason = 'restored') as restored,
      (array_agg(e.reason order by e.seq desc) filter (where e.reason <> 'restored'))[1] as last
    from tieout.instruction_events e
    where e.instruction_id = (i).instruction_id and e.to_state = 'held'
  ) waited
$$;
-- By which profile a look is read: who takes answers to mean something else reads none of it, and
-- sends nothing by it.
alter table tieout.pulls add column profile_sha256 text;
-- Why something waits that a person has to know of again is on record as that reason, whatever
-- words somebody gave with a decision.
create or replace function tieout.record_instruction()
returns trigger language plpgsql set enable_nestloop to 'off' as $$
begin
  if tg_op = 'INSERT' then
    insert into tieout.instruction_events (instruction_id, from_state, to_state, by, reason)
    select instruction_id, null, state, changed_by, hold_reason
    from moved order by instruction_id;
  else
    insert into tieout.instruction_events (instruction_id, from_state, to_state, by, reason)
    select n.instruction_id, o.state, n.state, n.changed_by,
      case when n.state = 'held' and tieout.is_remembered(n.hold_reason) then n.hold_reason
        else coalesce(n.reason, n.hold_reason) end
    from moved n join stood o using (instruction_id)
    where n.state <> o.state
      or tieout.is_remembered(n.hold_reason) and o.hold_reason is distinct from n.hold_reason
    order by n.instruction_id;
  end if;
  return null;
end $$;
create function tieout.is_remembered(hold_reason text)
returns boolean language sql immutable parallel safe as $$
  select hold_reason in ('disputed', 'restored', 'second_capture', 'twin_request')
$$;

-- Down Migration
create or replace function tieout.record_instruction()
returns trigger language plpgsql set enable_nestloop to 'off' as $$
begin
  if tg_op = 'INSERT' then
    insert into tieout.instruction_events (instruction_id, from_state, to_state, by, reason)
    select instruction_id, null, state, changed_by, hold_reason
    from moved order by instruction_id;
  else
    insert into tieout.instruction_events (instruction_id, from_state, to_state, by, reason)
    select n.instruction_id, o.state, n.state, n.changed_by, coalesce(n.reason, n.hold_reason)
    from moved n join stood o using (instruction_id)
    where n.state <> o.state
      or n.hold_reason in ('disputed', 'second_capture')
        and o.hold_reason is distinct from n.hold_reason
    order by n.instruction_id;
  end if;
  return null;
end $$;
drop function tieout.is_remembered;
alter table tieout.pulls drop column profile_sha256;
drop function tieout.waited_before;
