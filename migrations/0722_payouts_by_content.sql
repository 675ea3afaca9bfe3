-- Up Migration
-- A claim asks for other payouts of the same content, whose request has left the ledger since the
-- plan: one among all that were ever paid.
create index payouts_by_content on tieout.instructions using hash ((payload - 'request_id'))
  where operation = 'payout';

-- Down Migration
drop index tieout.payouts_by_content;
