// What the first sheet of the nightly workbook says of the rows of the others: added up chunk by
// chunk before the first of them is written, so that nobody ever holds all rows. Pure; neighbours:
// reconciliation.ts reads the rows, summarySheet.ts and currencySections.ts show the figures.

import type { BreakRow, MovementRow } from '../src/core/runs/reporting.js';
import type { Ages } from './pictures.js';
import { addToAges, noAges } from './pictures.js';
import { fitsNumber, hundredthsOf } from './xlsx/cells.js';

export interface RunFigures {
  ages: Ages;
  /** Open breaks by account and kind. */
  openByKind: Map<string, number>;
  /** Their differences by account and currency. */
  differences: Map<string, Difference>;
  /** What moved, captured less refunded, by account and currency. */
  nets: Map<string, bigint>;
}

export interface Difference {
  signed: bigint;
  absolute: bigint;
  /** One of its amounts that stands in its cell as text; no formula can add that. */
  tooLong: string | null;
}

export const NO_DIFFERENCE: Readonly<Difference> = { signed: 0n, absolute: 0n, tooLong: null };

export function noFigures(): RunFigures {
  return { ages: noAges(), openByKind: new Map(), differences: new Map(), nets: new Map() };
}

/** The key of an account and what else tells its figures apart. */
export function keyOf(accountId: string, other: string | null): string {
  return JSON.stringify([accountId, other]);
}

export function addBreaks(figures: RunFigures, rows: readonly BreakRow[]): void {
  const { ages, openByKind, differences } = figures;
  addToAges(ages, rows);
  for (const { accountId, kind, currency, difference } of rows) {
    const ofKind = keyOf(accountId, kind);
    openByKind.set(ofKind, (openByKind.get(ofKind) ?? 0) + 1);
    if (difference === null) continue;
    const key = keyOf(accountId, currency);
    const sums = differences.get(key) ?? { ...NO_DIFFERENCE };
    const amount = hundredthsOf(difference);
    sums.signed += amount;
    sums.absolute += amount < 0n ? -amount : amount;
    if (!fitsNumber(difference)) sums.tooLong ??= difference;
    differences.set(key, sums);
  }
}

export function addMoved({ nets }: RunFigures, rows: readonly MovementRow[]): void {
  for (const { accountId, currency, operation, amount } of rows) {
    const sign = operation === 'capture' ? 1n : operation === 'refund' ? -1n : 0n;
    const key = keyOf(accountId, currency);
    nets.set(key, (nets.get(key) ?? 0n) + sign * hundredthsOf(amount));
  }
}
