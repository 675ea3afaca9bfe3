// Step 5, confirm: what was sent is queried again. Accepted becomes confirmed when the gateway
// shows it; what it shows decides the verdict of the order anew, and every order is put into its
// class.

import type { CompareDeps } from '../compare/compare.js';
import { compareAgain } from '../compare/compare.js';
import { classify, rememberFinal } from '../compare/verdictsStore.js';
import { BEGIN_AGAIN_MAX } from '../core/instructions/sending.js';
import { settleByLooks, toLookAt } from '../instructions/instructionsStore.js';
import { confirmAcceptedPayouts } from '../instructions/payoutsStore.js';
import { askHere } from '../pull/askOrders.js';
import { askSecondLook } from '../pull/lookAgain.js';
import type { PullDeps } from '../pull/pull.js';
import { pullPages } from '../pull/pull.js';
import type { PullRow } from '../pull/rows/pullsStore.js';
import { analyseLooks, finishPull, waitingChunks } from '../pull/rows/pullsStore.js';
import { noteAnswers, noteLookWords } from '../pull/statusCodes.js';
import { concurrently } from '../runs/concurrently.js';
import type { Night } from '../runs/deps.js';
import { accountIdsOf, lookbackFrom } from '../runs/deps.js';
import { beginAgain } from '../send/beginAgain.js';
import type { SendingDeps } from '../send/send.js';
import { send } from '../send/send.js';
import type { SearchDeps } from './searchRefunds.js';
import { searchRefunds } from './searchRefunds.js';

type ConfirmDeps = PullDeps & CompareDeps & SendingDeps & SearchDeps;

/**
 * Looks at what was sent, and judges it anew. Where a look lets an account go that its breaker had
 * stopped, what waits of it is sent and looked at in turn, so often and no more.
 */
export async function confirm(deps: ConfirmDeps, night: Night, first: PullRow): Promise<void> {
  let second = await confirmSent(deps, night, first);
  for (let round = 0; round < BEGIN_AGAIN_MAX && second !== null; round += 1) {
    const again = await beginAgain(deps, accountIdsOf(night));
    if (again.length === 0) break;
    await compareAgain(deps, night, first, second);
    await send(deps, night);
    second = await confirmSent(deps, night, second);
  }
  await judgeAnew(deps, night, first, second);
}

/** Looks at what was sent, and settles what is seen; answers the look, null where none was due. */
async function confirmSent(
  deps: ConfirmDeps,
  night: Night,
  before: PullRow,
): Promise<PullRow | null> {
  // Whoever read its answer died before it said so: it is this night's money.
  await confirmAcceptedPayouts(night.db, accountIdsOf(night), deps.now());
  // What was answered is kept before a look says more of it.
  const second = await concurrently(noteAnswers(deps, night), lookAtSent(deps, night, before));
  if (second === null) return null;
  // Settling goes order by order, and needs no figures of the look.
  await concurrently(
    analyseLooks(deps.db, second.pullId).then(() => noteLookWords(deps, night, second)),
    settleByLooks(night.db, night.runId, second.pullId, deps.now()),
  );
  return second;
}

/** What the second look shows decides verdicts anew; then each order is put into its class. */
async function judgeAnew(
  deps: ConfirmDeps,
  night: Night,
  first: PullRow,
  second: PullRow | null,
): Promise<void> {
  if (second !== null) await compareAgain(deps, night, first, second);
  await searchRefunds(deps, night);
  await classify(night.db, night.runId);
  await rememberFinal(night.db, night.runId, first.pullId, lookbackFrom(deps, night));
}

/** So few are asked sooner here than by way of the queue. */
const HERE_CHUNKS_MAX = 4;

async function lookAtSent(deps: PullDeps, night: Night, first: PullRow): Promise<PullRow | null> {
  // Also what was approved and left while the first look was still being taken.
  const sent = await toLookAt(night.db, night.runId, accountIdsOf(night), first.asOf);
  if (sent.length === 0) return null;
  const pull = await askSecondLook(deps, night.runId, 'confirm', sent);
  const chunkIds = await waitingChunks(deps.db, pull.pullId);
  if (chunkIds.length <= HERE_CHUNKS_MAX) await askHere(deps, chunkIds);
  await pullPages(deps, pull);
  await finishPull(deps.db, pull.pullId);
  return pull;
}
