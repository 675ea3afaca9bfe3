// Step 5, confirm: what was sent is queried again. Accepted becomes confirmed when the gateway shows
// it; what it shows decides the verdict of the order anew, and every order is put into its class.

import { PAGE_ORDERS_MAX } from '../core/batch.js';
import { sentSince } from '../store/instructions.js';
import type { PullRow } from '../store/pulls.js';
import { askAgain, createChunks, createPull, finishPull } from '../store/pulls.js';
import { classify, rememberFinal } from '../store/verdicts.js';
import { compareAgain } from './compare.js';
import type { Night, NightDeps } from './deps.js';
import { accountIdsOf, lookbackFrom } from './deps.js';
import { pullPages, separatorOf } from './pull.js';

export async function confirm(
  deps: NightDeps,
  night: Night,
  first: PullRow,
  sentAfter: Date,
): Promise<void> {
  const sent = await sentSince(night.db, accountIdsOf(night), sentAfter);
  if (sent.length > 0) {
    const second = await lookAtSent(deps, night, sent);
    await compareAgain(deps, night, first, second);
  }
  await classify(night.db, night.runId);
  await rememberFinal(night.db, night.runId, first.pullId, lookbackFrom(deps, night));
}

async function lookAtSent(
  deps: NightDeps,
  night: Night,
  instructionIds: readonly bigint[],
): Promise<PullRow> {
  const pull = await deps.db.transaction(async (tx) => {
    const created = await createPull(tx, night.runId, 'confirm');
    await askAgain(tx, created.pullId, instructionIds, {
      separator: separatorOf(deps),
      pageOrders: PAGE_ORDERS_MAX,
    });
    await createChunks(tx, created.pullId);
    return created;
  });
  await pullPages(deps, pull);
  await finishPull(deps.db, pull.pullId);
  return pull;
}
