// A claim of which no byte was written to the gateway, as this process alone knows: what kept it
// from writing, or the answer to its COMMIT that was lost. As soon as the database answers it is
// recorded as not sent; of a lost COMMIT it is asked first what became of the transaction, and as
// nothing was wrong with the batch this is no try of it; a failure is counted by whoever throws it.
// Where the database keeps silent the attempt stays open, and recoverAttempts.ts makes it unknown.

import { setTimeout as pause } from 'node:timers/promises';
import { recordNotSent } from './batches/attemptsStore.js';
import type { SendDeps } from './deps.js';
import { transactionStatus } from './journal/journalsStore.js';

const LOST_COMMIT = 'the answer to the COMMIT of its claim was lost';
const ASKED_MAX = 20;
const PAUSE_MS = 500;

interface Unwritten {
  attemptId: string;
  xid: string;
}

export interface Unsent {
  reason: string;
  /** false: nothing was wrong with the batch, and another process may send it */
  isTry: boolean;
}

type UndoDeps = Pick<SendDeps, 'db' | 'sleep'>;

export async function undoClaim(deps: UndoDeps, claim: Unwritten): Promise<void> {
  // Its caller throws why the COMMIT was lost.
  await patiently(deps, () => isUndone(deps, claim)).catch(() => {});
}

/** Records why nothing was written; throws where the database keeps silent. */
export async function recordUnwritten(
  deps: UndoDeps,
  attemptId: string,
  { reason, isTry }: Unsent,
): Promise<void> {
  await patiently(deps, async () => {
    await recordNotSent(deps.db, attemptId, reason, isTry);
    return true;
  });
}

/** May be done again after a failure: what became of an attempt is written once. */
async function patiently({ sleep }: UndoDeps, work: () => Promise<boolean>): Promise<void> {
  let failure: unknown = null;
  for (let asked = 0; asked < ASKED_MAX; asked += 1) {
    try {
      if (await work()) return;
    } catch (error) {
      failure = error;
    }
    // Told to stop, it is still the only one who knows.
    await sleep(PAUSE_MS).catch(() => pause(PAUSE_MS));
  }
  throw failure;
}

async function isUndone({ db }: UndoDeps, { attemptId, xid }: Unwritten): Promise<boolean> {
  const status = await transactionStatus(db, xid);
  if (status === 'committed') await recordNotSent(db, attemptId, LOST_COMMIT, false);
  return status !== 'in progress';
}
