// How far a snapshot is, in pages: for whoever waits for it. Neighbour: snapshotsStore.ts has the
// snapshot itself.

import type { Db } from '../../database/db.js';

/** How many of the pages of a snapshot are answered or have failed. */
export async function pagesOfPull(
  db: Db,
  pullId: bigint,
): Promise<{ done: number; total: number }> {
  const { rows } = await db.query<{ done: bigint; total: bigint }>(
    `select
       (select count(*) from tieout.pages where pull_id = $1 and not stands_for_walk) as done,
       coalesce((select sum(last_page - first_page + 1)::bigint from tieout.chunks
         where pull_id = $1), 0) as total`,
    [pullId],
  );
  return { done: Number(rows[0]?.done ?? 0n), total: Number(rows[0]?.total ?? 0n) };
}
