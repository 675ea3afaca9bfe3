// What the statement goes on to where the books of settlement are kept: of the money that the
// gateway shows of the orders of a run, what the acquirer settled, and line by line what it did
// not; and with what the books hold of other orders, the closing of "at the gateway". Pure;
// neighbours: statement.ts (the bridge before it), report/settlement/statementBooks.sql (lines).

import type { Hundredths } from '../money.js';
import { parseSum } from '../money.js';

/** Money that is not settled, or, without an order, the sum of what needs no line of its own. */
export interface BookLine {
  accountId: string;
  currency: string;
  item: string;
  /** how many movements it is the sum of */
  lines: number;
  orderNo: string | null;
  transactionId: string | null;
  batch: string | null;
  /** business date on which it counts, or on which the acquirer booked it */
  since: string | null;
  ageDays: number | null;
  captured: string;
  refunded: string;
  breakId: string | null;
  owner: string | null;
}

/** Sums of many movements, which nobody has to look into. */
const SUMMED = ['settled', 'before_books'] as const;
/** They lead on from what the gateway shows, and are not settled. */
const OPEN = ['in_transit', 'not_settled', 'settled_otherwise', 'amount_unknown'] as const;
/** Not of what the gateway shows in this run, and in the closing of the book. */
const OTHER = ['other_orders', 'no_movement'] as const;
/** Listed because it explains a difference to what the gateway shows, and in no closing. */
export const LISTED_APART = ['counts_later', 'booked_otherwise'] as const;
const BRIDGE: readonly string[] = [...SUMMED, ...OPEN, ...LISTED_APART];
const ORDER: readonly string[] = [...BRIDGE, ...OTHER];

const WORDS: Readonly<Record<string, string>> = {
  settled: 'Settled by the acquirer',
  before_books: 'From before the books of settlement begin',
  in_transit: 'In transit: not settled yet',
  not_settled: 'Not settled in time',
  settled_otherwise: 'Settled with another amount',
  amount_unknown:
    'Refunded in part, its amount not in the books by this date: below 0 what is settled of it',
  counts_later: 'Counts on a later business date, which its line says',
  booked_otherwise:
    'Other money in the books than the gateway shows, such as a part refunded elsewhere',
  other_orders: 'Not settled, of orders that this statement does not hold',
  no_movement: 'Settled, and no capture or refund is known that it belongs to',
};

export function bookWords(item: string): string {
  return WORDS[item] ?? item;
}

/** Whether the closing of the book is the sum of such lines. */
export function isInClosing(line: Pick<BookLine, 'item'>): boolean {
  return isOpen(line) || OTHER.some((name) => name === line.item);
}

/** Whether it stands on the sheet as a line of its own. */
export function isBookLine({ item }: Pick<BookLine, 'item'>): boolean {
  return !SUMMED.some((name) => name === item);
}

export interface BookItem {
  item: string;
  lines: number;
  captured: Hundredths;
  refunded: Hundredths;
}

interface Sums {
  captured: Hundredths;
  refunded: Hundredths;
}

/** The books of one account and currency, as its statement has them. */
export interface StatementBooks {
  /** business date from which they are kept */
  from: string;
  /** from what the gateway shows to nothing, in the order in which they are shown */
  bridge: BookItem[];
  unexplained: Sums;
  other: BookItem[];
  /** what is not settled in all: captured less refunded is the closing of the settlement */
  closing: Sums;
}

/** The sums of lines by account and currency, then by item. */
export type BookSums = Map<string, Map<string, BookItem>>;

export function addBookLines(sums: BookSums, lines: readonly BookLine[]): void {
  for (const { accountId, currency, item, ...line } of lines) {
    const key = JSON.stringify([accountId, currency]);
    const items = sums.get(key) ?? new Map<string, BookItem>();
    const sum = items.get(item) ?? { item, lines: 0, captured: 0n, refunded: 0n };
    sum.lines += line.lines;
    sum.captured += parseSum(line.captured) ?? 0n;
    sum.refunded += parseSum(line.refunded) ?? 0n;
    items.set(item, sum);
    sums.set(key, items);
  }
}

/** What is settled and what is from before stand there also where they are nothing. */
export function booksOf(
  items: ReadonlyMap<string, BookItem> | undefined,
  gateway: Sums,
  from: string,
): StatementBooks {
  const found = new Map(items);
  if (!found.has('settled')) found.set('settled', emptyOf('settled'));
  const sorted = [...found.values()].sort((a, b) => ORDER.indexOf(a.item) - ORDER.indexOf(b.item));
  const bridge = sorted.filter(({ item }) => BRIDGE.includes(item));
  const other = sorted.filter(({ item }) => !BRIDGE.includes(item));
  const open = [...bridge.filter(isOpen), ...other];
  const bridged = total(bridge);
  const unexplained = {
    captured: gateway.captured - bridged.captured,
    refunded: gateway.refunded - bridged.refunded,
  };
  return { from, bridge, unexplained, other, closing: total(open) };
}

/** Whether the closing of the book counts it. */
export function isOpen({ item }: Pick<BookItem, 'item'>): boolean {
  return OPEN.some((name) => name === item);
}

function emptyOf(item: string): BookItem {
  return { item, lines: 0, captured: 0n, refunded: 0n };
}

function total(items: readonly BookItem[]): Sums {
  return {
    captured: items.reduce((sum, { captured }) => sum + captured, 0n),
    refunded: items.reduce((sum, { refunded }) => sum + refunded, 0n),
  };
}
