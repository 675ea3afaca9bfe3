// What the reports over a day or a month are made of: the roll-forward by business date, and the
// breaks that were open at the end of it, as the workbook of that night lists them.

import type { AgeClock } from '../core/breaks/breakAge.js';
import type { Period } from '../core/period.js';
import type { ActivityRow, BreakRow } from '../core/runs/reporting.js';
import type { Db } from '../database/db.js';
import { statement } from '../database/statements.js';
import type { RawBreakRow } from './reportRowsStore.js';
import { openBreakRow } from './reportRowsStore.js';

/** The newest run with figures whose date lies in the period. */
export async function newestRunOf(
  db: Db,
  { from, to }: Period,
): Promise<{ runId: bigint; businessDate: string } | null> {
  const { rows } = await db.query<{ run_id: bigint; business_date: string }>(
    `select run_id, business_date from tieout.runs
     where not is_dry and summary is not null and business_date between $1 and $2
     order by business_date desc limit 1`,
    [from, to],
  );
  const row = rows[0];
  return row ? { runId: row.run_id, businessDate: row.business_date } : null;
}

/** By account, currency and date. */
export async function activityRows(db: Db, { from, to }: Period): Promise<ActivityRow[]> {
  return (await db.query<ActivityRow>(statement('report/activity'), [from, to])).rows;
}

/** Breaks open at the end of the newest run of each account in the period. */
export async function openAsOf(db: Db, { from, to }: Period, clock: AgeClock): Promise<BreakRow[]> {
  const { rows: runs } = await db.query<{ run_id: bigint }>(
    `select run_id from tieout.runs
     where not is_dry and summary is not null and business_date between $1 and $2`,
    [from, to],
  );
  const values = [runs.map(({ run_id }) => run_id), null];
  const { rows } = await db.query<RawBreakRow>(statement('report/listedBreaks'), values);
  return rows.map((row) => openBreakRow(row, clock));
}
