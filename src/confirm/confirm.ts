// Step 5, confirm: what was sent is queried again. Accepted becomes confirmed when the gateway
// shows it (`confirm`); an account that its breaker stopped may begin again by it
// (`resumeStopped`); what it shows decides the verdict of the order anew, and every order is put
// into its class (`judgeAnew`).

import type { CompareDeps } from '../compare/compare.js';
import { compareAgain } from '../compare/compare.js';
import { bookRejectedPayouts } from '../compare/rejectedPayoutsStore.js';
import { assignClasses, rememberFinal } from '../compare/verdictsStore.js';
import { BEGIN_AGAIN_MAX } from '../core/instructions/breaker.js';
import { sentToConfirm, settleBySnapshot } from '../instructions/instructionsStore.js';
import { confirmAcceptedPayouts } from '../instructions/payoutsStore.js';
import { askHere } from '../pull/askOrders.js';
import type { PullDeps } from '../pull/pull.js';
import { pullPages } from '../pull/pull.js';
import { askSecondSnapshot } from '../pull/pullAgain.js';
import { analyseSnapshot } from '../pull/snapshot/analyseSnapshot.js';
import type { Snapshot } from '../pull/snapshot/snapshotsStore.js';
import { finishPull, waitingChunks } from '../pull/snapshot/snapshotsStore.js';
import { noteAnswers, noteSnapshotCodes } from '../pull/statusCodes.js';
import { concurrently } from '../runs/concurrently.js';
import type { Run } from '../runs/deps.js';
import { accountIdsOf, lookbackFrom } from '../runs/deps.js';
import { liftBreaker } from '../send/liftBreaker.js';
import type { SendingDeps } from '../send/send.js';
import { send } from '../send/send.js';
import type { SearchDeps } from './searchRefunds.js';
import { searchRefunds } from './searchRefunds.js';

type ConfirmDeps = PullDeps & CompareDeps & SendingDeps & SearchDeps;

/**
 * Looks at what was sent, and settles what is seen; answers the snapshot, null where none was due.
 */
export async function confirm(
  deps: ConfirmDeps,
  run: Run,
  before: Snapshot,
): Promise<Snapshot | null> {
  // Whoever read its answer died before it said so: it is this run's money.
  await confirmAcceptedPayouts(run.db, accountIdsOf(run), deps.now());
  // What was answered is kept before a snapshot says more of it.
  const second = await concurrently(noteAnswers(deps, run), pullSent(deps, run, before));
  if (second === null) return null;
  // Settling goes order by order, and needs no figures of the snapshot.
  await concurrently(
    analyseSnapshot(deps.db, second.pullId).then(() => noteSnapshotCodes(deps, run, second)),
    settleBySnapshot(run.db, run.runId, second.pullId, deps.now()),
  );
  return second;
}

/**
 * Where the snapshot that confirmed lets an account go that its breaker had stopped, what waits of
 * it is sent and looked at in turn, so often and no more. Answers the newest snapshot, null where
 * there was none.
 */
export async function resumeStopped(
  deps: ConfirmDeps,
  run: Run,
  first: Snapshot,
  second: Snapshot | null,
): Promise<Snapshot | null> {
  let newest = second;
  for (let round = 0; round < BEGIN_AGAIN_MAX && newest !== null; round += 1) {
    const again = await liftBreaker(deps, accountIdsOf(run));
    if (again.length === 0) break;
    await compareAgain(deps, run, first, newest);
    await send(deps, run);
    newest = await confirm(deps, run, newest);
  }
  return newest;
}

/**
 * What the newest snapshot shows decides verdicts anew; then each order is put into its class, and
 * payouts that did not happen are told. The rules are those of compare, whose statements they are.
 */
export async function judgeAnew(
  deps: ConfirmDeps,
  run: Run,
  first: Snapshot,
  newest: Snapshot | null,
): Promise<void> {
  if (newest !== null) await compareAgain(deps, run, first, newest);
  await searchRefunds(deps, run);
  await assignClasses(run.db, run.runId);
  await rememberFinal(run.db, run.runId, first.pullId, lookbackFrom(deps, run));
  await bookRejectedPayouts(deps, run);
}

/** So few are asked sooner here than by way of the queue. */
const HERE_CHUNKS_MAX = 4;

async function pullSent(deps: PullDeps, run: Run, first: Snapshot): Promise<Snapshot | null> {
  // Also what was approved and left while the first snapshot was still being taken.
  const sent = await sentToConfirm(run.db, run.runId, accountIdsOf(run), first.asOf);
  if (sent.length === 0) return null;
  const snapshot = await askSecondSnapshot(deps, run.runId, 'confirm', sent);
  const chunkIds = await waitingChunks(deps.db, snapshot.pullId);
  if (chunkIds.length <= HERE_CHUNKS_MAX) await askHere(deps, chunkIds);
  await pullPages(deps, snapshot);
  await finishPull(deps.db, snapshot.pullId);
  return snapshot;
}
