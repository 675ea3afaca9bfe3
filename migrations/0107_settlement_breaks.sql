-- Up Migration
-- Breaks of settlement live as the others do, and stand in no class of orders: no snapshot bears on
-- them.
create function tieout.is_settlement_kind(kind text) returns boolean
language sql immutable parallel safe as $$
  select kind in ('not_settled', 'settled_twice', 'settled_not_captured', 'settled_unknown',
    'settlement_amount', 'fee_variance', 'charged_back')
$$;

-- Kinds that no compare of an order opens or resolves, and for which no order is looked at.
create function tieout.stands_apart(kind text) returns boolean
language sql immutable parallel safe as $$
  select kind = 'refund_without_order' or tieout.is_settlement_kind(kind)
$$;

alter table tieout.breaks drop constraint breaks_kind_check;
alter table tieout.breaks add constraint breaks_kind_check check (kind in (
  'missing_at_gateway', 'missing_in_ledger', 'amount_mismatch', 'currency_mismatch',
  'state_mismatch', 'transaction_mismatch', 'duplicate_transaction', 'refund_mismatch',
  'stale_authorisation', 'unknown_status', 'invalid_record', 'instruction_rejected',
  'outcome_unknown', 'refund_without_order', 'not_settled', 'settled_twice',
  'settled_not_captured', 'settled_unknown', 'settlement_amount', 'fee_variance',
  'charged_back'));

alter table tieout.break_events drop constraint break_events_cause_check;
alter table tieout.break_events add constraint break_events_cause_check check (cause in
  ('instruction', 'outside', 'ledger', 'tolerance', 'gone', 'other_break', 'rules', 'settlement'));

-- Down Migration
alter table tieout.break_events drop constraint break_events_cause_check;
alter table tieout.break_events add constraint break_events_cause_check check (cause in
  ('instruction', 'outside', 'ledger', 'tolerance', 'gone', 'other_break', 'rules')) not valid;
alter table tieout.breaks drop constraint breaks_kind_check;
alter table tieout.breaks add constraint breaks_kind_check check (kind in (
  'missing_at_gateway', 'missing_in_ledger', 'amount_mismatch', 'currency_mismatch',
  'state_mismatch', 'transaction_mismatch', 'duplicate_transaction', 'refund_mismatch',
  'stale_authorisation', 'unknown_status', 'invalid_record', 'instruction_rejected',
  'outcome_unknown', 'refund_without_order')) not valid;
drop function tieout.stands_apart(text);
drop function tieout.is_settlement_kind(text);
