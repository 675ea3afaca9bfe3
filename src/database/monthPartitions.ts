// The months that snapshots are kept in: which partition holds the rows of a run or a snapshot. Its
// number bears the month (migrations/0031_months.sql), so that nobody has to ask. To write into the
// partition by its name spares finding it anew for every row.

import type { Db } from './db.js';

/** What the number of a run or a snapshot holds beside its month. */
const NUMBERS_A_MONTH = 100_000_000n;
/** Numbers from before they bore a month lie below this one. */
const FIRST_MONTH = 100_001n;

export type MonthRelation =
  | 'asked_orders'
  | 'asked_refunds'
  | 'look_entries'
  | 'pages'
  | 'verdicts';

/**
 * The partition of a relation that the rows of this run (verdicts) or snapshot (the others) are in.
 */
export function partitionOf(relation: MonthRelation, id: bigint): string {
  return `tieout.${relation}_${monthOf(id)}`;
}

/**
 * A statement about this run, or about looks of one run, as it reads in their month: it names the
 * partitions. Asked of the whole, the planner goes by figures about all months together, and where
 * there are none guesses.
 */
export function inMonthOf(text: string, ...ids: readonly bigint[]): string {
  const [month, ...others] = new Set(ids.map(monthOf));
  // Of several months, or from before numbers bore one: the whole.
  if (month === undefined || month === 'before' || others.length > 0) return text;
  return text.replace(WHOLE, `$&_${month}`);
}

/** The same of a run as a whole, which may have looked again in a later month than it began in. */
export async function inMonthOfRun(db: Db, text: string, runId: bigint): Promise<string> {
  const { rows } = await db.query<{ pull_id: bigint }>(
    'select pull_id from tieout.pulls where run_id = $1',
    [runId],
  );
  return inMonthOf(text, runId, ...rows.map((row) => row.pull_id));
}

const WHOLE = /\btieout\.(asked_orders|asked_refunds|look_entries|pages|verdicts)\b/g;

/** Numbers of runs or snapshots, those of one month together. */
export function byMonth(ids: readonly bigint[]): bigint[][] {
  const months = new Map<string, bigint[]>();
  for (const id of ids) months.set(monthOf(id), [...(months.get(monthOf(id)) ?? []), id]);
  return [...months.values()];
}

/** 2026_11; `before`: from before numbers bore a month. */
function monthOf(id: bigint): string {
  const month = id / NUMBERS_A_MONTH;
  if (month < FIRST_MONTH) return 'before';
  return `${month / 100n}_${String(month % 100n).padStart(2, '0')}`;
}
