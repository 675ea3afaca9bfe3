-- Up Migration
-- By which codes of the gateway an order was final: where one of them means something else later, it
-- is looked at again. Of those that were remembered before, nobody knows.
alter table tieout.final_orders add column codes text[] collate "C";

-- Down Migration
alter table tieout.final_orders drop column codes;
