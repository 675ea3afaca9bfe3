// Step 1, pull: in which pages the live orders are asked, and the wait until every page is answered
// or failed. Which orders are live is askOrders.ts; the pages themselves are worked on by
// pullChunk.ts, in jobs of many pages.

import { clearHints } from '../store/notifications.js';
import type { PullRow } from '../store/pulls.js';
import {
  finishPull,
  openChunks,
  releaseChunks,
  unfinishedPull,
  waitingChunks,
} from '../store/pulls.js';
import { addStrangers } from '../store/verdicts.js';
import { askOrders } from './askOrders.js';
import { beside } from './beside.js';
import type { Night, NightDeps } from './deps.js';
import { accountIdsOf } from './deps.js';
import { pullChunk } from './pullChunk.js';
import { waitForRows } from './waitForRows.js';

/** Looks at all live orders; a pull that was cut short is continued while it is young. */
export async function pullNight(deps: NightDeps, night: Night): Promise<PullRow> {
  const pull = (await continuedPull(deps, night)) ?? (await askedPull(deps, night));
  await addStrangers(deps.db, pull.pullId);
  if (!night.isDry) await clearHints(deps.db, pull.pullId);
  await finishPull(deps.db, pull.pullId);
  return pull;
}

async function askedPull(deps: NightDeps, night: Night): Promise<PullRow> {
  const { pull, asked } = await askOrders(deps, night);
  await beside(asked, pullPages(deps, pull));
  return pull;
}

/** Rings for the chunks of a pull and waits until all of them are done. */
export async function pullPages(deps: NightDeps, pull: PullRow): Promise<void> {
  const done = await waitForRows(deps, {
    step: pull.kind === 'confirm' ? 'confirm' : 'pull',
    open: () => openChunks(deps.db, pull.pullId),
    ring: async () => {
      const ids = await waitingChunks(deps.db, pull.pullId);
      if (ids.length > 0) await deps.doorbell.ring('pull', ids.map(String));
    },
  });
  if (!done) deps.log('the pull has not come to an end; the orders left are not compared');
}

/** The chunks of a small pull worked on right here, without the queue: before a late send. */
export async function pullDirectly(deps: NightDeps, pull: PullRow): Promise<void> {
  for (const chunkId of await waitingChunks(deps.db, pull.pullId)) await pullChunk(deps, chunkId);
  await finishPull(deps.db, pull.pullId);
}

async function continuedPull(deps: NightDeps, night: Night): Promise<PullRow | null> {
  const { preflightMinutes } = deps.config.operations;
  const accountIds = accountIdsOf(night);
  const pull = await unfinishedPull(deps.db, night.runId, accountIds, preflightMinutes);
  if (pull) {
    deps.log('goes on with the look that was cut short');
    await releaseChunks(deps.db, pull.pullId);
    await pullPages(deps, pull);
  }
  return pull;
}
