// Orders that an entry without a name may be about: asked for on a page where such an entry stands,
// and without an entry of their own. They leave their page for one of their own, which failed: what
// everything else says of an order that was not looked at holds for them. Neighbours:
// snapshotsStore.ts, scansStore.ts; core/runs/unreadable.ts has the words.

import type { UnreadableFacts } from '../../core/runs/unreadable.js';
import { UNREADABLE } from '../../core/runs/unreadable.js';
import type { Db, Tx } from '../../database/db.js';
import { statement } from '../../database/statements.js';

/** Below every page that is asked for, and below -1 and -2, which mean something to the seal. */
const UNREAD_BELOW = -10;

/** The page on which an order was asked for, whether or not it has left it. */
export function pageAsAsked(pageNo: number): number {
  return pageNo < 0 ? UNREAD_BELOW - pageNo : pageNo;
}

/** `orderNos`: null is every order of the page that has no entry. */
export async function leaveUnread(
  tx: Tx,
  snapshot: { pullId: bigint; accountId: string },
  pageNo: number,
  unread: { orderNos: readonly string[] | null; reason: string },
): Promise<void> {
  const { orderNos, reason } = unread;
  const values = [
    snapshot.pullId,
    snapshot.accountId,
    pageNo,
    UNREAD_BELOW - pageNo,
    orderNos,
    reason,
  ];
  await tx.query(statement('pull/snapshot/leaveUnread'), values);
}

/** So many are named of each account. */
const PLACES_MAX = 5;

/** Entries without a name in the snapshots of a run, by account. */
export async function unreadableEntries(db: Db, runId: bigint): Promise<UnreadableFacts[]> {
  const { rows } = await db.query<{
    account_id: string;
    entries: bigint;
    places: UnreadableFacts['places'];
    orders: bigint;
  }>(statement('pull/snapshot/unreadableEntries'), [runId, UNREADABLE, PLACES_MAX]);
  return rows.map(({ account_id: accountId, entries, places, orders }) => {
    return { accountId, entries: Number(entries), places, orders: Number(orders) };
  });
}
