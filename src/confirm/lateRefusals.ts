// What a person found to have happened, and the gateway refused, by an answer that came later from
// a host that was away. It counts as made, and is final: it is told. Neighbours:
// total/answeredLate.sql has what was found not to have happened, core/instructions/answeredLate.ts
// the words of both.

import { ofEachAccount } from '../core/accounts/ofEachAccount.js';
import type { AnsweredLateFacts } from '../core/instructions/answeredLate.js';
import { ANSWERS_MAX, TOLD_DAYS } from '../core/instructions/answeredLate.js';
import type { Db } from '../database/db.js';
import { loadBatch } from '../send/batches/batchesStore.js';
import type { SendDeps } from '../send/deps.js';
import { outcomesOf, readOrUnknown } from '../send/outcomes.js';
import { wireOf } from '../send/wireEntry.js';
import type { AnsweredSince } from './lateRefusalsStore.js';
import { answeredSince, sentTogether } from './lateRefusalsStore.js';

type ReadDeps = Pick<SendDeps, 'config' | 'gateway'>;

/** So many of each account by name, with how many there are. */
export async function refusedLate(
  deps: ReadDeps,
  db: Db,
  accountIds: readonly string[],
): Promise<AnsweredLateFacts[]> {
  const refused = new Map<bigint, AnsweredSince>();
  for (const one of await answeredSince(db, accountIds, TOLD_DAYS)) {
    if (await isRefused(deps, db, one)) refused.set(one.instructionId, one);
  }
  return ofEachAccount([...refused.values()], (accountId, own) =>
    own.slice(0, ANSWERS_MAX).map(({ instructionId, operation, orderNo, by }) => ({
      accountId,
      instructionId,
      operation,
      orderNo,
      by,
      finding: 'happened' as const,
      instead: null,
      found: own.length,
    })),
  ).flat();
}

/** One that cannot be read, or that is of no account of ours, says nothing. */
async function isRefused(deps: ReadDeps, db: Db, one: AnsweredSince): Promise<boolean> {
  const account = deps.config.accounts.find(({ accountId }) => accountId === one.accountId);
  const batch = await loadBatch(db, one.batchId);
  if (!account || !batch) return false;
  const entries = await sentTogether(db, one.entries);
  const { outcomes } = readOrUnknown(entries, () => {
    const wire = wireOf(deps, one.operation, entries);
    return outcomesOf(deps, { batch, account, entries, wire }, one.answer);
  });
  const said = outcomes.find(({ instructionId }) => instructionId === one.instructionId);
  return said?.kind === 'rejected';
}
