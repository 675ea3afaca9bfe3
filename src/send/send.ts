// Step 4, send: planned instructions are cut into batches, the queue gets the ids, and the spine
// waits until every batch is answered, unanswered, dropped or given up for this run. A stopped
// account is not waited for: its batches stay queued; nor is what nobody can record. The sending of
// one batch is sendBatch.ts.

import { mayAccountSend } from '../core/instructions/breaker.js';
import { cutBatches } from '../instructions/instructionsStore.js';
import type { Run } from '../runs/deps.js';
import { accountIdsOf } from '../runs/deps.js';
import type { WaitDeps } from '../runs/waitForRows.js';
import { waitForRows } from '../runs/waitForRows.js';
import {
  analyseBatches,
  dissolveWaiting,
  openSends,
  queuedBatches,
  resetTries,
} from './batches/batchesStore.js';
import { sendingStatuses } from './batches/sendingStatusStore.js';
import type { SendDeps } from './deps.js';
import type { EnqueueDeps } from './enqueueWaiting.js';
import { BATCH_TRIES_MAX, enqueueWaiting, openWith } from './enqueueWaiting.js';
import { holdUps } from './journal/senderFitness.js';
import { liftBreaker } from './liftBreaker.js';
import type { RecoverDeps } from './recoverAttempts.js';
import { recoverAttempts } from './recoverAttempts.js';

export type SendingDeps = RecoverDeps &
  EnqueueDeps &
  WaitDeps &
  Pick<SendDeps, 'fitness' | 'journal'>;

/** Sends what may be sent. */
export async function send(deps: SendingDeps, run: Run): Promise<void> {
  const accountIds = accountIdsOf(run);
  // First of all: a database that was put back takes what waits out of its batches. What is wrong
  // with the journal is for the batches to say.
  await deps.journal.keep();
  // A snapshot may have settled what an account was stopped for.
  await liftBreaker(deps, accountIds);
  await dissolveWaiting(deps.db, accountIds);
  await resetTries(deps.db, accountIds);
  if ((await cutBatches(deps.db, accountIds, deps.now())) > 0) await analyseBatches(deps.db);
  let left: bigint[] = [];
  const isHeldUp = holdUps(deps);
  const done = await waitForRows(deps, {
    step: 'send',
    open: async () => {
      if (await isHeldUp()) return 0;
      return openWith(deps, { accountIds, left }, (going) =>
        openSends(deps.db, { accountIds, going, left }, BATCH_TRIES_MAX),
      );
    },
    enqueue: async () => {
      left = await recoverAttempts(deps, accountIds);
      await enqueueWaiting(deps, accountIds);
    },
  });
  if (!done) deps.log('not every batch came to an end; those left wait for the next run');
  await tellStopped(deps, accountIds);
}

/** Says in words which accounts send nothing although something of them waits. */
async function tellStopped(
  deps: Pick<SendDeps, 'config' | 'db' | 'log'>,
  accountIds: readonly string[],
): Promise<void> {
  const waiting = await queuedBatches(deps.db, accountIds);
  for (const status of await sendingStatuses(deps.db, accountIds)) {
    const answer = mayAccountSend(status, deps.config.accounts);
    const count = waiting.get(status.accountId) ?? 0;
    if (answer.kind !== 'stop' || count === 0) continue;
    deps.log(`account ${status.accountId}: ${count} batch(es) stay queued: ${answer.reason}`, {
      level: 'warn',
      account: status.accountId,
    });
  }
}
