// The orders that notifications hint at. A hint brings an order into the next pull; it never
// changes a verdict, and it expires.

import type { Database, Db } from '../database/db.js';

/** A hint that no pull followed for so long is worth nothing. */
const HINT_DAYS = 35;
/** Bytes were kept once; so many rows of those go with each notification. */
const OLD_ROWS = 1_000;

/** Hints at the orders that the ledger knows; answers how many. Nothing else is kept. */
export async function noteHints(
  db: Database,
  accountIds: readonly string[],
  words: readonly string[],
  now: Date,
): Promise<number> {
  return db.transaction(async (tx) => {
    await tx.query(
      `delete from tieout.look_hints
       where hinted_at < $1::timestamptz - make_interval(days => $2)`,
      [now, HINT_DAYS],
    );
    await tx.query(
      `delete from tieout.notifications where notification_id in (
         select notification_id from tieout.notifications
         where received_at < $1::timestamptz - make_interval(days => $2)
         order by received_at limit $3)`,
      [now, HINT_DAYS, OLD_ROWS],
    );
    const { rowCount } = await tx.query(
      `insert into tieout.look_hints (account_id, order_no, hinted_at)
       select l.account_id, l.order_no, $3 from tieout.ledger_orders('{}', '{}', '') l
       where l.account_id = any ($1) and l.order_no = any ($2)
       on conflict (account_id, order_no) do update set hinted_at = excluded.hinted_at`,
      [accountIds, words, now],
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
