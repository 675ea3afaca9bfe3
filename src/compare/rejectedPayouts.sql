-- Opens, keeps, reopens and resolves the breaks of payouts that did not happen, refused by the
-- gateway or proven so by a person, while the ledger still asks for them: they are not planned
-- again by themselves, and no look at the gateway bears on them. They stand under the request's id
-- and in no class of orders. A payout may be refused between two runs: their events are no run's,
-- and are given where a run is worked out again. $1 run, $2 accounts as json
-- [{account_id, live_from}], $3 now.
with account as materialized (
  select account_id collate "C" as account_id, live_from
  from jsonb_to_recordset($2::jsonb) as a (account_id text, live_from timestamptz)
),
rejected as materialized (
  select i.*, a.live_from
  from tieout.instructions i
  join account a using (account_id)
  where i.operation = 'payout' and i.state = 'rejected' and not exists (
    select from tieout.instructions later
    where later.operation = 'payout' and later.transaction_id = i.transaction_id
      and later.account_id = i.account_id and later.instruction_id > i.instruction_id)
),
asked as materialized (
  select r.instruction_id, bool_or(p.payload is distinct from r.payload) as is_changed,
    md5(string_agg(p.payload::text, ',' order by p.payload::text)) as payloads
  from rejected r
  join tieout.ledger_payouts() p
    on p.account_id collate "C" = r.account_id and p.request_id = r.transaction_id
  where r.live_from is null or p.requested_at is null or p.requested_at >= r.live_from
  group by r.instruction_id
),
found as materialized (
  select r.account_id, r.order_no,
    case when r.is_in_totals then r.currency end as currency,
    case when r.is_in_totals then r.amount end as amount,
    jsonb_strip_nulls(jsonb_build_object(
      'currency', case when r.is_in_totals then r.currency end,
      'amount', case when r.is_in_totals then r.amount::text end,
      'instruction', case when r.replan_id is null then r.instruction_id::text end,
      'problem', 'payout #' || r.instruction_id || ' did not happen'
        || coalesce(' (' || left(coalesce(r.reason, r.outcome_message, r.outcome_code), 200)
          || ')', '')
        || case when a.is_changed then ', and its request was changed since' else '' end))
      as expected,
    md5(r.instruction_id || ' ' || a.payloads || (r.replan_id is null)) as fingerprint
  from rejected r
  join asked a using (instruction_id)
),
known as materialized (
  select f.*, b.break_id, b.state, b.fingerprint as old_fingerprint
  from found f
  left join tieout.breaks b on b.account_id = f.account_id and b.order_no = f.order_no
    and b.kind = 'payout_rejected'
),
opened as (
  insert into tieout.breaks (account_id, order_no, kind, state, first_seen, first_run_id,
    last_run_id, expected, actual, fingerprint, currency, amount)
  select account_id, order_no, 'payout_rejected', 'open', $3::timestamptz, $1::bigint, $1,
    expected, '{}', fingerprint, currency, amount
  from known where break_id is null
  returning break_id, expected, currency, amount
),
kept as (
  update tieout.breaks b
  set state = case when k.state = 'waived' and k.fingerprint = k.old_fingerprint
      then 'waived' else 'open' end,
    last_run_id = $1, expected = k.expected, fingerprint = k.fingerprint,
    -- what it opened with stays at stake until it is resolved, and what was waived is that
    currency = case when kept.is_opened then b.currency else k.currency end,
    amount = case when kept.is_opened then b.amount else k.amount end
  from known k
  cross join lateral (
    select k.state = 'open' or k.state = 'waived' and k.fingerprint = k.old_fingerprint as is_opened
  ) as kept
  where b.break_id = k.break_id
    and (b.last_run_id <> $1 or b.fingerprint <> k.fingerprint or b.state = 'resolved')
  returning b.break_id, b.state, k.state as old_state, b.expected, b.currency, b.amount,
    k.fingerprint <> k.old_fingerprint as is_changed
),
gone as materialized (
  select b.break_id, b.state as old_state,
    case when exists (
        select from rejected r where r.account_id = b.account_id and r.order_no = b.order_no)
      then 'ledger' else 'instruction' end as cause
  from tieout.breaks b
  join account a on a.account_id = b.account_id
  where b.kind = 'payout_rejected' and b.state <> 'resolved' and not exists (
    select from found f where f.account_id = b.account_id and f.order_no = b.order_no)
),
resolved as (
  update tieout.breaks b set state = 'resolved', last_run_id = $1
  from gone where b.break_id = gone.break_id
  returning b.break_id, gone.old_state, gone.cause, b.expected, b.currency, b.amount
)
insert into tieout.break_events (break_id, run_id, at, event, from_state, by, reason, currency,
  amount, expected, actual, cause)
select break_id, null::bigint, $3, 'opened', null, 'tieout', null, currency, amount, expected,
  '{}'::jsonb, null
from opened
union all
select break_id, null, $3, case when old_state = 'open' then 'changed' else 'reopened' end,
  old_state, 'tieout',
  case when old_state = 'waived' then 'what it says has changed since it was waived' end, currency,
  amount, expected, '{}', null
from kept where state <> old_state or (state = 'open' and is_changed)
union all
select break_id, null, $3, 'resolved', old_state, 'tieout', 'the difference is gone', currency,
  amount, expected, '{}', cause
from resolved
