-- Up Migration
-- Payouts that were planned since a request was made: it may be one of them, loaded anew under
-- another number.
create index payouts_by_plan on tieout.instructions (account_id, created_at)
  where operation = 'payout';

-- Down Migration
drop index tieout.payouts_by_plan;
