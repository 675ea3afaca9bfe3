-- Opens, keeps, reopens and resolves the breaks of settlement by what differs now
-- (settlement_found, of findDifferences.sql). They are no run's: what happens to them is given
-- where a run is worked out again. $1 accounts, $2 now.
with newest as materialized (
  select distinct on (a.account_id) a.account_id, a.run_id
  from tieout.run_accounts a
  join tieout.runs r using (run_id)
  where a.account_id = any ($1) and not r.is_dry
  order by a.account_id, a.business_date desc
),
known as materialized (
  -- The last date only words it: what was decided before it was kept still holds.
  select f.*, n.run_id, md5((f.expected - 'until')::text || f.actual::text) as fingerprint,
    b.break_id, b.state, b.fingerprint as old_fingerprint
  from settlement_found f
  join newest n using (account_id)
  left join tieout.breaks b using (account_id, order_no, kind)
),
opened as (
  insert into tieout.breaks (account_id, order_no, kind, state, first_seen, first_run_id,
    last_run_id, expected, actual, fingerprint, currency, amount)
  select account_id, order_no, kind, 'open', $2::timestamptz, run_id, run_id, expected, actual,
    fingerprint, currency, amount
  from known where break_id is null
  returning break_id, expected, actual, currency, amount
),
kept as (
  update tieout.breaks b
  set state = case when k.state = 'waived' and k.fingerprint = k.old_fingerprint
      then 'waived' else 'open' end,
    last_run_id = k.run_id, actual = k.actual, fingerprint = k.fingerprint,
    -- as its last event has it
    expected = case when k.state <> 'resolved' and b.fingerprint = k.fingerprint then b.expected
      else k.expected end,
    -- what it opened with stays at stake until it is resolved, and what was waived is that
    currency = case when kept.is_opened then b.currency else k.currency end,
    amount = case when kept.is_opened then b.amount else k.amount end
  from known k
  cross join lateral (
    select k.state = 'open' or k.state = 'waived' and k.fingerprint = k.old_fingerprint as is_opened
  ) as kept
  where b.break_id = k.break_id
    and (b.last_run_id <> k.run_id or b.fingerprint <> k.fingerprint or b.state = 'resolved')
  returning b.break_id, b.state, k.state as old_state,
    b.fingerprint <> k.old_fingerprint as is_changed, b.expected, b.actual, b.currency, b.amount
),
gone as materialized (
  select b.break_id, b.state as old_state, n.run_id
  from tieout.breaks b
  join newest n using (account_id)
  where b.state <> 'resolved' and tieout.is_settlement_kind(b.kind) and not exists (
    select from settlement_found f
    where f.account_id = b.account_id and f.order_no = b.order_no and f.kind = b.kind)
),
resolved as (
  update tieout.breaks b set state = 'resolved', last_run_id = gone.run_id
  from gone where b.break_id = gone.break_id
  returning b.break_id, gone.old_state, b.expected, b.actual, b.currency, b.amount
)
insert into tieout.break_events (break_id, run_id, at, event, from_state, by, reason, currency,
  amount, expected, actual, cause)
select break_id, null::bigint, $2, 'opened', null, 'tieout', null, currency, amount, expected,
  actual, null
from opened
union all
select break_id, null, $2, case when old_state = 'open' then 'changed' else 'reopened' end,
  old_state, 'tieout',
  case when old_state = 'waived' then 'what it says has changed since it was waived' end, currency,
  amount, expected, actual, null
from kept where state <> old_state or (state = 'open' and is_changed)
union all
select break_id, null, $2, 'resolved', old_state, 'tieout', 'the difference is gone', currency,
  amount, expected, actual, 'settlement'
from resolved
