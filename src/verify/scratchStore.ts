// The room in which a run is worked out again: temporary tables and views that bear the names of
// the program's own, in one transaction that is never committed. The statements of a run are
// asked here of these; one that asks for a relation nobody thought of is refused, so that no figure
// of today slips into a run of long ago. Neighbours: verify/verifyRun.ts, scratchTables.sql.

import type { Db, Tx } from '../database/db.js';
import { named } from '../database/identifiers.js';
import { relationsIn } from '../database/relations.js';
import { statement } from '../database/statements.js';
import { ENTRY_COLUMNS } from '../pull/snapshot/snapshotsStore.js';

const SCRATCH = relationsIn('pg_temp');

/** A relation that is not one of the scratch schema; a function of ours is none. */
const IS_COMMENT = /^\s*--/;
const OF_TODAY = /\b(?:ledger|"?tieout"?)\."?\w+\b"?(?!\()/;

/** Statements of the run, asked of the scratch schema. */
export function scratchDb(tx: Db): Db {
  return {
    relations: SCRATCH,
    query: async (text, values) => {
      const today = text.split('\n').find((line) => !IS_COMMENT.test(line) && OF_TODAY.test(line));
      if (today === undefined) return tx.query(text, values);
      const asked = OF_TODAY.exec(today)?.[0];
      throw new Error(`a night that is worked out again does not know ${asked} as it stood`);
    },
  };
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
  return tx.copy(named`copy pg_temp.look_entries (${ENTRY_COLUMNS}) from stdin`, texts);
}

export async function fillScanned(tx: Tx, texts: Iterable<string>): Promise<void> {
  await tx.query(
    'create temp table if not exists scanned (like tieout.look_entries) on commit drop',
  );
  await tx.query('truncate pg_temp.scanned');
  await tx.copy(named`copy pg_temp.scanned (${ENTRY_COLUMNS}) from stdin`, texts);
  await tx.query(statement('pull/snapshot/storeScanned', SCRATCH));
}

/**
 * After the last entry: those of looks that nobody compared (of an account that left), on which no
 * verdict rests, are given; then the indexes that the compare joins by, and what the planner must
 * know.
 */
export async function finishEntries(tx: Db, pullIds: readonly bigint[]): Promise<void> {
  await tx.query('insert into pg_temp.decoded select unnest($1::bigint[])', [pullIds.map(String)]);
  // Each half of the entries has an index of its own; without the last condition neither is used.
  await tx.query(
    `insert into pg_temp.look_entries
     select e.* from pg_temp.run_accounts a
     join tieout.look_entries e on e.pull_id = a.pull_id and e.account_id = a.account_id
       and (e.is_extra or not e.is_extra)
     where a.pull_id not in (select pull_id from pg_temp.decoded)`,
  );
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
  await tx.query(statement('verify/scratchBreaks'), [working.workingId, working.accountIds]);
}

/** `begins`: the last event of each account before its first compare that is repeated. */
export async function givenEvents(
  tx: Db,
  runId: bigint,
  begins: ReadonlyMap<string, bigint>,
  last: bigint,
): Promise<void> {
  await tx.query(statement('verify/scratchEvents'), [
    ...[runId, [...begins.keys()], [...begins.values()].map(String), last],
  ]);
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
  return differing(tx, statement('verify/differingEntries'), [DIFFERENCES_MAX]);
}

export function differingVerdicts(tx: Db, runId: bigint): Promise<Difference[]> {
  return differing(tx, statement('verify/differingVerdicts'), [runId, DIFFERENCES_MAX]);
}

export function differingBreaks(
  tx: Db,
  runId: bigint,
  begins: ReadonlyMap<string, bigint>,
  last: bigint,
): Promise<Difference[]> {
  return differing(tx, statement('verify/differingBreaks'), [
    ...[runId, [...begins.keys()], [...begins.values()].map(String), last, DIFFERENCES_MAX],
  ]);
}

export function differingOurs(
  tx: Db,
  runId: bigint,
  accountIds: readonly string[],
): Promise<Difference[]> {
  return differing(tx, statement('verify/differingOurs'), [runId, accountIds, DIFFERENCES_MAX]);
}

async function differing(tx: Db, text: string, values: readonly unknown[]): Promise<Difference[]> {
  const { rows } = await tx.query<{
    account_id: string;
    order_no: string;
    what: string;
    then_value: string | null;
    now_value: string | null;
  }>(text, values);
  return rows.map((row) => ({
    accountId: row.account_id,
    orderNo: row.order_no,
    what: row.what,
    was: row.then_value,
    is: row.now_value,
  }));
}
