-- Up Migration
-- Whoever only reads sees no hash of a session, also not where a password was typed wrongly in it.
CREATE OR REPLACE FUNCTION tieout.grant_all_roles(writer text, reader text)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  room text;
  relation text;
begin
  for room in select nspname from pg_namespace
    where nspname in ('tieout', 'ledger', 'tieout_meta', 'bullmq') order by 1
  loop
    if writer is not null then
      execute format('grant usage on schema %I to %I', room, writer);
      execute format('grant %s on all tables in schema %I to %I',
        case room when 'tieout_meta' then 'select' else 'select, insert, update, delete' end,
        room, writer);
      execute format('grant usage, select, update on all sequences in schema %I to %I',
        room, writer);
    end if;
    if reader is not null and room <> 'bullmq' then
      execute format('grant usage on schema %I to %I', room, reader);
      execute format('grant select on all tables in schema %I to %I', room, reader);
    end if;
  end loop;
  if writer is not null then
    execute format('alter default privileges grant usage on schemas to %I', writer);
    execute format('alter default privileges grant select, insert, update, delete on tables to %I',
      writer);
    execute format('alter default privileges grant usage, select, update on sequences to %I',
      writer);
  end if;
  if reader is not null then
    execute format('alter default privileges in schema tieout grant select on tables to %I',
      reader);
    foreach relation in array array['users', 'sessions', 'sign_in_failures', 'sign_in_links',
      'workbook_key'] loop
      execute format('revoke select on tieout.%I from %I', relation, reader);
    end loop;
    execute format('grant select (user_id, name, name_key, state, created_at, created_by)
      on tieout.users to %I', reader);
    execute format('grant select (failure_id, at, name_key, address)
      on tieout.sign_in_failures to %I', reader);
  end if;
end $function$;

-- Of roles that have their rights by now.
do $$
declare
  reader text;
begin
  for reader in
    select distinct g.grantee from information_schema.role_table_grants g
    where g.table_schema = 'tieout' and g.table_name = 'sign_in_failures'
      and g.privilege_type = 'SELECT' and g.grantee <> 'PUBLIC'
      and not has_table_privilege(g.grantee::name, 'tieout.sessions', 'select')
  loop
    execute format('revoke select on tieout.sign_in_failures from %I', reader);
    execute format('grant select (failure_id, at, name_key, address)
      on tieout.sign_in_failures to %I', reader);
  end loop;
end $$;

-- Down Migration
CREATE OR REPLACE FUNCTION tieout.grant_all_roles(writer text, reader text)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  room text;
  relation text;
begin
  for room in select nspname from pg_namespace
    where nspname in ('tieout', 'ledger', 'tieout_meta', 'bullmq') order by 1
  loop
    if writer is not null then
      execute format('grant usage on schema %I to %I', room, writer);
      execute format('grant %s on all tables in schema %I to %I',
        case room when 'tieout_meta' then 'select' else 'select, insert, update, delete' end,
        room, writer);
      execute format('grant usage, select, update on all sequences in schema %I to %I',
        room, writer);
    end if;
    if reader is not null and room <> 'bullmq' then
      execute format('grant usage on schema %I to %I', room, reader);
      execute format('grant select on all tables in schema %I to %I', room, reader);
    end if;
  end loop;
  if writer is not null then
    execute format('alter default privileges grant usage on schemas to %I', writer);
    execute format('alter default privileges grant select, insert, update, delete on tables to %I',
      writer);
    execute format('alter default privileges grant usage, select, update on sequences to %I',
      writer);
  end if;
  if reader is not null then
    execute format('alter default privileges in schema tieout grant select on tables to %I',
      reader);
    foreach relation in array array['users', 'sessions', 'sign_in_links', 'workbook_key'] loop
      execute format('revoke select on tieout.%I from %I', relation, reader);
    end loop;
    execute format('grant select (user_id, name, name_key, state, created_at, created_by)
      on tieout.users to %I', reader);
  end if;
end $function$;
