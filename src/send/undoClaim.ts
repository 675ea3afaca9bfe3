// A claim of which no byte was written to the gateway, as this process alone knows: the answer to
// its COMMIT was lost, or its turn did not come, or it was forbidden while it waited. As soon as
// the database answers it is asked what became of the transaction, and a claim that happened is
// recorded as not sent. Nothing was wrong with the batch, so that this is no try of it; a failure
// is counted by whoever throws it. Where the database keeps silent the attempt stays open, and
// recoverAttempts.ts makes it unknown.

import { recordNotSent } from './batches/attemptsStore.js';
import type { SendDeps } from './deps.js';
import { transactionStatus } from './journal/journalsStore.js';

export const LOST_COMMIT = 'the answer to the COMMIT of its claim was lost';
const ASKED_MAX = 20;
const PAUSE_MS = 500;

interface Unwritten {
  attemptId: string;
  xid: string;
}

export async function undoClaim(
  deps: Pick<SendDeps, 'db' | 'sleep'>,
  claim: Unwritten,
  reason: string,
): Promise<void> {
  for (let asked = 0; asked < ASKED_MAX; asked += 1) {
    if (await isUndone(deps, claim, reason).catch(() => false)) return;
    await deps.sleep(PAUSE_MS);
  }
}

/** May be asked again after a failure: what became of an attempt is written once. */
async function isUndone(
  { db }: Pick<SendDeps, 'db'>,
  { attemptId, xid }: Unwritten,
  reason: string,
): Promise<boolean> {
  const status = await transactionStatus(db, xid);
  if (status === 'committed') await recordNotSent(db, attemptId, reason, false);
  return status !== 'in progress';
}
