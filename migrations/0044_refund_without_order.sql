-- Up Migration
-- A refund request whose order the ledger lacks is asked of nobody and paid to nobody: a break.
alter table tieout.breaks drop constraint breaks_kind_check;
alter table tieout.breaks add constraint breaks_kind_check check (kind in ('missing_at_gateway',
  'missing_in_ledger', 'amount_mismatch', 'currency_mismatch', 'state_mismatch',
  'transaction_mismatch', 'duplicate_transaction', 'refund_mismatch', 'stale_authorisation',
  'unknown_status', 'invalid_record', 'instruction_rejected', 'outcome_unknown',
  'refund_without_order'));

-- Down Migration
alter table tieout.breaks drop constraint breaks_kind_check;
alter table tieout.breaks add constraint breaks_kind_check check (kind in ('missing_at_gateway',
  'missing_in_ledger', 'amount_mismatch', 'currency_mismatch', 'state_mismatch',
  'transaction_mismatch', 'duplicate_transaction', 'refund_mismatch', 'stale_authorisation',
  'unknown_status', 'invalid_record', 'instruction_rejected', 'outcome_unknown')) not valid;
