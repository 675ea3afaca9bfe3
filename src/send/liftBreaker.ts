// An account that its breaker stopped begins again by itself once a snapshot has shown that
// everything of which nobody could say what became of it did happen: the gateway worked, its
// answers were lost. It begins with a canary of one. Everything else stays stopped for a person.
// Neighbours: compare.ts and confirm.ts settle by snapshots; whoever lets them ask also asks here
// afterwards.

import { TIEOUT } from '../core/instructions/decider.js';
import { type Db, inTransaction } from '../database/db.js';
import { releaseSeen, sayBrake } from './batches/sendingStatusStore.js';
import type { SendDeps } from './deps.js';

const WHY = 'a look has shown all that nobody could say anything of: it happened';

/** Answers the accounts that begin again. */
export async function liftBreaker(
  { db, log }: { db: Db; log: SendDeps['log'] },
  accountIds: readonly string[],
): Promise<string[]> {
  const released = await inTransaction(db, async (tx) => {
    const seen = await releaseSeen(tx, accountIds);
    for (const { accountId, reason } of seen) {
      await sayBrake(tx, {
        ...{ kind: 'breaker', accountId, isOn: false, who: TIEOUT },
        reason: `${WHY} (${reason})`,
      });
    }
    return seen.map((one) => one.accountId);
  });
  for (const account of released) {
    log(`account ${account}: ${WHY}; its sending begins again with a canary of one`, { account });
  }
  return released;
}
