// A run worked out again from what was kept of it: the raw answers decoded, every compare
// repeated by the settings of its time, over ledger rows, instructions and breaks as they stood,
// and the figures added up. By the same steps as the run itself, in a scratch schema that is
// never committed; what comes out differently is named. Neighbours: compare.ts and total.ts, whose
// steps these are; verify/scratchStore.ts.

import { compareRules } from '../compare/compare.js';
import {
  assignClasses,
  clearVerdicts,
  clearVerdictsOf,
  judgeOrders,
  recordMatched,
  updateBreaks,
} from '../compare/verdictsStore.js';
import type { Config } from '../config/config.js';
import { TieoutError } from '../core/errors.js';
import { withUnexplained } from '../core/runs/statement.js';
import type { RunSummary } from '../core/runs/summary.js';
import type { Database, Db, Tx } from '../database/db.js';
import { rolledBack } from '../database/rolledBack.js';
import { storedSnapshots } from '../pull/snapshot/storedPagesStore.js';
import type { Run } from '../runs/deps.js';
import { removalOf } from '../runs/runRecordStore.js';
import type { RunRow } from '../runs/runsStore.js';
import { countSnapshots, sumUp } from '../total/total.js';
import { decodeAgain } from './decodeAgain.js';
import type { Difference, WorkingRow } from './scratchStore.js';
import {
  breaksAsOf,
  decidedBetween,
  differingBreaks,
  differingEntries,
  differingVerdicts,
  finishEntries,
  givenEvents,
  instructionsAsOf,
  openScratch,
  scratchDb,
  workingsOf,
} from './scratchStore.js';
import { settingsThen } from './settingsThen.js';
import { differingFigures } from './summaryDifference.js';
import { verifyBook } from './verifyBook.js';

interface VerifyDeps {
  db: Database;
  config: Config;
  version: string;
  progress: (done: number, total: number) => void;
}

export interface VerifiedRun {
  /** as it comes out today; null where it does not even tie */
  summary: RunSummary | null;
  differences: Difference[];
  versionThen: string;
  versionNow: string;
  pages: number;
}

export async function verifyRun(deps: VerifyDeps, run: RunRow): Promise<VerifiedRun> {
  const removal = await removalOf(deps.db, run.runId);
  if (removal) {
    throw new TieoutError(
      `the night of ${run.businessDate} cannot be worked out again: what it saw was ` +
        `removed by retention on ${removal.at.toISOString().slice(0, 10)}; its figures, breaks, ` +
        'instructions and the digests of its looks stay',
    );
  }
  const workings = await repeatedWorkings(deps.db, run);
  return rolledBack(deps.db, (tx) => workedOut(deps, tx, run, workings));
}

/**
 * A run that was resumed compared several times, and perhaps not all of its accounts each time:
 * what counts of an account begins with its own last whole snapshot.
 */
async function repeatedWorkings(db: Db, run: RunRow): Promise<WorkingRow[]> {
  const all = await workingsOf(db, run.runId);
  const end = all.findLastIndex((one) => one.kind === 'total');
  if (end < 0) {
    throw new TieoutError(
      `the run of ${run.businessDate} has no figures to work out again: it did not come so far`,
    );
  }
  const counted = all.slice(0, end + 1);
  return counted
    .map((one, index) => {
      const later = counted.slice(index + 1).filter(({ kind }) => kind === 'night');
      const again = new Set(later.flatMap(({ accountIds }) => accountIds));
      return { ...one, accountIds: one.accountIds.filter((id) => !again.has(id)) };
    })
    .filter(({ kind, accountIds }, index) =>
      // Of several adding-ups only the last counts.
      kind === 'total' ? index === counted.length - 1 : accountIds.length > 0,
    );
}

async function workedOut(
  deps: VerifyDeps,
  tx: Tx,
  run: RunRow,
  workings: readonly WorkingRow[],
): Promise<VerifiedRun> {
  const [first, last] = [workings[0], workings.at(-1)];
  if (!first || !last) throw new Error('a run without workings');
  await openScratch(tx, run.runId);
  const { pages, differences } = await decodeAll(deps, tx, workings);
  const begins = beginsOf(workings);
  await givenEvents(tx, run.runId, begins, last.lastBreakEvent);
  let seen = first.lastBreakEvent;
  for (const working of workings.slice(0, -1)) {
    await decidedBetween(tx, seen, working.lastBreakEvent);
    await repeatCompare(deps, tx, run, working);
    seen = working.lastBreakEvent;
  }
  await decidedBetween(tx, seen, last.lastBreakEvent);
  const sums = await repeatTotal(deps, tx, run, last);
  differences.push(
    ...(await differingEntries(tx)),
    ...(await differingVerdicts(tx, run.runId)),
    ...(await differingBreaks(tx, run.runId, begins, last.lastBreakEvent)),
    ...(sums.summary === null ? [sums.problem] : differingFigures(run.summary, sums.summary)),
    ...(await repeatBook(deps, tx, run, last)),
  );
  const { summary } = sums;
  return { summary, differences, versionThen: last.version, versionNow: deps.version, pages };
}

/** The last event of each account before its first compare that is repeated. */
function beginsOf(workings: readonly WorkingRow[]): ReadonlyMap<string, bigint> {
  const begins = new Map<string, bigint>();
  for (const { accountIds, lastBreakEvent } of workings) {
    for (const accountId of accountIds) {
      if (!begins.has(accountId)) begins.set(accountId, lastBreakEvent);
    }
  }
  return begins;
}

async function decodeAll(
  deps: VerifyDeps,
  tx: Tx,
  workings: readonly WorkingRow[],
): Promise<{ pages: number; differences: Difference[] }> {
  const snapshots = workings.filter((one) => one.pullId !== null && one.kind !== 'gaps');
  const pullIds = snapshots.map((one) => one.pullId ?? 0n);
  const kept = await storedSnapshots(deps.db, pullIds);
  const pages = kept.reduce((sum, snapshot) => sum + snapshot.pages, 0);
  const differences: Difference[] = [];
  let done = 0;
  for (const snapshot of kept) {
    const working = snapshots.find((one) => one.pullId === snapshot.pullId);
    if (!working) continue;
    const { gateway, accounts } = settingsThen(deps.config, working.settings, working.profile);
    const account = accounts.find((one) => one.accountId === snapshot.accountId);
    if (!account) throw new TieoutError(`the kept settings have no account ${snapshot.accountId}`);
    const progress = (count: number): void => {
      done += count;
      deps.progress(done, pages);
    };
    const decoding = { pages: deps.db, profile: gateway.profile, account, progress };
    differences.push(...(await decodeAgain(tx, snapshot, decoding)));
  }
  await finishEntries(tx, pullIds);
  return { pages, differences };
}

async function repeatCompare(
  deps: VerifyDeps,
  tx: Tx,
  run: RunRow,
  working: WorkingRow,
): Promise<void> {
  const { pullId, pullAsOf, kind, accountIds } = working;
  if (pullId === null || pullAsOf === null) throw new Error('a compare without a snapshot');
  const db = scratchDb(tx);
  await instructionsAsOf(tx, working);
  if (kind === 'night') {
    await breaksAsOf(tx, working);
    await clearVerdicts(db, run.runId, accountIds);
  } else if (kind === 'again') await clearVerdictsOf(db, run.runId, pullId);
  const { config, past } = asThen(deps, db, run, working);
  const scope = {
    runId: run.runId,
    pullId,
    ...(kind === 'again' ? { snapshotOnly: true } : {}),
    ...(working.failedIn === null ? {} : { failedIn: working.failedIn }),
  };
  const matched = await judgeOrders(db, scope, compareRules({ config }, past, pullAsOf));
  await recordMatched(db, pullId, matched);
  await updateBreaks(db, scope, working.at);
}

type Sums = { summary: RunSummary } | { summary: null; problem: Difference };

async function repeatTotal(
  deps: VerifyDeps,
  tx: Tx,
  run: RunRow,
  working: WorkingRow,
): Promise<Sums> {
  const db = scratchDb(tx);
  await instructionsAsOf(tx, working);
  await assignClasses(db, run.runId);
  const { config, past } = asThen(deps, db, run, working);
  const counts = await countSnapshots(db, run.runId);
  try {
    // What the ledger's feed announced, which words were new and what a workbook left unexplained
    // is given, not worked out again.
    const notices = run.summary?.notices ?? [];
    const unexplained = notices.filter(({ kind }) => kind === 'unexplained');
    const summary = await sumUp({ config }, past, counts, notices);
    return { summary: withUnexplained(summary, unexplained) };
  } catch (error) {
    if (!(error instanceof TieoutError)) throw error;
    const problem = { accountId: null, orderNo: null, what: 'figures', was: 'they tied' };
    return { summary: null, problem: { ...problem, is: error.message } };
  }
}

/** Booked only where the run had `settlement` configured; instructions stand as they did then. */
async function repeatBook(
  deps: VerifyDeps,
  tx: Tx,
  run: RunRow,
  last: WorkingRow,
): Promise<Difference[]> {
  if ((last.settings.settlement ?? null) === null) return [];
  const { past } = asThen(deps, tx, run, last);
  return verifyBook(tx, past);
}

/** The run with the settings of that time, its statements asked of the scratch schema. */
function asThen(
  deps: VerifyDeps,
  db: Db,
  run: RunRow,
  working: WorkingRow,
): { config: Config; past: Run } {
  const config = settingsThen(deps.config, working.settings, working.profile);
  const { runId, businessDate, covers, startsAt, endsAt } = run;
  const accounts = config.accounts.filter((one) => working.accountIds.includes(one.accountId));
  return {
    config,
    past: { runId, businessDate, covers, startsAt, endsAt, isDry: false, accounts, db },
  };
}
