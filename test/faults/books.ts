// What a night left behind, for two nights that must come to the same.

import type { RunSummary } from '../../src/core/runs/summary.js';
import type { SeparateHouse } from '../support/separateHouse.js';

/** All that a night found, without the hours and the numbers of its snapshots and reports. */
export async function booksOf({ db }: SeparateHouse, summary: RunSummary) {
  const rowsOf = async (table: string, without: string[]) => {
    const { rows } = await db.query<{ row: object }>(
      `select to_jsonb(t) - $1::text[] as row from tieout.${table} t order by 1`,
      [without],
    );
    return rows.map(({ row }) => row);
  };
  const { asOf, reports, ...figures } = summary;
  return {
    figures,
    reports: reports.map(({ kind, format }) => `${kind}.${format}`),
    verdicts: await rowsOf('verdicts', ['run_id', 'pull_id']),
    breaks: await rowsOf('breaks', ['break_id', 'first_seen']),
    outcomes: await rowsOf('outcomes', ['seq', 'at', 'gateway_reference']),
  };
}
