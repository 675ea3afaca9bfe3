-- Up Migration
-- What an account sent since a run, without a walk of all that was ever sent: the newest answers
-- are sampled each night for fields that the acquirer has changed.
create index batches_by_account on tieout.batches (account_id, run_id);

-- Down Migration
drop index tieout.batches_by_account;
