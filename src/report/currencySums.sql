-- The orders of each account of a run in sums, by currency: of the date, carried over, at the
-- gateway alone, by class, and the money of each side. An order is counted in its own currency, the
-- ledger's where it has one; at the gateway it is counted, and an amount of the gateway is summed,
-- in the gateway's. Asked of all accounts at once, since to plan it costs more than an account of
-- few orders does. $1 run.
select a.account_id, sums.*
from (
  select account_id, pull_id from tieout.run_accounts
  where run_id = $1::bigint and pull_id is not null order by account_id
) a
cross join lateral (
  with line as (
    -- one pass over the orders; what is of which kind is told apart in the few lines it leaves,
    -- and most differ in nothing
    select coalesce(o.currency, '') as currency, coalesce(o.ledger_currency, '') as ledger_currency,
      coalesce(o.gateway_currency, '') as gateway_currency, class,
      expected is null as is_gateway_only, o.placed_at >= r.starts_at as is_of_date,
      gateway_state is not null or payment_status is not null or gateway_amount is not null
        or gateway_amount_text is not null as is_at_gateway,
      count(*) as orders, sum(ledger_amount) as ledger, sum(gateway_amount) as gateway,
      sum(gateway_amount) filter (where ledger_amount is null) as gateway_alone,
      sum(ledger_captured) as ledger_captured, sum(ledger_refunded) as ledger_refunded,
      sum(gateway_captured) as gateway_captured, sum(gateway_refunded) as gateway_refunded,
      count(*) filter (where ledger_captured > 0) as ledger_captures,
      count(*) filter (where gateway_captured > 0) as gateway_captures
    from tieout.seen_orders($1::bigint, a.account_id, a.pull_id) as o
    cross join tieout.runs r where r.run_id = $1
    group by 1, 2, 3, 4, 5, 6, 7
  ),
  -- each figure in its own currency
  amount as (
    select currency, class, orders, is_gateway_only, is_of_date, 0 as shown, 0 as ledger,
      0 as gateway, 0 as money, 0 as ledger_captured, 0 as ledger_refunded, 0 as gateway_captured,
      0 as gateway_refunded, 0 as ledger_captures, 0 as gateway_captures
    from line
    union all
    select coalesce(nullif(gateway_currency, ''), currency), class, 0, null, null, orders, 0, 0, 0,
      0, 0, 0, 0, 0, 0
    from line where is_at_gateway
    union all
    select ledger_currency, class, 0, null, null, 0, ledger, 0, ledger, ledger_captured,
      ledger_refunded, 0, 0, ledger_captures, 0
    from line
    where ledger is not null or ledger_captured is not null or ledger_refunded is not null
    union all
    select gateway_currency, class, 0, null, null, 0, 0, gateway, gateway_alone, 0, 0,
      gateway_captured, gateway_refunded, 0, gateway_captures
    from line where gateway is not null or gateway_captured is not null
      or gateway_refunded is not null
  ), class as (
    select currency, jsonb_object_agg(class, orders) as classes,
      jsonb_object_agg(class, round(money, 2)::text) as money
    from (
      select currency, class, sum(orders)::bigint as orders, coalesce(sum(money), 0) as money
      from amount group by currency, class
    ) as by_class group by currency
  )
  select currency,
    coalesce(sum(orders) filter (where not is_gateway_only and is_of_date), 0)::bigint as of_date,
    coalesce(sum(orders) filter (where not is_gateway_only and is_of_date is not true), 0)::bigint
      as carried,
    coalesce(sum(orders) filter (where is_gateway_only), 0)::bigint as gateway_only,
    sum(shown)::bigint as at_gateway,
    round(coalesce(sum(ledger), 0), 2)::text as ledger,
    round(coalesce(sum(gateway), 0), 2)::text as gateway,
    round(coalesce(sum(ledger_captured), 0), 2)::text as ledger_captured,
    round(coalesce(sum(ledger_refunded), 0), 2)::text as ledger_refunded,
    round(coalesce(sum(gateway_captured), 0), 2)::text as gateway_captured,
    round(coalesce(sum(gateway_refunded), 0), 2)::text as gateway_refunded,
    sum(ledger_captures)::bigint as ledger_captures,
    sum(gateway_captures)::bigint as gateway_captures,
    class.classes, class.money
  from amount join class using (currency)
  group by currency, class.classes, class.money
) sums
order by a.account_id, currency
