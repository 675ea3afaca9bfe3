// A scan of the pages of a window, where orders cannot be asked for by number. Its pages are
// stored as they come; one more page, number 0, stands for the whole scan: the orders of the pull
// point to it, so that they were looked at only if the scan came to its end.

import type { Database, Db } from '../../database/db.js';
import { named } from '../../database/identifiers.js';
import { relationsOf } from '../../database/monthPartitions.js';
import { statement } from '../../database/statements.js';
import type { StoredPage } from './pagesStore.js';
import { copyPages } from './pagesStore.js';
import type { ChunkRow } from './snapshotsStore.js';
import { ENTRY_COLUMNS, endChunk, entryTexts } from './snapshotsStore.js';
import { leaveUnread } from './unreadableStore.js';

/** Before the oldest order of the pull, since the clocks of shop and gateway differ. */
const MARGIN_DAYS = 1;

/** One chunk an account, even where it has no live order: gateway-only entries are found too. */
export async function createScans(
  db: Db,
  pullId: bigint,
  accountIds: readonly string[],
): Promise<void> {
  await db.query(
    `insert into tieout.chunks (pull_id, account_id, first_page, last_page)
     select $1, account_id, 0, 0 from unnest($2::text[]) as account_id`,
    [pullId, accountIds],
  );
}

/** Forgets the pages of a scan that was cut short. */
export async function beginScan(db: Database, chunk: ChunkRow): Promise<void> {
  await db.transaction(async (tx) => {
    const scan = [chunk.pullId, chunk.accountId];
    await tx.query('delete from tieout.look_entries where pull_id = $1 and account_id = $2', scan);
    await tx.query('delete from tieout.pages where pull_id = $1 and account_id = $2', scan);
  });
}

/** The window that holds every order of the pull, and for a run's own pull the whole look-back. */
export async function scanRange(
  db: Db,
  chunk: ChunkRow,
  lookbackDays: number,
): Promise<{ from: Date; to: Date }> {
  const { rows } = await db.query<{ earliest: Date; latest: Date }>(
    `select least((select min(placed_at) from tieout.asked_orders o
         where o.pull_id = p.pull_id and o.account_id = $2),
         case when p.kind = 'night' then r.ends_at - make_interval(days => $3) else p.as_of end)
         - make_interval(days => $4) as earliest,
       p.as_of as latest
     from tieout.pulls p join tieout.runs r using (run_id) where p.pull_id = $1`,
    [chunk.pullId, chunk.accountId, lookbackDays, MARGIN_DAYS],
  );
  const row = rows[0];
  if (!row) throw new Error(`there is no pull ${chunk.pullId}`);
  return { from: row.earliest, to: row.latest };
}

/** Stores pages of a scan; answers how many entries stood on an earlier page already. */
export async function storeScanned(
  db: Database,
  chunk: ChunkRow,
  pages: readonly StoredPage[],
): Promise<number> {
  if (pages.length === 0) return 0;
  return db.transaction(async (tx) => {
    await tx.query('create temporary table scanned (like tieout.look_entries) on commit drop');
    await tx.copy(named`copy scanned (${ENTRY_COLUMNS}) from stdin`, entryTexts(pages));
    const { rows } = await tx.query<{ shifted: bigint }>(
      statement('pull/snapshot/storeScanned', relationsOf(tx)),
    );
    await copyPages(tx, chunk, pages);
    return Number(rows[0]?.shifted ?? 0n);
  });
}

/** Ends a scan: page 0 says whether it can be relied on. */
export async function finishScan(
  db: Database,
  chunk: ChunkRow,
  token: string,
  /** `unread`: why an order without an entry has no snapshot all the same */
  end: { problem: string | null; at: Date; unread: string | null },
): Promise<boolean> {
  return db.transaction(async (tx) => {
    if (!(await endChunk(tx, chunk, token))) return false;
    await tx.query(
      `insert into tieout.pages (pull_id, account_id, page_no, stands_for_walk, state, orders,
         attempts, reason, entries, unasked, answered_at)
       select $1, $2, 0, true, case when $3::text is null then 'answered' else 'failed' end,
         (select count(*) from tieout.asked_orders
           where pull_id = $1 and account_id = $2 and page_no = 0), 1, $3,
         case when $3::text is null then 0 end, case when $3::text is null then 0 end,
         case when $3::text is null then $4::timestamptz end`,
      [chunk.pullId, chunk.accountId, end.problem, end.at],
    );
    if (end.unread !== null && end.problem === null) {
      await leaveUnread(tx, chunk, 0, { orderNos: null, reason: end.unread });
    }
    return true;
  });
}
