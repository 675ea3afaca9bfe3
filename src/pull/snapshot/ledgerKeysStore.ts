// Orders of the ledger by their keys. In the merchant's own view or table nothing keeps one from
// standing twice or without a number, and one such row must not stop the run of all others; a table
// with its key is not looked through. What of a large table is entered first is found by it.

import { TieoutError } from '../../core/errors.js';
import type { Db, Tx } from '../../database/db.js';
import { statement } from '../../database/statements.js';
import type { OrderKey, RefundKey } from '../../ledger/ledgerFeedStore.js';
import { ledgerRelation, mayRepeat } from '../../ledger/ledgerStore.js';
import type { PageCut } from './snapshotsStore.js';

/** More orders than these twice is a broken view, not a broken row. */
const REPEATED_MAX = 10_000;

const ORDER_KEY = ['account_id', 'order_no'];

/** A longer number or id is in no index; such rows are counted, or the problem of their order. */
const KEY_BYTES_MAX = 512;

/** Orders that the accounts' ledger has more than once; empty where its key keeps them apart. */
export async function repeatedOrders(tx: Tx, accountIds: readonly string[]): Promise<OrderKey[]> {
  if (!(await mayRepeat(tx, 'orders', ORDER_KEY))) return [];
  const { rows } = await tx.query<OrderKey>(
    `select account_id as "accountId", order_no as "orderNo"
     from tieout.ledger_orders('{}', '{}', '')
     where account_id = any ($1) and octet_length(order_no) <= $3
     group by account_id, order_no having count(*) > 1 limit $2`,
    [accountIds, REPEATED_MAX + 1, KEY_BYTES_MAX],
  );
  if (rows.length <= REPEATED_MAX) return rows;
  throw new TieoutError(`ledger.orders has more than ${REPEATED_MAX} orders twice`);
}

/** Refund requests that the accounts' ledger has more than once; as repeatedOrders. */
export async function repeatedRefunds(tx: Tx, accountIds: readonly string[]): Promise<RefundKey[]> {
  if (!(await mayRepeat(tx, 'refund_requests', ['account_id', 'refund_id']))) return [];
  const { rows } = await tx.query<RefundKey>(
    `select account_id as "accountId", refund_id as "refundId" from tieout.ledger_refunds()
     where account_id = any ($1) and octet_length(refund_id) <= $3
     group by account_id, refund_id having count(*) > 1 limit $2`,
    [accountIds, REPEATED_MAX + 1, KEY_BYTES_MAX],
  );
  if (rows.length <= REPEATED_MAX) return rows;
  throw new TieoutError(`ledger.refund_requests has more than ${REPEATED_MAX} ids twice`);
}

/**
 * The order behind which a large account has so many, by number: the newest, where numbers grow.
 * Null where no account has more, and where the ledger is a view, or a table without its key: it
 * may be slow to ask twice, and have an order in both parts.
 */
export async function newestOrders(
  tx: Tx,
  accountIds: readonly string[],
  orders: number,
): Promise<OrderKey | null> {
  if ((await ledgerRelation(tx, 'orders')) !== 'table') return null;
  if (await mayRepeat(tx, 'orders', ORDER_KEY)) return null;
  const { rows } = await tx.query<OrderKey>(
    `select a.account_id as "accountId", l.order_no as "orderNo"
     from unnest($1::text[]) as a (account_id)
     cross join lateral (
       select order_no::text from ledger.orders where account_id::text = a.account_id
       order by order_no desc offset $2 limit 1
     ) l limit 1`,
    [accountIds, orders],
  );
  return rows[0] ?? null;
}

/** Orders whose number contains the separator of the list: how many, and one of them. */
export async function neverAskedOrders(
  db: Db,
  accountIds: readonly string[],
  separator: string,
): Promise<{ orders: number; sample: string | null }> {
  const { rows } = await db.query<{ orders: bigint; sample: string | null }>(
    `select count(*) as orders, left(min(order_no), 64) as sample
     from tieout.ledger_orders('{}', '{}', '')
     where account_id = any ($1) and position($2 in order_no) > 0`,
    [accountIds, separator],
  );
  return { orders: Number(rows[0]?.orders ?? 0n), sample: rows[0]?.sample ?? null };
}

/** Enters them once each, with the reason why they cannot be compared. */
export async function askRepeated(
  tx: Tx,
  pullId: bigint,
  keys: readonly OrderKey[],
  cut: PageCut,
): Promise<void> {
  if (keys.length === 0) return;
  await tx.query(statement('pull/snapshot/askRepeated'), [
    pullId,
    keys.map((key) => key.accountId),
    keys.map((key) => key.orderNo),
    cut.pageOrders,
    cut.separator,
  ]);
}
