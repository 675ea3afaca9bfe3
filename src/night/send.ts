// Step 4, send: planned instructions are cut into batches, the queue is rung, and the spine waits
// until every batch is answered, unanswered, dropped or given up for this run. The sending of one
// batch is sendBatch.ts.

import { OPERATIONS } from '../core/order.js';
import {
  analyseBatches,
  dissolveWaiting,
  openSends,
  resetTries,
  waitingBatches,
} from '../store/batches.js';
import { databaseNow } from '../store/calendar.js';
import { cutBatches } from '../store/instructions.js';
import type { Night, NightDeps } from './deps.js';
import { accountIdsOf } from './deps.js';
import { recoverAttempts } from './recover.js';
import { BATCH_TRIES_MAX } from './sendBatch.js';
import { waitForRows } from './waitForRows.js';

/** Sends what may be sent; answers the time before the first byte, for the look afterwards. */
export async function send(deps: NightDeps, night: Night): Promise<Date> {
  const startedAt = await databaseNow(deps.db);
  const accountIds = accountIdsOf(night);
  await dissolveWaiting(deps.db, accountIds);
  await resetTries(deps.db, accountIds);
  if ((await cutBatches(deps.db, accountIds, deps.now())) > 0) await analyseBatches(deps.db);
  const done = await waitForRows(deps, {
    step: 'send',
    open: () => openSends(deps.db, accountIds, BATCH_TRIES_MAX),
    ring: async () => {
      await recoverAttempts(deps, accountIds);
      await ringBatches(deps, accountIds);
    },
  });
  if (!done) deps.log('not every batch came to an end; those left wait for the next run');
  return startedAt;
}

async function ringBatches(deps: NightDeps, accountIds: readonly string[]): Promise<void> {
  const waiting = await waitingBatches(deps.db, accountIds, BATCH_TRIES_MAX);
  for (const operation of OPERATIONS) {
    const ids = waiting.filter((batch) => batch.operation === operation);
    if (ids.length > 0) {
      await deps.doorbell.ring(
        operation,
        ids.map((batch) => batch.batchId.toString()),
      );
    }
  }
}
