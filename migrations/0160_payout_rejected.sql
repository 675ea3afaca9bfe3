-- Up Migration
-- A payout that did not happen stands as a break until somebody acts. It is of no order, so that no
-- look at one opens or resolves it.
create or replace function tieout.stands_apart(kind text) returns boolean
language sql immutable parallel safe as $$
  select kind in ('refund_without_order', 'payout_rejected') or tieout.is_settlement_kind(kind)
$$;

alter table tieout.breaks drop constraint breaks_kind_check;
alter table tieout.breaks add constraint breaks_kind_check check (kind in (
  'missing_at_gateway', 'missing_in_ledger', 'amount_mismatch', 'currency_mismatch',
  'state_mismatch', 'transaction_mismatch', 'duplicate_transaction', 'refund_mismatch',
  'stale_authorisation', 'unknown_status', 'invalid_record', 'instruction_rejected',
  'outcome_unknown', 'refund_without_order', 'payout_rejected', 'not_settled', 'settled_twice',
  'settled_not_captured', 'settled_unknown', 'settlement_amount', 'fee_variance',
  'charged_back'));

-- Down Migration
alter table tieout.breaks drop constraint breaks_kind_check;
alter table tieout.breaks add constraint breaks_kind_check check (kind in (
  'missing_at_gateway', 'missing_in_ledger', 'amount_mismatch', 'currency_mismatch',
  'state_mismatch', 'transaction_mismatch', 'duplicate_transaction', 'refund_mismatch',
  'stale_authorisation', 'unknown_status', 'invalid_record', 'instruction_rejected',
  'outcome_unknown', 'refund_without_order', 'not_settled', 'settled_twice',
  'settled_not_captured', 'settled_unknown', 'settlement_amount', 'fee_variance',
  'charged_back')) not valid;
create or replace function tieout.stands_apart(kind text) returns boolean
language sql immutable parallel safe as $$
  select kind = 'refund_without_order' or tieout.is_settlement_kind(kind)
$$;
