// What matches by the fast match, nearly all of a pull, is counted and set aside before the many
// checks; the rest is left in pg_temp.unmatched for compare.sql. Most of the time of a compare is
// spent here, in one walk over all orders, of which a large pull has two shares of about one size,
// so that two sessions can compare one each. Neighbours: fastMatch.sql, verdictsStore.ts.

import { EXPECTED_STATES } from '../core/orders/order.js';
import { plainPairs } from '../core/orders/verdict.js';
import type { Db } from '../database/db.js';
import { named } from '../database/identifiers.js';
import { relationsOf } from '../database/monthPartitions.js';
import { statement } from '../database/statements.js';

export interface FastMatchScope {
  pullId: bigint;
  failedIn?: bigint;
}

export interface FastMatchRules {
  asOf: Date;
  /** An authorisation this old is stale. */
  staleAfter: string;
}

export type MatchedRow = { account_id: string; matched: bigint };

/** From so many pages on, 40,000 orders, a second session is worth its transaction. */
const TWO_SHARES_PAGES = 400;
/** An account with this share of all pages is cut in two. */
const LARGE_SHARE = 0.6;

const PLAIN = plainPairs();
const PLAIN_PAIRS = JSON.stringify(PLAIN);
/** Then two states that are equal need not be in the list. */
const EQUAL_IS_PLAIN = EXPECTED_STATES.every((state) =>
  PLAIN.some(({ expected, observed }) => expected === state && observed === state),
);

/**
 * Fills pg_temp.unmatched with the orders of a share that need every check; counts the others by
 * account. `meanwhile` is called when the database is at it and this process has nothing to do.
 */
export async function fastMatch(
  tx: Db,
  scope: FastMatchScope,
  rules: FastMatchRules,
  { parts, isWhole }: Share,
  meanwhile?: () => void,
): Promise<MatchedRow[]> {
  await tx.query('drop table if exists pg_temp.unmatched');
  await tx.query(statement('compare/unmatchedTable'));
  await tx.query(PLANNED_BY_INDEX);
  const { pullId, failedIn = null } = scope;
  const text = statement('compare/fastMatch', relationsOf(tx, pullId, failedIn ?? pullId));
  const fill = (part: Part): Promise<unknown> =>
    tx.query(text, [
      ...[pullId, failedIn, PLAIN_PAIRS, EQUAL_IS_PLAIN, rules.asOf, rules.staleAfter, isWhole],
      ...[part.accountIds, part.from, part.before],
    ]);
  for (const [at, part] of parts.entries()) {
    const filled = fill(part);
    if (at === 0) meanwhile?.();
    await filled;
  }
  const { rows } = await tx.query<MatchedRow>(MATCHED);
  return rows;
}

/** Pages that were asked one after the other, in the order of their orders. */
export interface Chunk {
  account_id: string;
  /** null: pages were scanned, and nobody knows */
  first_order: string | null;
  pages: number;
}

/** Orders of these accounts: all of them, or those of one account between two orders. */
interface Part {
  accountIds: readonly string[];
  from: string | null;
  before: string | null;
}

/** What one session compares, and whether every page of the pull was answered. */
export interface Share {
  parts: readonly Part[];
  isWhole: boolean;
}

/** All orders of a pull in one share or, where they are many and it may be, in two. */
export async function sharesOf(
  db: Db,
  pullId: bigint,
  accountIds: readonly string[],
  mayBeTwo: boolean,
): Promise<Share[]> {
  const { isWhole, chunks } = await shapeOf(db, pullId);
  const shares = mayBeTwo ? partsOf(chunks, accountIds) : [[partOf(accountIds)]];
  return shares.map((parts) => ({ parts, isWhole }));
}

/** The parts of each share. */
export function partsOf(chunks: readonly Chunk[], accountIds: readonly string[]): Part[][] {
  const pages = pagesOf(chunks);
  if (pages < TWO_SHARES_PAGES) return [[partOf(accountIds)]];
  const ofAccount = (id: string): Chunk[] => chunks.filter((chunk) => chunk.account_id === id);
  const largest = accountIds.find((id) => pagesOf(ofAccount(id)) >= LARGE_SHARE * pages);
  if (largest !== undefined) {
    const rest = accountIds.filter((id) => id !== largest);
    return cutAt(largest, orderAfter(ofAccount(largest), pages / 2), rest);
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
  return [one, other].filter(({ ids }) => ids.length > 0).map(({ ids }) => [partOf(ids)]);
}

function partOf(accountIds: readonly string[]): Part {
  return { accountIds, from: null, before: null };
}

/** The account up to that order; and the rest of it with the other accounts. */
function cutAt(accountId: string, orderNo: string | null, others: readonly string[]): Part[][] {
  const account = partOf([accountId]);
  const rest = others.length > 0 ? [partOf(others)] : [];
  if (orderNo === null) return [[account], rest].filter((parts) => parts.length > 0);
  return [[{ ...account, before: orderNo }], [{ ...account, from: orderNo }, ...rest]];
}

function pagesOf(chunks: readonly Chunk[]): number {
  return chunks.reduce((sum, { pages }) => sum + pages, 0);
}

/** The order that begins after about so many pages. */
function orderAfter(chunks: readonly Chunk[], pages: number): string | null {
  let left = pages;
  for (const chunk of chunks) {
    if (left <= chunk.pages / 2) return chunk.first_order;
    left -= chunk.pages;
  }
  return null;
}

/** Whether every page of a pull was answered, and its chunks. */
async function shapeOf(db: Db, pullId: bigint): Promise<{ isWhole: boolean; chunks: Chunk[] }> {
  const { pages, chunks } = relationsOf(db, pullId);
  // Where pages are scanned, one of them stands for all, and nothing is whole by the fast match.
  const { rows } = await db.query<Chunk & { is_whole: boolean }>(
    named`with page as (
       select count(*) as pages, bool_and(state = 'answered' and not stands_for_walk) as is_plain
       from ${pages} where pull_id = $1
     )
     select account_id, first_order, last_page - first_page + 1 as pages,
       page.is_plain and page.pages = sum(last_page - first_page + 1) over () as is_whole
     from ${chunks} cross join page
     where pull_id = $1 order by account_id, first_order`,
    [pullId],
  );
  return { isWhole: rows[0]?.is_whole ?? false, chunks: rows };
}

/**
 * The planner hashes a million rows where it could walk two indexes: 2.5 times as slow. Both sides
 * lie in the order of their indexes: looks are written in the order they are asked. Nor may it look
 * each up, as it would where it took a part for few; nor call for more processes.
 */
const PLANNED_BY_INDEX = `set local enable_hashjoin = off; set local enable_sort = off;
  set local enable_nestloop = off; set local enable_mergejoin = on;
  set local max_parallel_workers_per_gather = 0`;

/**
 * What is left is little beside that, and joined by hashes; the planner, who knows no figures of a
 * list, would sort it. The count of an account stands on one of its rows, or on one without an
 * order.
 */
const MATCHED = `set local enable_hashjoin to default; set local enable_sort to default;
  set local enable_nestloop to default; set local max_parallel_workers_per_gather to default;
  set local enable_mergejoin = off;
  analyze pg_temp.unmatched (account_id, order_no);
  with alone as (delete from pg_temp.unmatched where order_no is null)
  select account_id, sum(matched)::bigint as matched from pg_temp.unmatched
  where matched > 0 group by account_id`;
