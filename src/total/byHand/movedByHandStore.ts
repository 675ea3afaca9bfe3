// Orders of which a person moved other money by hand than the ledger asks for: no rule stops for
// it, and few rows are told in words (core/orders/movedByHand.ts). Neighbour:
// ../anomaliesStore.ts.

import type { CapturedByHandFacts, RefundedByHandFacts } from '../../core/orders/movedByHand.js';
import type { Db } from '../../database/db.js';
import { statement } from '../../database/statements.js';

/** Orders of each kind and account that one run tells; the last says how many more there are. */
const ORDERS_MAX = 20;

/** Orders of which a person and we gave back more than the ledger asks for. */
export async function refundedByHand(
  db: Db,
  accountIds: readonly string[],
): Promise<RefundedByHandFacts[]> {
  const { rows } = await db.query<{
    account_id: string;
    order_no: string;
    currency: string;
    by_hand: string;
    ours: string;
    asked: string;
    more: bigint;
  }>(statement('total/byHand/refundedByHand'), [accountIds, ORDERS_MAX]);
  return rows.map((row) => ({
    accountId: row.account_id,
    orderNo: row.order_no,
    currency: row.currency,
    byHand: row.by_hand,
    ours: row.ours,
    asked: row.asked,
    more: Number(row.more),
  }));
}

/** Orders of which a person captured another amount than the ledger asks for. */
export async function capturedByHand(
  db: Db,
  accountIds: readonly string[],
): Promise<CapturedByHandFacts[]> {
  const { rows } = await db.query<{
    account_id: string;
    order_no: string;
    currency: string;
    by_hand: string;
    is_sure: boolean;
    asked_currency: string;
    asked: string;
    more: bigint;
  }>(statement('total/byHand/capturedByHand'), [accountIds, ORDERS_MAX]);
  return rows.map((row) => ({
    accountId: row.account_id,
    orderNo: row.order_no,
    currency: row.currency,
    byHand: row.by_hand,
    isSure: row.is_sure,
    askedCurrency: row.asked_currency,
    asked: row.asked,
    more: Number(row.more),
  }));
}
