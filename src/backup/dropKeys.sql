-- Drops all foreign keys, so that tables can be filled in any order, and remembers them until the
-- transaction ends (putKeysBack.sql). Two statements.
create temp table dropped_key on commit drop as
select conrelid::regclass as relation, conname as name, pg_get_constraintdef(oid) as definition
from pg_constraint
where contype = 'f' and connamespace in ('tieout'::regnamespace, 'ledger'::regnamespace)
  and conparentid = 0;

do $$
declare
  key record;
begin
  for key in select * from pg_temp.dropped_key loop
    execute format('alter table %s drop constraint %I', key.relation, key.name);
  end loop;
end $$
