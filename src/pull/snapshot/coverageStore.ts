// What was looked at and what was said: orders of a run that were not plainly asked and answered,
// counted and one by one. Reports print the rows; the summary prints the counts.

import type { Coverage } from '../../core/orders/coverage.js';
import type { FailedPagesFacts } from '../../core/runs/notices.js';
import type { Database, Db, PlannerSettings } from '../../database/db.js';
import { byMonth, relationsOf, relationsOfRun } from '../../database/monthPartitions.js';
import { statement } from '../../database/statements.js';
import { pageAsAsked } from './unreadableStore.js';

export interface CoverageRow {
  pullId: bigint;
  accountId: string;
  orderNo: string;
  /** null: it was on no page that was asked for */
  pageNo: number | null;
  how: Exclude<Coverage, 'answered'>;
  /** why a page has no answer, why an order cannot be asked; null where the word says enough */
  reason: string | null;
}

interface RawRow {
  pull_id: bigint;
  account_id: string;
  order_no: string;
  page_no: number | null;
  how: CoverageRow['how'];
  reason: string | null;
}

/** Read beside the writing of workbooks, which has use for the other core. */
const ALONE: PlannerSettings = { max_parallel_workers_per_gather: '0' };

/** Every order of a run's newest snapshots that was not plainly asked and answered, in chunks. */
export async function* coverageRows(db: Database, runId: bigint): AsyncGenerator<CoverageRow[]> {
  const values = [runId, null, null, true, false];
  const text = statement('pull/snapshot/coverage', await relationsOfRun(db, runId));
  const chunks = db.stream<RawRow>(text, values, undefined, ALONE);
  for await (const rows of chunks) yield rows.map(toRow);
}

/** Orders by what was said of them, by account; those without an entry are not counted here. */
export async function coverageCounts(
  db: Db,
  runId: bigint,
): Promise<Map<string, Partial<Record<Coverage, number>>>> {
  const { rows } = await db.query<{ account_id: string; how: Coverage; orders: bigint }>(
    statement('pull/snapshot/coverage', await relationsOfRun(db, runId)),
    [runId, null, null, false, true],
  );
  const counts = new Map<string, Partial<Record<Coverage, number>>>();
  for (const row of rows) {
    const account = counts.get(row.account_id) ?? {};
    account[row.how] = Number(row.orders);
    counts.set(row.account_id, account);
  }
  return counts;
}

/** What these snapshots said of one order; a snapshot that is not in the answer said it plainly. */
export async function coverageOfOrder(
  db: Db,
  accountId: string,
  orderNo: string,
  pullIds: readonly string[],
): Promise<CoverageRow[]> {
  const rows: RawRow[] = [];
  // A partition at a time: what joins looks of several months reads all of them.
  for (const ids of byMonth(pullIds.map(BigInt))) {
    const values = [null, ids.map(String), [accountId, orderNo], true, false];
    const text = statement('pull/snapshot/coverage', relationsOf(db, ...ids));
    const found = await db.query<RawRow>(text, values);
    rows.push(...found.rows);
  }
  return rows.map(toRow);
}

function toRow(row: RawRow): CoverageRow {
  return {
    pullId: row.pull_id,
    accountId: row.account_id,
    orderNo: row.order_no,
    pageNo: row.page_no === null ? null : pageAsAsked(row.page_no),
    how: row.how,
    reason: row.reason,
  };
}

/** Pages of the run's looks that were not answered, and why. */
export async function failedPages(
  db: Db,
  runId: bigint,
): Promise<Omit<FailedPagesFacts, 'businessDate'>[]> {
  const { rows } = await db.query<{
    account_id: string;
    pages: bigint;
    orders: bigint;
    later_pages: bigint;
    later_orders: bigint;
    reasons: string[];
  }>(statement('pull/snapshot/failedPages', await relationsOfRun(db, runId)), [runId]);
  return rows.map((row) => ({
    accountId: row.account_id,
    pages: Number(row.pages),
    orders: Number(row.orders),
    later: { pages: Number(row.later_pages), orders: Number(row.later_orders) },
    reasons: row.reasons,
  }));
}
