// Who else asks in a pull, by its chunks and their pages. Neighbour: otherWorkers.ts decides by it
// whose the trouble is.

import type { Db } from '../../database/db.js';
import { CHUNK_LEASE_SECONDS } from './snapshotsStore.js';

/** Whose chunks are one's own; `isScan`: a chunk is all pages of its account. */
interface Own {
  host: string;
  isScan: boolean;
}

/** Whether a page that another host asked was answered within so long. */
export async function othersWereAnswered(
  db: Db,
  pullId: bigint,
  own: Own,
  seconds: number,
): Promise<boolean> {
  const { rows } = await db.query(
    `select from tieout.pages p
     where p.pull_id = $1 and p.state = 'answered'
       and p.answered_at > clock_timestamp() - make_interval(secs => $4)
       and p.answered_at <= clock_timestamp()
       and exists (select from tieout.chunks c
         where c.pull_id = p.pull_id and c.account_id = p.account_id and c.host <> $2
           and ($3 or p.page_no between c.first_page and c.last_page))
     limit 1`,
    [pullId, own.host, own.isScan, seconds],
  );
  return rows.length > 0;
}

/** Whether other hosts ask just now, in a pull that is younger than so long. */
export async function othersJustAsk(
  db: Db,
  pullId: bigint,
  own: Own,
  seconds: number,
): Promise<boolean> {
  const { rows } = await db.query(
    `select from tieout.chunks c join tieout.pulls l using (pull_id)
     where c.pull_id = $1 and l.as_of > clock_timestamp() - make_interval(secs => $3)
       and c.state = 'running' and c.host <> $2
       and not tieout.is_lapsed(c.leased_until, $4)
     limit 1`,
    [pullId, own.host, seconds, CHUNK_LEASE_SECONDS],
  );
  return rows.length > 0;
}

/** A chunk is anybody's again, and this was no try. */
export async function returnChunk(db: Db, chunkId: bigint, token: string): Promise<void> {
  await db.query(
    `update tieout.chunks set state = 'queued', token = null, leased_until = null
     where chunk_id = $1 and token = $2`,
    [chunkId, token],
  );
}
