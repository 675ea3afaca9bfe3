-- Up Migration
-- A dump may be loaded into the very database that it was taken of, under a server that runs
-- on: cluster, timeline, start and the number of the database stay what they were. What made a row
-- or a table does not: a loaded row was written by another transaction, and a table that was made
-- again has another number.

-- One row for ever; nothing is read of it but the transaction that wrote it.
create table tieout.installation (
  installation_id uuid primary key default gen_random_uuid(),
  made_at timestamptz not null default clock_timestamp()
);
insert into tieout.installation default values;
create trigger guard_history before update or delete or truncate on tieout.installation
  for each statement execute function tieout.guard_history();

-- `database`: its number, the number of the table of sends, and who wrote the row above.
create or replace view tieout.server_facts as
select pg_is_in_recovery() as is_replica,
  case when not pg_is_in_recovery() then left(pg_walfile_name(pg_current_wal_lsn()), 8) end
    as timeline,
  extract(epoch from pg_postmaster_start_time())::text as started_at,
  concat_ws('.', (select oid from pg_database where datname = current_database()),
    to_regclass('tieout.attempts')::oid,
    (select min(xmin::text) from tieout.installation)) as database,
  array(select name || ' = off'
    from unnest('{fsync,full_page_writes,synchronous_commit}'::text[]) as name
    where current_setting(name) = 'off'
      and current_setting('tieout.throwaway', true) is distinct from 'on') as unsafe;

-- Rows of older versions name the cluster alone, or the cluster and the number of the database.
create or replace function tieout.is_this_base(verified_system text, database text) returns boolean
language sql immutable parallel safe as $$
  select coalesce(split_part(verified_system, '/', 2), '')
    in ('', database, split_part(database, '.', 1))
$$;

-- Down Migration
create or replace function tieout.is_this_base(verified_system text, database text) returns boolean
language sql immutable parallel safe as $$
  select coalesce(split_part(verified_system, '/', 2), '') in ('', database)
$$;
create or replace view tieout.server_facts as
select pg_is_in_recovery() as is_replica,
  case when not pg_is_in_recovery() then left(pg_walfile_name(pg_current_wal_lsn()), 8) end
    as timeline,
  extract(epoch from pg_postmaster_start_time())::text as started_at,
  (select oid::text from pg_database where datname = current_database()) as database,
  array(select name || ' = off'
    from unnest('{fsync,full_page_writes,synchronous_commit}'::text[]) as name
    where current_setting(name) = 'off'
      and current_setting('tieout.throwaway', true) is distinct from 'on') as unsafe;
drop table tieout.installation;
