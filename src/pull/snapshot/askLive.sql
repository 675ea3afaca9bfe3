-- Which orders does the run look at? Writes them with their ledger rows and cuts them into pages.
-- $1 pull, $2 accounts as json [{account_id, live_from}], $3 the date's end, $4 start of the
-- look-back, $5 separator of the order list, $6 orders a page, $7 $8 currencies: usable, coarse,
-- $9 null or orders that stand twice (account and number joined by chr(31)), entered elsewhere,
-- $10 $11 null or: only the orders of this account behind that one; $12 $13 null or: all but those,
-- which are in chunks already; $14 null or refund requests that stand twice (account and id, joined
-- alike). The ledger is read through its door (tieout.ledger_orders), which says what is wrong with
-- a row. docs/CONTRACT.md section 5, step 1.
with account as materialized (
  select account_id collate "C" as account_id, live_from
  from jsonb_to_recordset($2::jsonb) as a (account_id text, live_from timestamptz)
),
-- Orders that are always looked at, however old or final. The sets are small beside the ledger,
-- so that each is hashed once.
kept as materialized (
  select account_id, order_no from tieout.breaks
  where state <> 'resolved' and not tieout.stands_apart(kind)
  union
  select account_id, order_no from tieout.instructions
  where is_open and operation <> 'payout'
  union
  select account_id, order_no from tieout.look_hints
),
-- Dated older by now they count as done, and are looked at once more to be told.
younger as materialized (
  select a.account_id, y.order_no, y.refund_id
  from account a cross join lateral tieout.younger_requests(a.account_id, a.live_from, $1) y
),
refundable as materialized (
  select r.account_id collate "C" as account_id, r.order_no collate "C" as order_no,
    max(min_scale(r.refund_amount)) as decimals
  from tieout.ledger_refunds() r
  join account a on a.account_id = r.account_id collate "C"
  where (a.live_from is null or r.requested_at >= a.live_from
      or (r.account_id collate "C", r.order_no collate "C", r.refund_id collate "C")
        in (select * from younger))
    -- what was paid: for this very order, for a request may move to another one
    and not exists (
      select from tieout.instructions i
      where i.account_id = r.account_id collate "C" and i.refund_id = r.refund_id collate "C"
        and i.order_no = r.order_no collate "C" and i.state = 'confirmed'
    )
    -- refused is not finished: it may have gone as its order became final, and come back
    and not exists (
      select from tieout.final_orders f
      where f.account_id = r.account_id collate "C" and f.order_no = r.order_no collate "C"
        and (r.refund_id || ' ' || trim_scale(r.refund_amount)) collate "C" = any (f.requests)
    )
  group by 1, 2
),
-- Refund requests that cannot be used: their order cannot either, and is looked at to say so.
odd_refund as materialized (
  select account_id, order_no, min(problem) as problem
  from (
    select r.account_id collate "C" as account_id, r.order_no collate "C" as order_no,
      coalesce(r.problem, 'its refund request ' || left(r.refund_id, 64)
        || ' stands in the ledger more than once') as problem
    from tieout.ledger_refunds() r
    where r.account_id collate "C" in (select account_id from account)
      and (r.problem is not null
        or $14::text[] is not null and r.account_id || chr(31) || r.refund_id = any ($14))
  ) as request
  group by account_id, order_no
),
-- Paid back by us, and the ledger asks for it no more, or for another amount.
forgotten as materialized (
  select i.account_id, i.order_no
  from tieout.instructions i
  join account a on a.account_id = i.account_id
  where i.operation = 'refund' and i.state = 'confirmed' and not i.is_void
    and not exists (
      select from tieout.ledger_refunds() r
      where r.account_id collate "C" = i.account_id and r.refund_id collate "C" = i.refund_id
        and r.order_no collate "C" = i.order_no and r.refund_amount = i.refund_amount
    )
),
live as (
  select l.account_id collate "C" as account_id, l.order_no collate "C" as order_no,
    true as in_ledger, l.currency, l.amount, l.expected, l.transaction_id, l.capture_amount,
    l.review_decision, l.placed_at, coalesce(l.problem, odd.problem,
      tieout.too_fine(refundable.decimals, l.currency, $8::jsonb)
        || ', and a refund request of it asks for less') as ledger_problem
  from tieout.ledger_orders($7::text[], $8::jsonb, $5) l
  left join odd_refund odd
    on odd.account_id = l.account_id collate "C" and odd.order_no = l.order_no collate "C"
  left join refundable on refundable.account_id = l.account_id collate "C"
    and refundable.order_no = l.order_no collate "C"
  where l.account_id collate "C" in (select account_id from account)
    -- an index holds no longer ones; a view may have them, or none at all
    and octet_length(l.order_no) <= 512
    and ($9::text[] is null or not (l.account_id || chr(31) || l.order_no) = any ($9))
    and ($10::text is null
      or l.account_id collate "C" = $10 and l.order_no collate "C" > $11::text)
    and ($12::text is null
      or l.account_id collate "C" <> $12 or l.order_no collate "C" <= $13::text)
    and (
      (l.placed_at < $3::timestamptz and (
        l.placed_at >= $4::timestamptz
        or not exists (
          select from tieout.final_orders f
          where f.account_id = l.account_id collate "C" and f.order_no = l.order_no collate "C"
            and f.fingerprint = md5(row(l.currency, l.amount::numeric(20, 2), l.expected,
              l.transaction_id, l.capture_amount::numeric(20, 2), l.review_decision,
              l.placed_at)::text)
        )
      ))
      or l.placed_at is null
      or (l.account_id collate "C", l.order_no collate "C") in (select * from kept)
      or (l.account_id collate "C", l.order_no collate "C") in (select * from forgotten)
      or refundable.order_no is not null or odd.order_no is not null
    )
  union all
  -- Kept, but without a ledger row: gateway-only orders with an open break, orders that left the
  -- ledger.
  select k.account_id, k.order_no, false, null, null, null, null, null, null, null,
    -- nothing says any more that there is such an order, and nobody can be asked
    case when ($5 <> '' and position($5 in k.order_no) > 0
          -- what stands for an entry whose order cannot be named (gateway/query/decode.ts)
          or k.order_no ~ '…[0-9a-f]{16}$')
        and (k.account_id, k.order_no) not in (select account_id, order_no
          from tieout.instructions where is_open and operation <> 'payout')
      then 'it is not in the ledger, and its number cannot be asked for' end
  from kept k
  where k.account_id in (select account_id from account)
    and ($10 is null or k.account_id = $10 and k.order_no > $11)
    and ($12 is null or k.account_id <> $12 or k.order_no <= $13)
    and not exists (
      select from tieout.ledger_orders('{}', '{}', '') l
      where l.account_id collate "C" = k.account_id and l.order_no collate "C" = k.order_no
    )
),
askable as (
  select live.*, ($5 = '' or (order_no <> '' and position($5 in order_no) = 0))
    and (in_ledger or ledger_problem is null) as is_askable
  from live
),
numbered as (
  select askable.*,
    count(*) filter (where is_askable) over (partition by account_id order by order_no
      rows between unbounded preceding and current row) - 1 as place
  from askable
)
insert into :asked_orders (pull_id, account_id, order_no, page_no, in_ledger, currency,
  amount, expected, transaction_id, capture_amount, review_decision, placed_at, ledger_problem)
-- In a view an order may have come to stand twice since it was asked which do: the next look says
-- so. They come sorted by the window; to insert them "on conflict" would take twice as long.
select distinct on (account_id, order_no) $1::bigint, account_id, order_no,
  case when is_askable then place / $6::int + case when account_id = $12 then (
    select coalesce(max(last_page) + 1, 0) from tieout.chunks
    where pull_id = $1 and account_id = $12) else 0 end end,
  in_ledger, currency, amount, expected, transaction_id, capture_amount, review_decision, placed_at,
  ledger_problem
from numbered
order by account_id, order_no
