// The raw answers of a snapshot, read back a few pages at a time with the orders that each was
// asked for. Memory stays flat however long the snapshot was. Neighbours: snapshotsStore.ts stored
// them, verify/decodeAgain.ts reads them.

import type { Database, Db } from '../../database/db.js';

/** Pages in memory at once. */
const KEPT_PAGES_AT_ONCE = 100;

export interface StoredSnapshot {
  pullId: bigint;
  accountId: string;
  /** pages with an answer */
  pages: number;
  isScan: boolean;
}

export interface KeptPage {
  pageNo: number;
  orderNos: string[];
  bodyGzip: Buffer;
  bodySha256: string;
}

export async function storedSnapshots(
  db: Db,
  pullIds: readonly bigint[],
): Promise<StoredSnapshot[]> {
  const { rows } = await db.query<Omit<StoredSnapshot, 'pages'> & { pages: bigint }>(
    `select pull_id as "pullId", account_id as "accountId",
       count(*) filter (where body_gzip is not null) as pages,
       bool_or(stands_for_walk) as "isScan"
     from tieout.pages where pull_id = any ($1::bigint[])
     group by pull_id, account_id order by pull_id, account_id`,
    [pullIds.map(String)],
  );
  return rows.map((row) => ({ ...row, pages: Number(row.pages) }));
}

/** All pages of a snapshot that have an answer, in groups. */
export async function* keptPages(
  db: Database,
  snapshot: StoredSnapshot,
): AsyncGenerator<KeptPage[]> {
  yield* db.stream<KeptPage>(
    `select p.page_no as "pageNo", p.body_gzip as "bodyGzip",
       encode(p.body_sha256, 'hex') as "bodySha256", coalesce(a.order_nos, '{}') as "orderNos"
     from tieout.pages p
     left join (
       select page_no, array_agg(order_no order by order_no) as order_nos
       from tieout.asked_orders where pull_id = $1 and account_id = $2 group by page_no
     ) a on a.page_no = p.page_no
     where p.pull_id = $1 and p.account_id = $2
       and p.state = 'answered' and p.body_gzip is not null
     order by p.page_no`,
    [snapshot.pullId, snapshot.accountId],
    KEPT_PAGES_AT_ONCE,
  );
}

/**
 * Whether the run that a pull belongs to waits for a gateway that goes away, and whether a page of
 * it was answered so lately.
 */
export async function gatewayStatus(
  db: Db,
  pullId: bigint,
  minutes: number,
): Promise<{ isWaitedFor: boolean; wasThere: boolean }> {
  const { rows } = await db.query<{ is_waited_for: boolean; was_there: boolean }>(
    `select r.waits_for_gateway as is_waited_for, exists (
       select from tieout.pulls p join tieout.pages on pages.pull_id = p.pull_id
       where p.run_id = r.run_id and pages.state = 'answered'
         and pages.answered_at > clock_timestamp() - make_interval(mins => $2)
         and pages.answered_at <= clock_timestamp()) as was_there
     from tieout.pulls mine join tieout.runs r using (run_id)
     where mine.pull_id = $1`,
    [pullId, minutes],
  );
  const [row] = rows;
  return { isWaitedFor: row?.is_waited_for === true, wasThere: row?.was_there === true };
}
