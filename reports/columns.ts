// What each report shows of a row: columns with the key that programs read and the heading that
// people read. The workbooks and the CSV and NDJSON files are made of the same columns, so that
// they cannot disagree. Data only; neighbours: core/reporting.ts (the rows), table.ts,
// delimited.ts.

import type { BreakRow, MovementRow, OrderRow } from '../src/core/reporting.js';

interface Shown {
  key: string;
  heading: string;
  /** In characters. */
  width: number;
}

/** `id` is never altered; `text` is free text and masked; `money` is text of two decimals. */
export type Column<R> = Shown &
  (
    | { kind: 'id' | 'text'; read: (row: R) => string | null }
    | { kind: 'money'; read: (row: R) => string | null; currency: (row: R) => string | null }
    | { kind: 'count'; read: (row: R) => number | null }
    | { kind: 'instant'; read: (row: R) => Date | null }
  );

export interface Table<R> {
  columns: readonly Column<R>[];
  /** Identifiers that free text of this row may name; masking leaves them alone. */
  keep: (row: R) => readonly string[];
  /** How many of the first columns stay in view. */
  frozenColumns: number;
}

export const BREAKS: Table<BreakRow> = {
  frozenColumns: 2,
  keep: (row) => identifiers(row.orderNo, row.transactionId),
  columns: [
    { key: 'account_id', heading: 'Account', width: 12, kind: 'id', read: (row) => row.accountId },
    { key: 'order_no', heading: 'Order', width: 20, kind: 'id', read: (row) => row.orderNo },
    { key: 'kind', heading: 'Kind', width: 22, kind: 'text', read: (row) => row.kind },
    { key: 'state', heading: 'State', width: 10, kind: 'text', read: (row) => row.state },
    {
      key: 'sentence',
      heading: 'What is different',
      width: 60,
      kind: 'text',
      read: (row) => row.sentence,
    },
    { key: 'expected', heading: 'Ledger', width: 18, kind: 'text', read: (row) => row.expected },
    { key: 'actual', heading: 'Gateway', width: 18, kind: 'text', read: (row) => row.actual },
    { key: 'currency', heading: 'Currency', width: 10, kind: 'text', read: (row) => row.currency },
    {
      key: 'difference',
      heading: 'Difference',
      width: 16,
      kind: 'money',
      read: (row) => row.difference,
      currency: (row) => row.currency,
    },
    {
      key: 'first_seen',
      heading: 'First seen',
      width: 20,
      kind: 'instant',
      read: (row) => row.firstSeen,
    },
    {
      key: 'age_days',
      heading: 'Age (days)',
      width: 10,
      kind: 'count',
      read: (row) => row.ageDays,
    },
    { key: 'owner', heading: 'Owner', width: 16, kind: 'text', read: (row) => row.owner },
    { key: 'note', heading: 'Note', width: 40, kind: 'text', read: (row) => row.note },
    {
      key: 'transaction_id',
      heading: 'Transaction',
      width: 24,
      kind: 'id',
      read: (row) => row.transactionId,
    },
  ],
};

export const MOVEMENTS: Table<MovementRow> = {
  frozenColumns: 2,
  keep: (row) => identifiers(row.orderNo, row.transactionId, row.refundId, row.gatewayReference),
  columns: [
    { key: 'account_id', heading: 'Account', width: 12, kind: 'id', read: (row) => row.accountId },
    { key: 'order_no', heading: 'Order', width: 20, kind: 'id', read: (row) => row.orderNo },
    { key: 'refund_id', heading: 'Refund', width: 20, kind: 'id', read: (row) => row.refundId },
    {
      key: 'operation',
      heading: 'Operation',
      width: 11,
      kind: 'text',
      read: (row) => row.operation,
    },
    { key: 'state', heading: 'State', width: 12, kind: 'text', read: (row) => row.state },
    { key: 'currency', heading: 'Currency', width: 10, kind: 'text', read: (row) => row.currency },
    {
      key: 'amount',
      heading: 'Amount',
      width: 16,
      kind: 'money',
      read: (row) => row.amount,
      currency: (row) => row.currency,
    },
    {
      key: 'transaction_id',
      heading: 'Transaction',
      width: 24,
      kind: 'id',
      read: (row) => row.transactionId,
    },
    {
      key: 'gateway_reference',
      heading: 'Gateway reference',
      width: 24,
      kind: 'id',
      read: (row) => row.gatewayReference,
    },
    {
      key: 'gateway_message',
      heading: 'Gateway message',
      width: 40,
      kind: 'text',
      read: (row) => row.gatewayMessage,
    },
    { key: 'at', heading: 'At', width: 20, kind: 'instant', read: (row) => row.at },
    {
      key: 'hold_reason',
      heading: 'Why it waits',
      width: 40,
      kind: 'text',
      read: (row) => row.holdReason,
    },
  ],
};

export const ORDERS: Table<OrderRow> = {
  frozenColumns: 2,
  keep: (row) => identifiers(row.orderNo, row.transactionId),
  columns: [
    { key: 'account_id', heading: 'Account', width: 12, kind: 'id', read: (row) => row.accountId },
    { key: 'order_no', heading: 'Order', width: 20, kind: 'id', read: (row) => row.orderNo },
    { key: 'class', heading: 'Class', width: 12, kind: 'text', read: (row) => row.class },
    { key: 'kinds', heading: 'Breaks', width: 24, kind: 'text', read: (row) => row.kinds },
    { key: 'expected', heading: 'Ledger', width: 12, kind: 'text', read: (row) => row.expected },
    {
      key: 'gateway_state',
      heading: 'Gateway',
      width: 18,
      kind: 'text',
      read: (row) => row.gatewayState,
    },
    {
      key: 'payment_status',
      heading: 'Gateway code',
      width: 10,
      kind: 'text',
      read: (row) => row.paymentStatus,
    },
    { key: 'currency', heading: 'Currency', width: 10, kind: 'text', read: (row) => row.currency },
    {
      key: 'ledger_amount',
      heading: 'Ledger amount',
      width: 16,
      kind: 'money',
      read: (row) => row.ledgerAmount,
      currency: (row) => row.currency,
    },
    {
      key: 'gateway_amount',
      heading: 'Gateway amount',
      width: 16,
      kind: 'money',
      read: (row) => row.gatewayAmount,
      currency: (row) => row.currency,
    },
    {
      key: 'transaction_id',
      heading: 'Transaction',
      width: 24,
      kind: 'id',
      read: (row) => row.transactionId,
    },
    {
      key: 'transaction_date',
      heading: 'Transaction date (as the gateway prints it)',
      width: 20,
      kind: 'text',
      read: (row) => row.transactionDate,
    },
    {
      key: 'placed_at',
      heading: 'Placed',
      width: 20,
      kind: 'instant',
      read: (row) => row.placedAt,
    },
  ],
};

/** Where a column of a table stands, counted from 1 as a spreadsheet does. */
export function columnNumber<R>(table: Table<R>, key: string): number {
  const index = table.columns.findIndex((column) => column.key === key);
  if (index === -1) throw new Error(`the table has no column ${key}`);
  return index + 1;
}

function identifiers(...ids: readonly (string | null)[]): readonly string[] {
  return ids.filter((id) => id !== null);
}
