-- Up Migration
-- How facts are read for a digest, and how they get their link (0012 says what a link is). As text
-- that no setting of a session changes: instants as seconds, days as numbers, bytes as digests.
create function tieout.fact_digest(content bytea) returns text language sql immutable as $$
  select encode(sha256(content), 'hex')
$$;

-- The pages of a look, each with the digests of its answer and of the orders and refund requests
-- that were asked in it. $1 pull, $2 account.
create function tieout.look_facts(bigint, text) returns table (pos bigint, line text)
language sql stable as $$
  with asked as (
    select page_no, count(*) as orders, tieout.fact_digest(convert_to(string_agg(
      row(order_no, in_ledger, currency, amount, expected, transaction_id, capture_amount,
        review_decision, extract(epoch from placed_at), ledger_problem)::text || E'\n', ''
      order by order_no), 'UTF8')) as digest
    from tieout.asked_orders where pull_id = $1 and account_id = $2
    group by page_no
  ),
  refund as (
    select count(*) as refunds, tieout.fact_digest(convert_to(string_agg(
      row(order_no, refund_id, refund_amount, extract(epoch from requested_at))::text || E'\n', ''
      order by refund_id, order_no), 'UTF8')) as digest
    from tieout.asked_refunds where pull_id = $1 and account_id = $2
  )
  select coalesce(p.page_no, a.page_no, -1)::bigint,
    row(coalesce(p.page_no, a.page_no), p.state, p.stands_for_walk, p.orders, p.entries, p.unasked,
      p.attempts, p.reason, extract(epoch from p.answered_at), encode(p.body_sha256, 'hex'),
      tieout.fact_digest(p.body_gzip), a.orders, a.digest)::text
  from (select * from tieout.pages where pull_id = $1 and account_id = $2) p
  full join asked a on a.page_no = p.page_no
  union all
  select -2, row('refunds', refunds, digest)::text from refund
$$;

-- Every fact with its account, its link and the text that is digested. A digest is that of all
-- lines of a link in the order of `pos`, then of their text, each ended by a line feed.
create view tieout.facts as
  select l.account_id, 'look' as what, f.pos, l.link_id, f.line
  from tieout.look_links l cross join lateral tieout.look_facts(l.pull_id, l.account_id) f
  union all
  select i.account_id, 'instruction', e.seq, e.link_id,
    row(e.seq, e.instruction_id, e.from_state, e.to_state, extract(epoch from e.at), e.by,
      e.reason, i.run_id, i.order_no, i.operation, i.transaction_id, i.currency, i.amount,
      i.refund_id, i.refund_amount, i.review_decision)::text as line
  from tieout.instruction_events e join tieout.instructions i using (instruction_id)
  union all
  select t.account_id, 'attempt', 0, t.link_id,
    row(t.attempt_id, t.batch_id, t.attempt_no, t.entries, t.body_sha256, t.host, t.boot_id, t.pid,
      t.process_started, extract(epoch from t.claimed_at), t.outcome,
      extract(epoch from t.finished_at), t.reason, tieout.fact_digest(t.request_gzip))::text
  from tieout.attempts t where t.outcome is not null
  union all
  select t.account_id, 'answer', 0, a.link_id,
    row(a.attempt_id, extract(epoch from a.received_at), a.http_status, a.content_type,
      a.content_encoding, a.body_sha256, tieout.fact_digest(a.body))::text
  from tieout.answers a join tieout.attempts t using (attempt_id)
  union all
  select b.account_id, 'break', e.event_id, e.link_id,
    row(e.event_id, b.order_no, b.kind, e.run_id, extract(epoch from e.at), e.event, e.from_state,
      e.by, e.reason, e.currency, e.amount, e.expected, e.actual, e.cause, e.is_claim,
      e.decision_id, e.decided_over)::text
  from tieout.break_events e join tieout.breaks b using (break_id)
  union all
  select account_id, 'decision', decision_id, link_id,
    row(decision_id, instruction_id, decision, extract(epoch from at), decided_by, is_claim,
      reason, reference, finding, seen, seen_sha256, row_before,
      extract(epoch from expires_at))::text
  from tieout.decisions
  union all
  select account_id, 'movement', movement_id, link_id,
    row(movement_id, instruction_id, order_no, operation, currency, amount,
      belongs_to - date '2000-01-01', posted_to - date '2000-01-01', settled_run_id,
      extract(epoch from posted_at))::text
  from tieout.day_movements
  union all
  select account_id, 'day', event_id, link_id,
    row(event_id, business_date - date '2000-01-01', event, extract(epoch from at), by, is_claim,
      reason, figures, open_items)::text
  from tieout.day_events
  union all
  select '' collate "C", 'brake', seq, link_id,
    row(seq, kind, account_id, is_on, reason, by, is_claim, extract(epoch from at), found)::text
  from tieout.brakes
  union all
  select '' collate "C", 'profile', 0, link_id,
    row(profile_sha256, profile)::text
  from tieout.profiles
  union all
  select '' collate "C", 'settings', settings_id, link_id,
    row(settings_id, run_id, extract(epoch from at), settings, settings_sha256, version)::text
  from tieout.run_settings
  union all
  select '' collate "C", 'working', w.working_id, w.link_id,
    row(w.working_id, w.run_id, w.kind, w.settings_id, w.account_ids, w.pull_id, w.failed_in,
      extract(epoch from w.at), w.last_instruction_event, w.last_break_event, (
        select tieout.fact_digest(convert_to(string_agg(row(c.break_id, c.state, c.expected,
          c.actual, c.fingerprint, c.currency, c.amount, c.last_run_id)::text || E'\n', ''
          order by c.break_id), 'UTF8'))
        from tieout.carried_breaks c where c.working_id = w.working_id))::text
  from tieout.workings w
  union all
  select '' collate "C", 'end', end_id, link_id,
    row(end_id, run_id, extract(epoch from at), state, failure, summary)::text
  from tieout.run_ends
  union all
  select '' collate "C", 'report', report_id, link_id,
    row(report_id, run_id, kind, format, revision, path, sha256, bytes,
      extract(epoch from written_at))::text
  from tieout.reports where state = 'written';

-- What is there of a link: how many facts, and their digest.
create function tieout.link_facts(link bigint, link_what text, account text)
returns table (facts bigint, facts_sha256 text) language sql stable as $$
  select count(*), tieout.fact_digest(convert_to(
    coalesce(string_agg(line || E'\n', '' order by pos, line collate "C"), ''), 'UTF8'))
  from tieout.facts f
  where f.link_id = link and f.what = link_what and f.account_id = account
$$;

create function tieout.link_sha256(l tieout.chain_links) returns text language sql immutable as $$
  select tieout.fact_digest(convert_to(concat_ws(E'\n', l.account_id, l.link_no,
    to_char(l.business_date, 'YYYY-MM-DD'), l.what, l.facts, l.facts_sha256, l.previous_sha256)
    || E'\n', 'UTF8'))
$$;

-- Appends a link to the chain of each account whose facts were marked with one of these ids; an id
-- belongs to one account. The heads are locked by the caller. Answers the number of links.
create function tieout.add_links(ids bigint[], day date, link_what text)
returns int language plpgsql as $$
declare
  links int;
begin
  with found as (
    select f.account_id, f.link_id, count(*) as facts, tieout.fact_digest(convert_to(
      string_agg(line || E'\n', '' order by pos, line collate "C"), 'UTF8')) as facts_sha256
    from tieout.facts f
    where f.link_id = any (ids) and f.what = link_what
    group by f.account_id, f.link_id
  ),
  link as (
    select row(h.account_id, h.link_no + 1, f.link_id, day, link_what, f.facts, f.facts_sha256,
      h.sha256, '', clock_timestamp())::tieout.chain_links as l
    from found f join tieout.chain_heads h using (account_id)
  ),
  added as (
    insert into tieout.chain_links
    select (l).account_id, (l).link_no, (l).link_id, (l).business_date, (l).what, (l).facts,
      (l).facts_sha256, (l).previous_sha256, tieout.link_sha256(l), (l).sealed_at
    from link
    returning account_id, link_no, sha256
  ),
  moved as (
    update tieout.chain_heads h set link_no = a.link_no, sha256 = a.sha256
    from added a where a.account_id = h.account_id
    returning h.account_id
  )
  select count(*) into links from moved;
  if links <> cardinality(ids) then
    raise exception 'of % links of % only % have facts', cardinality(ids), link_what, links;
  end if;
  return links;
end $$;

-- A look whose accounts all have their link is not asked about again: sealing costs the same on the
-- thousandth night as on the first.
alter table tieout.pulls add column is_sealed boolean not null default false;
create index pulls_to_seal on tieout.pulls (pull_id) where not is_sealed;

-- Seals everything of these accounts that is recorded and has no link yet: a link for each look of
-- an account and one for each kind of fact. What commits meanwhile is sealed the next time. The
-- heads are locked by the caller. Answers the number of links.
create function tieout.seal_held(accounts text[], day date, with_looks boolean)
returns int language plpgsql as $$
declare
  look bigint;
  source record;
  ids bigint[];
  links int := 0;
begin
  for look in
    select p.pull_id from tieout.pulls p join tieout.runs r using (run_id)
    where with_looks and not p.is_sealed and not r.is_dry
      -- a look that was never finished is given up after two days
      and (p.finished_at is not null or p.as_of < clock_timestamp() - interval '2 days')
      and exists (
        select from unnest(accounts) as a (account_id)
        where not exists (select from tieout.look_links l
            where l.pull_id = p.pull_id and l.account_id = a.account_id)
          and exists (select from tieout.asked_orders o
            where o.pull_id = p.pull_id and o.account_id = a.account_id))
    order by p.pull_id
  loop
    with linked as (
      insert into tieout.look_links (pull_id, account_id, link_id)
      select look, a.account_id, nextval('tieout.chain_link_ids')
      from unnest(accounts) as a (account_id)
      where not exists (select from tieout.look_links l
          where l.pull_id = look and l.account_id = a.account_id)
        and exists (select from tieout.asked_orders o
          where o.pull_id = look and o.account_id = a.account_id)
      returning account_id, link_id
    ),
    -- nobody goes on with it
    over as (
      update tieout.chunks c set state = 'done', token = null, leased_until = null
      from linked l where c.pull_id = look and c.account_id = l.account_id and c.state <> 'done'
    )
    select array_agg(link_id) into ids from linked;
    links := links + tieout.add_links(ids, day, 'look');
    update tieout.pulls p set is_sealed = true
    where p.pull_id = look and not exists (
      select from tieout.run_accounts a
      where a.run_id = p.run_id
        and not exists (select from tieout.look_links l
          where l.pull_id = look and l.account_id = a.account_id)
        and exists (select from tieout.asked_orders o
          where o.pull_id = look and o.account_id = a.account_id));
  end loop;
  for source in
    select * from tieout.fact_sources
    where is_of_account and accounts <> '{""}' or not is_of_account and '' = any (accounts)
    order by what
  loop
    execute format('with marked as (%s returning f.link_id)
      select array_agg(distinct link_id) from marked', source.mark)
    into ids
    using accounts, (select array_agg(nextval('tieout.chain_link_ids')) from unnest(accounts));
    if ids is not null then
      links := links + tieout.add_links(ids, day, source.what);
    end if;
  end loop;
  return links;
end $$;

-- Seals one account, waiting for whoever is at its chain.
create function tieout.seal(account text, day date, with_looks boolean default true)
returns int language plpgsql as $$
begin
  insert into tieout.chain_heads (account_id) values (account) on conflict do nothing;
  perform from tieout.chain_heads where account_id = account for update;
  return tieout.seal_held(array[account], day, with_looks);
end $$;

-- Seals those of many accounts at whose chain nobody is; answers the others. Holding some heads it
-- waits for no other, so that it blocks nobody who waits for it.
create function tieout.seal_free(accounts text[], day date)
returns text[] language plpgsql as $$
declare
  free text[];
begin
  insert into tieout.chain_heads (account_id) select unnest(accounts) on conflict do nothing;
  select coalesce(array_agg(account_id), '{}') into free from (
    select account_id from tieout.chain_heads where account_id = any (accounts)
    order by account_id for update skip locked) as head;
  perform tieout.seal_held(free, day, true);
  return array(select unnest(accounts) except select unnest(free));
end $$;

-- What a person decides gets its link in the same transaction, at its very end, so that nobody
-- waits for the chain longer than a commit takes. Looks are left to the night.
create function tieout.seal_decision() returns trigger language plpgsql as $$
declare
  account text;
begin
  execute format('select %s from tieout.%I where %I = $1 and link_id is null',
    tg_argv[1], tg_table_name, tg_argv[0])
    using (to_jsonb(new) ->> tg_argv[0])::bigint into account;
  -- one that was decided with it may have sealed it
  if account is not null then
    perform tieout.seal(account, (clock_timestamp() at time zone 'UTC')::date, false);
  end if;
  return null;
end $$;
create constraint trigger seal_decision after insert on tieout.decisions
  deferrable initially deferred
  for each row execute function tieout.seal_decision('decision_id', 'account_id');
create constraint trigger seal_decision after insert on tieout.day_events
  deferrable initially deferred
  for each row execute function tieout.seal_decision('event_id', 'account_id');
create constraint trigger seal_decision after insert on tieout.brakes
  deferrable initially deferred
  for each row execute function tieout.seal_decision('seq', '''''::text');
create constraint trigger seal_decision after insert on tieout.break_events
  deferrable initially deferred for each row when (new.by <> 'tieout')
  execute function tieout.seal_decision('event_id',
    '(select b.account_id from tieout.breaks b where b.break_id = break_events.break_id)');

-- How the facts of each kind that have no link are marked with one: $1 accounts, $2 as many links.
create table tieout.fact_sources (
  what text collate "C" primary key,
  is_of_account boolean not null,
  mark text not null
);
insert into tieout.fact_sources (what, is_of_account, mark)
select what, true, format('update tieout.%I f set link_id = n.id
  from unnest($1, $2) as n (account_id, id)%s
  where f.link_id is null and %s', relation, ', tieout.' || parent, condition)
from (values
  ('instruction', 'instruction_events', 'instructions p',
    'p.instruction_id = f.instruction_id and p.account_id = n.account_id'),
  ('attempt', 'attempts', null, 'f.outcome is not null and f.account_id = n.account_id'),
  ('answer', 'answers', 'attempts p',
    'p.attempt_id = f.attempt_id and p.account_id = n.account_id'),
  ('break', 'break_events', 'breaks p',
    'p.break_id = f.break_id and p.account_id = n.account_id'),
  ('decision', 'decisions', null, 'f.account_id = n.account_id'),
  ('movement', 'day_movements', null, 'f.account_id = n.account_id'),
  ('day', 'day_events', null, 'f.account_id = n.account_id')
) as source (what, relation, parent, condition);
insert into tieout.fact_sources (what, is_of_account, mark)
select what, false, format('update tieout.%I f set link_id = n.id
  from unnest($1, $2) as n (account_id, id)
  where f.link_id is null and n.account_id = ''''%s', relation, condition)
from (values
  ('brake', 'brakes', ''), ('profile', 'profiles', ''), ('settings', 'run_settings', ''),
  ('working', 'workings', ''), ('end', 'run_ends', ''),
  ('report', 'reports', ' and f.state = ''written''')
) as source (what, relation, condition);

-- Down Migration
drop trigger seal_decision on tieout.decisions;
drop trigger seal_decision on tieout.break_events;
drop trigger seal_decision on tieout.day_events;
drop trigger seal_decision on tieout.brakes;
drop index tieout.pulls_to_seal;
alter table tieout.pulls drop column is_sealed;
drop function tieout.seal_decision(), tieout.seal(text, date, boolean),
  tieout.seal_free(text[], date), tieout.seal_held(text[], date, boolean),
  tieout.add_links(bigint[], date, text),
  tieout.link_sha256(tieout.chain_links), tieout.link_facts(bigint, text, text);
drop view tieout.facts;
drop function tieout.look_facts(bigint, text), tieout.fact_digest(bytea);
drop table tieout.fact_sources;
