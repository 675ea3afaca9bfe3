-- Up Migration
-- What the acquirer said becomes a fact of the chain: each of its files, and each batch with the
-- digest of all its lines. The lines themselves bear no link, since millions of them come at once
-- and a batch is taken whole. What was taken before is sealed by the next run.
alter table tieout.settlement_files add column link_id bigint;
alter table tieout.settlement_batches add column link_id bigint;
create index settlement_files_by_link on tieout.settlement_files (link_id);
create index settlement_batches_by_link on tieout.settlement_batches (link_id);

drop trigger guard_settlement on tieout.settlement_files;
drop trigger guard_settlement on tieout.settlement_batches;
create trigger guard_fact before update or delete on tieout.settlement_files
  for each row execute function tieout.guard_fact();
create trigger guard_fact before update or delete on tieout.settlement_batches
  for each row execute function tieout.guard_fact();

-- The digest of all lines of a batch in one currency, each digested for itself: of a million lines
-- their text is too much for one value.
create function tieout.settled_lines_sha256(account text, batch_name text, settled_in text)
returns text language sql stable as $$
  select tieout.fact_digest(string_agg(sha256(convert_to(row(settlement_line_id, line_id, line_no,
    type, extract(epoch from booked_at), order_no, transaction_id, reference, currency, amount,
    gross, fee, net)::text, 'UTF8')), '' order by settlement_line_id))
  from tieout.settlement_lines
  where account_id = account and batch = batch_name and settle_currency = settled_in
$$;

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
  select '' collate "C", 'file', file_id, link_id,
    row(file_id, name, sha256, map_sha256, accounts, batches, lines, totals,
      extract(epoch from imported_at))::text
  from tieout.settlement_files
  union all
  select account_id, 'settlement', file_id, link_id,
    row(batch, currency, file_id, lines, gross, fees, payout, has_payout,
      extract(epoch from first_booked_at), extract(epoch from last_booked_at), digest,
      tieout.settled_lines_sha256(account_id, batch, currency))::text
  from tieout.settlement_batches$view$;
end $$;
insert into tieout.fact_sources (what, is_of_account, mark)
values ('file', false, 'update tieout.settlement_files f set link_id = n.id
  from unnest($1, $2) as n (account_id, id)
  where f.link_id is null and n.account_id = '''''),
('settlement', true, 'update tieout.settlement_batches f set link_id = n.id
  from unnest($1, $2) as n (account_id, id)
  where f.link_id is null and f.account_id = n.account_id');

-- Down Migration
delete from tieout.fact_sources where what in ('file', 'settlement');
do $$
declare
  path text := current_setting('search_path');
  facts text;
begin
  perform set_config('search_path', '', true);
  facts := pg_get_viewdef('tieout.facts'::regclass);
  perform set_config('search_path', path, true);
  -- all but the last two of what it unites
  for part in 1..2 loop
    facts := regexp_replace(facts, '^(.*)UNION ALL.*$', '\1');
  end loop;
  execute 'create or replace view tieout.facts as ' || facts;
end $$;
drop function tieout.settled_lines_sha256(text, text, text);
drop trigger guard_fact on tieout.settlement_files;
drop trigger guard_fact on tieout.settlement_batches;
create trigger guard_settlement before update or delete on tieout.settlement_files
  for each statement execute function tieout.guard_settlement();
create trigger guard_settlement before update or delete on tieout.settlement_batches
  for each statement execute function tieout.guard_settlement();
drop index tieout.settlement_files_by_link, tieout.settlement_batches_by_link;
alter table tieout.settlement_files drop column link_id;
alter table tieout.settlement_batches drop column link_id;
