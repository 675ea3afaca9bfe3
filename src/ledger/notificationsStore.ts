// Notifications as they came, and the orders they hint at. A hint brings an order into the next
// pull; it never changes a verdict.

import type { Database, Db } from '../database/db.js';

interface Notification {
  receivedAt: Date;
  contentType: string | null;
  body: Buffer;
  sha256: string;
  /** words of the body that could be order numbers */
  words: readonly string[];
}

/** Stores the bytes and hints at the orders that the ledger knows; answers how many. */
export async function storeNotification(
  db: Database,
  accountIds: readonly string[],
  notification: Notification,
): Promise<number> {
  return db.transaction(async (tx) => {
    const { rowCount } = await tx.query(
      `insert into tieout.look_hints (account_id, order_no, hinted_at)
       select l.account_id, l.order_no, $3 from tieout.ledger_orders('{}', '{}', '') l
       where l.account_id = any ($1) and l.order_no = any ($2)
       on conflict (account_id, order_no) do update set hinted_at = excluded.hinted_at`,
      [accountIds, notification.words, notification.receivedAt],
    );
    await tx.query(
      `insert into tieout.notifications (received_at, content_type, body, body_sha256, hints)
       values ($1, $2, $3, $4, $5)`,
      [
        notification.receivedAt,
        notification.contentType,
        notification.body,
        notification.sha256,
        rowCount,
      ],
    );
    return rowCount;
  });
}

/** Forgets the hints that a pull has followed. */
export async function clearHints(db: Db, pullId: bigint): Promise<void> {
  await db.query(
    `delete from tieout.look_hints h
     using tieout.asked_orders a
     join tieout.pages g using (pull_id, account_id, page_no)
     join tieout.pulls p on p.pull_id = a.pull_id
     where a.pull_id = $1 and g.state = 'answered' and h.account_id = a.account_id
       and h.order_no = a.order_no and h.hinted_at < p.as_of`,
    [pullId],
  );
}
