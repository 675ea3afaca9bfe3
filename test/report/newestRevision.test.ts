// Which revision of a report is the newest: one of a night is counted within it, one of a month over
// all nights, and neither by what was made for another time.

import { beforeEach, expect, it } from 'vitest';
import { reportOfFile } from '../../src/report/keptReportsStore.js';
import { loadReport } from '../../src/report/reportsStore.js';
import { db, ownFacts } from '../settlement/facts.js';

ownFacts();

const DATE = '2026-11-20';
const NEXT = '2026-11-21';

beforeEach(async () => {
  await db.query(
    `insert into tieout.runs (business_date, covers, starts_at, ends_at, state, environment,
       settings, settings_sha256, version, created_at, finished_at, summary)
     values ($1, array[$1::date], '2026-11-21', '2026-11-22', 'tied_out', 'test', '{}', 's', '0',
       now(), now(), '{}')`,
    [NEXT],
  );
});

async function written(date: string, period: string | null, revision: number): Promise<bigint> {
  const { rows } = await db.query<{ report_id: bigint }>(
    `insert into tieout.reports (run_id, kind, period, format, revision, state, created_at,
       written_at, path, bytes, sha256)
     select run_id, 'activity', $2, 'xlsx', $3, 'written', clock_timestamp(), clock_timestamp(),
       'x', 1, $4
     from tieout.runs where business_date = $1 returning report_id`,
    [date, period, revision, nameOf(date, period, revision)],
  );
  return rows[0]?.report_id ?? 0n;
}

/** Stands for the digest of the file. */
function nameOf(...of: readonly unknown[]): string {
  return of.join(' ');
}

async function newestOf(date: string, period: string | null, revision: number) {
  return (await reportOfFile(db, nameOf(date, period, revision)))?.newestRevision;
}

it('is that of the same month, whichever night it was made after', async () => {
  const first = await written(DATE, '2026-11', 1);
  const other = await written(DATE, '2026-10', 3);
  await written(DATE, null, 5);
  expect(await newestOf(DATE, '2026-11', 1)).toBe(1);
  expect(await newestOf(DATE, '2026-10', 3)).toBe(3);
  expect(await newestOf(DATE, null, 5)).toBe(5);
  expect(await loadReport(db, first)).toMatchObject({ isReplaced: false });
  await written(NEXT, '2026-11', 2);
  await written(NEXT, null, 9);
  expect(await newestOf(DATE, '2026-11', 1)).toBe(2);
  expect(await newestOf(DATE, null, 5)).toBe(5);
  expect(await loadReport(db, first)).toMatchObject({ isReplaced: true });
  expect(await loadReport(db, other)).toMatchObject({ isReplaced: false });
});
