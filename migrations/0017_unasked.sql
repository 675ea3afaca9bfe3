-- Up Migration
-- Orders of a look that no page asks for: few, and looked for in every night.
create index asked_orders_unasked on tieout.asked_orders (pull_id, account_id)
  where page_no is null;

-- Down Migration
drop index tieout.asked_orders_unasked;
