-- Up Migration
-- That an instruction begins to wait for a dispute, or as a second capture, is on record also where
-- it waited for another reason already: a database that is put back hides that reason behind its
-- own, and nothing else tells of what the ledger or the gateway shows no more.
create or replace function tieout.record_instruction() returns trigger language plpgsql
set enable_nestloop to 'off' as $$
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

-- Down Migration
create or replace function tieout.record_instruction() returns trigger language plpgsql
set enable_nestloop to 'off' as $$
begin
  if tg_op = 'INSERT' then
    insert into tieout.instruction_events (instruction_id, from_state, to_state, by, reason)
    select instruction_id, null, state, changed_by, hold_reason
    from moved order by instruction_id;
  else
    insert into tieout.instruction_events (instruction_id, from_state, to_state, by, reason)
    select n.instruction_id, o.state, n.state, n.changed_by, coalesce(n.reason, n.hold_reason)
    from moved n join stood o using (instruction_id)
    where n.state <> o.state order by n.instruction_id;
  end if;
  return null;
end $$;
