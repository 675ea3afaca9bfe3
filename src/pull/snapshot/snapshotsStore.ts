// Pulls: which orders are asked in which page, who works on which chunk of pages, and the answers.
// A chunk is claimed by a token with a lease and committed only by the holder of the token, in one
// transaction, so that a chunk worked on twice is stored once. Answers come in by COPY.

import { type LedgerCurrencies, ledgerCurrencies } from '../../core/currency.js';
import type { Database, Db, PlannerSettings } from '../../database/db.js';
import { inTransaction, plannedBy } from '../../database/db.js';
import { columnList, named } from '../../database/identifiers.js';
import { partitionOf, relationsOf } from '../../database/monthPartitions.js';
import { statement } from '../../database/statements.js';
import type { OrderKey, Repeated } from '../../ledger/ledgerFeedStore.js';
import { joinedKeys } from '../../ledger/ledgerFeedStore.js';
import type { AccountRules } from '../../runs/deps.js';
import type { StoredPage } from './pagesStore.js';
import { copyPages } from './pagesStore.js';

export type PullKind = 'night' | 'confirm' | 'fresh';

/** Pages in one chunk: one job, one transaction. */
export const CHUNK_PAGES_MAX = 100;
/** A chunk whose worker shows no life for so long is given to another. */
export const CHUNK_LEASE_SECONDS = 60;
/** So often a chunk is given back before its pages count as failed. */
const CHUNK_TRIES_MAX = 4;

export interface Snapshot {
  pullId: bigint;
  runId: bigint;
  kind: PullKind;
  asOf: Date;
  finishedAt: Date | null;
}

export interface ChunkRow {
  chunkId: bigint;
  pullId: bigint;
  accountId: string;
  firstPage: number;
  lastPage: number;
  /** the orders of its pages lie between these two; null: nobody knows, or pages are scanned */
  firstOrder: string | null;
  lastOrder: string | null;
}

/** How orders are cut into pages, and which currencies a ledger row may be in. */
export interface PageCut {
  /** empty: every order can be asked for */
  separator: string;
  pageOrders: number;
  /** those of ISO 4217 where it is not given */
  currencies?: LedgerCurrencies;
}

/** Which orders are entered: those of its account behind one order, all but those, or all. */
export interface AskedPart {
  behind: OrderKey | null;
  allBut: OrderKey | null;
}

export const ALL_ORDERS: AskedPart = { behind: null, allBut: null };

export interface AskedPage {
  pageNo: number;
  orderNos: string[];
}

/** Begins a pull; the time of the snapshot is the database's, from before the first question. */
export async function createPull(
  db: Db,
  runId: bigint,
  kind: PullKind,
  profileSha256: string | null = null,
): Promise<Snapshot> {
  const { rows } = await db.query<{ pull_id: bigint; as_of: Date }>(
    `insert into tieout.pulls (run_id, kind, as_of, profile_sha256)
     values ($1, $2, clock_timestamp(), $3)
     returning pull_id, as_of`,
    [runId, kind, profileSha256],
  );
  const row = rows[0];
  if (!row) throw new Error('a pull could not be created');
  return { pullId: row.pull_id, runId, kind, asOf: row.as_of, finishedAt: null };
}

export async function finishPull(db: Db, pullId: bigint): Promise<void> {
  await db.query(
    `update tieout.pulls set finished_at = clock_timestamp()
     where pull_id = $1 and finished_at is null`,
    [pullId],
  );
}

/** Whether an order of the pull has no complete snapshot, as the compare counts it. */
export async function hasGaps(db: Db, pullId: bigint): Promise<boolean> {
  const { rows } = await db.query(
    `select from tieout.asked_orders a
     left join tieout.pages p using (pull_id, account_id, page_no)
     where a.pull_id = $1 and p.state is distinct from 'answered'
       and (a.page_no is not null or a.ledger_problem is null) limit 1`,
    [pullId],
  );
  return rows.length > 0;
}

/**
 * The run's own pull of just these accounts, the newest, that still has chunks to do, if younger
 * than `ageMinutes`, and read by the same profile. One that looks at more than is compared would be
 * taken for compared: an order without a verdict matched.
 */
export async function unfinishedPull(
  db: Db,
  runId: bigint,
  accountIds: readonly string[],
  ageMinutes: number,
  profileSha256: string,
): Promise<Snapshot | null> {
  const { rows } = await db.query<{ pull_id: bigint; as_of: Date }>(
    `select p.pull_id, p.as_of from tieout.pulls p
     where p.run_id = $1 and p.kind = 'night' and p.finished_at is null
       and p.as_of > clock_timestamp() - make_interval(mins => $3)
       and tieout.is_in_time(p.pull_id, p.as_of)
       and exists (select from tieout.chunks c where c.pull_id = p.pull_id)
       and coalesce(p.profile_sha256 = $4, true)
       and not exists (select wanted from unnest($2::text[]) as wanted
         except select ra.account_id from tieout.run_accounts ra
         where ra.run_id = p.run_id and ra.pull_id = p.pull_id)
       and not exists (select from tieout.run_accounts ra
         where ra.run_id = p.run_id and ra.pull_id = p.pull_id and ra.account_id <> all ($2))
     order by p.pull_id desc limit 1`,
    [runId, accountIds, ageMinutes, profileSha256],
  );
  const row = rows[0];
  if (!row) return null;
  return { pullId: row.pull_id, runId, kind: 'night', asOf: row.as_of, finishedAt: null };
}

export async function askLive(
  db: Db,
  pullId: bigint,
  accounts: readonly AccountRules[],
  range: { endsAt: Date; lookbackFrom: Date },
  cut: PageCut,
  repeated: Repeated = { orders: [], refunds: [] },
  part = ALL_ORDERS,
): Promise<void> {
  const currencies = cut.currencies ?? ledgerCurrencies({});
  await db.query(statement('pull/snapshot/askLive', relationsOf(db, pullId)), [
    pullId,
    JSON.stringify(accounts),
    range.endsAt,
    range.lookbackFrom,
    cut.separator,
    cut.pageOrders,
    currencies.usable,
    JSON.stringify(currencies.coarse),
    joinedKeys(repeated.orders.map((key) => [key.accountId, key.orderNo])),
    ...boundsOf(part),
    joinedKeys(repeated.refunds.map((key) => [key.accountId, key.refundId])),
  ]);
  await askRefunds(db, pullId, part);
}

/** Enters the refund requests of a pull's orders as they stand now. */
export async function askRefunds(db: Db, pullId: bigint, part = ALL_ORDERS): Promise<void> {
  await inTransaction(db, async (tx) => {
    // The planner knows nothing yet of these orders, and would look each up among the requests.
    await plannedBy(tx, { enable_nestloop: 'off' });
    await tx.query(statement('pull/snapshot/askRefunds', relationsOf(db, pullId)), [
      pullId,
      ...boundsOf(part),
    ]);
    await plannedBy(tx, { enable_nestloop: 'on' });
  });
}

function boundsOf({ behind, allBut }: AskedPart): (string | null)[] {
  return [behind, allBut].flatMap((key) => [key?.accountId ?? null, key?.orderNo ?? null]);
}

/**
 * Ledger rows that were all read a while ago lie in memory, and to find a few thousand of them
 * costs little. A view without an index is read as a whole all the same.
 */
const READ_TONIGHT: PlannerSettings = { random_page_cost: '0.1' };

/** Enters the orders of these instructions again; answers the accounts that they belong to. */
export async function askAgain(
  db: Db,
  pullId: bigint,
  instructionIds: readonly bigint[],
  cut: PageCut,
): Promise<string[]> {
  const currencies = cut.currencies ?? ledgerCurrencies({});
  await inTransaction(db, async (tx) => {
    await plannedBy(tx, READ_TONIGHT);
    await tx.query(statement('pull/snapshot/askAgain'), [
      pullId,
      instructionIds.map(String),
      cut.separator,
      cut.pageOrders,
      currencies.usable,
      JSON.stringify(currencies.coarse),
    ]);
  });
  await askRefunds(db, pullId);
  const { rows } = await db.query<{ account_id: string }>(
    'select distinct account_id from tieout.asked_orders where pull_id = $1 order by account_id',
    [pullId],
  );
  return rows.map((row) => row.account_id);
}

/** Cuts the pages of a pull that are in no chunk yet into chunks; answers their ids. */
export async function createChunks(db: Db, pullId: bigint): Promise<bigint[]> {
  const { rows } = await db.query<{ chunk_id: bigint }>(
    `with cut as materialized (
       select account_id, max(last_page) + 1 as pages from tieout.chunks
       where pull_id = $1 group by account_id
     )
     insert into tieout.chunks (pull_id, account_id, first_page, last_page, first_order, last_order)
     select $1, account_id, min(page_no), max(page_no), min(order_no), max(order_no)
     from tieout.asked_orders left join cut using (account_id)
     where pull_id = $1 and page_no >= coalesce(cut.pages, 0)
     group by account_id, (page_no - coalesce(cut.pages, 0)) / $2::int
     order by min(page_no), account_id
     returning chunk_id`,
    [pullId, CHUNK_PAGES_MAX],
  );
  return rows.map((row) => row.chunk_id);
}

/** Chunks that wait for a worker, lapsed leases included. */
export async function waitingChunks(db: Db, pullId: bigint): Promise<bigint[]> {
  const { rows } = await db.query<{ chunk_id: bigint }>(
    `select chunk_id from tieout.chunks
     where pull_id = $1 and (state = 'queued'
       or (state = 'running' and tieout.is_lapsed(leased_until, $2)))
     order by chunk_id`,
    [pullId, CHUNK_LEASE_SECONDS],
  );
  return rows.map((row) => row.chunk_id);
}

export async function openChunks(db: Db, pullId: bigint): Promise<number> {
  const { rows } = await db.query<{ open: bigint }>(
    `select count(*) as open from tieout.chunks where pull_id = $1 and state <> 'done'`,
    [pullId],
  );
  return Number(rows[0]?.open ?? 0n);
}

/**
 * Gives back what a runner that is gone left undone, under new ids: the queue may hold a job of a
 * dead worker under the old one for a minute, and would hide every later one for it.
 */
export async function releaseChunks(db: Db, pullId: bigint): Promise<void> {
  await db.query(
    `with gone as (
       delete from tieout.chunks where pull_id = $1 and state <> 'done'
       returning *
     )
     insert into tieout.chunks (pull_id, account_id, first_page, last_page, first_order, last_order,
       tries)
     select pull_id, account_id, first_page, last_page, first_order, last_order, tries from gone
     order by first_page, account_id`,
    [pullId],
  );
}

/** Takes a chunk; null when it is done, or another worker holds it. */
export async function claimChunk(
  db: Db,
  chunkId: bigint,
  token: string,
  host: string,
): Promise<ChunkRow | null> {
  const { rows } = await db.query<ChunkRow>(
    `update tieout.chunks set state = 'running', token = $2, host = $4,
       leased_until = clock_timestamp() + make_interval(secs => $3)
     where chunk_id = $1 and (state = 'queued'
       or (state = 'running' and tieout.is_lapsed(leased_until, $3::int)))
     returning chunk_id as "chunkId", pull_id as "pullId", account_id as "accountId",
       first_page as "firstPage", last_page as "lastPage", first_order as "firstOrder",
       last_order as "lastOrder"`,
    [chunkId, token, CHUNK_LEASE_SECONDS, host],
  );
  return rows[0] ?? null;
}

/** Gives a chunk back after an error of our own; after too many its pages count as failed. */
export async function giveBackChunk(
  db: Database,
  chunk: ChunkRow,
  token: string,
  reason: string,
): Promise<void> {
  await db.transaction(async (tx) => {
    const { rows } = await tx.query<{ state: string }>(
      `update tieout.chunks set tries = tries + 1, token = null, leased_until = null,
         state = case when tries + 1 < $3 then 'queued' else 'done' end
       where chunk_id = $1 and token = $2 returning state`,
      [chunk.chunkId, token, CHUNK_TRIES_MAX],
    );
    if (rows[0]?.state !== 'done') return;
    await tx.query(
      `insert into tieout.pages (pull_id, account_id, page_no, state, orders, attempts, reason)
       select pull_id, account_id, page_no, 'failed', count(*), 0, $5 from tieout.asked_orders
       where pull_id = $1 and account_id = $2 and page_no between $3 and $4
       group by pull_id, account_id, page_no`,
      [chunk.pullId, chunk.accountId, chunk.firstPage, chunk.lastPage, reason],
    );
  });
}

/** Extends the lease; false when the chunk was given to another. */
export async function keepChunk(db: Db, chunkId: bigint, token: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `update tieout.chunks
     set leased_until = clock_timestamp() + make_interval(secs => $3)
     where chunk_id = $1 and token = $2`,
    [chunkId, token, CHUNK_LEASE_SECONDS],
  );
  return rowCount === 1;
}

/** The pages of a chunk with the orders that each asks for; by the key of the snapshot. */
export async function pagesOfChunk(db: Db, chunk: ChunkRow): Promise<AskedPage[]> {
  // As JSON, which the driver reads several times faster than an array.
  const { rows } = await db.query<{ page_no: number; order_nos: string[] }>(
    named`select page_no, json_agg(order_no order by order_no) as order_nos
     from ${partitionOf('asked_orders', chunk.pullId)}
     where pull_id = $1 and account_id = $2 and page_no between $3 and $4
       and ($5::text is null or order_no between $5 and $6)
     group by page_no order by page_no`,
    [
      ...[chunk.pullId, chunk.accountId, chunk.firstPage, chunk.lastPage],
      ...[chunk.firstOrder, chunk.lastOrder],
    ],
  );
  return rows.map((row) => ({ pageNo: row.page_no, orderNos: row.order_nos }));
}

/** Stores all answers of a chunk and ends it, in one transaction; false when the claim was lost. */
export async function commitChunk(
  db: Database,
  chunk: ChunkRow,
  token: string,
  pages: readonly StoredPage[],
): Promise<boolean> {
  return db.transaction(async (tx) => {
    if (!(await endChunk(tx, chunk, token))) return false;
    const entries = partitionOf('look_entries', chunk.pullId);
    await tx.copy(named`copy ${entries} (${ENTRY_COLUMNS}) from stdin`, entryTexts(pages));
    await copyPages(tx, chunk, pages);
    return true;
  });
}

/** false when another has it by now: what is still in hand is not to be stored. */
export async function endChunk(tx: Db, { chunkId }: ChunkRow, token: string): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update tieout.chunks set state = 'done', token = null, leased_until = null
     where chunk_id = $1 and token = $2`,
    [chunkId, token],
  );
  return rowCount === 1;
}

/** In the order of snapshotLines.ts, which writes their text. */
export const ENTRY_COLUMNS = columnList([
  ...['pull_id', 'account_id', 'page_no', 'position', 'order_no', 'is_extra', 'is_asked'],
  ...['transaction_id', 'currency', 'amount', 'amount_text', 'state', 'payment_status', 'found'],
  ...['query_result', 'transaction_at', 'transaction_date', 'reference_no', 'fraud_rejected'],
  'recurring_status',
]);

export function* entryTexts(pages: readonly StoredPage[]): Generator<string> {
  for (const page of pages) if (page.answered?.copyText) yield page.answered.copyText;
}

interface ChunkStatus extends Record<'isDone' | 'isRunning' | 'isPulledAgain', boolean> {
  businessDate: string;
}

/** Whether a chunk is done, whether anybody still works on its run, or has looked at all since. */
export async function chunkStatus(db: Db, chunkId: bigint): Promise<ChunkStatus | null> {
  const { rows } = await db.query<ChunkStatus>(
    `select c.state = 'done' as "isDone", r.runner_id is not null as "isRunning",
       r.business_date as "businessDate",
       exists (select from tieout.runs n where not n.is_dry and n.business_date >= r.business_date
         and n.state in ('tied_out', 'broken')) as "isPulledAgain"
     from tieout.chunks c join tieout.pulls p using (pull_id) join tieout.runs r using (run_id)
     where chunk_id = $1`,
    [chunkId],
  );
  return rows[0] ?? null;
}
