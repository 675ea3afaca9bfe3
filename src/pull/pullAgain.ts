// A second snapshot, at the orders of a few instructions: right before they are sent (small, so it
// does not go through the queue), or after it, to confirm what was sent.

import { profileDigest } from '../config/view.js';
import type { RunDeps } from '../runs/deps.js';
import { cutOf, cutPages } from './cutPages.js';
import { pullDirectly } from './pull.js';
import type { ChunkDeps } from './pullChunk.js';
import type { PullKind, Snapshot } from './snapshot/snapshotsStore.js';
import { askAgain, createPull } from './snapshot/snapshotsStore.js';

/** Looks at the orders of these instructions right here. */
export async function pullAgain(
  deps: ChunkDeps,
  runId: bigint,
  instructionIds: readonly bigint[],
): Promise<void> {
  await pullDirectly(deps, await askSecondSnapshot(deps, runId, 'fresh', instructionIds));
}

/** Enters which orders are asked again, with their ledger rows as they stand now. */
export async function askSecondSnapshot(
  deps: Pick<RunDeps, 'config' | 'db'>,
  runId: bigint,
  kind: PullKind,
  instructionIds: readonly bigint[],
): Promise<Snapshot> {
  return deps.db.transaction(async (tx) => {
    const snapshot = await createPull(tx, runId, kind, profileDigest(deps.config));
    const accountIds = await askAgain(tx, snapshot.pullId, instructionIds, cutOf(deps));
    await cutPages(deps, tx, snapshot.pullId, accountIds);
    return snapshot;
  });
}
