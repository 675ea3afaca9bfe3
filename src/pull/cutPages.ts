// How the orders of a snapshot become pages, and pages what workers take: chunks of them where
// orders can be named, else a scan of all that an account has. Neighbours: askOrders.ts,
// pullAgain.ts.

import { ledgerCurrencies } from '../core/currency.js';
import type { Db } from '../database/db.js';
import { QUERY_ORDERS_MAX } from '../gateway/document/messages.js';
import type { RunDeps } from '../runs/deps.js';
import { createScans } from './snapshot/scansStore.js';
import type { PageCut } from './snapshot/snapshotsStore.js';
import { createChunks } from './snapshot/snapshotsStore.js';

type CutDeps = Pick<RunDeps, 'config'>;

const INT_MAX = 2_147_483_647;

/** How orders are cut into pages; where they cannot be named, all of an account are one. */
export function cutOf(deps: CutDeps): PageCut {
  const { profile } = deps.config.gateway;
  const { select, orderList } = profile.query;
  const currencies = ledgerCurrencies(profile.currencies);
  return select === 'order_list'
    ? { separator: orderList.separator, pageOrders: QUERY_ORDERS_MAX, currencies }
    : { separator: '', pageOrders: INT_MAX, currencies };
}

/** Makes what workers take: chunks of pages by number (answers their ids), or scans. */
export async function cutPages(
  deps: CutDeps,
  tx: Db,
  pullId: bigint,
  accountIds: readonly string[],
): Promise<bigint[]> {
  if (namesOrders(deps)) return createChunks(tx, pullId);
  await createScans(tx, pullId, accountIds);
  return [];
}

/** Whether the gateway is asked for orders by their numbers. */
export function namesOrders({ config }: CutDeps): boolean {
  return config.gateway.profile.query.select === 'order_list';
}
