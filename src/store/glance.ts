// What matches at a glance, nearly all of a pull, is counted and set aside before the many checks;
// the rest is left in pg_temp.beside for compare.sql. Most of the time of a compare is spent here,
// in one walk over all orders: of a large pull two processes of the server walk half of it each, in
// one statement and of one snapshot. Neighbours: sql/glance.sql, verdicts.ts.

import { EXPECTED_STATES } from '../core/order.js';
import { plainPairs } from '../core/verdict.js';
import type { Db } from './db.js';
import { inMonthOf } from './months.js';
import { statement } from './sql.js';

export interface GlanceScope {
  pullId: bigint;
  failedIn?: bigint;
}

export interface GlanceRules {
  asOf: Date;
  /** An authorisation this old is stale. */
  staleAfter: string;
  accountIds: readonly string[];
}

export type MatchedRow = { account_id: string; matched: bigint };

/** From so many pages on, 40,000 orders, a second process of the server is worth its start. */
const TWO_PROCESSES_PAGES = 400;
/** An account with this share of all pages is cut in two. */
const LARGE_SHARE = 0.6;

const PLAIN = plainPairs();
const PLAIN_PAIRS = JSON.stringify(PLAIN);
/** Then two states that are equal need no look at the list. */
const EQUAL_IS_PLAIN = EXPECTED_STATES.every((state) =>
  PLAIN.some(({ expected, sight }) => expected === state && sight === state),
);

/**
 * Fills pg_temp.beside with the orders that need every check; counts the others by account.
 * `meanwhile` is called when the database is at it and this process has nothing to do.
 */
export async function glance(
  tx: Db,
  scope: GlanceScope,
  rules: GlanceRules,
  meanwhile?: () => void,
): Promise<MatchedRow[]> {
  const { isWhole, chunks, helpers } = await shapeOf(tx, scope.pullId);
  const parts = partsOf(chunks, rules.accountIds);
  const plan = plannedFor(parts.length > 1, helpers + 1);
  await tx.query(`drop table if exists pg_temp.beside; ${plan}`);
  const walked = tx.query(
    inMonthOf(besideOf(parts.length), scope.pullId, scope.failedIn ?? scope.pullId),
    [
      scope.pullId,
      scope.failedIn ?? null,
      PLAIN_PAIRS,
      EQUAL_IS_PLAIN,
      rules.asOf,
      rules.staleAfter,
      isWhole,
      ...parts.flatMap((part) => [part.accountIds, part.from, part.before]),
    ],
  );
  meanwhile?.();
  await walked;
  const { rows } = await tx.query<MatchedRow>(`${PLANNED_AS_EVER}; ${MATCHED}`);
  return rows;
}

/** Parameters of glance.sql from which on they are those of one part. */
const FIRST_OF_PART = 8;
const PARAMETERS_A_PART = 3;

/** The statement that fills pg_temp.beside from so many parts of a pull. */
export function besideOf(parts: number): string {
  const one = statement('glance');
  const texts = Array.from({ length: parts }, (_, at) =>
    one.replace(/\$(\d+)/g, (whole, number) =>
      Number(number) < FIRST_OF_PART ? whole : `$${Number(number) + at * PARAMETERS_A_PART}`,
    ),
  );
  return `create temp table beside on commit drop as ${texts.join('\nunion all\n')}`;
}

/** Pages that were asked one after the other, in the order of their orders. */
export interface Chunk {
  account_id: string;
  /** null: pages were walked, and nobody knows */
  first_order: string | null;
  pages: number;
}

/** Orders of these accounts: all of them, or those of one account between two orders. */
interface Part {
  accountIds: readonly string[];
  from: string | null;
  before: string | null;
}

/** All orders in one part or, where they are many, in two or three of about one size. */
export function partsOf(chunks: readonly Chunk[], accountIds: readonly string[]): Part[] {
  const pages = pagesOf(chunks);
  if (pages < TWO_PROCESSES_PAGES) return [partOf(accountIds)];
  const ofAccount = (id: string): Chunk[] => chunks.filter((chunk) => chunk.account_id === id);
  const largest = accountIds.find((id) => pagesOf(ofAccount(id)) >= LARGE_SHARE * pages);
  if (largest !== undefined) {
    const middle = middleOf(ofAccount(largest));
    const rest = partOf(accountIds.filter((id) => id !== largest));
    const halves = middle === null ? [partOf([largest])] : cutAt(largest, middle);
    return [...halves, rest].filter((part) => part.accountIds.length > 0);
  }
  const [one, other] = [
    { ids: [] as string[], pages: 0 },
    { ids: [] as string[], pages: 0 },
  ];
  for (const id of accountIds) {
    const lighter = one.pages <= other.pages ? one : other;
    lighter.ids.push(id);
    lighter.pages += pagesOf(ofAccount(id));
  }
  return [one, other].filter(({ ids }) => ids.length > 0).map(({ ids }) => partOf(ids));
}

function partOf(accountIds: readonly string[]): Part {
  return { accountIds, from: null, before: null };
}

function cutAt(accountId: string, orderNo: string): Part[] {
  const part = partOf([accountId]);
  return [
    { ...part, before: orderNo },
    { ...part, from: orderNo },
  ];
}

function pagesOf(chunks: readonly Chunk[]): number {
  return chunks.reduce((sum, { pages }) => sum + pages, 0);
}

/** The order that about the second half of the pages begins with. */
function middleOf(chunks: readonly Chunk[]): string | null {
  let left = pagesOf(chunks) / 2;
  for (const chunk of chunks) {
    if (left <= chunk.pages / 2) return chunk.first_order;
    left -= chunk.pages;
  }
  return null;
}

/** Whether every page of a pull was answered, its chunks, and who helps other sessions just now. */
async function shapeOf(
  tx: Db,
  pullId: bigint,
): Promise<{ isWhole: boolean; chunks: Chunk[]; helpers: number }> {
  const { rows } = await tx.query<Chunk & { is_whole: boolean; helpers: number }>(
    inMonthOf(SHAPE, pullId),
    [pullId],
  );
  return { isWhole: rows[0]?.is_whole ?? false, chunks: rows, helpers: rows[0]?.helpers ?? 0 };
}

/** Where pages are walked, one of them stands for all, and nothing is whole at a glance. */
const SHAPE = `
  with page as (
    select count(*) as pages, bool_and(state = 'answered' and not stands_for_walk) as is_plain
    from tieout.pages where pull_id = $1
  )
  select account_id, first_order, last_page - first_page + 1 as pages, (
      select count(*) from pg_stat_activity where backend_type = 'parallel worker')::int as helpers,
    page.is_plain and page.pages = sum(last_page - first_page + 1) over () as is_whole
  from tieout.chunks cross join page
  where pull_id = $1 order by account_id, first_order`;

/**
 * The planner hashes a million rows where it could walk two indexes: 2.5 times as slow. Both sides
 * lie in the order of their indexes: looks are written in the order they are asked. Nor may it look
 * each up, as it would where it took a part for few. And a process walks a part by itself, instead
 * of helping others through theirs: that of this session and one more. It plans with two, or it
 * sees no gain; but a third would find nothing to do, and its start takes from the others.
 */
function plannedFor(isLarge: boolean, helpersMax: number): string {
  return `set local enable_hashjoin = off; set local enable_sort = off;
    set local enable_nestloop = off;
    set local max_parallel_workers_per_gather = ${isLarge ? 2 : 0};
    set local max_parallel_workers = ${helpersMax};
    set local min_parallel_table_scan_size = '1TB'; set local min_parallel_index_scan_size = '1TB'`;
}

const PLANNED_AS_EVER = `set local enable_hashjoin to default; set local enable_sort to default;
  set local enable_nestloop to default;
  set local max_parallel_workers_per_gather to default;
  set local max_parallel_workers to default;
  set local min_parallel_table_scan_size to default;
  set local min_parallel_index_scan_size to default`;

/** The count of an account stands on one of its rows, or on one without an order. */
const MATCHED = `
  analyze pg_temp.beside (account_id, order_no);
  with alone as (delete from pg_temp.beside where order_no is null)
  select account_id, sum(matched)::bigint as matched from pg_temp.beside
  where matched > 0 group by account_id`;
