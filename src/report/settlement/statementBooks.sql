-- What became of the money that the gateway shows of one account's orders in a run, up to the end
-- of its date: settled, captured or refunded before the books begin, and line by line what is not
-- settled. Beside it, listed too, what the books hold as not settled of other orders: all of it
-- comes to the closing of `at the gateway` (openAsOf.sql). The line of a movement is found by the
-- transaction that names both, else by its match: an index of all matches by movement would cost
-- each import as much as its matching. $1 run, $2 account, $3 its look of the night, $4
-- settlement.from, $5 cut-off, $6 timezone, $7 business date, $8 overdue up to this date.
with since as (
  select ($4::date + $5::time) at time zone $6 as at,
    ($7::date + 1 + $5::time) at time zone $6 as until
),
shown as materialized (
  select order_no, gateway_currency as currency, transaction_id,
    coalesce(gateway_captured, 0) as captured, coalesce(gateway_refunded, 0) as refunded
  from tieout.seen_orders($1::bigint, $2::text, $3::bigint)
  where gateway_captured is not null or gateway_refunded is not null
),
candidate as materialized (
  select m.movement_id
  from shown s join tieout.movements m on m.account_id = $2 and m.order_no = s.order_no
  union
  -- of the account alone: those of all accounts would be gone through for each of them
  select movement_id from (
    select movement_id from tieout.settlement_awaited
    union all
    select movement_id from tieout.settlement_matches where differs
    union all
    select movement_id from tieout.movement_amounts
  ) open
  join tieout.movements m using (movement_id) where m.account_id = $2
  union
  -- settled, and on that date not yet; said once more so that the planner sees how few these are
  select t.movement_id
  from tieout.settlement_batches b
  join tieout.settlement_lines l on l.account_id = b.account_id and l.batch = b.batch
  join tieout.settlement_matches t using (settlement_line_id)
  where b.account_id = $2 and b.last_booked_at >= ($7::date + 1 + $5::time) at time zone $6
),
movement as materialized (
  select m.movement_id, m.order_no, m.transaction_id, m.reference, m.kind, m.currency,
    m.is_history, m.business_date, coalesce(m.amount, 0) + coalesce(k.change, 0) as amount,
    (m.amount is null)::int + coalesce(k.suspense, 0) > 0 as in_suspense,
    s.order_no is not null as is_shown
  from candidate
  join tieout.movements m using (movement_id)
  left join lateral (
    select sum(a.change) as change, sum(a.suspense) as suspense from tieout.movement_amounts a
    where a.movement_id = m.movement_id and a.business_date <= $7
  ) k on true
  left join shown s on s.order_no = m.order_no and s.currency = m.currency
  where m.account_id = $2 and m.business_date <= $7
),
named as materialized (
  select movement_id, transaction_id, currency from movement where not is_history
),
match as materialized (
  select n.movement_id, l.settlement_line_id, l.currency <> n.currency as is_other
  from named n
  join tieout.settlement_lines l on l.account_id = $2 and l.transaction_id = n.transaction_id
  join tieout.settlement_matches t on t.settlement_line_id = l.settlement_line_id
    and t.movement_id = n.movement_id and t.by = 'transaction'
  union all
  select n.movement_id, l.settlement_line_id, l.currency <> n.currency
  from named n
  join tieout.settlement_matches t on t.movement_id = n.movement_id and t.by <> 'transaction'
  join tieout.settlement_lines l using (settlement_line_id)
),
told as materialized (
  select m.movement_id, sum(abs(l.amount)) as amount, max(l.batch) as batch
  from movement m
  join match t using (movement_id)
  join tieout.settlement_lines l using (settlement_line_id)
  cross join since
  where not m.is_history and l.currency = m.currency and l.booked_at < since.until
  group by m.movement_id
),
-- Lines of the acquirer of which no movement of that date says the money.
line as materialized (
  select u.settlement_line_id, false as is_matched from tieout.settlement_unmatched u
  union
  select settlement_line_id, true from match where is_other
),
item as (
  select case when m.in_suspense then 'amount_unknown'
      when t.movement_id is not null then 'settled_otherwise'
      when m.business_date <= $8 then 'not_settled' else 'in_transit' end as item,
    m.is_shown, m.order_no, m.transaction_id, t.batch, m.currency, m.kind,
    m.amount - coalesce(t.amount, 0) as amount, m.business_date as since
  from movement m left join told t using (movement_id)
  where not m.is_history and (m.amount <> coalesce(t.amount, 0) or m.in_suspense)
  union all
  select 'no_movement', false, coalesce(l.order_no, ''), l.transaction_id, l.batch, l.currency,
    l.type, case l.type when 'captured' then -l.amount else l.amount end,
    tieout.business_date_of(l.booked_at, $5::time, $6)
  from line
  join tieout.settlement_lines l using (settlement_line_id)
  cross join since
  where l.account_id = $2 and l.type in ('captured', 'refunded')
    and (line.is_matched or l.booked_at >= since.at) and l.booked_at < since.until
),
booked as (
  select order_no, currency, sum(amount) filter (where kind = 'captured') as captured,
    sum(amount) filter (where kind = 'refunded') as refunded
  from movement where is_shown group by order_no, currency
),
-- What the gateway shows of an order and the books of that date have not, or have otherwise.
otherwise as (
  select s.currency, s.order_no, s.transaction_id, s.captured - coalesce(b.captured, 0) as captured,
    s.refunded - coalesce(b.refunded, 0) as refunded
  from shown s left join booked b using (order_no, currency)
  where s.captured <> coalesce(b.captured, 0) or s.refunded <> coalesce(b.refunded, 0)
),
-- So much of it counts on a later date: the day was closed, or a later night saw it first.
later as (
  select o.order_no, o.currency, min(m.business_date) as since,
    greatest(0, least(o.captured,
      coalesce(sum(m.amount) filter (where m.kind = 'captured'), 0))) as captured,
    greatest(0, least(o.refunded,
      coalesce(sum(m.amount) filter (where m.kind = 'refunded'), 0))) as refunded
  from otherwise o
  join tieout.movements m
    on m.account_id = $2 and m.order_no = o.order_no and m.currency = o.currency
  where m.business_date > $7 and not m.is_history
    and case m.kind when 'captured' then o.captured > 0 else o.refunded > 0 end
  group by o.order_no, o.currency, o.captured, o.refunded
),
part as (
  select 'settled' as item, m.currency, count(*) as lines, null::text as order_no,
    null::text as transaction_id, null::text as batch, null::date as since,
    coalesce(sum(t.amount) filter (where m.kind = 'captured'), 0) as captured,
    coalesce(sum(t.amount) filter (where m.kind = 'refunded'), 0) as refunded
  from told t join movement m using (movement_id)
  where m.is_shown
  group by m.currency
  union all
  select 'before_books', currency, count(*), null, null, null, null,
    coalesce(sum(amount) filter (where kind = 'captured'), 0),
    coalesce(sum(amount) filter (where kind = 'refunded'), 0)
  from movement where is_shown and is_history
  group by currency
  union all
  select case when is_shown or item = 'no_movement' then item else 'other_orders' end, currency, 1,
    order_no, transaction_id, batch, since, case when kind = 'captured' then amount else 0 end,
    case when kind = 'refunded' then amount else 0 end
  from item
  union all
  select 'counts_later', o.currency, 1, o.order_no, o.transaction_id, null, l.since, l.captured,
    l.refunded
  from later l join otherwise o using (order_no, currency)
  where l.captured <> 0 or l.refunded <> 0
  union all
  select 'booked_otherwise', o.currency, 1, o.order_no, o.transaction_id, null, null,
    o.captured - coalesce(l.captured, 0), o.refunded - coalesce(l.refunded, 0)
  from otherwise o left join later l using (order_no, currency)
  where o.captured <> coalesce(l.captured, 0) or o.refunded <> coalesce(l.refunded, 0)
)
select $2::text as "accountId", p.currency, p.item, p.lines::int as lines,
  p.order_no as "orderNo", p.transaction_id as "transactionId", p.batch, p.since::text as since,
  round(p.captured, 2)::text as captured, round(p.refunded, 2)::text as refunded,
  b.break_id::text as "breakId", b.owner
from part p
left join lateral (
  select k.break_id, k.owner from tieout.breaks k
  where k.account_id = $2 and k.order_no = p.order_no and k.state <> 'resolved'
    and tieout.is_settlement_kind(k.kind)
  order by k.state = 'open' desc, k.break_id limit 1
) b on true
order by p.currency, p.item, p.since, p.order_no, p.captured, p.refunded
