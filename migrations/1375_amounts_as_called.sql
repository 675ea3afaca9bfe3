-- Up Migration
-- An amount as a call by hand printed it, by the decimals that its currency has at the gateway
-- ("1.00", "1000", "1.000"); null: it is none.
create function tieout.amount_called(printed text)
returns numeric
language sql immutable parallel safe as $$
  select round(tieout.usable_amount(tieout.amount_in(printed)), 2)
$$;

-- Down Migration
drop function tieout.amount_called;
