-- Up Migration
-- What looks brought is removed a month at a time (0031), when the configuration or a person says
-- so. What stays: that it was removed, of how many rows, by whom, and the digest that the chain
-- holds of each look. A removal is a fact like any other, sealed in the transaction that drops.
create table tieout.evidence_removals (
  removal_id bigint generated always as identity primary key,
  -- 2026_11; `before`: from before numbers bore their month
  month text not null unique,
  first_date date not null,
  last_date date not null check (last_date >= first_date),
  nights bigint not null,
  looks bigint not null,
  -- rows by relation
  rows jsonb not null,
  bytes bigint not null,
  -- the rule that was in force
  kept_months int not null check (kept_months > 0),
  by text not null check (btrim(by) <> ''),
  -- a name that nobody checked: given on a command line
  is_claim boolean not null,
  at timestamptz not null default clock_timestamp(),
  link_id bigint
);
create index evidence_removals_by_link on tieout.evidence_removals (link_id);
-- Each look that is gone, with what its link of the chain says of it.
create table tieout.removed_looks (
  pull_id bigint not null,
  account_id text collate "C" not null,
  removal_id bigint not null references tieout.evidence_removals,
  link_id bigint not null,
  facts bigint not null,
  facts_sha256 text not null,
  primary key (pull_id, account_id)
);
create index removed_looks_by_link on tieout.removed_looks (link_id);
create trigger guard_fact before update or delete on tieout.evidence_removals
  for each row execute function tieout.guard_fact();
create trigger guard_history before update or delete on tieout.removed_looks
  for each row execute function tieout.guard_history();

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
  select '' collate "C", 'removal', removal_id, link_id,
    row(removal_id, month, first_date - date '2000-01-01', last_date - date '2000-01-01', nights,
      looks, rows, bytes, kept_months, by, is_claim, extract(epoch from at), (
        select tieout.fact_digest(convert_to(string_agg(row(w.pull_id, w.account_id, w.link_id,
          w.facts, w.facts_sha256)::text || E'\n', '' order by w.pull_id, w.account_id), 'UTF8'))
        from tieout.removed_looks w where w.removal_id = r.removal_id))::text
  from tieout.evidence_removals r$view$;
end $$;
insert into tieout.fact_sources (what, is_of_account, mark)
values ('removal', false, 'update tieout.evidence_removals f set link_id = n.id
  from unnest($1, $2) as n (account_id, id)
  where f.link_id is null and n.account_id = ''''');

-- Down Migration
delete from tieout.fact_sources where what = 'removal';
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
drop table tieout.removed_looks, tieout.evidence_removals;
