-- Up Migration

-- What people wrote and nobody may keep (a card number that slipped in) is taken out on record: by
-- the owner of the tables alone, every place and link by name. The chain stays checkable: of each
-- link that sealed such words it is kept what it held before, as sealed, and what since.
create table tieout.redactions (
  redaction_id bigint generated always as identity primary key,
  at timestamptz not null default clock_timestamp(),
  by text not null check (btrim(by) <> ''),
  -- a name that nobody checked: given on a command line
  is_claim boolean not null,
  reason text not null check (btrim(reason) <> ''),
  link_id bigint
);
create index redactions_by_link on tieout.redactions (link_id);
-- Where words were taken out, and how many signs of them.
create table tieout.redacted_texts (
  redaction_id bigint not null references tieout.redactions,
  relation text not null,
  key jsonb not null,
  field text not null,
  signs int not null check (signs > 0),
  primary key (redaction_id, relation, key, field)
);
create table tieout.redacted_links (
  redaction_id bigint not null references tieout.redactions,
  link_id bigint not null,
  account_id text collate "C" not null,
  what text not null,
  facts bigint not null,
  sealed_sha256 text not null,
  after_sha256 text not null,
  primary key (redaction_id, link_id, account_id, what)
);
create index redacted_links_by_link on tieout.redacted_links (link_id);
create trigger guard_fact before update or delete on tieout.redactions
  for each row execute function tieout.guard_fact();
create trigger guard_history before update or delete on tieout.redacted_texts
  for each row execute function tieout.guard_history();
create trigger guard_history before update or delete on tieout.redacted_links
  for each row execute function tieout.guard_history();
do $$
declare
  relation text;
begin
  foreach relation in array array['redactions', 'redacted_texts', 'redacted_links'] loop
    execute format('create trigger guard_emptied before truncate on tieout.%I
      for each statement execute function tieout.guard_history()', relation);
  end loop;
end $$;

do $$
declare
  path text := current_setting('search_path');
  facts text;
begin
  -- so that it names the schema of each
  perform set_config('search_path', '', true);
  facts := rtrim(pg_get_viewdef('tieout.facts'::regclass), '; ');
  perform set_config('search_path', path, true);
  execute 'create or replace view tieout.facts as ' || facts || $view$
  union all
  select '' collate "C", 'redaction', redaction_id, link_id,
    row(redaction_id, extract(epoch from at), by, is_claim, reason, (
        select tieout.fact_digest(convert_to(string_agg(row(t.relation, t.key, t.field,
          t.signs)::text || E'\n', '' order by t.relation, t.key, t.field), 'UTF8'))
        from tieout.redacted_texts t where t.redaction_id = r.redaction_id), (
        select tieout.fact_digest(convert_to(string_agg(row(k.link_id, k.account_id, k.what,
          k.facts, k.sealed_sha256, k.after_sha256)::text || E'\n', ''
          order by k.link_id, k.account_id, k.what), 'UTF8'))
        from tieout.redacted_links k where k.redaction_id = r.redaction_id))::text
  from tieout.redactions r$view$;
end $$;
insert into tieout.fact_sources (what, is_of_account, mark)
values ('redaction', false, 'update tieout.redactions f set link_id = n.id
  from unnest($1, $2) as n (account_id, id)
  where f.link_id is null and n.account_id = ''''');

-- What the facts of a link come to now: what was sealed, or what its newest redaction left, where
-- that is on record and sealed itself.
create function tieout.redacted_sha256(l tieout.chain_links) returns text
language sql stable as $$
  select coalesce((
    select k.after_sha256
    from tieout.redacted_links k
    join tieout.redactions r using (redaction_id)
    join tieout.chain_links s
      on s.link_id = r.link_id and s.account_id = '' and s.what = 'redaction'
    where k.link_id = l.link_id and k.account_id = l.account_id and k.what = l.what
      and k.facts = l.facts and k.sealed_sha256 = l.facts_sha256
    order by k.redaction_id desc limit 1), l.facts_sha256)
$$;

-- What only the owner may write, whoever the writer is: statements that the owner runs, too, when
-- he seals; and what says that a link may come to something else than was sealed.
create function tieout.keep_to_owner() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  kept text;
  role name;
begin
  foreach kept in array array['fact_sources', 'installation', 'redactions', 'redacted_texts',
    'redacted_links']
  loop
    for role in
      select distinct a.grantee::regrole::name from pg_class c cross join aclexplode(c.relacl) a
      where c.oid = ('tieout.' || kept)::regclass and a.grantee <> c.relowner and a.grantee <> 0
    loop
      execute format('revoke insert, update, delete on tieout.%I from %I', kept, role);
      -- who seals facts marks those that have no link yet; their guard lets nothing else through
      if kept = 'redactions' and has_table_privilege(role, 'tieout.runs', 'update') then
        execute format('grant update (link_id) on tieout.redactions to %I', role);
      end if;
    end loop;
  end loop;
end $$;
select tieout.keep_to_owner();

alter function tieout.grant_roles(text, text) rename to grant_all_roles;
create function tieout.grant_roles(writer text, reader text) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform tieout.grant_all_roles(writer, reader);
  perform tieout.keep_to_owner();
end $$;

-- Down Migration

drop function tieout.grant_roles(text, text);
alter function tieout.grant_all_roles(text, text) rename to grant_roles;
drop function tieout.keep_to_owner();
drop function tieout.redacted_sha256(tieout.chain_links);
delete from tieout.fact_sources where what = 'redaction';
do $$
declare
  path text := current_setting('search_path');
  facts text;
begin
  perform set_config('search_path', '', true);
  facts := pg_get_viewdef('tieout.facts'::regclass);
  perform set_config('search_path', path, true);
  -- all but the last of what it unites
  execute 'create or replace view tieout.facts as '
    || regexp_replace(facts, '^(.*)UNION ALL.*$', '\1');
end $$;
drop table tieout.redacted_links, tieout.redacted_texts, tieout.redactions;
