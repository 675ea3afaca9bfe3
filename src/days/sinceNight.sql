-- What came to the ledger or changed there of a day after its night had looked, and of a closed day
-- what changed behind it since the close. An order or a refund request is late if it says itself
-- that it is of before the day's end, and the night did not compare it so. Each is late on the day
-- that it is of. What changed after several nights had looked is on the last one of these as well,
-- as an order of an earlier day, since its statement has it too and it may be the one to be signed;
-- on each of them it would be told without end. Of what the ledger had when the day was closed its
-- closing kept the keys; the others came afterwards. The ledger may be a view whose columns are
-- texts, and is read as the night reads it (tieout.ledger_orders, which leaves out when a row was
-- changed). $1 business dates, $2 accounts, $3 keys kept at most, $4 rows that are named at most.
with covered as not materialized (
  -- from the start of the first date that a night covers, by the schedule that it was run with
  select ra.account_id, r.business_date, ra.pull_id, r.run_id, r.ends_at,
    tieout.covered_from(r.starts_at, r.covers, r.settings -> 'schedule') as starts_at
  from tieout.runs r join tieout.run_accounts ra using (run_id)
  where not r.is_dry and ra.account_id = any ($2::text[])
),
night as materialized (
  select ra.*,
    -- without one there is nothing to hold the ledger against
    ra.pull_id is not null and not exists (select from tieout.removed_looks w
      where w.pull_id = ra.pull_id and w.account_id = ra.account_id) as has_look,
    case when signed.event = 'closed' then signed.at end as at,
    case when jsonb_typeof(signed.keys) = 'array' then signed.keys end as keys
  from covered ra
  left join lateral (
    select e.event, e.at, (
        select item -> 'keys' from jsonb_array_elements(e.open_items) as item
        where item ->> 'what' = 'ledger') as keys
    from tieout.day_events e
    where e.account_id = ra.account_id and e.business_date = ra.business_date
      and e.event <> 'locked'
    order by e.event_id desc limit 1
  ) signed on true
  where ra.business_date = any ($1::date[])
),
later as materialized (
  select n.account_id, n.business_date, c.business_date as counts_on, c.pull_id
  from night n
  join covered c on c.account_id = n.account_id and c.pull_id is not null
    and c.business_date > n.business_date
),
-- A date that was given up is covered by the next night, too; its own night has what is of it.
covered_before as materialized (
  select n.account_id, n.business_date, c.starts_at, c.ends_at
  from night n
  join covered c on c.account_id = n.account_id and c.pull_id is not null
    and c.business_date < n.business_date and c.ends_at > n.starts_at
),
late_order as materialized (
  select n.account_id, n.business_date, o.order_no, o.currency, o.amount, o.expected,
    o.capture_amount, o.transaction_id, own.is_own
  from night n
  join (
    select account_id::text collate "C" as of_account, order_no::text collate "C" as order_no,
      left(currency::text, 16) as currency,
      tieout.usable_amount(tieout.amount_in(amount))::numeric(20, 2) as amount,
      left(expected::text, 32) as expected,
      case when octet_length(transaction_id::text) <= 512
        then nullif(transaction_id::text, '') end collate "C" as transaction_id,
      tieout.usable_amount(tieout.amount_in(capture_amount))::numeric(20, 2) as capture_amount,
      left(review_decision::text, 16) as review_decision,
      tieout.placed_instant(tieout.instant_in(placed_at)) as placed_at,
      tieout.instant_in(updated_at) as updated_at
    from ledger.orders
    where octet_length(order_no::text) <= 512
  ) as o on o.of_account collate "C" = n.account_id and o.placed_at < n.ends_at
  left join tieout.asked_orders a on a.pull_id = n.pull_id
    and a.account_id = n.account_id and a.order_no = o.order_no
    -- said once more: else the looks of all nights would be hashed
    and a.pull_id = any (array(select pull_id from night))
  cross join lateral (
    select o.placed_at >= n.starts_at
      and not exists (select from covered_before c
        where c.account_id = n.account_id and c.business_date = n.business_date
          and o.placed_at >= c.starts_at and o.placed_at < c.ends_at) as is_own
  ) as own
  where n.has_look and case when a.in_ledger is not true
      then own.is_own
        -- run again, a night does not ask once more for what was final (askLive.sql)
        and not exists (select from tieout.final_orders f
          where f.account_id = n.account_id and f.order_no = o.order_no and f.run_id <= n.run_id
            and f.fingerprint = md5(row(o.currency, o.amount, o.expected, o.transaction_id,
              o.capture_amount, o.review_decision, o.placed_at)::text))
      else ((o.currency, o.amount) is distinct from (a.currency, a.amount)
        or o.updated_at < n.ends_at
          and (o.expected, o.capture_amount, o.transaction_id) is distinct from
            (a.expected, a.capture_amount, a.transaction_id))
        -- of an earlier day: the next night that looked saw it as this one did
        and (own.is_own or not coalesce((
          select (b.currency, b.amount, b.expected, b.capture_amount, b.transaction_id)
            is not distinct from
            (a.currency, a.amount, a.expected, a.capture_amount, a.transaction_id)
          from later l
          join tieout.asked_orders b on b.pull_id = l.pull_id and b.account_id = n.account_id
            and b.order_no = o.order_no and b.in_ledger
          where l.account_id = n.account_id and l.business_date = n.business_date
          order by l.counts_on limit 1), false))
    end
),
late_request as materialized (
  select n.account_id, n.business_date, q.account_id as of_account, q.refund_id, q.order_no,
    q.refund_amount
  from night n
  join tieout.ledger_refunds() q on q.account_id collate "C" = n.account_id
    and q.requested_at >= n.starts_at and q.requested_at < n.ends_at and q.problem is null
  where n.has_look
    and not exists (select from covered_before c
      where c.account_id = n.account_id and c.business_date = n.business_date
        and q.requested_at >= c.starts_at and q.requested_at < c.ends_at)
    and exists (select from ledger.orders o
      where o.account_id::text collate "C" = q.account_id
        and o.order_no::text collate "C" = q.order_no)
    and not exists (select from tieout.asked_refunds a
      where a.pull_id = n.pull_id and a.account_id = n.account_id
        and a.refund_id = q.refund_id collate "C"
        and a.refund_amount is not distinct from q.refund_amount)
    and not exists (select from tieout.final_orders f
      where f.account_id = n.account_id and f.order_no = q.order_no collate "C"
        and f.run_id <= n.run_id
        and (q.refund_id || ' ' || trim_scale(q.refund_amount)) collate "C" = any (f.requests))
),
-- The ledger is read once for all of them, not once for each.
late_refund as materialized (
  select q.account_id, q.business_date, q.refund_id, q.order_no, q.refund_amount, o.currency
  from late_request q
  left join (
    select distinct on (1, 2) o.account_id::text collate "C" as of_account,
      o.order_no::text collate "C" as order_no,
      left(o.currency::text, 16) as currency
    from ledger.orders o
    where o.order_no::text collate "C" in (select order_no from late_request)
    order by 1, 2, 3
  ) o on o.of_account = q.of_account and o.order_no = q.order_no
),
late as materialized (
  select o.account_id, o.business_date,
    case when o.is_own then 'orders' else 'earlier' end as what, o.currency, o.order_no,
    null::text collate "C" as refund_id,
    left(md5(row(o.order_no, o.currency, o.amount, o.expected, o.capture_amount,
      o.transaction_id)::text), 16) as key,
    (select min(l.counts_on)
      from later l
      join tieout.asked_orders a on a.pull_id = l.pull_id and a.account_id = l.account_id
        and a.order_no = o.order_no and a.in_ledger
      where l.account_id = o.account_id and l.business_date = o.business_date
        and (a.currency, a.amount, a.expected, a.capture_amount, a.transaction_id)
          is not distinct from
          (o.currency, o.amount, o.expected, o.capture_amount, o.transaction_id)) as counts_on
  from late_order o
  union all
  select q.account_id, q.business_date, 'refunds', q.currency, q.order_no collate "C",
    q.refund_id collate "C",
    left(md5(row(q.refund_id, q.order_no, q.refund_amount)::text), 16),
    (select min(l.counts_on)
      from later l
      join tieout.asked_refunds a on a.pull_id = l.pull_id and a.account_id = l.account_id
        and a.refund_id = q.refund_id collate "C"
        and a.refund_amount is not distinct from q.refund_amount
      where l.account_id = q.account_id and l.business_date = q.business_date)
  from late_refund q
),
-- Of each night, by revision.
workbook as materialized (
  select p.run_id,
    -- what came before this is in it
    least(p.created_at, p.written_at) as until,
    p.revision = max(p.revision) over (partition by p.run_id) as is_newest
  from tieout.reports p
  where p.run_id in (select run_id from night) and p.kind = 'reconciliation'
    and p.format = 'xlsx' and p.period is null and p.state = 'written'
)
select n.account_id as "accountId", n.business_date as "businessDate", n.at::text as "closedAt",
  n.has_look as "hasLook",
  found.orders, found.refunds, found.earlier, found.counts_on as "countsOn", found.uncounted,
  case when found.orders + found.refunds + found.earlier <= $3::int then found.keys end as keys,
  found.named, (n.keys is not null) as "isKept", coalesce(since.changes, '[]') as changes,
  -- of any account: a run that names none is of all of them (night/begin.ts)
  exists (select from tieout.runs r
    where not r.is_dry and r.business_date > n.business_date) as "isPast"
from night n
cross join lateral (
  select count(*) filter (where what = 'orders')::int as orders,
    count(*) filter (where what = 'refunds')::int as refunds,
    count(*) filter (where what = 'earlier')::int as earlier,
    coalesce(array_agg(distinct counts_on::text) filter (where counts_on is not null), '{}')
      as counts_on,
    count(*) filter (where counts_on is null)::int as uncounted,
    coalesce(array_agg(key order by key), '{}') as keys,
    coalesce(to_jsonb((array_agg(
      jsonb_build_object('orderNo', order_no, 'refundId', refund_id,
        'isSince', (n.keys ? key) is not true)
      order by (n.keys ? key) is not true desc, order_no, refund_id nulls first))[1:$4::int]),
      '[]') as named
  from late
  where late.account_id = n.account_id and late.business_date = n.business_date
) as found
left join workbook newest on newest.run_id = n.run_id and newest.is_newest
-- By what it is and the currency that it touches, and whether the newest workbook has it.
cross join lateral (
  select jsonb_agg(jsonb_build_object('accountId', n.account_id, 'what', what,
    'currency', currency, 'count', count, 'isStated', is_stated)
    order by what, currency, is_stated) as changes
  from (
    select 'adjustments' as what, m.currency, coalesce(m.posted_at <= newest.until, false)
        as is_stated, count(*) as count
    from tieout.day_movements m
    where m.account_id = n.account_id and m.posted_to > n.business_date
      and m.belongs_to = n.business_date and m.posted_at > n.at
    group by 2, 3
    union all
    select 'reopened', b.currency, false, count(*)
    from tieout.breaks b
    where b.account_id = n.account_id and b.state <> 'resolved' and b.first_run_id <= n.run_id
      and exists (select from tieout.break_events e
        where e.break_id = b.break_id and e.event = 'reopened' and e.at > n.at)
    group by b.currency
    union all
    select what, late.currency, false, count(*)
    from late
    where late.account_id = n.account_id and late.business_date = n.business_date
      and (n.keys ? key) is not true
    group by what, late.currency
  ) as change
) as since
