// What the rows of the settlement report come to, added up chunk by chunk before the first of them
// is written, so that nobody ever holds all rows. Pure; neighbours: settlementBook.ts reads the
// rows, settlementPage.ts shows the sums.

import { formatAmount } from '../../src/core/money.js';
import type {
  BatchRow,
  ChargebackRow,
  OpenBook,
  OpenItemRow,
  SettlementBreakRow,
} from '../../src/core/settlement/settlementReport.js';
import { fitsNumber, hundredthsOf } from '../xlsx/cells.js';
import { ageWords } from './settlementColumns.js';

export interface Sum {
  readonly sum: bigint;
  /** What a formula over it must be given: the sum, and an amount that stands as text. */
  readonly inputs: readonly string[];
}

interface Adding {
  sum: bigint;
  tooLong: string | null;
}

export type Sums = Map<string, Adding>;

export function addUp(sums: Sums, keys: readonly string[], amount: string | null): void {
  if (amount === null) return;
  const key = JSON.stringify(keys);
  const of = sums.get(key) ?? { sum: 0n, tooLong: null };
  of.sum += hundredthsOf(amount);
  if (!fitsNumber(amount)) of.tooLong ??= amount;
  sums.set(key, of);
}

export function sumOf(sums: Sums, ...keys: readonly string[]): Sum {
  const { sum, tooLong } = sums.get(JSON.stringify(keys)) ?? { sum: 0n, tooLong: null };
  const shown = formatAmount(sum);
  return { sum, inputs: tooLong === null ? [shown] : [shown, tooLong] };
}

/** What a batch has, and the column of the sheet that lists it. */
export const BATCH_SUMS = {
  gross: 'gross',
  fees: 'fees',
  chargebacks: 'chargebacks',
  other: 'other',
  paidOut: 'paid_out',
  arrived: 'arrived',
} as const;

export interface ListedSums {
  /** by book, account, currency; and the same by age */
  readonly open: Sums;
  readonly ages: Sums;
  /** by book, account, currency */
  readonly oldest: Map<string, string>;
  /** by name of the figure, account, currency */
  readonly batches: Sums;
  /** by account, currency */
  readonly chargebacks: Sums;
  /** by account, kind, currency */
  readonly stakes: Sums;
  readonly breaks: Map<string, number>;
}

export function noSums(): ListedSums {
  const maps = { oldest: new Map(), breaks: new Map() };
  const sums = { open: new Map(), ages: new Map(), batches: new Map() };
  return { ...maps, ...sums, chargebacks: new Map(), stakes: new Map() };
}

export function addItems({ open, ages, oldest }: ListedSums, rows: readonly OpenItemRow[]): void {
  for (const row of rows) {
    const keys = [row.book, row.accountId, row.currency];
    addUp(open, keys, row.amount);
    addUp(ages, [...keys, ageWords(row)], row.amount);
    const key = JSON.stringify(keys);
    const known = oldest.get(key);
    if (known === undefined || row.since < known) oldest.set(key, row.since);
  }
}

export function oldestOf({ oldest }: ListedSums, book: OpenBook, accountId: string, cur: string) {
  return oldest.get(JSON.stringify([book, accountId, cur])) ?? null;
}

export function addBatches({ batches }: ListedSums, rows: readonly BatchRow[]): void {
  for (const row of rows) {
    for (const name of Object.keys(BATCH_SUMS) as (keyof typeof BATCH_SUMS)[]) {
      addUp(batches, [name, row.accountId, row.currency], row[name]);
    }
  }
}

export function addChargebacks({ chargebacks }: ListedSums, rows: readonly ChargebackRow[]): void {
  for (const row of rows) addUp(chargebacks, [row.accountId, row.currency], row.amount);
}

export function addBreaks(
  { stakes, breaks }: ListedSums,
  rows: readonly SettlementBreakRow[],
): void {
  for (const { accountId, kind, currency, stake } of rows) {
    const keys = [accountId, kind, currency ?? ''];
    addUp(stakes, keys, stake);
    const key = JSON.stringify(keys);
    breaks.set(key, (breaks.get(key) ?? 0) + 1);
  }
}

export function breaksOf({ breaks }: ListedSums, ...keys: readonly string[]): number {
  return breaks.get(JSON.stringify(keys)) ?? 0;
}
