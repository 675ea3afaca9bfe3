-- Up Migration
-- A replica that was promoted before anything of its database was sealed has rows, too, and numbers
-- that begin anew: where there is no link yet, every table is asked.
create or replace function tieout.bring_numbers_forward()
returns text[] language plpgsql
set search_path = pg_catalog
as $function$
declare
  one record;
  used bigint;
  moved text[] := '{}';
begin
  -- Who hands out no number brings none forward; before PostgreSQL 18 it may not even ask.
  if not has_sequence_privilege('tieout.chain_link_ids', 'usage') then return moved; end if;
  select max(link_id) into used from tieout.chain_links;
  if used <= coalesce(pg_sequence_last_value('tieout.chain_link_ids'), 0) then return moved; end if;
  for one in
    select s.seqrelid as sequence, c.oid::regclass as numbered, a.attname as number,
      case when c.relname in ('runs', 'pulls') then ' % 100000000' else '' end as of_month
    from pg_sequence s
    join pg_depend d on d.classid = 'pg_class'::regclass and d.objid = s.seqrelid
      and d.refclassid = 'pg_class'::regclass and d.deptype = 'i'
    join pg_class c on c.oid = d.refobjid and c.relnamespace = 'tieout'::regnamespace
    join pg_attribute a on a.attrelid = c.oid and a.attnum = d.refobjsubid
    union all
    select 'tieout.chain_link_ids'::regclass, 'tieout.chain_links', 'link_id', ''
  loop
    continue when not has_sequence_privilege(one.sequence, 'update');
    execute format('select max(%I)%s from %s', one.number, one.of_month, one.numbered) into used;
    continue when used is null or used <= coalesce(pg_sequence_last_value(one.sequence), 0);
    -- Of two that find it at once the second one asks again, and finds it done.
    perform pg_advisory_xact_lock(hashtext('tieout.bring_numbers_forward'));
    continue when used <= coalesce(pg_sequence_last_value(one.sequence), 0);
    perform setval(one.sequence, used + 1000);
    moved := moved || one.numbered::text;
  end loop;
  return moved;
end $function$;

-- Down Migration
create or replace function tieout.bring_numbers_forward()
returns text[] language plpgsql
set search_path = pg_catalog
as $function$
declare
  one record;
  used bigint;
  moved text[] := '{}';
begin
  -- Who hands out no number brings none forward; before PostgreSQL 18 it may not even ask.
  if not has_sequence_privilege('tieout.chain_link_ids', 'usage') then return moved; end if;
  select max(link_id) into used from tieout.chain_links;
  if used is null or used <= coalesce(pg_sequence_last_value('tieout.chain_link_ids'), 0) then
    return moved;
  end if;
  for one in
    select s.seqrelid as sequence, c.oid::regclass as numbered, a.attname as number,
      case when c.relname in ('runs', 'pulls') then ' % 100000000' else '' end as of_month
    from pg_sequence s
    join pg_depend d on d.classid = 'pg_class'::regclass and d.objid = s.seqrelid
      and d.refclassid = 'pg_class'::regclass and d.deptype = 'i'
    join pg_class c on c.oid = d.refobjid and c.relnamespace = 'tieout'::regnamespace
    join pg_attribute a on a.attrelid = c.oid and a.attnum = d.refobjsubid
    union all
    select 'tieout.chain_link_ids'::regclass, 'tieout.chain_links', 'link_id', ''
  loop
    continue when not has_sequence_privilege(one.sequence, 'update');
    execute format('select max(%I)%s from %s', one.number, one.of_month, one.numbered) into used;
    continue when used is null or used <= coalesce(pg_sequence_last_value(one.sequence), 0);
    -- Of two that find it at once the second one asks again, and finds it done.
    perform pg_advisory_xact_lock(hashtext('tieout.bring_numbers_forward'));
    continue when used <= coalesce(pg_sequence_last_value(one.sequence), 0);
    perform setval(one.sequence, used + 1000);
    moved := moved || one.numbered::text;
  end loop;
  return moved;
end $function$;
