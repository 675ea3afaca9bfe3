// Compare, breaks and classes: whole sets decided in PostgreSQL by the rows of
// core/orders/verdict.ts. Each function is one statement over the orders of a pull; none loops over
// rows.

import { formatAmount, type Hundredths } from '../core/money.js';
import type { PositionRow } from '../core/orders/verdict.js';
import { positionRows } from '../core/orders/verdict.js';
import { analyse } from '../database/analyse.js';
import type { Db } from '../database/db.js';
import { inTransaction, plannedBy } from '../database/db.js';
import { named } from '../database/identifiers.js';
import { relationsOf, relationsOfRun } from '../database/monthPartitions.js';
import { statement } from '../database/statements.js';
import type { AccountRules } from '../runs/deps.js';
import { fastMatch, type MatchedRow } from './fastMatchStore.js';

export interface CompareRules {
  asOf: Date;
  dateEnd: Date;
  graceHours: number;
  staleDays: number;
  tolerance: { below: Hundredths; above: Hundredths; partsPerMillion: bigint };
  partialCapture: boolean;
  off: readonly string[];
  accounts: readonly AccountRules[];
}

export interface CompareScope {
  runId: bigint;
  pullId: bigint;
  /** only the orders whose page failed in this later pull, judged by their first snapshot */
  failedIn?: bigint;
  /**
   * only orders with a complete snapshot: for a second snapshot, whose gaps keep the first verdict
   */
  snapshotOnly?: boolean;
}

function pullsOf({ pullId, failedIn }: CompareScope): bigint[] {
  return failedIn === undefined ? [pullId] : [pullId, failedIn];
}

const POSITION_COLUMNS = [
  'expected',
  'observed',
  'ripe',
  'decision',
  'refunds',
  'verdict',
  'operation',
  'break_kind',
] as const;
const POSITIONS = listOfColumns(positionRows());

/** As PostgreSQL writes a list of lists: the server reads that far sooner than it does JSON. */
function listOfColumns(rows: readonly PositionRow[]): string {
  const column = (name: keyof PositionRow): string => {
    return `{${rows.map((row) => row[name] ?? 'NULL').join()}}`;
  };
  return `{${POSITION_COLUMNS.map(column).join()}}`;
}

/**
 * Writes the verdicts of a pull; answers the number of matched orders by account. The fast match
 * counts what plainly agrees, so that the many checks see only what is left.
 */
export async function judgeOrders(
  db: Db,
  scope: CompareScope,
  rules: CompareRules,
): Promise<Map<string, number>> {
  const found = await inTransaction(db, (tx) => judge(tx, scope, rules));
  await analyseVerdicts(db, scope.runId);
  const matched = new Map<string, number>();
  for (const row of found) {
    matched.set(row.account_id, (matched.get(row.account_id) ?? 0) + Number(row.matched));
  }
  return matched;
}

async function judge(tx: Db, scope: CompareScope, rules: CompareRules): Promise<MatchedRow[]> {
  await plannedBy(tx, COMPARE_SETTINGS);
  const accountIds = rules.accounts.map((account) => account.account_id);
  const settled = await fastMatch(tx, scope, fastMatchRules(rules), accountIds);
  const { rows } = await tx.query<MatchedRow>(
    statement('compare/compare', relationsOf(tx, scope.runId, scope.pullId)),
    compareValues(scope, rules),
  );
  return [...settled, ...rows];
}

/**
 * What follows joins them; taken for few, they were joined with the square of their number. Within
 * one transaction it may merge again, which the checks were kept from.
 */
function analyseVerdicts(db: Db, runId: bigint): Promise<void> {
  return inTransaction(db, async (tx) => {
    await plannedBy(tx, { ...COMPARE_SETTINGS, enable_mergejoin: 'on' });
    const { verdicts } = relationsOf(tx, runId);
    await analyse(tx, verdicts, ['run_id', 'pull_id', 'account_id', 'order_no']);
  });
}

/**
 * Sorts and hashes of a million orders stay in memory; and of what is set aside and of the verdicts
 * the planner needs to know little more than how many there are.
 */
const COMPARE_SETTINGS = { work_mem: '128MB', default_statistics_target: '10' };

function fastMatchRules(rules: CompareRules) {
  return { asOf: rules.asOf, staleAfter: staleAfter(rules) };
}

function staleAfter(rules: CompareRules): string {
  return `${rules.staleDays * 24} hours`;
}

function compareValues(scope: CompareScope, rules: CompareRules): unknown[] {
  return [
    scope.runId,
    scope.pullId,
    scope.snapshotOnly ?? false,
    POSITIONS,
    rules.asOf,
    rules.dateEnd,
    `${rules.graceHours} hours`,
    staleAfter(rules),
    formatAmount(rules.tolerance.below),
    formatAmount(rules.tolerance.above),
    rules.tolerance.partsPerMillion,
    rules.partialCapture,
    rules.off,
    JSON.stringify(rules.accounts),
  ];
}

/** Forgets the verdicts of a run's accounts before a new snapshot of all of their orders. */
export async function clearVerdicts(
  db: Db,
  runId: bigint,
  accountIds: readonly string[],
): Promise<void> {
  const { verdicts } = relationsOf(db);
  await db.query(named`delete from ${verdicts} where run_id = $1 and account_id = any ($2)`, [
    runId,
    accountIds,
  ]);
}

/**
 * Forgets what the first snapshot said of the orders of a second one, which are about to be judged
 * anew: their verdicts and, of those that matched plainly, that they were counted.
 */
export async function clearVerdictsOf(db: Db, runId: bigint, pullId: bigint): Promise<void> {
  const text = statement('compare/uncountMatched', await relationsOfRun(db, runId));
  await db.query(text, [runId, pullId]);
  const { verdicts, asked_orders: asked } = relationsOf(db);
  await db.query(
    named`delete from ${verdicts} v using ${asked} a
     where v.run_id = $1 and a.pull_id = $2 and a.account_id = v.account_id
       and a.order_no = v.order_no`,
    [runId, pullId],
  );
}

export async function updateBreaks(db: Db, scope: CompareScope, now: Date): Promise<void> {
  const relations = relationsOf(db, scope.runId, ...pullsOf(scope));
  const text = statement('compare/updateBreaks', relations);
  await db.query(text, [scope.runId, scope.pullId, scope.failedIn ?? null, now]);
}

/** Adds to the count of matched orders of a pull. */
export async function recordMatched(
  db: Db,
  pullId: bigint,
  matched: ReadonlyMap<string, number>,
): Promise<void> {
  await db.query(
    named`update ${relationsOf(db).pulls} set matched = (
       select jsonb_object_agg(key, total) from (
         select key, sum(value::bigint) as total from (
           select * from jsonb_each_text(coalesce(matched, '{}'))
           union all select * from jsonb_each_text($2::jsonb)) as counts
         group by key) as sums)
     where pull_id = $1`,
    [pullId, JSON.stringify(Object.fromEntries(matched))],
  );
}

export async function assignClasses(db: Db, runId: bigint): Promise<void> {
  await db.query(statement('compare/assignClasses', relationsOf(db, runId)), [runId]);
}

/**
 * Orders that were final by a code which means something else now: the next look is at them again.
 * Of those without codes nobody knows.
 */
export async function forgetFinal(
  db: Db,
  changed: readonly { accountId: string; codes: readonly string[] }[],
): Promise<void> {
  await db.query(
    `delete from tieout.final_orders f
     using jsonb_to_recordset($1::jsonb) as c ("accountId" text, codes jsonb)
     where f.account_id = c."accountId" collate "C"
       and (f.codes is null or c.codes ?| f.codes)`,
    [JSON.stringify(changed)],
  );
}

/** Remembers which orders of a pull need no further look once they are older than the look-back. */
export async function rememberFinal(
  db: Db,
  runId: bigint,
  pullId: bigint,
  lookbackFrom: Date,
): Promise<void> {
  const text = statement('compare/rememberFinal', await relationsOfRun(db, runId));
  await db.query(text, [runId, pullId, lookbackFrom]);
}
