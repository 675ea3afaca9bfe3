// What becomes of a break from one run to the next: how each change is named, and a break with it.
// Data only; neighbours: breaks/changedStore.ts reads them, the console and the workbook show them.

import type { BreakKind } from '../orders/verdict.js';

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
