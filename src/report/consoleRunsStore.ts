// What the console's first page shows: the newest run, how far it has come, the runs before it,
// and what waits for whom. Every statement takes the accounts that the reader may see and looks at
// no other. Read only. Neighbour: reportPagesStore.ts.

import { NOT_APPROVABLE } from '../core/instructions/holdReasons.js';
import type { RunState, RunSummary } from '../core/runs/summary.js';
import { worstOf } from '../core/runs/summary.js';
import type { Db } from '../database/db.js';
import { statement } from '../database/statements.js';

export interface ConsoleRun {
  runId: bigint;
  businessDate: string;
  state: RunState;
  startedAt: Date;
  finishedAt: Date | null;
  asOf: Date | null;
  failure: string | null;
  /** Of the accounts that the reader may see; null while the run works. */
  summary: RunSummary | null;
  isWhole: boolean;
}

/** Who looks. */
export interface Reader {
  accounts: readonly string[];
  /** These are all accounts that there are: the state of the run itself is told. */
  seesAll: boolean;
}

/** The run of a date, or the newest; null when none of these accounts had one. */
export async function consoleRun(
  db: Db,
  { accounts, seesAll }: Reader,
  date: string | null,
): Promise<ConsoleRun | null> {
  const { rows } = await db.query<{
    run_id: bigint;
    business_date: string;
    run_state: RunState;
    state: RunState;
    created_at: Date;
    finished_at: Date | null;
    as_of: Date | null;
    failure: string | null;
    summary: RunSummary | null;
    is_whole: boolean;
  }>(statement('report/consoleNight'), [accounts, date, seesAll]);
  const row = rows[0];
  if (!row) return null;
  const state = stateFor(row, seesAll);
  return {
    runId: row.run_id,
    businessDate: row.business_date,
    state,
    startedAt: row.created_at,
    finishedAt: row.finished_at,
    asOf: row.as_of,
    failure: row.failure,
    summary: row.summary === null ? null : { ...row.summary, state },
    isWhole: row.is_whole,
  };
}

interface States {
  run_state: RunState;
  /** the worst of the accounts that the reader may see */
  state: RunState;
}

/** A run may be worse than its accounts: by what it has of accounts that nobody configured. */
function stateFor({ run_state, state }: States, seesAll: boolean): RunState {
  if (run_state === 'running' || run_state === 'failed') return run_state;
  return seesAll ? worstOf([run_state, state]) : state;
}

export interface RunMark {
  businessDate: string;
  state: RunState;
  /** Breaks open at its end; null while it works, or where it never counted them. */
  open: number | null;
}

/** The last runs, oldest first. */
export async function runMarks(
  db: Db,
  { accounts, seesAll }: Reader,
  limit: number,
): Promise<RunMark[]> {
  const { rows } = await db.query<States & { business_date: string; open: bigint | null }>(
    `select r.business_date, r.state as run_state,
       case when r.state in ('running', 'failed') then r.state
         else tieout.worst_state(array_agg(tieout.state_in_night(r.state, ra.state))) end as state,
       -- an account that ended with none has no kinds to sum; one without an end has no row here
       sum((select coalesce(sum(value::bigint), 0) from jsonb_each_text(ra.open_after)))
         filter (where ra.open_after is not null and r.state <> 'running')::bigint as open
     from (select run_id, business_date, state from tieout.runs where not is_dry
       order by business_date desc limit $2) r
     join tieout.run_accounts ra on ra.run_id = r.run_id and (ra.account_id = any ($1) or $3)
     group by r.business_date, r.state order by r.business_date`,
    [accounts, limit, seesAll],
  );
  return rows.map((row) => ({
    businessDate: row.business_date,
    state: stateFor(row, seesAll),
    open: row.open === null ? null : Number(row.open),
  }));
}

export interface Waiting {
  held: number;
  /** of these, what no approval frees */
  kept: number;
  /** of what an approval frees: fraud reviews, which move no money */
  reviews: number;
  /** of what an approval frees: payouts in a unit that nobody has set; in no sum */
  unmeasured: number;
  unknown: number;
  /** of these, payouts of which nobody knows the amount; in no sum */
  unknownUnmeasured: number;
  /** by currency; of what an approval frees */
  heldMoney: Record<string, string>;
  unknownMoney: Record<string, string>;
  onTheirWay: number;
  /** of these, what has not left */
  unsent: number;
  /** taken by the gateway and not done yet: no look shows what became of them */
  pendingPayouts: number;
  open: number;
  unowned: number;
  /** of what a break says now, that wait for a second person */
  waivers: number;
  /** what is at stake in them; those of which nobody knows how much are counted apart */
  waiverMoney: Record<string, string>;
  waiversWithoutAmount: number;
  /** reports of the newest run that could not be written, and were not written since */
  unwritten: number;
  /** of the newest run, which a person had planned again: a run of a later date does it */
  replanned: number;
}

/** What waits, counted over all nights. */
export async function waitingCounts(db: Db, accountIds: readonly string[]): Promise<Waiting> {
  type Money = Record<string, string> | null;
  type Row = Record<Exclude<keyof Waiting, `${string}Money`>, bigint> &
    Record<'heldMoney' | 'unknownMoney' | 'waiverMoney', Money>;
  const { rows } = await db.query<Row>(statement('report/waitingCounts'), [
    accountIds,
    NOT_APPROVABLE,
  ]);
  const row = rows[0];
  return {
    heldMoney: row?.heldMoney ?? {},
    unknownMoney: row?.unknownMoney ?? {},
    waiverMoney: row?.waiverMoney ?? {},
    held: Number(row?.held ?? 0),
    kept: Number(row?.kept ?? 0),
    reviews: Number(row?.reviews ?? 0),
    unmeasured: Number(row?.unmeasured ?? 0),
    unknown: Number(row?.unknown ?? 0),
    unknownUnmeasured: Number(row?.unknownUnmeasured ?? 0),
    onTheirWay: Number(row?.onTheirWay ?? 0),
    unsent: Number(row?.unsent ?? 0),
    pendingPayouts: Number(row?.pendingPayouts ?? 0),
    open: Number(row?.open ?? 0),
    unowned: Number(row?.unowned ?? 0),
    waivers: Number(row?.waivers ?? 0),
    waiversWithoutAmount: Number(row?.waiversWithoutAmount ?? 0),
    unwritten: Number(row?.unwritten ?? 0),
    replanned: Number(row?.replanned ?? 0),
  };
}

export interface Progress {
  pages: number;
  pagesDone: number;
  pullDone: boolean;
  compared: boolean;
  batches: number;
  batchesDone: number;
  confirming: boolean;
  confirmed: boolean;
  reports: number;
  reportsWritten: number;
}

/** How far a run has come, told by the rows that its steps have left so far. */
export async function runProgress(
  db: Db,
  runId: bigint,
  accountIds: readonly string[],
): Promise<Progress> {
  const { rows } = await db.query<Progress>(statement('report/runProgress'), [runId, accountIds]);
  const [row] = rows;
  if (!row) throw new Error('the progress of a run is one row');
  return row;
}
