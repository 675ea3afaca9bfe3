// Enqueues batches that may be sent now: all of an account that is open, one of an
// account that needs its canary first, none of one that is stopped. A job is a hint; the permit
// decides.

import type { QueuedBatch } from '../core/instructions/batch.js';
import { mayAccountSend } from '../core/instructions/breaker.js';
import { INSTRUCTION_OPERATIONS } from '../core/orders/order.js';
import type { Database, Db } from '../database/db.js';
import { waitingBatches } from './batches/batchesStore.js';
import { awaitClaims, behindCanaries, sendingStatuses } from './batches/sendingStatusStore.js';
import type { SendDeps } from './deps.js';

/** So often a batch is tried in one run before it waits for the next. */
export const BATCH_TRIES_MAX = 4;

type StandingDeps = { config: Pick<SendDeps['config'], 'accounts'>; db: Db };

export type EnqueueDeps = Pick<SendDeps, 'config' | 'db' | 'queuePort'>;

/** Enqueues everything of these accounts that waits. */
export async function enqueueWaiting(
  deps: EnqueueDeps,
  accountIds: readonly string[],
): Promise<void> {
  await enqueueBatches(deps, await waitingBatches(deps.db, accountIds, BATCH_TRIES_MAX));
}

/** Enqueues those of these batches that may be sent now. */
export async function enqueueBatches(
  deps: EnqueueDeps,
  waiting: readonly QueuedBatch[],
): Promise<void> {
  const allowed = await mayGo(deps, waiting);
  for (const operation of INSTRUCTION_OPERATIONS) {
    const ids = inTurn(allowed.filter((batch) => batch.operation === operation));
    if (ids.length > 0) await deps.queuePort.enqueue(operation, ids);
  }
}

/** The first of each account, then the second of each: a large account holds up no small one. */
export function inTurn(batches: readonly Pick<QueuedBatch, 'batchId' | 'accountId'>[]): string[] {
  const counts = new Map<string, number>();
  const placed = batches.map(({ batchId, accountId }) => {
    const place = counts.get(accountId) ?? 0;
    counts.set(accountId, place + 1);
    return { place, id: batchId.toString() };
  });
  return placed.sort((a, b) => a.place - b.place).map(({ id }) => id);
}

async function mayGo(
  { config, db }: StandingDeps,
  waiting: readonly QueuedBatch[],
): Promise<QueuedBatch[]> {
  const accountIds = [...new Set(waiting.map((batch) => batch.accountId))];
  const found = await sendingStatuses(db, accountIds);
  const answers = new Map(
    found.map((one) => [one.accountId, mayAccountSend(one, config.accounts).kind]),
  );
  const tried = new Set<string>();
  const byOperation = [...waiting].sort(
    (a, b) =>
      INSTRUCTION_OPERATIONS.indexOf(a.operation) - INSTRUCTION_OPERATIONS.indexOf(b.operation),
  );
  return byOperation.filter(({ accountId }) => {
    if (answers.get(accountId) === 'open') return true;
    if (answers.get(accountId) !== 'canary' || tried.has(accountId)) return false;
    tried.add(accountId);
    return true;
  });
}

/**
 * The accounts that nothing stops; a canary on its way holds one up, no more, unless nobody can
 * record what became of it.
 */
async function goingAccounts(
  { config, db }: StandingDeps,
  { accountIds, left }: Waited,
): Promise<string[]> {
  const found = await sendingStatuses(db, accountIds);
  const behind = left.length === 0 ? [] : await behindCanaries(db, accountIds, left);
  return found
    .filter((one) => mayAccountSend(one, config.accounts).kind !== 'stop')
    .map((one) => one.accountId)
    .filter((accountId) => !behind.includes(accountId));
}

interface Waited {
  accountIds: readonly string[];
  /** batches of which nothing can be recorded */
  left: readonly bigint[];
}

/**
 * What is open by this count of it, given the accounts that nothing stops. A worker may be inside a
 * claim that began before its account was stopped: what it takes is on its way, and is counted.
 */
export async function openWith(
  deps: StandingDeps & { db: Database },
  waited: Waited,
  count: (going: readonly string[]) => Promise<number>,
): Promise<number> {
  const going = await goingAccounts(deps, waited);
  const open = await count(going);
  if (open > 0 || going.length === waited.accountIds.length) return open;
  await deps.db.transaction(awaitClaims);
  return count(going);
}
