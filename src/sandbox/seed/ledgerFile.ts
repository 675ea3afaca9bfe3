// The books of the shop whose orders the sandbox holds, as the CSV that `tieout import orders` and
// `tieout import refunds` read without a map: a night can be rehearsed with nothing but a profile.
// Neighbours: seed.ts draws them, inspect.ts answers with them.

import { type SeededOrder, seedOrders } from './seed.js';
import { planSeed, type SeedSettings } from './seedPlan.js';

export type Book = 'orders' | 'refunds';

/** The columns of docs/IMPORT.md. */
const COLUMNS = {
  orders: [
    ...(['account_id', 'order_no', 'currency', 'amount', 'expected', 'transaction_id'] as const),
    ...(['capture_amount', 'review_decision', 'placed_at', 'updated_at'] as const),
  ],
  refunds: [
    ...(['account_id', 'order_no', 'refund_id', 'refund_amount', 'reason'] as const),
    ...(['requested_by', 'requested_at'] as const),
  ],
} as const;

/** All lines of one book, heads first; the same seed gives the same lines. */
export function* ledgerFile(settings: SeedSettings, book: Book): Generator<string> {
  yield `${COLUMNS[book].join()}\n`;
  for (const seeded of seedOrders(planSeed(settings))) yield* linesOf(seeded, book);
}

function* linesOf({ ledger, refunds }: SeededOrder, book: Book): Generator<string> {
  if (book === 'orders') yield line(COLUMNS.orders.map((name) => ledger[name]));
  else for (const row of refunds) yield line(COLUMNS.refunds.map((name) => row[name]));
}

function line(cells: readonly (string | null)[]): string {
  return `${cells.map((cell) => quoted(cell ?? '')).join()}\n`;
}

function quoted(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
