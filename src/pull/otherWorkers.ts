// A process that does not reach the gateway, while others are answered, says nothing about the
// gateway: its rule of egress, its proxy or its DNS is gone. Its pages do not fail: they go back
// without a try, others ask them, and it leaves pages alone for a while. Pages fail for good where
// nobody is answered, and those that the gateway leaves unanswered to whoever asks: who has a way
// itself leaves none. Neighbours: pullChunk.ts and scanPages.ts ask; outage.ts waits for a gateway.

import type { RunDeps } from '../runs/deps.js';
import { othersJustAsk, othersWereAnswered, returnChunk } from './snapshot/otherAskersStore.js';
import type { ChunkRow } from './snapshot/snapshotsStore.js';

export type ReachDeps = Pick<RunDeps, 'config' | 'db' | 'log' | 'reach' | 'runner' | 'sleep'>;

/** Longer than most gateways take for a chunk: its answers are seen when all of them are stored. */
const LATELY_SECONDS = 300;

/**
 * Answers whether this process has a way, by pages that were answered shortly before, or since. A
 * chunk that hears nothing takes all connections: before it, others of the process were answered.
 */
export function watchWay({ reach }: Pick<ReachDeps, 'reach'>): () => boolean {
  const hadWay = reach.unansweredMs() < LATELY_SECONDS * 1000;
  const before = reach.answers();
  return () => hadWay || reach.answers() > before;
}

/**
 * Whether other hosts are answered that ask in the same pull, by what is on record of them; the
 * processes of one host have one way, and one of them may be gone. While a pull is young nothing
 * may be on record yet: then that they ask is enough. `answers` of the chunk in hand are dropped
 * with it, so that others must have been answered since the last one of ours.
 */
export async function areOthersAnswered(
  deps: Pick<ReachDeps, 'config' | 'db' | 'reach' | 'runner'>,
  chunk: ChunkRow,
  answers: number,
): Promise<boolean> {
  if (!deps.reach.mayLeave(chunk.chunkId)) return false;
  const isScan = deps.config.gateway.profile.query.select !== 'order_list';
  const own = { host: deps.runner.host, isScan };
  if (answers > 0) {
    const seconds = deps.reach.unansweredMs() / 1000;
    return othersWereAnswered(deps.db, chunk.pullId, own, seconds);
  }
  return (
    (await othersWereAnswered(deps.db, chunk.pullId, own, LATELY_SECONDS)) ||
    (await othersJustAsk(deps.db, chunk.pullId, own, LATELY_SECONDS))
  );
}

/** Gives a chunk back without a try, and takes none for a while. */
export async function leaveToOthers(
  deps: ReachDeps,
  chunk: ChunkRow,
  token: string,
): Promise<void> {
  await returnChunk(deps.db, chunk.chunkId, token);
  deps.reach.leaves(chunk.chunkId);
  const words =
    'this worker does not reach the gateway, and others ask there: its pages are left to them';
  deps.log(`account ${chunk.accountId}: ${words}`, { level: 'warn', account: chunk.accountId });
}

/** Rests where pages were left to others; false: told to stop meanwhile. */
export async function hasRested(deps: ReachDeps): Promise<boolean> {
  const ms = deps.reach.restMs();
  if (ms === 0) return true;
  // The job in hand keeps this process from the next one, and its page is enqueued again meanwhile.
  return deps.sleep(ms).then(
    () => true,
    () => false,
  );
}
