-- Up Migration
-- What several statements ask stands here once, as a function or a view: no statement of the
-- program is put together from the texts of others. A function that answers rows is one query, so
-- that the server plans it as a part of the statement that asks it.

-- Gateway minus ledger. What we captured counts, where the gateway does not tell.
create function tieout.tolerated_difference(taken numeric, gateway_amount numeric, to_take numeric,
  ledger_amount numeric) returns numeric
language sql immutable parallel safe as $$
  select coalesce(taken, gateway_amount) - coalesce(to_take, ledger_amount)
$$;

-- Every order of one account of a run as its reports see it, one row each, by number: the ledger as
-- it stood, the newest snapshot of the run (of several entries the one that counts), the class;
-- `snapshot` is that of the night. Reports read these rows as they are (orderRows in
-- reportRowsStore.ts) and sum them up (currencySums.sql), so that rows and sums cannot differ in
-- what they see. Orders and entries are walked in the order of their indexes, account by account:
-- nothing large is sorted or hashed.
create function tieout.seen_orders(run bigint, account text, snapshot bigint)
returns table (account_id text, order_no text, class text, kinds text[], expected text,
  gateway_state text, payment_status text, currency text, ledger_amount numeric,
  gateway_amount numeric, gateway_amount_text text, transaction_id text, transaction_date text,
  placed_at timestamptz)
language sql stable as $$
  with special as materialized (
    -- Orders with more than one entry, or looked at again after sending: few. Each half of the
    -- entries has an index of its own. A later snapshot of all orders that was cut short is of no
    -- account.
    select distinct on (order_no) order_no, state, payment_status, currency, amount, amount_text,
      transaction_id, transaction_date
    from (
      select again.* from tieout.pulls p
      -- The offsets keep these walks of an index: joined as a whole, all snapshots would be read.
      cross join lateral (
        select * from tieout.look_entries where pull_id = p.pull_id and account_id = account
          and not is_extra
        offset 0
      ) again
      where p.run_id = run and p.pull_id > snapshot and p.kind = 'confirm'
      union all
      select extra.* from tieout.pulls p
      cross join lateral (
        select * from tieout.look_entries where pull_id = p.pull_id and account_id = account
          and is_extra
        offset 0
      ) extra
      where p.run_id = run and (p.pull_id = snapshot or p.pull_id > snapshot and p.kind = 'confirm')
      union all
      select plain.* from (
        select distinct order_no from tieout.look_entries
        where pull_id = snapshot and account_id = account and is_extra
      ) crowded
      cross join lateral (
        select * from tieout.look_entries where pull_id = snapshot and account_id = account
          and order_no = crowded.order_no and not is_extra
        offset 0
      ) plain
    ) e
    order by order_no, pull_id desc, coalesce(state, '') in ('cancelled', 'declined'),
      transaction_at desc nulls last, transaction_id desc
  )
  select o.account_id, o.order_no, coalesce(v.class, 'matched') as class, v.kinds, o.expected,
    case when s.order_no is null then e.state else s.state end as gateway_state,
    case when s.order_no is null then e.payment_status else s.payment_status end as payment_status,
    coalesce(o.currency, s.currency, e.currency) as currency, o.amount as ledger_amount,
    case when s.order_no is null then e.amount else s.amount end as gateway_amount,
    -- of an amount that lacks the printed shape
    case when s.order_no is null then e.amount_text else s.amount_text end as gateway_amount_text,
    case when s.order_no is null then e.transaction_id else s.transaction_id end as transaction_id,
    case when s.order_no is null then e.transaction_date else s.transaction_date end
      as transaction_date,
    o.placed_at
  from tieout.asked_orders o
  left join tieout.look_entries e
    on e.pull_id = snapshot and e.account_id = account and e.order_no = o.order_no
      and not e.is_extra
  left join special s on s.order_no = o.order_no
  left join tieout.verdicts v
    on v.run_id = run and v.account_id = account and v.order_no = o.order_no
  where o.pull_id = snapshot and o.account_id = account
  order by o.order_no
$$;

-- The breaks that were open at the end of a run, as its events tell, oldest first.
create function tieout.open_as_of(run bigint)
returns table (account_id text, order_no text, kind text, first_seen timestamptz, owner text,
  note text, expected jsonb, actual jsonb, currency text, stake text)
language sql stable as $$
  with latest as (
    select distinct on (b.break_id) b.account_id, b.order_no, b.kind, b.first_seen, b.owner, b.note,
      e.event, e.expected, e.actual, e.currency, e.amount
    from tieout.run_accounts a
    join tieout.breaks b using (account_id)
    join tieout.break_events e on e.break_id = b.break_id
      and (a.events_until is null or e.event_id <= a.events_until)
    where a.run_id = run and e.event in ('opened', 'reopened', 'resolved', 'waived')
    order by b.break_id, e.event_id desc
  )
  select account_id, order_no, kind, first_seen, owner, note, expected, actual, currency,
    amount::text as stake
  from latest where event in ('opened', 'reopened')
  order by first_seen, account_id, order_no, kind
$$;

-- Where the sending of each account stands: its newest run, that run's block, canary and breaker,
-- and every brake that holds for it. One row an account. Asked so often that its plan is kept: of a
-- subselect the planner supposes the same number of accounts whether it plans for these or for any.
create function tieout.sending_status(accounts text[])
returns table (account_id text, run_id bigint, send_block text, sending text,
  canary_batch_id bigint, sending_reason text, environment text, settings_sha256 text,
  brakes jsonb)
language sql stable as $$
  select wanted.account_id, newest.run_id, newest.send_block, newest.sending,
    newest.canary_batch_id, newest.sending_reason, newest.environment,
    newest.settings_sha256,
    coalesce((
      select jsonb_agg(jsonb_build_object('kind', b.kind, 'account_id', b.account_id,
        'reason', b.reason, 'by', b.by, 'at', b.at) order by b.seq)
      from tieout.standing_brakes b
      where b.account_id is null or b.account_id = wanted.account_id
    ), '[]') as brakes
  from unnest((select accounts)) as wanted (account_id)
  left join lateral (
    select ra.*, r.environment, r.settings_sha256
    from tieout.run_accounts ra
    join tieout.runs r using (run_id)
    where ra.account_id = wanted.account_id collate "C" and not r.is_dry
    order by ra.business_date desc
    limit 1
  ) newest on true
$$;

-- Breaks that match: what is null does not matter. An owner of '' is nobody.
create function tieout.found_breaks(ids bigint[], accounts text[], kinds text[], states text[],
  currency text, owner text, min_amount numeric, max_amount numeric, searched text,
  seen_from timestamptz, seen_before timestamptz, order_no text, cause text)
returns setof tieout.break_facts
language sql stable as $$
  select f.* from tieout.break_facts f
  where (ids is null or f.break_id = any (ids))
    and (accounts is null or f.account_id = any (accounts))
    and (kinds is null or f.kind = any (kinds))
    and (states is null or f.state = any (states))
    and (found_breaks.currency is null or f.currency = found_breaks.currency)
    and (found_breaks.owner is null or coalesce(f.owner, '') = found_breaks.owner)
    and (min_amount is null or f.stake >= min_amount)
    and (max_amount is null or f.stake <= max_amount)
    and (found_breaks.searched is null
      or position(lower(found_breaks.searched) in f.searched) > 0)
    and (seen_from is null or f.first_seen >= seen_from)
    and (seen_before is null or f.first_seen < seen_before)
    and (found_breaks.order_no is null or f.order_no = found_breaks.order_no)
    and (found_breaks.cause is null or f.cause = found_breaks.cause)
$$;

-- An amount as text: a JSON number would lose its last zero, and a large one its digits. Of a view
-- as it is written there, if it is no number.
create function tieout.shown_amount(amount numeric, written text) returns text
language sql immutable parallel safe as $$
  select coalesce(nullif(round(amount, 2)::text, 'NaN'), written)
$$;

-- The calls by hand that paid a request, or may have: an id is text of either case there.
create function tieout.calls_by_hand(request_id text) returns setof tieout.gateway_calls
language sql stable as $$
  select c.* from tieout.gateway_calls c
  where c.operation = 'payout' and (c.outcome is null or c.outcome not in ('rejected', 'not_sent'))
    and c.entries @> any (array[
      jsonb_build_array(jsonb_build_object('request_id', calls_by_hand.request_id)),
      jsonb_build_array(jsonb_build_object('request_id', upper(calls_by_hand.request_id)))])
$$;

-- The worst of the states that accounts of a run are in.
create function tieout.worst_state(states text[]) returns text
language sql immutable parallel safe as $$
  select case
    when 'failed' = any (states) then 'failed'
    when 'running' = any (states) then 'running'
    when 'incomplete' = any (states) then 'incomplete'
    when 'broken' = any (states) then 'broken'
    else 'tied_out' end
$$;

-- Whether who may see these accounts may see all of a run.
create function tieout.sees_run(accounts text[], run bigint) returns boolean
language sql stable as $$
  select not exists (select from tieout.run_accounts ra
    where ra.run_id = run and not ra.account_id = any (accounts))
$$;

-- A chunk whose worker shows no life. A lease that lies further ahead than any is given out for was
-- written by a clock that was ahead.
create function tieout.is_lapsed(leased_until timestamptz, lease_seconds int) returns boolean
language sql volatile as $$
  select leased_until < clock_timestamp()
    or leased_until > clock_timestamp() + make_interval(secs => lease_seconds)
$$;

-- What the server says of itself: `unsafe` are the settings that are off, and with which it forgets
-- what it has acknowledged, save on servers that tests start and throw away.
create view tieout.server_facts as
select pg_is_in_recovery() as is_replica,
  case when not pg_is_in_recovery() then left(pg_walfile_name(pg_current_wal_lsn()), 8) end
    as timeline,
  extract(epoch from pg_postmaster_start_time())::text as started_at,
  (select oid::text from pg_database where datname = current_database()) as database,
  array(select name || ' = off'
    from unnest('{fsync,full_page_writes,synchronous_commit}'::text[]) as name
    where current_setting(name) = 'off'
      and current_setting('tieout.throwaway', true) is distinct from 'on') as unsafe;

-- Not one that was loaded from a dump beside it, or in its place, under the same server. Rows of
-- older versions name the cluster alone.
create function tieout.is_this_base(verified_system text, database text) returns boolean
language sql immutable parallel safe as $$
  select coalesce(split_part(verified_system, '/', 2), '') in ('', database)
$$;

-- Journals in use within a month, and not held against this server since it was started; one host
-- may have more than one.
create view tieout.absent_journals as
select j.journal_id, j.host, j.place, j.host || ' (' || j.place || ')' as name
from tieout.journals j cross join tieout.server_facts facts
where (j.verified_start is distinct from facts.started_at
    or j.verified_timeline is distinct from facts.timeline
    or not tieout.is_this_base(j.verified_system, facts.database))
  and j.verified_at > clock_timestamp() - interval '30 days'
  and (j.excused_at is null or j.excused_at < j.verified_at);

-- The newest decision on each of these instructions.
create function tieout.newest_decisions(instructions bigint[]) returns setof tieout.decisions
language sql stable as $$
  select distinct on (d.instruction_id) d.* from tieout.decisions d
  where d.instruction_id = any (instructions) order by d.instruction_id, d.decision_id desc
$$;

-- Down Migration
drop function tieout.newest_decisions(bigint[]);
drop view tieout.absent_journals;
drop function tieout.is_this_base(text, text);
drop view tieout.server_facts;
drop function tieout.is_lapsed(timestamptz, int);
drop function tieout.sees_run(text[], bigint);
drop function tieout.worst_state(text[]);
drop function tieout.calls_by_hand(text);
drop function tieout.shown_amount(numeric, text);
drop function tieout.found_breaks(bigint[], text[], text[], text[], text, text, numeric, numeric,
  text, timestamptz, timestamptz, text, text);
drop function tieout.sending_status(text[]);
drop function tieout.open_as_of(bigint);
drop function tieout.seen_orders(bigint, text, bigint);
drop function tieout.tolerated_difference(numeric, numeric, numeric, numeric);
