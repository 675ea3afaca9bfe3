-- What changed in the ledger between the newest snapshot and this one? Only rows that say something
-- else now, or are gone. $1 run, $2 this pull, not yet noted as the newest, $3 accounts, $4 now.
with newest as materialized (
  select distinct on (ra.account_id) ra.account_id, ra.pull_id
  from tieout.run_accounts ra join tieout.runs r using (run_id)
  where ra.account_id = any ($3::text[]) and ra.pull_id is not null and not r.is_dry
  order by ra.account_id, ra.business_date desc
),
-- Final orders that a change brought back were last seen in an older snapshot.
returned as materialized (
  select a.account_id, a.order_no, ra.pull_id
  from tieout.final_orders f
  join tieout.asked_orders a
    on a.pull_id = $2::bigint and a.account_id = f.account_id and a.order_no = f.order_no
  join tieout.run_accounts ra on ra.run_id = f.run_id and ra.account_id = f.account_id
  join newest n on n.account_id = f.account_id and n.pull_id <> ra.pull_id
  where f.fingerprint <> md5(row(a.currency, a.amount, a.expected, a.transaction_id,
    a.capture_amount, a.review_decision, a.placed_at)::text)
),
seen as (
  select o.* from newest n
  -- The offset keeps this a walk of one partition's index: joined as a whole, all snapshots would
  -- be read.
  cross join lateral (
    select * from tieout.asked_orders where pull_id = n.pull_id and account_id = n.account_id
    offset 0
  ) o
  union all
  select o.* from returned r join tieout.asked_orders o using (pull_id, account_id, order_no)
)
insert into tieout.ledger_changes (run_id, account_id, order_no, kind, before, after, noted_at)
select distinct on (b.account_id, b.order_no) $1::bigint, b.account_id, b.order_no,
  case when a.in_ledger then 'changed' else 'left' end,
  jsonb_strip_nulls(jsonb_build_object('expected', b.expected, 'currency', b.currency,
    'amount', b.amount::text, 'transaction', b.transaction_id,
    'captureAmount', b.capture_amount::text, 'reviewDecision', b.review_decision,
    'placedAt', b.placed_at)),
  case when a.in_ledger then
    jsonb_strip_nulls(jsonb_build_object('expected', a.expected, 'currency', a.currency,
      'amount', a.amount::text, 'transaction', a.transaction_id,
      'captureAmount', a.capture_amount::text, 'reviewDecision', a.review_decision,
      'placedAt', a.placed_at)) end,
  $4::timestamptz
from seen b
join tieout.asked_orders a
  on a.pull_id = $2 and a.account_id = b.account_id and a.order_no = b.order_no
where b.in_ledger and (not a.in_ledger
  or row(a.currency, a.amount, a.expected, a.transaction_id, a.capture_amount, a.review_decision,
    a.placed_at) is distinct from row(b.currency, b.amount, b.expected, b.transaction_id,
    b.capture_amount, b.review_decision, b.placed_at))
order by b.account_id, b.order_no, b.pull_id desc
on conflict (account_id, order_no, run_id) do update set kind = excluded.kind,
  after = excluded.after, noted_at = excluded.noted_at
