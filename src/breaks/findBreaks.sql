-- Breaks that match, a page of them. $1 to $13 as tieout.found_breaks has them, $14 limit, $15
-- offset, $16 in which order: age, amount, order, account, kind or owner. Amounts of two currencies
-- are not compared: the largest of each stand together. Of refunds that
-- do not fit `expected` says besides what all requests of the order come to, by the newest look.
with page as materialized (
  select first.*, row_number() over () as place from (
    select f.break_id::text as "breakId", f.account_id as "accountId", f.order_no as "orderNo",
      f.kind, f.state, f.first_seen as "firstSeen", f.expected, f.actual, f.currency,
      round(f.stake, 2)::text as stake, f.difference::text as difference, f.cause, f.owner, f.note,
      case when f.kind = 'refund_mismatch' then tieout.settled_refunds(f.account_id, f.order_no,
        f.actual ->> 'transaction') end as "settledRefunds",
      case when f.kind in ('refund_mismatch', 'state_mismatch') then tieout.refused_here(
        f.account_id, f.order_no, f.kind, f.expected, f.actual) end as refused,
      f.waived_by as "waivedBy", f.waived_reason as "waivedReason",
      case when f.waiver_waits then f.waiver_asked_by end as "waiverAskedBy",
      case when f.waiver_waits then f.waiver_asked_reason end as "waiverAskedReason",
      tieout.break_seen_sha256(f.state, f.expected, f.actual, f.fingerprint) as seen,
      -- "+ 0" as in breakSet.sql
      coalesce((select max(e.event_id + 0) from tieout.break_events e
        where e.break_id = f.break_id), 0)::text as last
    from tieout.found_breaks($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) f
    order by case when $16 = 'amount' then f.currency end nulls last,
      case when $16 = 'amount' then f.stake end desc nulls last,
      case when $16 = 'amount' then f.break_id end,
      case when $16 = 'age' then f.first_seen end,
      case $16 when 'account' then f.account_id when 'kind' then f.kind when 'owner' then f.owner
        when 'order' then f.order_no end nulls last,
      f.account_id, f.order_no, f.kind
    limit $14 offset $15
  ) first
),
asked as materialized (
  select r.account_id, r.order_no, round(sum(r.refund_amount), 2)::text as asked
  from (
    select "accountId" as account_id, array_agg("orderNo") as orders from page
    where kind = 'refund_mismatch' group by 1
  ) of
  cross join lateral (
    select a.pull_id from tieout.run_accounts a join tieout.runs n using (run_id)
    where a.account_id = of.account_id and a.pull_id is not null and not n.is_dry
    order by a.business_date desc, a.run_id desc limit 1
  ) newest
  join tieout.asked_refunds r on r.pull_id = newest.pull_id and r.account_id = of.account_id
    and r.order_no = any (of.orders)
  group by r.account_id, r.order_no
)
select "breakId", "accountId", "orderNo", kind, state, "firstSeen",
  page.expected || jsonb_strip_nulls(jsonb_build_object('asked', q.asked)) as expected, actual,
  currency, stake, difference, cause, owner, note, "settledRefunds", refused, "waivedBy",
  "waivedReason", "waiverAskedBy", "waiverAskedReason", seen, last
from page
left join asked q on page.kind = 'refund_mismatch' and q.account_id = page."accountId"
  and q.order_no = page."orderNo"
order by page.place
