// What the tolerance swallowed: differences of a run that are no breaks, one by one and in sums.
// They stand in the class explained; here they keep their money.

import type { RefundBehind } from '../core/breaks/refundBehind.js';
import type { Side } from '../core/breaks/sentence.js';
import type { Db } from '../database/db.js';
import { named } from '../database/identifiers.js';
import { relationsOf } from '../database/monthPartitions.js';
import { statement } from '../database/statements.js';

export interface ToleratedRow {
  accountId: string;
  orderNo: string;
  businessDate: string;
  /** explained, or broken for another reason */
  class: string | null;
  expected: Side;
  actual: Side;
  currency: string;
  /** gateway minus ledger */
  difference: string;
}

export interface ToleratedSum {
  accountId: string;
  currency: string;
  orders: number;
  /** what the gateway shows too little, and too much: both above zero */
  below: string;
  above: string;
  net: string;
}

/** Of this run, largest difference first. */
export async function toleratedRows(
  db: Db,
  runId: bigint,
  page: { limit: number; offset: number },
): Promise<ToleratedRow[]> {
  const { rows } = await db.query<ToleratedRow>(statement('breaks/toleratedRows'), [
    ...[runId, page.limit, page.offset],
  ]);
  return rows;
}

/** The same in sums, by account and currency. */
export async function toleratedSums(db: Db, runId: bigint): Promise<ToleratedSum[]> {
  const { rows } = await db.query<Omit<ToleratedSum, 'orders'> & { orders: bigint }>(
    named`select account_id as "accountId", ledger_currency as currency, count(*) as orders,
       round(sum(greatest(-difference, 0)), 2)::text as below,
       round(sum(greatest(difference, 0)), 2)::text as above, round(sum(difference), 2)::text as net
     from ${relationsOf(db).verdicts} cross join lateral tieout.tolerated_difference(taken,
       gateway_amount, to_take, ledger_amount) as difference
     where run_id = $1 and tolerated
     group by account_id, ledger_currency order by account_id, ledger_currency`,
    [runId],
  );
  return rows.map((row) => ({ ...row, orders: Number(row.orders) }));
}

/** Requests that wait behind what a run explained, of accounts that act; the oldest first. */
export async function refundsBehindExplained(
  db: Db,
  runId: bigint,
  accounts: readonly { accountId: string; liveFrom: Date | null }[],
): Promise<RefundBehind[]> {
  const acting = accounts.filter(({ liveFrom }) => liveFrom !== null);
  const { rows } = await db.query<RefundBehind>(statement('breaks/refundsBehindExplained'), [
    ...[runId, JSON.stringify(acting.map(({ accountId, liveFrom }) => ({ accountId, liveFrom })))],
  ]);
  return rows;
}
