// An account that its breaker stopped begins again by itself once a snapshot has shown that
// everything of which nobody could say what became of it did happen: the gateway worked, its
// answers were lost. It begins with a canary of one. Everything else stays stopped for a person.
// Neighbours: compare.ts and confirm.ts settle by snapshots; whoever lets them ask also asks here
// afterwards.

import { TIEOUT } from '../core/instructions/decider.js';
import type { Db } from '../database/db.js';
import { releaseSeen, sayBrake } from './batches/sendingStatusStore.js';
import type { SendDeps } from './deps.js';

const WHY = 'a look has shown all that nobody could say anything of: it happened';

/** Answers the accounts that begin again. */
export async function liftBreaker(
  { db, log }: { db: Db; log: SendDeps['log'] },
  accountIds: readonly string[],
): Promise<string[]> {
  const released = await releaseSeen(db, accountIds);
  for (const { accountId, reason } of released) {
    const word = { kind: 'breaker' as const, accountId, isOn: false, reason: `${WHY} (${reason})` };
    await sayBrake(db, { ...word, who: TIEOUT });
    log(`account ${accountId}: ${WHY}; its sending begins again with a canary of one`, {
      account: accountId,
    });
  }
  return released.map(({ accountId }) => accountId);
}
