// What became of breaks since the run before: new, reopened, grown, shrunk, waived, resolved. Each
// sum is that of rows that can be listed; money of two currencies is never added. Read only.

import type { BreakKind } from '../core/orders/verdict.js';
import type { Db } from '../database/db.js';
import { statement } from '../database/statements.js';

/** In the order in which they are read. */
export const CHANGES = ['new', 'reopened', 'grown', 'shrunk', 'waived', 'resolved'] as const;
export type Change = (typeof CHANGES)[number];

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

interface ChangedFilter {
  runId: bigint;
  accountIds: readonly string[];
  /** '' for breaks without one; null: any */
  currency: string | null;
  change: Change | null;
}

export async function listChanged(
  db: Db,
  filter: ChangedFilter,
  page: { limit: number; offset: number },
): Promise<ChangedBreak[]> {
  const { runId, accountIds, currency, change } = filter;
  const values = [runId, accountIds, currency, change, page.limit, page.offset, CHANGES];
  return (await db.query<ChangedBreak>(statement('breaks/listChanged'), values)).rows;
}

export interface ChangedSum {
  accountId: string;
  currency: string | null;
  change: Change;
  breaks: number;
  moved: string;
}

/** By account, currency and change; what did not occur has no row. */
export async function sumChanged(
  db: Db,
  runId: bigint,
  accountIds: readonly string[],
): Promise<ChangedSum[]> {
  const { rows } = await db.query<Omit<ChangedSum, 'breaks'> & { breaks: bigint }>(
    `select account_id as "accountId", currency, change, count(*) as breaks,
       sum(moved)::text as moved
     from tieout.changed_breaks($1::bigint, $2)
     group by account_id, currency, change
     order by account_id, currency nulls last, change`,
    [runId, accountIds],
  );
  return rows.map((row) => ({ ...row, breaks: Number(row.breaks) }));
}
