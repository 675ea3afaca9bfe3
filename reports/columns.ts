// What each report shows of a row: columns with the key that programs read and the heading that
// people read. The workbooks and the CSV and NDJSON files are made of the same columns, so that
// they cannot disagree; a sheet shows codes in words and leaves out what is the same in each row.
// Data only; neighbours: core/reporting.ts (the rows), table.ts, delimited.ts.

import { nextStep } from '../src/core/nextStep.js';
import type { BreakRow, CoverageLine, MovementRow, OrderRow } from '../src/core/reporting.js';
import { inWords, reasonToWait, statesInWords } from '../src/core/words.js';

interface Shown {
  key: string;
  heading: string;
  /** In characters; where a sheet is fitted to its rows, the most that text may take. */
  width: number;
}

/**
 * `id` is never altered; `text` is free text and masked, and a sheet shows `words` where there are
 * any; `money` is text of two decimals.
 */
export type Column<R> = Shown &
  (
    | { kind: 'id'; read: (row: R) => string | null }
    | {
        kind: 'text';
        read: (row: R) => string | null;
        /** Takes the text, empty where there is none. */
        words?: (text: string) => string;
        /** Instead, where the words come of the whole row. */
        rowWords?: (row: R) => string;
      }
    | { kind: 'money'; read: (row: R) => string | null; currency: (row: R) => string | null }
    | { kind: 'count'; read: (row: R) => number | null }
    | { kind: 'instant'; read: (row: R) => Date | null }
    /** A business date, 2026-11-19. */
    | { kind: 'date'; read: (row: R) => string | null }
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
    {
      key: 'kind',
      heading: 'Kind',
      width: 24,
      kind: 'text',
      read: (row) => row.kind,
      words: inWords,
    },
    { key: 'state', heading: 'State', width: 10, kind: 'text', read: (row) => row.state },
    {
      key: 'sentence',
      heading: 'What is different',
      width: 46,
      kind: 'text',
      read: (row) => row.sentence,
      words: statesInWords,
    },
    {
      key: 'expected',
      heading: 'Ledger',
      width: 20,
      kind: 'text',
      read: (row) => row.expected,
      words: statesInWords,
    },
    {
      key: 'actual',
      heading: 'Gateway',
      width: 20,
      kind: 'text',
      read: (row) => row.actual,
      words: statesInWords,
    },
    { key: 'currency', heading: 'Currency', width: 10, kind: 'text', read: (row) => row.currency },
    {
      key: 'difference',
      heading: 'Gateway − ledger',
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
    { key: 'note', heading: 'Note', width: 30, kind: 'text', read: (row) => row.note },
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
      width: 36,
      kind: 'text',
      read: (row) => row.gatewayMessage,
    },
    { key: 'at', heading: 'At', width: 20, kind: 'instant', read: (row) => row.at },
    {
      key: 'hold_reason',
      heading: 'Why it waits',
      width: 50,
      kind: 'text',
      read: (row) => row.holdReason,
      rowWords: (row) => reasonToWait(row.state, row.holdReason ?? ''),
    },
  ],
};

export const ORDERS: Table<OrderRow> = {
  frozenColumns: 2,
  keep: (row) => identifiers(row.orderNo, row.transactionId, dateDigits(row.transactionDate)),
  columns: [
    { key: 'account_id', heading: 'Account', width: 12, kind: 'id', read: (row) => row.accountId },
    { key: 'order_no', heading: 'Order', width: 24, kind: 'id', read: (row) => row.orderNo },
    {
      key: 'class',
      heading: 'Class',
      width: 15,
      kind: 'text',
      read: (row) => row.class,
      words: inWords,
    },
    {
      key: 'kinds',
      heading: 'Breaks',
      width: 24,
      kind: 'text',
      read: (row) => row.kinds,
      words: inWords,
    },
    { key: 'expected', heading: 'Ledger', width: 12, kind: 'text', read: (row) => row.expected },
    {
      key: 'gateway_state',
      heading: 'Gateway',
      width: 19,
      kind: 'text',
      read: (row) => row.gatewayState,
      words: inWords,
    },
    {
      key: 'payment_status',
      heading: 'Gateway code',
      width: 11,
      kind: 'text',
      read: (row) => row.paymentStatus,
    },
    { key: 'currency', heading: 'Currency', width: 11, kind: 'text', read: (row) => row.currency },
    {
      key: 'ledger_amount',
      heading: 'Ledger amount',
      width: 18,
      kind: 'money',
      read: (row) => row.ledgerAmount,
      currency: (row) => row.currency,
    },
    {
      key: 'gateway_amount',
      heading: 'Gateway amount',
      width: 18,
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
      heading: 'Gateway date (as printed)',
      width: 18,
      kind: 'text',
      read: (row) => row.transactionDate,
    },
    {
      key: 'placed_at',
      heading: 'Placed',
      width: 22,
      kind: 'instant',
      read: (row) => row.placedAt,
    },
  ],
};

/** The sheet of open breaks: the state of each is the same. */
export const BREAKS_SHEET = without(BREAKS, 'state');
/** The sheet of confirmed instructions: none of them waits. */
export const MOVED_SHEET = headed(without(MOVEMENTS, 'state', 'hold_reason'), 'at', 'Confirmed');
/** The sheet of what waits: reason and next step stand before the details of the gateway. */
export const WAITING_SHEET: Table<MovementRow> = headed(
  {
    ...MOVEMENTS,
    columns: [
      ...['account_id', 'order_no', 'refund_id', 'operation', 'state', 'hold_reason'].map((key) =>
        columnOf(MOVEMENTS, key),
      ),
      {
        key: 'next_step',
        heading: 'What to do',
        width: 60,
        kind: 'text',
        read: () => null,
        rowWords: nextStep,
      },
      ...['currency', 'amount', 'transaction_id', 'gateway_message', 'at'].map((key) =>
        columnOf(MOVEMENTS, key),
      ),
    ],
  },
  'at',
  'Since',
);

/** Both amounts beside each other; programs find them in the texts of both sides. */
const SIDES: Table<BreakRow> = {
  ...BREAKS,
  columns: [
    ...BREAKS.columns,
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
  ],
};

/** The three lists that finance asks for first; each is a part of the sheet of breaks. */
export const NOT_HERE_LIST = listed(SIDES, 'currency', 'gateway_amount', 'actual');
export const NOT_THERE_LIST = listed(SIDES, 'currency', 'ledger_amount', 'expected');
export const STATE_LIST = listed(SIDES, 'kind', 'expected', 'actual', 'currency', 'gateway_amount');

export const COVERAGE: Table<CoverageLine> = {
  frozenColumns: 2,
  keep: (row) => identifiers(row.orderNo),
  columns: [
    { key: 'account_id', heading: 'Account', width: 12, kind: 'id', read: (row) => row.accountId },
    { key: 'order_no', heading: 'Order', width: 24, kind: 'id', read: (row) => row.orderNo },
    { key: 'page', heading: 'Page', width: 10, kind: 'count', read: (row) => row.page },
    { key: 'how', heading: 'What was said of it', width: 50, kind: 'text', read: (row) => row.how },
    { key: 'reason', heading: 'Reason', width: 60, kind: 'text', read: (row) => row.reason },
  ],
};

/** Where a column of a table stands, counted from 1 as a spreadsheet does. */
export function columnNumber<R>(table: Table<R>, key: string): number {
  return table.columns.indexOf(columnOf(table, key)) + 1;
}

export function columnOf<R>(table: Table<R>, key: string): Column<R> {
  const column = table.columns.find((one) => one.key === key);
  if (column === undefined) throw new Error(`the table has no column ${key}`);
  return column;
}

/** What a sheet shows of a text column: its words, else the text itself. */
export function sheetText<R>(column: Column<R> & { kind: 'text' }, row: R): string | null {
  if (column.rowWords !== undefined) return column.rowWords(row) || null;
  const text = column.read(row);
  if (column.words === undefined) return text;
  return column.words(text === null ? '' : String(text)) || null;
}

function without<R>(table: Table<R>, ...keys: readonly string[]): Table<R> {
  return { ...table, columns: table.columns.filter((column) => !keys.includes(column.key)) };
}

/** Whose order it is, what is special to the list, since when and whose. */
function listed(table: Table<BreakRow>, ...keys: readonly string[]): Table<BreakRow> {
  const whole = ['account_id', 'order_no', ...keys, 'sentence', 'first_seen', 'age_days', 'owner'];
  const columns = [...whole, 'note', 'transaction_id'].map((key) => columnOf(table, key));
  return { ...table, columns };
}

function headed<R>(table: Table<R>, key: string, heading: string): Table<R> {
  const columns = table.columns.map((one) => (one.key === key ? { ...one, heading } : one));
  return { ...table, columns };
}

/** YYYYMMDDhhmmss: fourteen digits, and one in ten of such passes for a card number. */
const DATE_DIGITS = /^20\d\d[01]\d[0-3]\d[0-2]\d[0-5]\d[0-5]\d$/;

/** The date as it is printed, when it is one: masking then leaves it alone. */
function dateDigits(text: string | null): string | null {
  return text !== null && DATE_DIGITS.test(text) ? text : null;
}

function identifiers(...ids: readonly (string | null)[]): readonly string[] {
  return ids.filter((id) => id !== null);
}
