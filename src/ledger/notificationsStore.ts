// The orders and payouts that notifications hint at. A hint brings an order into the next pull; of
// a payout, which no query shows, it tells a person to look. It never changes a verdict or a state,
// and it goes as soon as it helps nobody any more.

import type { Database, Db } from '../database/db.js';

/** A hint that no pull followed for so long is worth nothing. */
const HINT_DAYS = 35;
/** Bytes were kept once; so many rows of those go with each notification. */
const OLD_ROWS = 1_000;

/** Hints at orders that the ledger knows and payouts that are not settled; answers how many. */
export async function noteHints(
  db: Database,
  accountIds: readonly string[],
  words: readonly string[],
  now: Date,
): Promise<{ orders: number; payouts: number }> {
  return db.transaction(async (tx) => {
    await forgetHints(tx, now);
    await tx.query(
      `delete from tieout.notifications where notification_id in (
         select notification_id from tieout.notifications
         where received_at < $1::timestamptz - make_interval(days => $2)
         order by received_at limit $3)`,
      [now, HINT_DAYS, OLD_ROWS],
    );
    const { rowCount: orders } = await tx.query(
      `insert into tieout.look_hints (account_id, order_no, hinted_at)
       select l.account_id, l.order_no, $3 from tieout.ledger_orders('{}', '{}', '') l
       where l.account_id = any ($1) and l.order_no = any ($2)
       on conflict (account_id, order_no) do update set hinted_at = excluded.hinted_at`,
      [accountIds, words, now],
    );
    // By the id of the request, or by what the gateway calls it.
    const { rowCount: payouts } = await tx.query(
      `insert into tieout.payout_hints (instruction_id, hinted_at)
       select i.instruction_id, $3 from tieout.instructions i
       where i.is_open and i.operation = 'payout' and i.account_id = any ($1)
         and i.state in ('sending', 'accepted', 'unknown')
         and (i.transaction_id = any ($2) or i.gateway_reference = any ($2)
           or i.payout_answer ->> 'short_reference_id' = any ($2))
       on conflict (instruction_id) do update set hinted_at = excluded.hinted_at`,
      [accountIds, words, now],
    );
    return { orders, payouts };
  });
}

/** Forgets the hints that a pull has followed, and those that help nobody any more. */
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
  const { rows } = await db.query<{ as_of: Date }>(
    'select as_of from tieout.pulls where pull_id = $1',
    [pullId],
  );
  if (rows[0]) await forgetHints(db, rows[0].as_of);
}

/** Those of orders go by their age, those of payouts wait until it is settled. */
async function forgetHints(db: Db, now: Date): Promise<void> {
  await db.query(
    `delete from tieout.look_hints
     where hinted_at < $1::timestamptz - make_interval(days => $2)`,
    [now, HINT_DAYS],
  );
  await db.query(
    `delete from tieout.payout_hints h using tieout.instructions i
     where i.instruction_id = h.instruction_id and not i.is_open`,
  );
}
