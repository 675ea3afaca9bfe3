// What became of breaks since the run before: new, reopened, grown, shrunk, waived, resolved. Each
// sum is that of rows that can be listed; money of two currencies is never added. Read only.

import type { Change, ChangedBreak, ComparedWith, OpenBefore } from '../core/breaks/change.js';
import { CHANGES } from '../core/breaks/change.js';
import type { Db, LongReads } from '../database/db.js';
import { statement } from '../database/statements.js';

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

/** All of a run, in the same order, in chunks. */
export function streamChanged(
  reads: LongReads,
  runId: bigint,
  accountIds: readonly string[],
): AsyncIterable<ChangedBreak[]> {
  const values = [runId, accountIds, null, null, null, 0, CHANGES];
  return reads.stream<ChangedBreak>(statement('breaks/listChanged'), values);
}

/** What was open when the run before of each account ended; an account's first run has none. */
export async function sumOpenBefore(
  db: Db,
  runId: bigint,
  accountIds: readonly string[],
): Promise<OpenBefore[]> {
  const { rows } = await db.query<OpenBefore>(statement('breaks/openBefore'), [runId, accountIds]);
  return rows;
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

/** What each account of a run is compared with, by account; what `changed_breaks` begins from. */
export async function comparedWith(
  db: Db,
  runId: bigint,
  accountIds: readonly string[],
): Promise<ComparedWith[]> {
  const values = [runId, accountIds];
  return (await db.query<ComparedWith>(statement('breaks/comparedWith'), values)).rows;
}
