-- Up Migration
-- Some facts come by the ten thousand a night, and each gets its link or number once. To be called
-- for every row only to find that nothing else was changed took a quarter of that and, of outcomes,
-- half. So the guard is called where something else is: its condition names every column but that
-- one (a test holds it against the table).
create procedure tieout.guard_facts(relation text, late text, guard text) language plpgsql as $$
declare
  others text;
begin
  select string_agg(format('old.%1$I is distinct from new.%1$I', attname), ' or ' order by attnum)
  into others
  from pg_attribute
  where attrelid = ('tieout.' || relation)::regclass and attnum > 0 and not attisdropped
    and attname <> late;
  execute format('drop trigger %I on tieout.%I', guard, relation);
  execute format('create trigger %1$I before update on tieout.%2$I for each row
    when (old.%3$I is not null or %4$s) execute function tieout.%1$I()',
    guard, relation, late, others);
  execute format('create trigger %1$I before delete on tieout.%2$I for each row
    execute function tieout.%3$I()', guard || '_kept', relation, guard);
end $$;
call tieout.guard_facts('instruction_events', 'link_id', 'guard_fact');
call tieout.guard_facts('break_events', 'link_id', 'guard_fact');
call tieout.guard_facts('day_movements', 'link_id', 'guard_fact');
call tieout.guard_facts('outcome_rows', 'seq', 'guard_outcome');

-- The same for the days that movements are posted to: closed or not is asked once an account.
drop trigger guard_movement on tieout.day_movements;
create or replace function tieout.guard_movement() returns trigger language plpgsql as $$
declare
  late record;
begin
  select p.account_id, p.posted_to into late
  from (select account_id, min(posted_to) as posted_to from posted group by account_id) p
  where p.posted_to <= tieout.closed_until(p.account_id) limit 1;
  if found then
    raise exception 'day % of account % is closed', late.posted_to, late.account_id
      using errcode = 'check_violation';
  end if;
  return null;
end $$;
create trigger guard_movement after insert on tieout.day_movements
  referencing new table as posted
  for each statement execute function tieout.guard_movement();

-- Down Migration
drop trigger guard_movement on tieout.day_movements;
create or replace function tieout.guard_movement() returns trigger language plpgsql as $$
begin
  if new.posted_to <= tieout.closed_until(new.account_id) then
    raise exception 'day % of account % is closed', new.posted_to, new.account_id
      using errcode = 'check_violation';
  end if;
  return new;
end $$;
create trigger guard_movement before insert on tieout.day_movements
  for each row execute function tieout.guard_movement();
do $$
declare
  guarded record;
begin
  for guarded in
    select * from (values ('instruction_events', 'guard_fact'), ('break_events', 'guard_fact'),
      ('day_movements', 'guard_fact'), ('outcome_rows', 'guard_outcome')) as g (relation, guard)
  loop
    execute format('drop trigger %I on tieout.%I', guarded.guard, guarded.relation);
    execute format('drop trigger %I on tieout.%I', guarded.guard || '_kept', guarded.relation);
    execute format('create trigger %1$I before update or delete on tieout.%2$I
      for each row execute function tieout.%1$I()', guarded.guard, guarded.relation);
  end loop;
end $$;
drop procedure tieout.guard_facts(text, text, text);
