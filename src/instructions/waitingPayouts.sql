-- Requests that wait for a payout, oldest first: not history, not paid or on its way, and not one
-- that the gateway or a person refused, unless a person wants it planned again. $1 accounts
-- [{account_id, live_from}], $2 limit, $3 bytes of the longest id that an index holds.
with twin as materialized (
  select request_id, min(account_id collate "C") as least, max(account_id collate "C") as most
  from tieout.ledger_payouts() group by request_id
),
waiting as materialized (
  select p.account_id collate "C" as account_id, p.request_id, p.payload, p.requested_at, p.problem,
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
  order by p.requested_at, p.request_id limit $2
),
-- Payouts of which the ledger has no request any more, of each content the newest: a request that
-- is older was asked for when that one was planned, yet under no number that we knew. It is loaded
-- anew. Put aside as a set, too: one by one, each that waits long would read all that came after.
gone as materialized (
  select i.account_id, i.payload - 'request_id' as content, max(i.created_at) as planned_at
  from tieout.instructions i
  where i.operation = 'payout' and not i.is_void
    and i.account_id = any (array(select distinct account_id from waiting))
    and i.created_at >= (select min(requested_at) from waiting)
    and ((i.account_id, i.payload - 'request_id') in (
      select account_id, payload - 'request_id' from waiting)) is true
    and not exists (select from tieout.ledger_payouts() there
      where there.account_id collate "C" = i.account_id and there.request_id = i.transaction_id)
  group by 1, 2
)
select w.account_id, w.request_id, w.payload, w.requested_at, w.problem, w.copies,
  (select min(other.account_id) from (
    select unnest(array[twin.least, twin.most]) as account_id
    union all
    select i.account_id from tieout.instructions i
    where i.operation = 'payout' and i.transaction_id = w.request_id and not i.is_void
  ) other where other.account_id <> w.account_id) as elsewhere,
  (select min(c.called_by) from tieout.calls_by_hand(w.request_id) c) as by_hand_of,
  coalesce(gone.planned_at >= w.requested_at, false) as is_twin
from waiting w
join twin on twin.request_id = w.request_id
left join gone on gone.account_id = w.account_id and gone.content = w.payload - 'request_id'
order by w.requested_at, w.request_id
