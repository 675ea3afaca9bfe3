-- Up Migration
-- Lines of the acquirer go straight to where they stay, and their keys are most of what that costs.
-- That a batch has each line once is judged over the whole set before it stays, so that no key need
-- hold it for each line; by its batch a line is still found. What orders and transactions are
-- looked up by stands before the account, which is the same for many lines and says nothing.
alter table tieout.settlement_lines
  drop constraint settlement_lines_account_id_batch_line_id_key;
create index settlement_lines_by_batch on tieout.settlement_lines (account_id, batch);
drop index tieout.settlement_lines_by_order;
create index settlement_lines_by_order on tieout.settlement_lines (order_no, account_id)
  where order_no is not null;
drop index tieout.settlement_lines_by_transaction;
create index settlement_lines_by_transaction
  on tieout.settlement_lines (transaction_id, account_id) where transaction_id is not null;

-- Down Migration
drop index tieout.settlement_lines_by_transaction;
create index settlement_lines_by_transaction
  on tieout.settlement_lines (account_id, transaction_id);
drop index tieout.settlement_lines_by_order;
create index settlement_lines_by_order on tieout.settlement_lines (account_id, order_no);
drop index tieout.settlement_lines_by_batch;
alter table tieout.settlement_lines add unique (account_id, batch, line_id);
