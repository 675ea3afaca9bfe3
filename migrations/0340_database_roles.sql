-- Up Migration

-- Three roles of a database: the owner, who migrates; the writer, as whom the program works, and
-- who cannot take away a guard, empty a table or replace a function; the reader, for auditors.
-- What a night needs of the owner's rights it has by the functions below, and by no other way.

-- A new month is the owner's like the tables that it is a part of.
alter function tieout.make_month(date) security definer set search_path = pg_catalog, pg_temp;

-- Takes a month of snapshots away that is on record as removed, each look of it with its digest.
-- Arguments: the month, 2026_11 or 'before'. Raises where the record does not say so.
create function tieout.drop_month(month_name text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  relation text;
  kept bigint;
begin
  if not exists (select from tieout.evidence_removals e where e.month = month_name) then
    raise exception 'month %: no removal of it is on record', month_name;
  end if;
  execute format('select min(pull_id) from tieout.%I p join tieout.look_links k
      using (pull_id, account_id)
    where not exists (select from tieout.removed_looks w
      where w.pull_id = k.pull_id and w.account_id = k.account_id)', 'pages_' || month_name)
    into kept;
  if kept is not null then
    raise exception 'month %: the removal does not say what snapshot % was', month_name, kept;
  end if;
  foreach relation in array tieout.month_relations() loop
    execute format('drop table tieout.%I', relation || '_' || month_name);
  end loop;
end $$;

-- Counts anew what the planner knows of these columns. A role that does not own the table is
-- passed over by ANALYZE with a warning, and a night planned by what an empty table told it.
create function tieout.analyse(relation regclass, columns text[]) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if (select relnamespace from pg_class where oid = relation)
    is distinct from 'tieout'::regnamespace then
    raise exception '%: not a table of tieout', relation;
  end if;
  execute format('analyze %s%s', relation, (
    select ' (' || string_agg(quote_ident(name), ', ') || ')' from unnest(columns) as name));
end $$;

-- Gives a writer and a reader their rights, also to what later migrations and months bring. To be
-- called by the owner, at any time again. Null: nobody. What opens a door (hashes of passwords,
-- sessions, links, the key of the workbooks) no reader sees.
create function tieout.grant_roles(writer text, reader text) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
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
end $$;

-- Down Migration

drop function tieout.grant_roles(text, text);
drop function tieout.analyse(regclass, text[]);
drop function tieout.drop_month(text);
alter function tieout.make_month(date) security invoker reset search_path;
