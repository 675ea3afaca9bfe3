-- Requests that wait for a payout, oldest first: not history, not paid or on its way, and not one
-- that the gateway or a person refused, unless a person wants it planned again, or one that a
-- person refused asks for something else by now: then it waits. What is held already comes last,
-- since nothing of it goes unweighed; with how many others of each account were left out. $1
-- accounts [{account_id, live_from}], $2 limit, $3 bytes of the longest id that an index holds, $4
-- now, $5 how long after one has left another is taken for the same, loaded anew, $6 how much later
-- than that the leaving may be noted.
with twin as materialized (
  select request_id, min(account_id collate "C") as least, max(account_id collate "C") as most
  from tieout.ledger_payouts() group by request_id
),
every as materialized (
  select newest.state is not distinct from 'held' as is_held,
    row_number() over (
      order by newest.state is not distinct from 'held', p.requested_at, p.request_id) as place,
    p.account_id collate "C" as account_id, p.request_id, p.payload, p.requested_at, p.problem,
    count(*) over (partition by p.account_id, p.request_id) as copies
  from tieout.ledger_payouts() p
  join jsonb_to_recordset($1::jsonb) as a (account_id text, live_from timestamptz)
    on a.account_id collate "C" = p.account_id collate "C"
  left join lateral (
    select * from tieout.instructions i
    where i.operation = 'payout' and i.account_id = p.account_id collate "C"
      and i.transaction_id = p.request_id
    order by i.instruction_id desc limit 1
  ) newest on true
  where (a.live_from is null or p.requested_at >= a.live_from or p.requested_at is null)
    and octet_length(p.request_id) <= $3
    -- Most of the history is paid: put aside as a set, before anything is asked one by one.
    and not exists (
      select from tieout.instructions done
      where done.operation = 'payout' and done.state = 'confirmed'
        and done.account_id = p.account_id collate "C"
        and done.transaction_id = p.request_id)
    and (newest.state is null or newest.state in ('planned', 'held', 'queued')
      or (newest.state in ('rejected', 'withdrawn') and newest.replan_id is not null)
      or (newest.state = 'withdrawn'
        and (not newest.is_refused or newest.payload <> p.payload)))
),
waiting as materialized (
  select account_id, request_id, payload, requested_at, problem, copies
  from every where place <= $2::bigint
),
-- Since when nobody has weighed what came, where payouts were off by the newest plan: that may have
-- come at any time since.
off as materialized (
  select a.account_id, (
    select min(s.at) from tieout.run_accounts ra
    join tieout.run_settings s on s.settings_id = ra.planned_by
    where ra.account_id = a.account_id and s.at > coalesce((
      select max(s.at) from tieout.run_accounts ra
      join tieout.run_settings s on s.settings_id = ra.planned_by
      where ra.account_id = a.account_id and s.settings #>> '{operations,mode,payout}' <> 'off'
    ), '-infinity')) as since
  from (select distinct account_id from waiting) a
  cross join lateral (
    select ra.planned_by from tieout.run_accounts ra
    where ra.account_id = a.account_id and ra.planned_by is not null
    order by ra.business_date desc limit 1
  ) newest
  join tieout.run_settings last on last.settings_id = newest.planned_by
  where last.settings #>> '{operations,mode,payout}' = 'off'
),
-- With the requests of the same content, of whatever account, that have left the ledger, where
-- one of them was paid, or may have been, also by hand, or the gateway or a person refused it
-- (under another number it would go past whoever has to have it planned again): the newest that
-- was planned, and which left last before one that waits was first weighed, or later: within
-- $5. That one was asked for when that was planned, yet under no number that we knew, or came
-- as one of them left: it may be that one, loaded anew. Which one it is nobody can tell where
-- several wait, and one that waits for a person already stands in for none: each of them waits.
-- A host whose clock is ahead may note the leaving up to $6 after the request was weighed.
beside as materialized (
  select *, max(planned_at) over (partition by content) as paid_at,
    max(left_at) over (partition by content order by weighed_at
      range between unbounded preceding and $6::interval following) as last_left
  from (
    select account_id, payload - 'request_id' as content, true as waits, request_id, payload,
      requested_at, problem, copies, null::timestamptz as planned_at, null::timestamptz as left_at,
      coalesce((
        select min(i.created_at) from tieout.instructions i
        where i.operation = 'payout' and i.account_id = waiting.account_id
          and i.transaction_id = waiting.request_id
      ), $4::timestamptz) as weighed_at
    from waiting
    union all
    select i.account_id, i.payload - 'request_id', false, i.transaction_id, null, null, null, null,
      max(i.created_at) filter (where tieout.bars_twins(i)),
      l.left_at, l.left_at
    from tieout.instructions i
    join tieout.payouts_left l
      on l.account_id = i.account_id and l.request_id = i.transaction_id
    where i.operation = 'payout'
      and (i.payload - 'request_id' in (select payload - 'request_id' from waiting)) is true
    group by i.account_id, 2, i.transaction_id, l.left_at
  ) as request
)
select w.account_id, w.request_id, w.payload, w.requested_at, w.problem, w.copies,
  (select min(account_id) from unnest(array[twin.least, twin.most, past.made]) as account_id
    where account_id <> w.account_id) as elsewhere,
  (select min(c.called_by) from tieout.calls_by_hand(w.request_id) c) as by_hand_of,
  coalesce(past.stands, false) or w.paid_at is not null and (coalesce(
    w.last_left >= least(w.weighed_at, off.since) - $5::interval or w.paid_at >= w.requested_at,
    false)) as is_twin,
  (select jsonb_agg(one) from (
    select account_id, count(*) as requests, min(requested_at) as oldest
    from every where place > $2 and not is_held group by account_id order by account_id) one
  ) as left_out
from beside w
join twin on twin.request_id = w.request_id
left join off on off.account_id = w.account_id
-- What became of the request before, also under another account: made, or perhaps; refused, or it
-- waited as a twin already and whoever is asked has not decided, and since then nobody had just
-- what it asks for planned again.
cross join lateral (
  select min(i.account_id) filter (where i.account_id <> w.account_id and not i.is_void) as made,
    bool_or(i.replan_id is null and (i.is_refused
      or i.account_id <> w.account_id and i.state = 'rejected'
      or i.account_id = w.account_id and exists (select from tieout.instruction_events e
        where e.instruction_id = i.instruction_id and e.reason = 'twin_request'))
      and not exists (
        select from tieout.instructions again
        where again.operation = 'payout' and again.transaction_id = i.transaction_id
          and again.account_id = i.account_id and again.instruction_id > i.instruction_id
          and again.replan_id is not null and again.payload = w.payload)) as stands
  from tieout.instructions i
  where i.operation = 'payout' and i.transaction_id = w.request_id
) past
where w.waits
order by w.requested_at, w.request_id
