-- Opens, keeps, reopens and resolves breaks by the verdicts of one compare. Only orders with a
-- complete look are touched: what was not looked at neither opens nor resolves (DESIGN law 4).
-- $1 run, $2 pull, $3 null or the later pull whose failed pages this compare judged, $4 now.
with compared as materialized (
  select a.account_id, a.order_no
  from tieout.asked_orders a
  left join tieout.pages p using (pull_id, account_id, page_no)
  where a.pull_id = $2::bigint
    and (p.state = 'answered' or (a.page_no is null and not a.in_ledger))
    and (a.account_id, a.order_no) in (
      select account_id, order_no from tieout.breaks where state <> 'resolved')
    and not exists (
      select from tieout.verdicts v
      where v.run_id = $1::bigint and v.account_id = a.account_id and v.order_no = a.order_no
        and v.not_compared is not null)
    and ($3::bigint is null or exists (
      select from tieout.asked_orders later
      left join tieout.pages page using (pull_id, account_id, page_no)
      where later.pull_id = $3 and later.account_id = a.account_id
        and later.order_no = a.order_no and page.state is distinct from 'answered'))
),
found as materialized (
  select v.account_id, v.order_no, kind,
    coalesce(v.ledger_currency, v.gateway_currency) as currency,
    case when kind = 'amount_mismatch' then abs(v.gateway_amount - v.ledger_amount)
      else coalesce(v.ledger_amount, v.gateway_amount) end as amount,
    jsonb_strip_nulls(jsonb_build_object('state', v.expected, 'currency', v.ledger_currency,
      'amount', v.ledger_amount::text, 'problem', v.ledger_problem)) as expected,
    jsonb_strip_nulls(jsonb_build_object('state', v.gateway_state, 'code', v.payment_status,
      'currency', v.gateway_currency,
      'amount', coalesce(v.gateway_amount::text, v.gateway_amount_text),
      'transaction', v.transaction_id)) as actual
  from tieout.verdicts v, unnest(v.kinds) as kind
  where v.run_id = $1 and v.pull_id = $2
    and ($3 is null or (v.account_id, v.order_no) in (
      select account_id, order_no from tieout.asked_orders where pull_id = $3))
),
known as materialized (
  select f.*, md5(f.expected::text || f.actual::text) as fingerprint, b.break_id, b.state,
    b.fingerprint as old_fingerprint
  from found f
  left join tieout.breaks b using (account_id, order_no, kind)
),
opened as (
  insert into tieout.breaks (account_id, order_no, kind, state, first_seen, first_run_id,
    last_run_id, expected, actual, fingerprint, currency, amount)
  select account_id, order_no, kind, 'open', $4::timestamptz, $1, $1, expected, actual,
    fingerprint, currency, amount
  from known where break_id is null
  returning break_id, expected, actual, currency, amount
),
kept as (
  update tieout.breaks b
  set state = case when k.state = 'waived' and k.fingerprint = k.old_fingerprint
      then 'waived' else 'open' end,
    last_run_id = $1, expected = k.expected, actual = k.actual, fingerprint = k.fingerprint,
    -- what it opened with stays at stake until it is resolved
    currency = case when k.state = 'open' then b.currency else k.currency end,
    amount = case when k.state = 'open' then b.amount else k.amount end
  from known k
  where b.break_id = k.break_id
    and (b.last_run_id <> $1 or b.fingerprint <> k.fingerprint or b.state = 'resolved')
  returning b.break_id, b.state, k.state as old_state, b.fingerprint <> k.old_fingerprint
    as is_changed, b.expected, b.actual, b.currency, b.amount
),
resolved as (
  update tieout.breaks b
  set state = 'resolved', last_run_id = $1
  from (
    select break_id, state as old_state from tieout.breaks
    join compared using (account_id, order_no)
    where state <> 'resolved' and not exists (
      select from found f where f.account_id = breaks.account_id
        and f.order_no = breaks.order_no and f.kind = breaks.kind)
  ) gone
  where b.break_id = gone.break_id
  returning b.break_id, gone.old_state, b.expected, b.actual, b.currency, b.amount
)
insert into tieout.break_events (break_id, run_id, at, event, from_state, by, reason, currency,
  amount, expected, actual)
select break_id, $1, $4, 'opened', null, 'tieout', null, currency, amount, expected, actual
from opened
union all
select break_id, $1, $4, case when old_state = 'open' then 'changed' else 'reopened' end, old_state,
  'tieout', case when old_state = 'waived' then 'what it says has changed since it was waived' end,
  currency, amount, expected, actual
from kept where state <> old_state or (state = 'open' and is_changed)
union all
select break_id, $1, $4, 'resolved', old_state, 'tieout', 'the difference is gone', currency,
  amount, expected, actual
from resolved
