-- The orders of one account of a run in sums, by currency: of the date, carried over, at the
-- gateway alone, by class. $1 run, $2 account, $3 its look of the night.
with line as (
  -- one pass over the orders; what is of which kind is told apart in the few lines it leaves,
  -- and most differ in nothing
  select $2::text as account_id, coalesce(o.currency, '') as currency, class,
    expected is null as is_gateway_only, o.placed_at >= r.starts_at as is_of_date,
    gateway_state is not null or payment_status is not null or gateway_amount is not null
      or gateway_amount_text is not null as is_at_gateway,
    count(*) as orders, sum(ledger_amount) as ledger, sum(gateway_amount) as gateway,
    sum(gateway_amount) filter (where ledger_amount is null) as gateway_alone,
    sum(gateway_amount - ledger_amount) filter (where gateway_amount <> ledger_amount)
      as difference,
    sum(abs(gateway_amount - ledger_amount)) filter (where gateway_amount <> ledger_amount)
      as absolute
  from tieout.seen_orders($1::bigint, $2, $3::bigint) as o
  cross join tieout.runs r where r.run_id = $1
  group by 2, 3, 4, 5, 6
), class as (
  select account_id, currency, jsonb_object_agg(class, orders) as classes,
    jsonb_object_agg(class, round(money, 2)::text) as money
  from (
    select account_id, currency, class, sum(orders)::bigint as orders,
      coalesce(sum(ledger), 0) + coalesce(sum(gateway_alone), 0) as money
    from line group by account_id, currency, class
  ) as by_class group by account_id, currency
)
select account_id, currency,
  coalesce(sum(orders) filter (where not is_gateway_only and is_of_date), 0)::bigint as of_date,
  coalesce(sum(orders) filter (where not is_gateway_only and is_of_date is not true), 0)::bigint
    as carried,
  coalesce(sum(orders) filter (where is_gateway_only), 0)::bigint as gateway_only,
  coalesce(sum(orders) filter (where is_at_gateway), 0)::bigint as at_gateway,
  round(coalesce(sum(ledger) filter (where is_of_date), 0), 2)::text
    as ledger_of_date,
  round(coalesce(sum(ledger) filter (where is_of_date is not true), 0), 2)::text
    as ledger_carried,
  round(coalesce(sum(gateway), 0), 2)::text as gateway,
  round(coalesce(sum(difference), 0), 2)::text as difference,
  round(coalesce(sum(absolute), 0), 2)::text as absolute,
  class.classes, class.money
from line join class using (account_id, currency)
group by account_id, currency, class.classes, class.money order by currency
