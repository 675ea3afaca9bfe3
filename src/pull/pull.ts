// Step 1, pull: in which pages the live orders are asked, and the wait until every page is answered
// or failed. Which orders are live is askOrders.ts; the pages themselves are worked on by
// pullChunk.ts, in jobs of many pages.

import { profileDigest } from '../config/view.js';
import { clearHints } from '../ledger/notificationsStore.js';
import { concurrently } from '../runs/concurrently.js';
import type { Run, RunDeps } from '../runs/deps.js';
import { accountIdsOf, lookbackFrom } from '../runs/deps.js';
import type { WaitDeps } from '../runs/waitForRows.js';
import { waitForRows } from '../runs/waitForRows.js';
import type { AskDeps, EnteredSnapshot } from './askOrders.js';
import { askOrders } from './askOrders.js';
import { namesOrders } from './cutPages.js';
import type { ChunkDeps } from './pullChunk.js';
import { pullChunk } from './pullChunk.js';
import { analyseSnapshot } from './snapshot/analyseSnapshot.js';
import { addGatewayOnly } from './snapshot/gatewayOnlyStore.js';
import { pagesOfPull } from './snapshot/pullProgressStore.js';
import type { Snapshot } from './snapshot/snapshotsStore.js';
import {
  finishPull,
  openChunks,
  releaseChunks,
  unfinishedPull,
  waitingChunks,
} from './snapshot/snapshotsStore.js';

export type PullDeps = AskDeps & WaitDeps & Pick<RunDeps, 'queuePort'>;

/** Looks at all live orders; a pull that was cut short is continued while it is young. */
export async function pull(deps: PullDeps, run: Run): Promise<Snapshot> {
  const begun = await unfinished(deps, run);
  const { snapshot, asked } = begun ?? (await askOrders(deps, run));
  const sample = sampling(deps, snapshot);
  await concurrently(asked, pullPages(deps, snapshot, sample.isOpen));
  await concurrently(sample.end(), finish(deps, run, snapshot));
  return snapshot;
}

async function finish(
  deps: Pick<RunDeps, 'config' | 'db'>,
  run: Run,
  snapshot: Snapshot,
): Promise<void> {
  const since = namesOrders(deps) ? null : lookbackFrom(deps, run);
  await addGatewayOnly(deps.db, snapshot.pullId, since);
  if (!run.isDry) await clearHints(deps.db, snapshot.pullId);
  await finishPull(deps.db, snapshot.pullId);
}

/** A snapshot of fewer chunks is sampled for the planner at its end, which costs little. */
const SAMPLED_CHUNKS_MIN = 4;

/**
 * The planner must know a snapshot before it is compared. Of a large one the first half says as
 * much as all of it, and is sampled while the second comes in; one that is scanned comes account by
 * account.
 */
function sampling(
  deps: Pick<RunDeps, 'config' | 'db'>,
  { pullId }: Snapshot,
): { isOpen: (open: number) => void; end: () => Promise<void> } {
  let most = 0;
  let sampled: Promise<void> | null = null;
  return {
    isOpen: (open) => {
      most = Math.max(most, open);
      const isHalfIn = most >= SAMPLED_CHUNKS_MIN && open <= most / 2;
      if (sampled !== null || !isHalfIn || !namesOrders(deps)) return;
      sampled = analyseSnapshot(deps.db, pullId);
      // Whoever waits for its end hears why it failed.
      sampled.catch(() => {});
    },
    end: () => sampled ?? analyseSnapshot(deps.db, pullId),
  };
}

/** Enqueues the chunks of a pull and waits until all of them are done. */
export async function pullPages(
  deps: PullDeps,
  snapshot: Snapshot,
  isOpen?: (chunks: number) => void,
): Promise<void> {
  const done = await waitForRows(deps, {
    step: snapshot.kind === 'confirm' ? 'confirm' : 'pull',
    open: async () => {
      const open = await openChunks(deps.db, snapshot.pullId);
      isOpen?.(open);
      return open;
    },
    shown: () => pagesOfPull(deps.db, snapshot.pullId),
    enqueue: async () => {
      const ids = await waitingChunks(deps.db, snapshot.pullId);
      if (ids.length > 0) await deps.queuePort.enqueue('pull', ids.map(String));
    },
  });
  if (!done) deps.log('the pull has not come to an end; the orders left are not compared');
}

/** The chunks of a small pull worked on right here, without the queue: before a late send. */
export async function pullDirectly(deps: ChunkDeps, snapshot: Snapshot): Promise<void> {
  for (const chunkId of await waitingChunks(deps.db, snapshot.pullId))
    await pullChunk(deps, chunkId);
  await finishPull(deps.db, snapshot.pullId);
}

async function unfinished(
  deps: Pick<RunDeps, 'config' | 'db' | 'log'>,
  run: Run,
): Promise<EnteredSnapshot | null> {
  const { preflightMinutes } = deps.config.operations;
  const accountIds = accountIdsOf(run);
  const by = profileDigest(deps.config);
  const snapshot = await unfinishedPull(deps.db, run.runId, accountIds, preflightMinutes, by);
  if (!snapshot) return null;
  deps.log('goes on with the snapshot that was cut short');
  await releaseChunks(deps.db, snapshot.pullId);
  return { snapshot, asked: Promise.resolve() };
}
