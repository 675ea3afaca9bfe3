-- Up Migration
-- A ledger that is a view of the merchant's may hold rows that cannot be told apart or named: they
-- are counted beside the control totals, so that the night goes on and says so.
alter table tieout.feed_checks
  drop constraint feed_checks_verdict_check,
  add constraint feed_checks_verdict_check check (verdict in ('equal', 'absent', 'unfinished',
    'different', 'unusable'));

-- Down Migration
delete from tieout.feed_checks where verdict = 'unusable';
alter table tieout.feed_checks
  drop constraint feed_checks_verdict_check,
  add constraint feed_checks_verdict_check check (verdict in ('equal', 'absent', 'unfinished',
    'different'));
