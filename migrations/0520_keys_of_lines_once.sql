-- Up Migration
-- Chargebacks of an order or of a transaction are found by the keys that all lines have: two more
-- of their own were asked of each line that came, and answered nothing that those do not. Lines
-- that name no transaction are few with nearly every acquirer, and are found without reading the
-- others.
drop index tieout.settlement_lines_charged_back;
drop index tieout.settlement_lines_charged_back_of;
create index settlement_lines_without_transaction on tieout.settlement_lines (settlement_line_id)
  where transaction_id is null;

-- Down Migration
drop index tieout.settlement_lines_without_transaction;
create index settlement_lines_charged_back on tieout.settlement_lines (account_id, order_no)
  where type in ('chargeback', 'chargeback_reversed') and order_no is not null;
create index settlement_lines_charged_back_of on tieout.settlement_lines
  (account_id, transaction_id)
  where type in ('chargeback', 'chargeback_reversed') and transaction_id is not null;
