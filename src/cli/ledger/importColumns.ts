// What each import takes, column by column, for `tieout import ... --help`. What a column may hold
// is core/ledger/ledgerRow.ts's and core/ledger/payoutRow.ts's; docs/IMPORT.md says the same.

import { DISPUTE_COLUMNS } from '../../core/ledger/disputeRow.js';
import type { Column } from '../../core/ledger/ledgerRow.js';
import { ORDER_COLUMNS, REFUND_COLUMNS } from '../../core/ledger/ledgerRow.js';
import { PAYOUT_COLUMNS } from '../../core/ledger/payoutRow.js';
import { LINE_TYPES, SETTLEMENT_COLUMNS } from '../../core/settlement/settlementLine.js';
import { filled } from '../terminal.js';

export const IMPORT_COLUMNS: Readonly<Record<string, readonly Column[]>> = {
  orders: ORDER_COLUMNS,
  refunds: REFUND_COLUMNS,
  payouts: PAYOUT_COLUMNS,
  disputes: DISPUTE_COLUMNS,
  settlement: SETTLEMENT_COLUMNS,
};

const ABOUT: Readonly<Record<string, string>> = {
  account_id: 'the account of the configuration',
  order_no: 'as the gateway knows it, with leading zeros; with account_id the key',
  currency: 'ISO 4217: EUR',
  amount: 'two decimals: 1234.50',
  expected: 'what you want to be true: authorised, captured, cancelled, declined',
  transaction_id: "the gateway's number of the payment",
  capture_amount: 'at most amount; less of it is captured where the profile allows',
  review_decision: 'of a payment in review: accept or reject',
  placed_at: 'time with zone: 2026-11-19T08:30:00Z',
  updated_at: 'time with zone; a line older than the row is skipped',
  refund_id: 'your number of the refund; with account_id the key',
  refund_amount: 'two decimals; never changes',
  reason: 'free text, sent to the gateway',
  requested_by: 'who asked: may not approve it',
  requested_at: 'time with zone',
  request_id: 'a UUID, the key',
  dispute_id: "the acquirer's number of the dispute; with account_id the key",
  stage: 'opened, won, lost, withdrawn',
  at: 'when it came into this stage; a line older than the row is skipped',
  payload: "JSON: what the gateway's document prints for a payout",
};

/** Where a column of settlement means something else than one of the ledger. */
const ABOUT_SETTLEMENT: Readonly<Record<string, string>> = {
  batch: "the acquirer's number of the settlement",
  type: LINE_TYPES.join(', '),
  booked_at: 'time with zone',
  currency: 'as the order was charged',
  amount: 'as the order was charged: captured above 0, refunded below 0',
  net: 'what the line comes to, in settle_currency: gross - fee',
  line_id: "the acquirer's number of the line, else its number within the batch",
  reference: "the acquirer's number of the refund",
  settle_currency: 'what the acquirer settles in, else currency',
  gross: 'in settle_currency, else net + fee',
  fee: 'in settle_currency; a cost is above 0',
};

/** Null for what has no columns: stored XML answers. */
export function columnsHelp(kind: string): string | null {
  const columns = IMPORT_COLUMNS[kind];
  if (columns === undefined) return null;
  const width = Math.max(...columns.map(({ name }) => name.length));
  const lines = columns.map(({ name, nullable }) => {
    const may = nullable ? ' (may be empty or absent)' : '';
    const about = kind === 'settlement' ? ABOUT_SETTLEMENT[name] : undefined;
    return filled(`  ${name.padEnd(width)}  ${about ?? ABOUT[name] ?? ''}${may}`, width + 4);
  });
  return ['', 'Columns, named by the first line:', ...lines].join('\n');
}
