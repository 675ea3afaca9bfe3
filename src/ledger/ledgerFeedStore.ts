// Is the ledger whole, and what became of it since the last snapshot? Control totals of its feed,
// rows that left it, rows that changed. All of it is read while the run's orders are entered, so
// that it speaks of the same ledger.

import type { FeedGapFacts } from '../core/runs/notices.js';
import type { Db, Tx } from '../database/db.js';
import { statement } from '../database/statements.js';
import type { Zone } from '../runs/calendarStore.js';
import { ledgerRelation } from './ledgerStore.js';

export interface OrderKey {
  accountId: string;
  orderNo: string;
}

/** What a view of the ledger has more than once: such orders are entered elsewhere. */
export interface Repeated {
  orders: readonly OrderKey[];
  refunds: readonly RefundKey[];
}

export interface RefundKey {
  accountId: string;
  refundId: string;
}

/** As askLive.sql compares them; null: there are none. */
export function joinedKeys(keys: readonly (readonly [string, string])[]): string[] | null {
  return keys.length === 0 ? null : keys.map((key) => key.join('\u001f'));
}

/** Hints at orders that left the ledger since the newest snapshot; answers those it hinted at. */
export async function hintVanished(
  tx: Tx,
  accountIds: readonly string[],
  lookbackFrom: Date,
  asOf: Date,
): Promise<OrderKey[]> {
  const { rows } = await tx.query<{ account_id: string; order_no: string }>(
    statement('ledger/vanishedOrders'),
    [accountIds, lookbackFrom, asOf],
  );
  return rows.map((row) => ({ accountId: row.account_id, orderNo: row.order_no }));
}

/** Takes hints back that have done their work: their orders stand in the pull now. */
export async function dropHints(tx: Tx, keys: readonly OrderKey[]): Promise<void> {
  if (keys.length === 0) return;
  await tx.query(
    `delete from tieout.look_hints h using unnest($1::text[], $2::text[]) as k (account, number)
     where h.account_id = k.account and h.order_no = k.number`,
    [keys.map((key) => key.accountId), keys.map((key) => key.orderNo)],
  );
}

/**
 * Keeps what changed between the newest snapshot and this one, which is not noted as newest yet.
 */
export async function keepLedgerChanges(
  tx: Tx,
  runId: bigint,
  pullId: bigint,
  accountIds: readonly string[],
  asOf: Date,
): Promise<void> {
  // Of a date that is run again: what left the ledger between two looks of it, and came back.
  await tx.query(
    `delete from tieout.ledger_changes c using tieout.asked_orders a
     where c.run_id = $1 and c.kind = 'left' and a.pull_id = $2 and a.in_ledger
       and a.account_id = c.account_id and a.order_no = c.order_no`,
    [runId, pullId],
  );
  // The planner knows nothing of the new snapshot yet and would join it row by row.
  await tx.query(`select set_config('enable_nestloop', 'off', true)`);
  await tx.query(statement('ledger/ledgerChanges'), [runId, pullId, accountIds, asOf]);
  await tx.query(`select set_config('enable_nestloop', 'on', true)`);
}

/** Whether any of these accounts (null: of all) had control totals as the ledger was read last. */
export async function keptTotals(db: Db, accountIds: readonly string[] | null): Promise<boolean> {
  const { rows } = await db.query('select from tieout.kept_totals($1) limit 1', [accountIds]);
  return rows.length > 0;
}

/**
 * Compares the control totals of the dates with the ledger, where the merchant keeps any; fails
 * where he kept some and the relation is gone.
 */
export async function checkFeed(
  tx: Tx,
  runId: bigint,
  accountIds: readonly string[],
  days: Zone & { dates: readonly string[] },
  asOf: Date,
): Promise<void> {
  const isGone = (await ledgerRelation(tx, 'control_totals')) === 'missing';
  if (isGone && !(await keptTotals(tx, accountIds))) return;
  const { dates, timezone, cutOff } = days;
  await tx.query(statement('ledger/checkFeed'), [runId, accountIds, dates, timezone, cutOff, asOf]);
}

/** Where the ledger is not known to be whole. */
export async function feedGaps(db: Db, runId: bigint): Promise<FeedGapFacts[]> {
  const { rows } = await db.query<
    Omit<FeedGapFacts, 'statedCount' | 'ledgerCount'> & {
      statedCount: bigint | null;
      ledgerCount: bigint;
    }
  >(
    `select account_id as "accountId", business_date as "businessDate", currency, verdict,
       stated_count as "statedCount", round(stated_amount, 2)::text as "statedAmount",
       ledger_count as "ledgerCount", round(ledger_amount, 2)::text as "ledgerAmount"
     from tieout.feed_checks where run_id = $1 and verdict not in ('equal', 'unusable')
     order by account_id, business_date, currency`,
    [runId],
  );
  return rows.map((row) => ({
    ...row,
    statedCount: row.statedCount === null ? null : Number(row.statedCount),
    ledgerCount: Number(row.ledgerCount),
  }));
}

/** How many rows changed in the ledger, or left it, since the snapshot before this run's. */
export async function ledgerChangeCounts(
  db: Db,
  runId: bigint,
): Promise<{ accountId: string; changed: number; left: number; sample: string | null }[]> {
  const { rows } = await db.query<{
    accountId: string;
    changed: bigint;
    left: bigint;
    sample: string | null;
  }>(
    `select account_id as "accountId", count(*) filter (where kind = 'changed') as changed,
       count(*) filter (where kind = 'left') as "left",
       min(order_no) filter (where kind = 'left') as sample
     from tieout.ledger_changes where run_id = $1 group by account_id order by account_id`,
    [runId],
  );
  return rows.map((row) => ({ ...row, changed: Number(row.changed), left: Number(row.left) }));
}
