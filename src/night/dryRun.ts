// The dry run: the run up to its plan, leaving nothing behind. What the pull brought is deleted
// at the end, and everything that the other steps write is rolled back. It writes where a run
// writes, so for a while it holds what others may need; whoever needs it goes first, and the dry
// run ends.

import { compare } from '../compare/compare.js';
import { assignClasses } from '../compare/verdictsStore.js';
import { DatabaseAwayError, TieoutError } from '../core/errors.js';
import type { RunSummary } from '../core/runs/summary.js';
import type { Database, Tx } from '../database/db.js';
import { isThere } from '../database/db.js';
import { DRY_LIMITS } from '../database/limits.js';
import { rolledBack } from '../database/rolledBack.js';
import { plan } from '../plan/plan.js';
import { keepingOn } from '../processes/keepingOn.js';
import { pull } from '../pull/pull.js';
import type { Run } from '../runs/deps.js';
import { accountIdsOf } from '../runs/deps.js';
import {
  endDryRunsInTheWay,
  GIVE_WAY_MS,
  giveNumbersBack,
  markDry,
  numbersNow,
  wouldDo,
} from '../runs/dryRunStore.js';
import { fenced } from '../runs/lease.js';
import { deleteDryRun } from '../runs/runsStore.js';
import type { SendDeps } from '../send/deps.js';
import { total } from '../total/total.js';

export async function runDry(unfenced: SendDeps, unfencedRun: Run): Promise<RunSummary> {
  const { deps, run } = fenced(unfenced, unfencedRun);
  try {
    const snapshot = await pull(deps, run);
    const judged = async (tx: Tx): Promise<RunSummary> => {
      const dry = { ...run, db: tx };
      await markDry(tx);
      await compare(deps, dry, snapshot);
      const leftOut = await plan(deps, dry, snapshot);
      // Nothing was sent: of what `judgeAnew` does after it, the class of each order is left.
      await assignClasses(tx, dry.runId);
      const summary = await total(deps, dry, leftOut);
      return { ...summary, wouldDo: await wouldDo(tx, accountIdsOf(dry)) };
    };
    return await givingWay(unfenced.db, () => rolledBack(deps.db, judged, DRY_LIMITS));
  } finally {
    await deleteDryRun(unfenced.db, run.runId);
  }
}

const GAVE_WAY =
  'a night or a decision needed what the dry run held, and went first: the dry run has ended. ' +
  'Nothing was sent, nothing was kept; run it again when they are through';

/** Watches that nobody waits for the work; a run does so, too, where this process is stopped. */
async function givingWay<T>(db: Database, work: () => Promise<T>): Promise<T> {
  const before = await numbersNow(db);
  const stopWatching = keepingOn(() => endDryRunsInTheWay(db), GIVE_WAY_MS);
  try {
    return await work();
  } catch (error) {
    if (wasEnded(error) && (await isThere(db))) throw new TieoutError(GAVE_WAY, { cause: error });
    throw error;
  } finally {
    stopWatching();
    await giveNumbersBack(db, before);
  }
}

const ENDED_BY_ANOTHER = '57P01';

function wasEnded(error: unknown): boolean {
  if (!(error instanceof DatabaseAwayError) || !(error.cause instanceof Error)) return false;
  return 'code' in error.cause && error.cause.code === ENDED_BY_ANOTHER;
}
