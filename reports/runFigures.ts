// What the first sheet of the nightly workbook says of the rows of the others: added up chunk by
// chunk before the first of them is written, so that nobody ever holds all rows. Pure; neighbours:
// reconciliation.ts reads the rows, summarySheet.ts and currencySections.ts show the figures.

import type { BreakRow, InstructionRow } from '../src/core/runs/reporting.js';
import type { Ages, Stakes } from './pictures.js';
import { addToAges, addToStakes, noAges } from './pictures.js';
import { fitsNumber, hundredthsOf } from './xlsx/cells.js';

export interface RunFigures {
  ages: Ages;
  stakes: Stakes;
  /** Open breaks by account and kind; under no kind all of the account. */
  openByKind: Map<string, number>;
  /** What they opened with by account and currency. */
  opened: Map<string, OpenedSum>;
  /** What moved, captured less refunded, by account and currency. */
  nets: Map<string, bigint>;
}

interface OpenedSum {
  sum: bigint;
  /** One of its amounts that stands in its cell as text; no formula can add that. */
  tooLong: string | null;
}

export function noFigures(): RunFigures {
  return {
    ...{ ages: noAges(), stakes: new Map(), openByKind: new Map() },
    ...{ opened: new Map(), nets: new Map() },
  };
}

/** The key of an account and what else tells its figures apart. */
export function keyOf(accountId: string, other: string | null): string {
  return JSON.stringify([accountId, other]);
}

export function addBreaks(figures: RunFigures, rows: readonly BreakRow[]): void {
  const { ages, openByKind, opened: sums } = figures;
  addToAges(ages, rows);
  addToStakes(figures.stakes, rows);
  for (const { accountId, kind, currency, opened } of rows) {
    const ofKind = keyOf(accountId, kind);
    openByKind.set(ofKind, (openByKind.get(ofKind) ?? 0) + 1);
    const ofAll = keyOf(accountId, null);
    openByKind.set(ofAll, (openByKind.get(ofAll) ?? 0) + 1);
    if (opened === null || currency === null) continue;
    const key = keyOf(accountId, currency);
    const found = sums.get(key) ?? { sum: 0n, tooLong: null };
    found.sum += hundredthsOf(opened);
    if (!fitsNumber(opened)) found.tooLong ??= opened;
    sums.set(key, found);
  }
}

export function addMoved({ nets }: RunFigures, rows: readonly InstructionRow[]): void {
  for (const { accountId, currency, operation, amount } of rows) {
    const sign = operation === 'capture' ? 1n : operation === 'refund' ? -1n : 0n;
    const key = keyOf(accountId, currency);
    nets.set(key, (nets.get(key) ?? 0n) + sign * hundredthsOf(amount));
  }
}
