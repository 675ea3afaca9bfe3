-- Up Migration
-- A confirmed payout whose amount has a unit stands in its business day, as a memo: it is money
-- that the merchant sends, and no part of what the gateway owes him.
alter table tieout.day_movements
  drop constraint day_movements_operation_check,
  add constraint day_movements_operation_check
    check (operation in ('capture', 'cancel', 'refund', 'payout'));

-- Payouts are few beside all other instructions, and are looked for by themselves each night.
create index instructions_payouts on tieout.instructions (account_id, transaction_id, state)
  where operation = 'payout';

-- What people did to breaks, among all that happened to them.
create index break_events_by_people on tieout.break_events (at) where by <> 'tieout';

-- Down Migration
drop index tieout.break_events_by_people;
drop index tieout.instructions_payouts;
alter table tieout.day_movements
  drop constraint day_movements_operation_check,
  add constraint day_movements_operation_check
    check (operation in ('capture', 'cancel', 'refund')) not valid;
