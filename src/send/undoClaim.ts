// A claim of which no byte was written to the gateway, as this process alone knows: the answer to
// its COMMIT was lost. As soon as the database answers it is asked what became of the transaction,
// and a claim that happened is recorded as not sent. Nothing was wrong with the batch, so that this
// is no try of it; a failure is counted by whoever throws it. Where the database keeps silent the
// attempt stays open, and recoverAttempts.ts makes it unknown.

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

export async function undoClaim(
  deps: Pick<SendDeps, 'db' | 'sleep'>,
  claim: Unwritten,
): Promise<void> {
  for (let asked = 0; asked < ASKED_MAX; asked += 1) {
    if (await isUndone(deps, claim).catch(() => false)) return;
    await deps.sleep(PAUSE_MS);
  }
}

/** May be asked again after a failure: what became of an attempt is written once. */
async function isUndone(
  { db }: Pick<SendDeps, 'db'>,
  { attemptId, xid }: Unwritten,
): Promise<boolean> {
  const status = await transactionStatus(db, xid);
  if (status === 'committed') await recordNotSent(db, attemptId, LOST_COMMIT, false);
  return status !== 'in progress';
}
