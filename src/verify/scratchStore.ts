// The room in which a run is worked out again: temporary tables and views that bear the names of
// the program's own, in one transaction that is never committed. The statements of a run work
// here unchanged but for the schema; one that asks for a relation nobody thought of is
// refused, so that no figure of today slips into a run of long ago. Neighbours:
// verify/verifyRun.ts.

import type { Db, Tx } from '../database/db.js';
import { statement } from '../database/statements.js';
import { ENTRY_COLUMNS } from '../pull/snapshot/snapshotsStore.js';

/** Worked out again, or put back as they stood. */
const SCRATCH = new Set([
  ...['asked_orders', 'asked_refunds', 'pages', 'runs', 'look_entries', 'verdicts', 'pulls'],
  ...['run_accounts', 'instructions', 'breaks', 'break_events', 'ledger_changes'],
  ...['chunks', 'attempts'],
]);

/** The partition of a month stands for the whole. */
const OF_A_MONTH = /_(\d{4}_\d\d|before)$/;

/** A statement of the run as it reads in the scratch schema. */
export function onScratch(text: string): string {
  if (/\bledger\./.test(text)) {
    throw new Error('a night that is worked out again must not read the ledger of today');
  }
  return text.replace(/\btieout\.([a-z_0-9]+)\b(?!\()/g, (_whole, relation: string) => {
    const name = relation.replace(OF_A_MONTH, '');
    if (SCRATCH.has(name)) return `pg_temp.${name}`;
    throw new Error(`a night that is worked out again does not know tieout.${name} as it stood`);
  });
}

/** Statements of the run, asked of the scratch schema. */
export function scratchDb(tx: Db): Db {
  return { query: (text, values) => tx.query(onScratch(text), values) };
}

export async function openScratch(tx: Db, runId: bigint): Promise<void> {
  await tx.query('create temp table verified as select $1::bigint as run_id', [runId]);
  await tx.query('create temp table decoded (pull_id bigint primary key)');
  await tx.query(statement('verify/scratchTables'));
  await tx.query('analyze pg_temp.every_instruction');
  await tx.query('analyze pg_temp.moves');
}

/** Entries as text for COPY; those of a scan go through the statement that sorts them out. */
export async function fillEntries(tx: Tx, texts: AsyncIterable<string>): Promise<number> {
  return tx.copy(`copy pg_temp.look_entries (${ENTRY_COLUMNS}) from stdin`, texts);
}

export async function fillScanned(tx: Tx, texts: Iterable<string>): Promise<void> {
  await tx.query(
    'create temp table if not exists scanned (like tieout.look_entries) on commit drop',
  );
  await tx.query('truncate pg_temp.scanned');
  await tx.copy(`copy pg_temp.scanned (${ENTRY_COLUMNS}) from stdin`, texts);
  await tx.query(onScratch(statement('pull/snapshot/storeScanned')));
}

/** After the last entry: the indexes that the compare joins by, and what the planner must know. */
export async function finishEntries(tx: Db, pullIds: readonly bigint[]): Promise<void> {
  await tx.query('insert into pg_temp.decoded select unnest($1::bigint[])', [pullIds.map(String)]);
  await tx.query(
    `create unique index on pg_temp.look_entries (pull_id, account_id, order_no)
       where not is_extra;
     create index on pg_temp.look_entries (pull_id, account_id, order_no) where is_extra;
     analyze pg_temp.look_entries`,
  );
}

export interface WorkingRow {
  workingId: bigint;
  kind: 'night' | 'again' | 'gaps' | 'total';
  settings: Record<string, unknown>;
  profile: string | null;
  version: string;
  accountIds: string[];
  pullId: bigint | null;
  pullAsOf: Date | null;
  failedIn: bigint | null;
  at: Date;
  lastInstructionEvent: bigint;
  lastBreakEvent: bigint;
}

/** What a run worked out, in order, with the settings of each time. */
export async function workingsOf(db: Db, runId: bigint): Promise<WorkingRow[]> {
  const { rows } = await db.query<WorkingRow>(
    `select w.working_id as "workingId", w.kind, s.settings, p.profile, s.version,
       w.account_ids as "accountIds", w.pull_id as "pullId", l.as_of as "pullAsOf",
       w.failed_in as "failedIn", w.at, w.last_instruction_event as "lastInstructionEvent",
       w.last_break_event as "lastBreakEvent"
     from tieout.workings w
     join tieout.run_settings s using (settings_id)
     left join tieout.profiles p
       on p.profile_sha256 = s.settings -> 'gateway' ->> 'profileSha256'
     left join tieout.pulls l on l.pull_id = w.pull_id
     where w.run_id = $1 order by w.working_id`,
    [runId],
  );
  return rows;
}

export async function instructionsAsOf(tx: Db, working: WorkingRow): Promise<void> {
  await tx.query('truncate pg_temp.instructions');
  await tx.query(statement('verify/scratchInstructions'), [
    working.lastInstructionEvent,
    working.at,
  ]);
}

/** The breaks that a run began with, in place of whatever stands there of its accounts. */
export async function breaksAsOf(tx: Db, working: WorkingRow): Promise<void> {
  await tx.query('delete from pg_temp.breaks where account_id = any ($1)', [working.accountIds]);
  await tx.query(statement('verify/scratchBreaks'), [working.workingId]);
}

export async function givenEvents(
  tx: Db,
  runId: bigint,
  first: bigint,
  last: bigint,
): Promise<void> {
  await tx.query(statement('verify/scratchEvents'), [runId, first, last]);
}

export async function decidedBetween(tx: Db, after: bigint, until: bigint): Promise<void> {
  if (until > after) await tx.query(statement('verify/scratchDecided'), [after, until]);
}

export interface Difference {
  /** null: of no single order */
  accountId: string | null;
  orderNo: string | null;
  what: string;
  was: string | null;
  is: string | null;
}

/** At most so many differences of a kind are named. */
export const DIFFERENCES_MAX = 1_000;

export function differingEntries(tx: Db): Promise<Difference[]> {
  return differing(tx, statement('verify/differingEntries'), []);
}

export function differingVerdicts(tx: Db, runId: bigint): Promise<Difference[]> {
  return differing(tx, statement('verify/differingVerdicts'), [runId]);
}

export function differingBreaks(
  tx: Db,
  runId: bigint,
  first: bigint,
  last: bigint,
): Promise<Difference[]> {
  return differing(tx, statement('verify/differingBreaks'), [runId, first, last]);
}

async function differing(tx: Db, text: string, values: readonly unknown[]): Promise<Difference[]> {
  const { rows } = await tx.query<{
    account_id: string;
    order_no: string;
    what: string;
    then_value: string | null;
    now_value: string | null;
  }>(`${text} limit ${DIFFERENCES_MAX}`, values);
  return rows.map((row) => ({
    accountId: row.account_id,
    orderNo: row.order_no,
    what: row.what,
    was: row.then_value,
    is: row.now_value,
  }));
}
