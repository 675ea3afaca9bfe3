-- Makes the foreign keys again that dropKeys.sql has dropped; each is checked over the whole
-- tables.
do $$
declare
  key record;
begin
  for key in select * from pg_temp.dropped_key loop
    execute format('alter table %s add constraint %I %s', key.relation, key.name, key.definition);
  end loop;
end $$
