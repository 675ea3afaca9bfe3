// What becomes of a break from one run to the next: how each change is named, and a break with it.
// Data only; neighbours: breaks/changedStore.ts reads them, the console and the workbook show them.

import type { BreakKind } from '../orders/verdict.js';
import { countText } from '../text/amounts.js';

/** In the order in which they are read. */
export const CHANGES = ['new', 'reopened', 'grown', 'shrunk', 'waived', 'resolved'] as const;
export type Change = (typeof CHANGES)[number];

export const CHANGE_WORDS: Readonly<Record<Change, string>> = {
  new: 'New',
  reopened: 'Reopened',
  grown: 'Grown',
  shrunk: 'Shrunk',
  waived: 'Waived',
  resolved: 'Resolved',
};

export interface ChangedBreak {
  breakId: string;
  accountId: string;
  orderNo: string;
  kind: BreakKind;
  owner: string | null;
  firstSeen: Date;
  currency: string | null;
  change: Change;
  /** the money that was open in it at the end of the run before; null: none, or nobody can say */
  before: string | null;
  after: string | null;
  /** by how much the open money became more, or less with a minus */
  moved: string;
  at: Date;
  by: string;
  isClaim: boolean;
  reason: string | null;
  /** by what it resolved */
  cause: string | null;
}

/** What was open in an account when the run before ended. */
export interface OpenBefore {
  accountId: string;
  /** null: of breaks whose money bears none; it has no sum then */
  currency: string | null;
  breaks: number;
  money: string;
}

/** What a run is compared with, by account: the run before of that account, and its workbook. */
export interface ComparedWith {
  accountId: string;
  /** null: it is the first run of the account */
  businessDate: string | null;
  /** the newest revision of its workbook; null: none is written */
  revision: number | null;
}

/**
 * "since the night of 2026-11-18, revision 2", by account where they differ; of accounts that have
 * their first night, that there is nothing to compare with.
 */
export function comparedWords(bases: readonly ComparedWith[]): string {
  const groups = new Map<string, string[]>();
  for (const base of bases) {
    const key = baseWords(base);
    groups.set(key, [...(groups.get(key) ?? []), base.accountId]);
  }
  const parts = [...groups].map(([words, accountIds]) =>
    groups.size === 1 ? words : `${accountIds.join(', ')}: ${words}`,
  );
  return parts.join('; ');
}

const FIRST_NIGHT =
  'nothing to compare with: it is the first night, and all that is open is new with it';

function baseWords({ businessDate, revision }: ComparedWith): string {
  if (businessDate === null) return FIRST_NIGHT;
  const ofBook = revision === null ? 'without a workbook' : `revision ${revision}`;
  return `since the night of ${businessDate}, ${ofBook}`;
}

export function isFirstNight(bases: readonly ComparedWith[]): boolean {
  return bases.every(({ businessDate }) => businessDate === null);
}

/**
 * What the tie of a run counts as reopened and no list of changes has so; null: nothing. The tie
 * counts what happened, the list compares two ends.
 */
export function reopenedWords(tieReopened: number, listedReopened: number): string | null {
  const passed = tieReopened - listedReopened;
  if (passed <= 0) return null;
  const were = passed === 1 ? '1 break was' : `${countText(passed)} breaks were`;
  return (
    `${were} waived or settled and opened again in between, and not listed as Reopened: the list ` +
    'compares the two ends, so under Grown or Shrunk where the money of a break that was open at ' +
    `both moved; the tie of the run counts it too (${countText(tieReopened)} reopened, ` +
    `${countText(listedReopened)} of them listed so)`
  );
}
