-- What the schema tieout is made of, one row an object: `plain` reads the same on every version of
-- PostgreSQL, `printed` as the version at hand prints it. A partition of a month is told like the
-- one that the migrations make of the same table (`template`). Asked with an empty search path, so
-- that every name comes with its schema.
with relation as materialized (
  select c.oid, c.relname as name, c.relkind as kind, c.relpersistence as persistence,
    c.relrowsecurity or c.relforcerowsecurity as is_hiding, p.oid is not null as is_part,
    case when p.oid is null then c.relname else p.relname || '_before' end as template
  from pg_catalog.pg_class c
  left join pg_catalog.pg_inherits i on i.inhrelid = c.oid and c.relispartition
  left join pg_catalog.pg_class p on p.oid = i.inhparent
  where c.relnamespace = 'tieout'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f')
),
object as (
  select case when r.kind in ('v', 'm') then 'view' else 'table' end as kind, r.name as relation,
    r.template, '' as name, concat_ws('|', r.kind, r.persistence, r.is_hiding,
      case when not r.is_part then columns.plain end) as plain,
    case when r.kind = 'v' then pg_get_viewdef(r.oid, true)
      when not r.is_part then columns.defaults end as printed, r.is_part
  from relation r
  cross join lateral (
    select string_agg(concat_ws(' ', a.attname, format_type(a.atttypid, a.atttypmod),
        a.attcollation::regcollation, a.attnotnull, a.attidentity, a.attgenerated,
        d.oid is not null), ', ' order by a.attnum) as plain,
      string_agg(concat_ws(' ', a.attname, pg_get_expr(d.adbin, d.adrelid)), ', '
        order by a.attnum) filter (where d.oid is not null) as defaults
    from pg_catalog.pg_attribute a
    left join pg_catalog.pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
  ) columns

  union all
  select 'function', null, null, f.oid::regprocedure::text, concat_ws('|', f.prokind, l.lanname,
      f.prosecdef, f.proisstrict, f.provolatile, f.proparallel, f.proretset,
      f.prorettype::regtype, f.proallargtypes::regtype[]::text, f.proargmodes::text,
      f.proargnames::text, f.pronargdefaults, f.proconfig::text, f.prosqlbody is null, f.prosrc),
    case when f.prokind <> 'a' then pg_get_functiondef(f.oid) end, false
  from pg_catalog.pg_proc f
  join pg_catalog.pg_language l on l.oid = f.prolang
  where f.pronamespace = 'tieout'::regnamespace

  union all
  select 'trigger', r.name, r.template, t.tgname, concat_ws('|', t.tgtype,
      t.tgfoid::regprocedure, encode(t.tgargs, 'hex'), t.tgdeferrable, t.tginitdeferred,
      t.tgoldtable, t.tgnewtable, t.tgqual is null, (
        select string_agg(a.attname, ',' order by a.attname) from pg_catalog.pg_attribute a
        where a.attrelid = t.tgrelid and a.attnum = any (t.tgattr))),
    case when not r.is_part then pg_get_triggerdef(t.oid, true) end, r.is_part
  from pg_catalog.pg_trigger t
  join relation r on r.oid = t.tgrelid
  where not t.tgisinternal and t.tgparentid = 0

  union all
  select 'unique index', r.name, r.template, n.relname, concat_ws('|', x.indisvalid,
      x.indnkeyatts, x.indpred is null, x.indexprs is null, (
        select string_agg(coalesce(a.attname, '()'), ',' order by k.place)
        from unnest(x.indkey) with ordinality as k (attnum, place)
        left join pg_catalog.pg_attribute a on a.attrelid = x.indrelid and a.attnum = k.attnum)),
    -- one was made to begin behind the reports that an installation had
    case when n.relname = 'reports_of_period_once'
      then regexp_replace(pg_get_indexdef(x.indexrelid), 'report_id > \d+', 'report_id > 0')
      else pg_get_indexdef(x.indexrelid) end, false
  from pg_catalog.pg_index x
  join pg_catalog.pg_class n on n.oid = x.indexrelid
  join relation r on r.oid = x.indrelid
  where x.indisunique and not r.is_part

  union all
  select 'constraint', r.name, r.template, k.conname, concat_ws('|', k.contype, k.convalidated,
      k.condeferrable, k.condeferred, k.confrelid::regclass, k.confupdtype, k.confdeltype,
      columns.here, columns.there),
    pg_get_constraintdef(k.oid, true), false
  from pg_catalog.pg_constraint k
  join relation r on r.oid = k.conrelid
  cross join lateral (
    select string_agg(a.attname, ',' order by key.place) as here,
      string_agg(b.attname, ',' order by key.place) as there
    from unnest(k.conkey, k.confkey) with ordinality as key (here, there, place)
    left join pg_catalog.pg_attribute a on a.attrelid = k.conrelid and a.attnum = key.here
    left join pg_catalog.pg_attribute b on b.attrelid = k.confrelid and b.attnum = key.there
  ) columns
  where k.contype in ('c', 'f', 'p', 'u', 'x') and not r.is_part

  union all
  select 'source of facts', null, null, what, concat_ws('|', is_of_account, mark, facts), null,
    false
  from tieout.fact_sources

  -- From here on what no migration makes: each row is one too many.
  union all
  select 'trigger that is off', r.name, r.template, coalesce(k.conname, t.tgname), '', null, false
  from pg_catalog.pg_trigger t
  join relation r on r.oid = t.tgrelid
  left join pg_catalog.pg_constraint k on k.oid = t.tgconstraint and t.tgisinternal
  where t.tgenabled <> 'O'

  union all
  select 'rule', r.name, r.template, w.rulename, '', null, false
  from pg_catalog.pg_rewrite w
  join relation r on r.oid = w.ev_class
  where w.rulename <> '_RETURN' or r.kind <> 'v'

  union all
  select 'row policy', r.name, r.template, p.polname, '', null, false
  from pg_catalog.pg_policy p
  join relation r on r.oid = p.polrelid

  union all
  select 'child table', r.name, r.template, c.oid::regclass::text, '', null, false
  from pg_catalog.pg_inherits i
  join pg_catalog.pg_class c on c.oid = i.inhrelid
  join relation r on r.oid = i.inhparent
  where not c.relispartition or c.relnamespace <> 'tieout'::regnamespace
    or c.relname !~ ('^' || r.name || '_(before|\d{4}_\d\d)$')

  union all
  select 'setting', null, null, 'session_replication_role', '', null, false
  where current_setting('session_replication_role') <> 'origin'
)
select kind, relation, template, name, plain, printed, is_part as "isPart" from object
