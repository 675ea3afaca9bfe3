// A fresh look at the orders of a few instructions, right before they are sent: small, so it does
// not go through the queue.

import { PAGE_ORDERS_MAX } from '../core/batch.js';
import { askAgain, createChunks, createPull } from '../store/pulls.js';
import type { NightDeps } from './deps.js';
import { pullDirectly, separatorOf } from './pull.js';

export async function lookAgain(
  deps: NightDeps,
  runId: bigint,
  instructionIds: readonly bigint[],
): Promise<void> {
  const pull = await deps.db.transaction(async (tx) => {
    const created = await createPull(tx, runId, 'fresh');
    await askAgain(tx, created.pullId, instructionIds, {
      separator: separatorOf(deps),
      pageOrders: PAGE_ORDERS_MAX,
    });
    await createChunks(tx, created.pullId);
    return created;
  });
  await pullDirectly(deps, pull);
}
