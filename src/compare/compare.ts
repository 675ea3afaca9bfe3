// Step 2, compare: what the snapshots prove about instructions already sent comes first, since it
// decides what an order still needs; then each order gets its verdict and breaks open or resolve.

import { changesSince, resendHours } from '../instructions/changedSettings.js';
import { settleBySnapshot } from '../instructions/instructionsStore.js';
import type { Snapshot } from '../pull/snapshot/snapshotsStore.js';
import { hasGaps } from '../pull/snapshot/snapshotsStore.js';
import { noteSnapshotCodes } from '../pull/statusCodes.js';
import type { Run, RunDeps } from '../runs/deps.js';
import { accountIdsOf, accountRules, lookbackFrom } from '../runs/deps.js';
import { leftToCount } from '../runs/leftAccountsStore.js';
import { enterUnconfigured, unconfiguredOf } from '../runs/runAccountsStore.js';
import type { Working } from '../runs/runRecordStore.js';
import { recordWorking } from '../runs/runRecordStore.js';
import { strangeRefunds, updateStrayRefunds, withStrayRefunds } from './strayRefundsStore.js';
import type { CompareRules, CompareScope } from './verdictsStore.js';
import {
  clearVerdicts,
  clearVerdictsOf,
  forgetFinal,
  judgeOrders,
  recordMatched,
  updateBreaks,
} from './verdictsStore.js';

export type CompareDeps = Pick<RunDeps, 'config' | 'log' | 'now' | 'progress'>;

/** A code that means something else than when an account was last planned makes nothing final. */
export async function forgetOtherMeanings(deps: Pick<RunDeps, 'config'>, run: Run): Promise<void> {
  const changed = (await changesSince(deps, run)).flatMap(({ accountId, change }) =>
    change.kind === 'payment_status' ? [{ accountId, codes: change.values }] : [],
  );
  if (changed.length > 0) await forgetFinal(run.db, changed);
}

/** Judges all live orders of the run by what the pull brought. */
export async function compare(deps: CompareDeps, run: Run, snapshot: Snapshot): Promise<void> {
  deps.progress('compare', 0, 1);
  await noteSnapshotCodes(deps, run, snapshot);
  await settleSent(deps, run, snapshot);
  await clearVerdicts(run.db, run.runId, accountIdsOf(run));
  await bookStrayRefunds(deps, run);
  await judge(deps, run, snapshot, { runId: run.runId, pullId: snapshot.pullId });
  deps.progress('compare', 1, 1);
}

/** What the snapshot proves about what was sent before decides what an order still needs. */
async function settleSent(
  deps: Pick<RunDeps, 'config' | 'now'>,
  run: Run,
  snapshot: Snapshot,
): Promise<void> {
  const resendAfterHours = resendHours(deps, await changesSince(deps, run));
  await settleBySnapshot(run.db, run.runId, snapshot.pullId, deps.now(), resendAfterHours);
}

/** Requests that belong to no order, or to no account of ours, which then has books of its own. */
async function bookStrayRefunds(deps: Pick<RunDeps, 'config' | 'now'>, run: Run): Promise<void> {
  const configured = deps.config.accounts.map(({ accountId }) => accountId);
  const from = lookbackFrom(deps, run);
  const unconfigured = await strangeRefunds(run.db, configured, from);
  const accounts = accountRules(run.accounts);
  const books = { accounts, unconfigured, lookbackFrom: from };
  await updateStrayRefunds(run.db, run.runId, books, deps.now());
  // What an account that left has open, and what people settled of it, is counted here, or nowhere.
  const told = await withStrayRefunds(run.db, unconfigured);
  const entered = [...new Set([...told, ...(await leftToCount(run.db, run, configured))])];
  if (entered.length > 0) await enterUnconfigured(run.db, run, entered);
}

/**
 * Compares the orders of a second snapshot. Those whose page failed keep their first snapshot, but
 * are judged anew: what became of their instructions counts.
 */
export async function compareAgain(
  deps: CompareDeps,
  run: Run,
  first: Snapshot,
  second: Snapshot,
): Promise<void> {
  await clearVerdictsOf(run.db, run.runId, second.pullId);
  const { runId } = run;
  await judge(deps, run, second, { runId, pullId: second.pullId, snapshotOnly: true });
  // Mostly every page is answered, and then a second pass over all orders would find nothing.
  if (!(await hasGaps(run.db, second.pullId))) return;
  await judge(deps, run, first, { runId, pullId: first.pullId, failedIn: second.pullId });
}

async function judge(
  deps: CompareDeps,
  run: Run,
  snapshot: Snapshot,
  scope: CompareScope,
): Promise<void> {
  if (!run.isDry) {
    const accountIds = [...accountIdsOf(run), ...(await unconfiguredOf(run.db, run.runId))];
    await recordWorking(run.db, run.runId, accountIds, workingOf(scope));
  }
  const matched = await judgeOrders(run.db, scope, compareRules(deps, run, snapshot.asOf));
  // Counted where the verdict came from, so that the classes can be checked against the orders.
  await recordMatched(run.db, scope.pullId, matched);
  await updateBreaks(run.db, scope, deps.now());
}

function workingOf({ pullId, failedIn, snapshotOnly }: CompareScope): Working {
  if (failedIn !== undefined) return { kind: 'gaps', pullId, failedIn };
  return { kind: snapshotOnly ? 'again' : 'night', pullId };
}

export function compareRules(
  deps: Pick<RunDeps, 'config'>,
  run: Pick<Run, 'endsAt' | 'accounts'>,
  asOf: Date,
): CompareRules {
  const { reconcile, operations, gateway } = deps.config;
  return {
    asOf,
    dateEnd: run.endsAt,
    graceHours: reconcile.graceHours,
    staleDays: reconcile.staleAuthorisationDays,
    tolerance: reconcile.tolerance,
    partialCapture: gateway.profile.partialCapture,
    off: Object.entries(operations.mode)
      .filter(([, mode]) => mode === 'off')
      .map(([operation]) => operation),
    accounts: accountRules(run.accounts),
  };
}
