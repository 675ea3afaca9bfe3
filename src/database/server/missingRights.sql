-- Rights on the schema tieout that tieout.grant_roles gives a writer and that the current role has
-- not, one row a relation. $1 tables of which a writer only reads, since the owner keeps the rest.
with asked as (
  select n.oid::regnamespace::text as relation, 0 as at, r.privilege,
    has_schema_privilege(n.oid, r.privilege) as is_there
  from pg_namespace n cross join (values ('usage')) as r (privilege)
  where n.nspname = 'tieout'
  union all
  select 'tieout.' || c.relname, 1, r.privilege, has_table_privilege(c.oid, r.privilege)
  from pg_class c
  cross join (values ('select'), ('insert'), ('update'), ('delete')) as r (privilege)
  where c.relnamespace = 'tieout'::regnamespace and c.relkind in ('r', 'p', 'v', 'm')
    and (r.privilege = 'select' or c.relname <> all ($1::text[]))
  union all
  select 'tieout.' || c.relname, 2, r.privilege, has_sequence_privilege(c.oid, r.privilege)
  from pg_class c cross join (values ('usage'), ('update')) as r (privilege)
  where c.relnamespace = 'tieout'::regnamespace and c.relkind = 'S'
)
select current_user::text as role, relation, array_agg(privilege order by privilege) as rights
from asked where not is_there
group by relation, at order by at, relation
