// Step 5, confirm: what was sent is queried again. Accepted becomes confirmed when the gateway
// shows it; what it shows decides the verdict of the order anew, and every order is put into its
// class.

import { toLookAt } from '../store/instructions.js';
import type { PullRow } from '../store/pulls.js';
import { finishPull } from '../store/pulls.js';
import { classify, rememberFinal } from '../store/verdicts.js';
import { compareAgain } from './compare.js';
import type { Night, NightDeps } from './deps.js';
import { accountIdsOf, lookbackFrom } from './deps.js';
import { askSecondLook } from './lookAgain.js';
import { pullPages } from './pull.js';
import { searchRefunds } from './searchRefunds.js';

export async function confirm(deps: NightDeps, night: Night, first: PullRow): Promise<void> {
  // Also what was approved and left while the first look was still being taken.
  const sent = await toLookAt(night.db, night.runId, accountIdsOf(night), first.asOf);
  if (sent.length > 0) {
    const second = await lookAtSent(deps, night, sent);
    await compareAgain(deps, night, first, second);
  }
  await searchRefunds(deps, night);
  await classify(night.db, night.runId);
  await rememberFinal(night.db, night.runId, first.pullId, lookbackFrom(deps, night));
}

async function lookAtSent(
  deps: NightDeps,
  night: Night,
  instructionIds: readonly bigint[],
): Promise<PullRow> {
  const pull = await askSecondLook(deps, night.runId, 'confirm', instructionIds);
  await pullPages(deps, pull);
  await finishPull(deps.db, pull.pullId);
  return pull;
}
