-- Up Migration
-- By which codes of the gateway an order was final: where one of them means something else later,
-- it is looked at again. Of those that were remembered before, nobody knows.
alter table tieout.final_orders add column codes text[] collate "C";

-- An account that nobody configured has books in a run, too, where the ledger asks for refunds of
-- it: it has no merchant, and is not looked at.
alter table tieout.run_accounts alter column merchant_id drop not null;

-- Down Migration
delete from tieout.run_accounts where merchant_id is null;
alter table tieout.run_accounts alter column merchant_id set not null;
alter table tieout.final_orders drop column codes;
