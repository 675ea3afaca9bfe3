-- Up Migration
-- A payout request is paid once, whichever account the ledger names for it: what became of it is
-- found by its id alone.
drop index tieout.payouts_by_request;
create index payouts_by_request on tieout.instructions (transaction_id, account_id)
  where operation = 'payout';

-- Down Migration
drop index tieout.payouts_by_request;
create index payouts_by_request on tieout.instructions (account_id, transaction_id)
  where operation = 'payout';
