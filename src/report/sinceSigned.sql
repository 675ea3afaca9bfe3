-- What changed behind a day since it was closed, by account; of accounts that are open nothing.
-- An order or a refund request is late if it says itself that it is of before the day's end, and
-- the night did not compare it so. The ledger may be a view whose columns are texts. $1 business
-- date, $2 accounts.
with night as (
  select ra.account_id, ra.pull_id, r.run_id, r.starts_at, r.ends_at, signed.at
  from tieout.runs r join tieout.run_accounts ra using (run_id)
  cross join lateral (
    select e.event, e.at from tieout.day_events e
    where e.account_id = ra.account_id and e.business_date = r.business_date
      and e.event <> 'locked'
    order by e.event_id desc limit 1
  ) signed
  where r.business_date = $1::date and not r.is_dry and ra.account_id = any ($2::text[])
    and signed.event = 'closed'
)
select n.account_id as "accountId", n.at::text as "closedAt",
  (select count(*)::int from tieout.day_movements m
    where m.account_id = n.account_id and m.posted_to > $1 and m.belongs_to = $1
      and m.posted_at > n.at) as adjustments,
  (select count(*)::int from tieout.breaks b
    where b.account_id = n.account_id and b.state <> 'resolved' and b.first_run_id <= n.run_id
      and exists (select from tieout.break_events e
        where e.break_id = b.break_id and e.event = 'reopened' and e.at > n.at)) as reopened,
  (select count(*)::int from (
      select account_id::text as account_id, order_no::text as order_no, currency::text as currency,
        expected::text as expected, transaction_id::text as transaction_id,
        tieout.amount_in(amount) as amount, tieout.amount_in(capture_amount) as capture_amount,
        tieout.instant_in(placed_at) as placed_at, tieout.instant_in(updated_at) as updated_at
      from ledger.orders) o
    left join tieout.asked_orders a on a.pull_id = n.pull_id
      and a.account_id = n.account_id and a.order_no = o.order_no collate "C"
    where o.account_id collate "C" = n.account_id and o.placed_at < n.ends_at
      and case when a.order_no is null
        then o.placed_at >= n.starts_at
        else (o.currency, o.amount) is distinct from (a.currency, a.amount)
          or o.updated_at < n.ends_at
            and (o.expected, o.capture_amount, o.transaction_id) is distinct from
              (a.expected, a.capture_amount, a.transaction_id)
      end) as orders,
  (select count(*)::int from ledger.refund_requests q
    where q.account_id::text = n.account_id and tieout.instant_in(q.requested_at) >= n.starts_at
      and tieout.instant_in(q.requested_at) < n.ends_at
      and exists (select from ledger.orders o
        where o.account_id::text = q.account_id::text and o.order_no::text = q.order_no::text)
      and not exists (select from tieout.asked_refunds a
        where a.pull_id = n.pull_id and a.account_id = n.account_id
          and a.refund_id = q.refund_id::text)) as refunds,
  (select count(*)::int
    from tieout.settlement_batches t join tieout.settlement_files f using (file_id)
    where t.account_id = n.account_id and t.first_booked_at < n.ends_at
      and f.imported_at > n.at) as batches
from night n
