-- The breaks that were open at the end of a run, as they stood then, with owner, note and the
-- waiver that waits as they are today, oldest first; of all kinds, or of these. $1 runs, of which
-- the newest of each account counts, $2 kinds.
-- What has no event since is read as it stands: the cost grows with what happened since, not with
-- history. As evidence asks, tieout.open_as_of takes the same breaks from their events alone, each
-- with what was said when it opened.
with run as materialized (
  select distinct on (account_id) account_id, events_until, pull_id from tieout.run_accounts
  where run_id = any ($1::bigint[])
  order by account_id, events_until is null, business_date desc
),
touched as materialized (
  select distinct break_id from tieout.break_events
  where event_id > (select min(events_until) from run)
),
untouched as (
  select b.break_id, b.account_id, b.order_no, b.kind, b.first_seen, b.owner, b.note, b.expected,
    b.actual, b.currency, b.amount, b.fingerprint, b.waiver_asked_by, b.waiver_asked_reason,
    coalesce(b.waiver_asked_for = b.fingerprint, false) as waiver_waits
  from run join tieout.breaks b using (account_id)
  where b.state = 'open' and not exists (select from touched t where t.break_id = b.break_id)
),
then_open as (
  select b.break_id, b.account_id, b.order_no, b.kind, b.first_seen, b.owner, b.note,
    said.expected, said.actual, said.currency, said.amount, b.fingerprint, b.waiver_asked_by,
    b.waiver_asked_reason,
    b.state = 'open' and coalesce(b.waiver_asked_for = b.fingerprint, false) as waiver_waits
  from touched join tieout.breaks b using (break_id) join run using (account_id)
  cross join lateral (
    select event from tieout.break_events e
    where e.break_id = b.break_id and (run.events_until is null or e.event_id <= run.events_until)
      and event in ('opened', 'reopened', 'resolved', 'waived')
    order by event_id desc limit 1) as state
  cross join lateral (
    select expected, actual, currency, amount from tieout.break_events e
    where e.break_id = b.break_id and (run.events_until is null or e.event_id <= run.events_until)
      and event in ('opened', 'reopened', 'changed')
    order by event_id desc limit 1) as said
  where state.event in ('opened', 'reopened')
),
standing as not materialized (
  select * from untouched union all select * from then_open
),
-- What all refund requests of an order come to, as that run had them: its sentence may say so.
asked as materialized (
  select r.account_id as of_account, r.order_no as of_order,
    round(sum(r.refund_amount), 2)::text as asked
  from run
  join tieout.asked_refunds r on r.pull_id = run.pull_id and r.account_id = run.account_id
  where exists (select from tieout.breaks b where b.account_id = r.account_id
    and b.order_no = r.order_no and b.kind = 'refund_mismatch')
  group by r.account_id, r.order_no
)
select break_id::text as break_id, account_id, order_no, kind, first_seen, owner, note,
  expected || jsonb_strip_nulls(jsonb_build_object('asked', asked)) as expected,
  case when waiver_waits then waiver_asked_by end as waiver_asked_by,
  case when waiver_waits then waiver_asked_reason end as waiver_asked_reason,
  actual, currency, round(amount, 2)::text as opened,
  round(coalesce(tieout.break_money(kind, currency, expected, actual), amount), 2)::text as stake,
  case when kind = 'refund_mismatch' then tieout.settled_refunds(account_id, order_no,
    actual ->> 'transaction') end as settled_refunds,
  case when kind in ('refund_mismatch', 'state_mismatch') then tieout.refused_here(account_id,
    order_no, kind, expected, actual) end as refused,
  tieout.break_seen_sha256('open', expected, actual, fingerprint) as seen_sha256,
  (select max(event_id) from tieout.break_events e where e.break_id = open.break_id) as last_event
from standing as open
left join asked on open.kind = 'refund_mismatch' and of_account = account_id and of_order = order_no
where $2::text[] is null or kind = any ($2)
order by first_seen, account_id, order_no, kind
