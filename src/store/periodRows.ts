// What the reports over a day or a month are made of: the roll-forward by business date, and the
// breaks that were open at the end of it.

import type { Period } from '../core/period.js';
import type { ActivityRow, AgedBreakRow } from '../core/reporting.js';
import type { Side } from '../core/sentence.js';
import { breakDifference, breakSentence, sideText } from '../core/sentence.js';
import type { BreakKind } from '../core/verdict.js';
import type { Db } from './db.js';
import { statement } from './sql.js';

const DAY_MS = 86_400_000;

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
  return (await db.query<ActivityRow>(statement('activity'), [from, to])).rows;
}

/** Breaks open at the end of a run; their age is that of the run's look. */
export async function openAsOf(db: Db, runId: bigint, asOf: Date): Promise<AgedBreakRow[]> {
  const { rows } = await db.query<{
    account_id: string;
    order_no: string;
    kind: BreakKind;
    first_seen: Date;
    owner: string | null;
    note: string | null;
    expected: Side;
    actual: Side;
    currency: string | null;
    stake: string | null;
  }>(statement('openAsOf'), [runId]);
  return rows.map((row) => ({
    accountId: row.account_id,
    orderNo: row.order_no,
    kind: row.kind,
    state: 'open',
    sentence: breakSentence(row.kind, row.expected, row.actual),
    expected: sideText(row.expected),
    actual: sideText(row.actual),
    currency: row.currency,
    difference: breakDifference(row.kind, row.expected, row.actual),
    ledgerAmount: row.expected.amount ?? null,
    gatewayAmount: row.actual.amount ?? null,
    firstSeen: row.first_seen,
    ageDays: Math.max(0, Math.floor((asOf.getTime() - row.first_seen.getTime()) / DAY_MS)),
    owner: row.owner,
    note: row.note,
    transactionId: row.actual.transaction ?? null,
    stake: row.stake,
  }));
}
