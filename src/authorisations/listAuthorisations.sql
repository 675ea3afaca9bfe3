-- Reservations that are not taken, a page of them, with what stands in the way. $1 rules and $2
-- whether all as tieout.open_authorisations has them, $3 order: hours, amount, order, account or
-- since, $4 limit or null, $5 offset, $6 business date of the night that saw them, null: as they
-- were seen last, $7 now. What can still be taken stands before what has lapsed, and that before
-- what lapses nobody knows when. Amounts of two currencies are not compared: those of each stand
-- together.
select a.account_id as "accountId", a.order_no as "orderNo", a.transaction_id as "transactionId",
  a.currency, round(a.amount, 2)::text as amount, a.since, a.lapses_at as "lapsesAt",
  a.warn_until as "warnUntil", a.expected, a.seen_at as "seenAt", a.is_gap as "isGap",
  i.instruction_id::text as "instructionId", i.operation, i.state, i.hold_reason as "holdReason",
  coalesce(i.settled_at > a.seen_at, false) as "isSettledSince",
  coalesce(b.kinds, '{}') as breaks, coalesce(b.waived, '{}') as waived, b.owner
from (
  select page.*, row_number() over () as place from (
    select * from tieout.open_authorisations($1::jsonb, $2::boolean, $6::date)
    order by case $3::text when 'amount' then currency when 'order' then order_no
        when 'account' then account_id end nulls last,
      case when $3 = 'since' then since end,
      case when $3 = 'amount' then amount end desc nulls last,
      case when lapses_at > $7::timestamptz then lapses_at end, lapses_at desc nulls last, since,
      amount desc nulls last, account_id, order_no, transaction_id
    limit $4 offset $5
  ) page
) a
left join lateral (
  select instruction_id, operation, state, hold_reason, settled_at from tieout.instructions
  where account_id = a.account_id and order_no = a.order_no
    and transaction_id = a.transaction_id and operation in ('capture', 'cancel', 'review')
  order by is_open desc, instruction_id desc limit 1
) i on true
left join lateral (
  select array_agg(kind order by kind) filter (where state = 'open') as kinds,
    array_agg(kind order by kind) filter (where state = 'waived') as waived,
    max(owner) filter (where state = 'open') as owner
  from tieout.breaks
  where account_id = a.account_id and order_no = a.order_no and state in ('open', 'waived')
) b on true
order by a.place
