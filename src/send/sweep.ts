// What workers do now and then, whatever is enqueued: classify what a dead process left in flight,
// enqueue batches that wait and may go, and reports whose job is gone. So a killed sender is found
// by whoever lives, and an approval or a brake let go needs no run to take effect.

import { messageOf } from '../core/errors.js';
import type { EnqueueDeps } from './enqueueWaiting.js';
import { enqueueWaiting } from './enqueueWaiting.js';
import type { RecoverDeps } from './recoverAttempts.js';
import { recoverAttempts } from './recoverAttempts.js';

type SweepDeps = RecoverDeps & EnqueueDeps;

/** With the time for answers this keeps everything in flight classified within a minute. */
const SWEEP_MS = 10_000;

/** Sweeps until the answer is called, which waits for the sweep that is under way alone. */
export function startSweeping(
  deps: SweepDeps,
  /** of rooms above this one */
  others: () => Promise<void>,
): () => Promise<void> {
  const accountIds = deps.config.accounts.map((account) => account.accountId);
  let sweeping: Promise<void> | null = null;
  const timer = setInterval(() => {
    // With the queue away a sweep takes longer than the next tick: none waits behind it.
    sweeping ??= sweep(deps, accountIds)
      .then(others)
      // A database that is away ends no worker; the next sweep finds it back.
      .catch((error: unknown) => {
        deps.log(`sweep: ${messageOf(error)}`, {
          level: 'warn',
        });
      })
      .finally(() => {
        sweeping = null;
      });
  }, SWEEP_MS);
  return async () => {
    clearInterval(timer);
    await sweeping;
  };
}

async function sweep(deps: SweepDeps, accountIds: readonly string[]): Promise<void> {
  await recoverAttempts(deps, accountIds);
  await enqueueWaiting(deps, accountIds);
}
