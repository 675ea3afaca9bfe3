-- Up Migration
-- How the facts of a kind are read stands beside how they are marked, for sealing: the view
-- `tieout.facts`, which unites all of them, has to be planned whole in each session that asks it
-- about one, and most sessions that seal do so once. That both read the same is held by a test.
alter table tieout.fact_sources add column facts text;
-- looks are marked by `look_links`
alter table tieout.fact_sources alter column mark drop not null;
insert into tieout.fact_sources (what, is_of_account) values ('look', true);
update tieout.fact_sources s set facts = source.facts
from (values
('look', $$select l.account_id, 'look' as what, f.pos, l.link_id, f.line
  from tieout.look_links l cross join lateral tieout.look_facts(l.pull_id, l.account_id) f$$),
('instruction', $$select i.account_id, 'instruction' as what, e.seq as pos, e.link_id,
  row(e.seq, e.instruction_id, e.from_state, e.to_state, extract(epoch from e.at), e.by,
      e.reason, i.run_id, i.order_no, i.operation, i.transaction_id, i.currency, i.amount,
      i.refund_id, i.refund_amount, i.review_decision)::text as line
  from tieout.instruction_events e join tieout.instructions i using (instruction_id)$$),
('attempt', $$select t.account_id, 'attempt' as what, 0 as pos, t.link_id,
  row(t.attempt_id, t.batch_id, t.attempt_no, t.entries, t.body_sha256, t.host, t.boot_id, t.pid,
      t.process_started, extract(epoch from t.claimed_at), t.outcome,
      extract(epoch from t.finished_at), t.reason, tieout.fact_digest(t.request_gzip))::text as line
  from tieout.attempts t where t.outcome is not null$$),
('answer', $$select t.account_id, 'answer' as what, 0 as pos, a.link_id,
  row(a.attempt_id, extract(epoch from a.received_at), a.http_status, a.content_type,
      a.content_encoding, a.body_sha256, tieout.fact_digest(a.body))::text as line
  from tieout.answers a join tieout.attempts t using (attempt_id)$$),
('break', $$select b.account_id, 'break' as what, e.event_id as pos, e.link_id,
  row(e.event_id, b.order_no, b.kind, e.run_id, extract(epoch from e.at), e.event, e.from_state,
      e.by, e.reason, e.currency, e.amount, e.expected, e.actual, e.cause, e.is_claim,
      e.decision_id, e.decided_over)::text as line
  from tieout.break_events e join tieout.breaks b using (break_id)$$),
('decision', $$select account_id, 'decision' as what, decision_id as pos, link_id,
  row(decision_id, instruction_id, decision, extract(epoch from at), decided_by, is_claim,
      reason, reference, finding, seen, seen_sha256, row_before,
      extract(epoch from expires_at))::text as line
  from tieout.decisions$$),
('movement', $$select account_id, 'movement' as what, movement_id as pos, link_id,
  row(movement_id, instruction_id, order_no, operation, currency, amount,
      belongs_to - date '2000-01-01', posted_to - date '2000-01-01', settled_run_id,
      extract(epoch from posted_at))::text as line
  from tieout.day_movements$$),
('day', $$select account_id, 'day' as what, event_id as pos, link_id,
  row(event_id, business_date - date '2000-01-01', event, extract(epoch from at), by, is_claim,
      reason, figures, open_items)::text as line
  from tieout.day_events$$),
('brake', $$select '' collate "C" as account_id, 'brake' as what, seq as pos, link_id,
  row(seq, kind, account_id, is_on, reason, by, is_claim, extract(epoch from at),
      found)::text as line
  from tieout.brakes$$),
('profile', $$select '' collate "C" as account_id, 'profile' as what, 0 as pos, link_id,
  row(profile_sha256, profile)::text as line
  from tieout.profiles$$),
('settings', $$select '' collate "C" as account_id, 'settings' as what, settings_id as pos, link_id,
  row(settings_id, run_id, extract(epoch from at), settings, settings_sha256,
      version)::text as line
  from tieout.run_settings$$),
('working', $$select '' collate "C" as account_id, 'working' as what, w.working_id as pos,
  w.link_id,
  row(w.working_id, w.run_id, w.kind, w.settings_id, w.account_ids, w.pull_id, w.failed_in,
      extract(epoch from w.at), w.last_instruction_event, w.last_break_event, (
        select tieout.fact_digest(convert_to(string_agg(row(c.break_id, c.state, c.expected,
          c.actual, c.fingerprint, c.currency, c.amount, c.last_run_id)::text || E'\n', ''
          order by c.break_id), 'UTF8'))
        from tieout.carried_breaks c where c.working_id = w.working_id))::text as line
  from tieout.workings w$$),
('end', $$select '' collate "C" as account_id, 'end' as what, end_id as pos, link_id,
  row(end_id, run_id, extract(epoch from at), state, failure, summary)::text as line
  from tieout.run_ends$$),
('report', $$select '' collate "C" as account_id, 'report' as what, report_id as pos, link_id,
  row(report_id, run_id, kind, format, revision, path, sha256, bytes,
      extract(epoch from written_at))::text as line
  from tieout.reports where state = 'written'$$),
('removal', $$select '' collate "C" as account_id, 'removal' as what, removal_id as pos, link_id,
  row(removal_id, month, first_date - date '2000-01-01', last_date - date '2000-01-01', nights,
      looks, rows, bytes, kept_months, by, is_claim, extract(epoch from at), (
        select tieout.fact_digest(convert_to(string_agg(row(w.pull_id, w.account_id, w.link_id,
          w.facts, w.facts_sha256)::text || E'\n', '' order by w.pull_id, w.account_id), 'UTF8'))
        from tieout.removed_looks w where w.removal_id = r.removal_id))::text as line
  from tieout.evidence_removals r$$),
('book', $$select account_id, 'book' as what, 0 as pos, link_id,
  row(begins - date '2000-01-01', history_before - date '2000-01-01', run_id)::text as line
  from tieout.movement_books$$),
('booked', $$select account_id, 'booked' as what, movement_id as pos, link_id,
  row(movement_id, order_no, transaction_id, kind, currency, amount, made, instruction_id,
      reference, business_date - date '2000-01-01', run_id, is_history,
      day_movement_id)::text as line
  from tieout.movements$$),
('amount', $$select m.account_id, 'amount' as what, a.amount_id as pos, a.link_id,
  row(a.amount_id, a.movement_id, a.amount, a.known_by, a.business_date - date '2000-01-01',
      a.run_id, a.change, a.suspense)::text as line
  from tieout.movement_amounts a join tieout.movements m using (movement_id)$$),
('file', $$select '' collate "C" as account_id, 'file' as what, file_id as pos, link_id,
  row(file_id, name, sha256, map_sha256, accounts, batches, lines, totals,
      extract(epoch from imported_at))::text as line
  from tieout.settlement_files$$),
('settlement', $$select account_id, 'settlement' as what, file_id as pos, link_id,
  row(batch, currency, file_id, lines, gross, fees, payout, has_payout,
      extract(epoch from first_booked_at), extract(epoch from last_booked_at), digest,
      tieout.settled_lines_sha256(account_id, batch, currency))::text as line
  from tieout.settlement_batches$$),
('redaction', $$select '' collate "C" as account_id, 'redaction' as what, redaction_id as pos,
  link_id,
  row(redaction_id, extract(epoch from at), by, is_claim, reason, (
        select tieout.fact_digest(convert_to(string_agg(row(t.relation, t.key, t.field,
          t.signs)::text || E'\n', '' order by t.relation, t.key, t.field), 'UTF8'))
        from tieout.redacted_texts t where t.redaction_id = r.redaction_id), (
        select tieout.fact_digest(convert_to(string_agg(row(k.link_id, k.account_id, k.what,
          k.facts, k.sealed_sha256, k.after_sha256)::text || E'\n', ''
          order by k.link_id, k.account_id, k.what), 'UTF8'))
        from tieout.redacted_links k where k.redaction_id = r.redaction_id))::text as line
  from tieout.redactions r$$)
) as source (what, facts)
where s.what = source.what;
alter table tieout.fact_sources alter column facts set not null;

-- Appends a link to the chain of each account whose facts were marked with one of these ids; an id
-- belongs to one account. The heads are locked by the caller. Answers the number of links.
create or replace function tieout.add_links(ids bigint[], day date, link_what text)
returns int language plpgsql as $$
declare
  found tieout.chain_links[];
  links int;
begin
  execute format($facts$
    select array_agg(row(account_id, 0, link_id, $2, $3, facts, facts_sha256, '', '',
      clock_timestamp())::tieout.chain_links)
    from (
      select f.account_id, f.link_id, count(*) as facts, tieout.fact_digest(convert_to(
        string_agg(line || E'\n', '' order by pos, line collate "C"), 'UTF8')) as facts_sha256
      from (%s) f where f.link_id = any ($1) group by f.account_id, f.link_id
    ) as found $facts$, (select s.facts from tieout.fact_sources s where s.what = link_what))
  into found using ids, day, link_what;
  with link as (
    select row(h.account_id, h.link_no + 1, f.link_id, f.business_date, f.what, f.facts,
      f.facts_sha256, h.sha256, '', f.sealed_at)::tieout.chain_links as l
    from unnest(found) f join tieout.chain_heads h using (account_id)
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

-- Seals everything of these accounts that is recorded and has no link yet: a link for each look of
-- an account and one for each kind of fact. What commits meanwhile is sealed the next time. The
-- heads are locked by the caller. Answers the number of links.
create or replace function tieout.seal_held(accounts text[], day date, with_looks boolean)
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
    select what, mark from tieout.fact_sources
    where mark is not null
      and (is_of_account and accounts <> '{""}' or not is_of_account and '' = any (accounts))
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

-- Down Migration
create or replace function tieout.add_links(ids bigint[], day date, link_what text)
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

create or replace function tieout.seal_held(accounts text[], day date, with_looks boolean)
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
delete from tieout.fact_sources where what = 'look';
alter table tieout.fact_sources alter column mark set not null, drop column facts;
