// The months that snapshots are kept in: which partition holds the rows of a run or a snapshot. Its
// number bears the month (migrations/0031_months.sql), so that nobody has to ask. Asked of the
// whole, the planner goes by figures about all months together, and where there are none guesses;
// and to write into the partition by its name spares finding it anew for every row.

import type { Db } from './db.js';
import { identifier, type Quoted } from './identifiers.js';
import { type MonthRelation, OF_A_MONTH, type Relations, relationsIn } from './relations.js';

/** What the number of a run or a snapshot holds beside its month. */
const NUMBERS_A_MONTH = 100_000_000n;
/** Numbers from before they bore a month lie below this one. */
const FIRST_MONTH = 100_001n;

const WHOLE = relationsIn('tieout');

/** The partition that the rows of this run (verdicts) or snapshot (the others) are in. */
export function partitionOf(relation: MonthRelation, id: bigint): Quoted {
  return identifier('tieout', `${relation}_${monthOf(id)}`);
}

/** For a statement about this run, or about snapshots of one run: the partitions of their month. */
export function relationsOf(db: Db, ...ids: readonly bigint[]): Relations {
  if (db.relations) return db.relations;
  const [id, ...others] = ids;
  // Of several months, or from before numbers bore one: the whole.
  if (id === undefined || monthOf(id) === 'before') return WHOLE;
  if (others.some((other) => monthOf(other) !== monthOf(id))) return WHOLE;
  const partitions = OF_A_MONTH.map((name) => [name, partitionOf(name, id)]);
  return { ...WHOLE, ...Object.fromEntries(partitions) };
}

/** The same of a run as a whole, which may have looked again in a later month than it began in. */
export async function relationsOfRun(db: Db, runId: bigint): Promise<Relations> {
  if (db.relations) return db.relations;
  const { rows } = await db.query<{ pull_id: bigint }>(
    'select pull_id from tieout.pulls where run_id = $1',
    [runId],
  );
  return relationsOf(db, runId, ...rows.map((row) => row.pull_id));
}

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
