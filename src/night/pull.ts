// Step 1, pull: which orders are live, in which pages they are asked, and the wait until every page
// is answered or failed. The pages themselves are worked on by pullChunk.ts, in jobs of many pages.

import { PAGE_ORDERS_MAX } from '../core/batch.js';
import { ledgerCurrencies } from '../core/currency.js';
import type { Db } from '../store/db.js';
import { askRepeated, repeatedOrders } from '../store/ledgerKeys.js';
import { clearHints } from '../store/notifications.js';
import type { PageCut, PullRow } from '../store/pulls.js';
import {
  askNight,
  createChunks,
  createPull,
  finishPull,
  openChunks,
  releaseChunks,
  unfinishedPull,
  waitingChunks,
} from '../store/pulls.js';
import { noteLook } from '../store/runAccounts.js';
import { addStrangers } from '../store/verdicts.js';
import { createWalks } from '../store/walks.js';
import type { Night, NightDeps } from './deps.js';
import { accountIdsOf, accountRules, lookbackFrom } from './deps.js';
import { askVanished, keepLedger } from './ledgerFeed.js';
import { pullChunk } from './pullChunk.js';
import { waitForRows } from './waitForRows.js';

const INT_MAX = 2_147_483_647;

/** Looks at all live orders; a pull that was cut short is continued while it is young. */
export async function pullNight(deps: NightDeps, night: Night): Promise<PullRow> {
  const pull = (await continuedPull(deps, night)) ?? (await beginPull(deps, night));
  await pullPages(deps, pull);
  await addStrangers(deps.db, pull.pullId);
  if (!night.isDry) await clearHints(deps.db, pull.pullId);
  await finishPull(deps.db, pull.pullId);
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
  }
  return pull;
}

async function beginPull(deps: NightDeps, night: Night): Promise<PullRow> {
  return deps.db.transaction(async (tx) => {
    const pull = await createPull(tx, night.runId, 'night');
    const vanished = await askVanished(deps, night, tx, pull);
    const repeated = await repeatedOrders(tx, accountIdsOf(night));
    const asked = askNight(
      tx,
      pull.pullId,
      accountRules(night.accounts),
      { endsAt: night.endsAt, lookbackFrom: lookbackFrom(deps, night) },
      cutOf(deps),
      repeated,
    );
    deps.getReady?.();
    await asked;
    await askRepeated(tx, pull.pullId, repeated, cutOf(deps));
    await cutPages(deps, tx, pull.pullId, accountIdsOf(night));
    await keepLedger(deps, night, tx, { pull, vanished });
    await noteLook(tx, night.runId, accountIdsOf(night), pull);
    return pull;
  });
}

/** How orders are cut into pages; where they cannot be named, all of an account are one. */
export function cutOf(deps: NightDeps): PageCut {
  const { profile } = deps.config.gateway;
  const { select, orderList } = profile.query;
  const currencies = ledgerCurrencies(profile.currencies);
  return select === 'order_list'
    ? { separator: orderList.separator, pageOrders: PAGE_ORDERS_MAX, currencies }
    : { separator: '', pageOrders: INT_MAX, currencies };
}

/** Makes the chunks that workers take: pages by number, or a walk through all pages. */
export async function cutPages(
  deps: NightDeps,
  tx: Db,
  pullId: bigint,
  accountIds: readonly string[],
): Promise<void> {
  if (deps.config.gateway.profile.query.select === 'order_list') await createChunks(tx, pullId);
  else await createWalks(tx, pullId, accountIds);
}
