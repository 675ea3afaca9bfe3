// What matches by the fast match, nearly all of a pull, is counted and set aside before the many
// checks; the rest is left in pg_temp.unmatched for compare.sql. Most of the time of a compare is
// spent here, in one walk over all orders. Neighbours: fastMatch.sql, verdictsStore.ts.

import { EXPECTED_STATES } from '../core/orders/order.js';
import { plainPairs } from '../core/orders/verdict.js';
import type { Db } from '../database/db.js';
import { named } from '../database/identifiers.js';
import { relationsOf } from '../database/monthPartitions.js';
import { statement } from '../database/statements.js';

interface FastMatchScope {
  pullId: bigint;
  failedIn?: bigint;
}

interface FastMatchRules {
  asOf: Date;
  /** An authorisation this old is stale. */
  staleAfter: string;
}

export type MatchedRow = { account_id: string; matched: bigint };

const PLAIN = plainPairs();
const PLAIN_PAIRS = JSON.stringify(PLAIN);
/** True: two states that are equal match, so that the list need not be searched for them. */
const EQUAL_IS_PLAIN = EXPECTED_STATES.every((state) =>
  PLAIN.some(({ expected, observed }) => expected === state && observed === state),
);

/**
 * Fills pg_temp.unmatched with the orders that need every check; counts the others by account.
 */
export async function fastMatch(
  tx: Db,
  scope: FastMatchScope,
  rules: FastMatchRules,
  accountIds: readonly string[],
): Promise<MatchedRow[]> {
  const { pullId, failedIn = null } = scope;
  const isWhole = await isAnsweredWhole(tx, pullId);
  await tx.query('drop table if exists pg_temp.unmatched');
  await tx.query(statement('compare/unmatchedTable'));
  await tx.query(PLANNED_BY_INDEX);
  const text = statement('compare/fastMatch', relationsOf(tx, pullId, failedIn ?? pullId));
  await tx.query(text, [
    ...[pullId, failedIn, PLAIN_PAIRS, EQUAL_IS_PLAIN, rules.asOf, rules.staleAfter, isWhole],
    accountIds,
  ]);
  const { rows } = await tx.query<MatchedRow>(MATCHED);
  return rows;
}

/**
 * Whether every page of a pull was answered. Where pages are scanned, one of them stands for all,
 * and nothing is whole by the fast match.
 */
async function isAnsweredWhole(db: Db, pullId: bigint): Promise<boolean> {
  const { pages, chunks } = relationsOf(db, pullId);
  const { rows } = await db.query<{ is_whole: boolean }>(
    named`with page as (
       select count(*) as pages, bool_and(state = 'answered' and not stands_for_walk) as is_plain
       from ${pages} where pull_id = $1
     )
     select page.is_plain and page.pages = (
         select sum(last_page - first_page + 1) from ${chunks} where pull_id = $1) as is_whole
     from page`,
    [pullId],
  );
  return rows[0]?.is_whole ?? false;
}

/**
 * Left to itself the planner hashes a million rows, which is 2.5 times as slow as to walk two
 * indexes: both sides lie in the order of their indexes, since snapshots are written in the order
 * in which orders are asked. Nested loops are off, since it would look up each row where it expects
 * few; and so are further processes.
 */
const PLANNED_BY_INDEX = `set local enable_hashjoin = off; set local enable_sort = off;
  set local enable_nestloop = off; set local enable_mergejoin = on;
  set local max_parallel_workers_per_gather = 0`;

/**
 * The rows that are left are few, and joined by hashes; the planner, who has no statistics of a
 * list, would sort them. The count of an account stands on one of its rows; where it has none, on a
 * row without an order.
 */
const MATCHED = `set local enable_hashjoin to default; set local enable_sort to default;
  set local enable_nestloop to default; set local max_parallel_workers_per_gather to default;
  set local enable_mergejoin = off;
  analyze pg_temp.unmatched (account_id, order_no);
  with alone as (delete from pg_temp.unmatched where order_no is null)
  select account_id, sum(matched)::bigint as matched from pg_temp.unmatched
  where matched > 0 group by account_id`;
