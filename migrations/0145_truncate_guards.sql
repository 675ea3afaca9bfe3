-- Up Migration
-- TRUNCATE calls no guard of rows: what may not be changed or deleted row by row may not be emptied
-- at once either. And a chain only ever grows at its end.
do $$
declare
  relation text;
begin
  foreach relation in array array['answers', 'attempts', 'batches', 'brakes', 'break_events',
    'breaks', 'carried_breaks', 'chain_heads', 'chain_links', 'console_events', 'day_events',
    'day_movements', 'day_sums', 'decisions', 'evidence_removals', 'gateway_calls',
    'instruction_events', 'look_links', 'movement_amounts', 'movement_books', 'movements',
    'outcome_rows', 'profiles', 'removed_looks', 'reports', 'run_accounts', 'run_ends',
    'run_settings', 'settlement_batches', 'settlement_files', 'settlement_lines',
    'settlement_matches', 'workings']
  loop
    execute format('create trigger guard_emptied before truncate on tieout.%I
      for each statement execute function tieout.guard_history()', relation);
  end loop;
end $$;

create function tieout.guard_head() returns trigger language plpgsql as $$
begin
  raise exception 'the chain of account % only grows at its end', old.account_id
    using errcode = 'check_violation';
end $$;
create trigger guard_head before update on tieout.chain_heads for each row
  when (new.account_id <> old.account_id or new.link_no <> old.link_no + 1)
  execute function tieout.guard_head();
create trigger guard_head_kept before delete on tieout.chain_heads for each row
  execute function tieout.guard_head();

-- Down Migration
drop trigger guard_head on tieout.chain_heads;
drop trigger guard_head_kept on tieout.chain_heads;
drop function tieout.guard_head();
do $$
declare
  relation text;
begin
  for relation in select tgrelid::regclass::text from pg_trigger where tgname = 'guard_emptied' loop
    execute format('drop trigger guard_emptied on %s', relation);
  end loop;
end $$;
