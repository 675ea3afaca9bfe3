// The refund requests of one order as a person has to see them beside a refund_mismatch: what was
// asked for, and what of it counts as done. Read only. Neighbour: compare.sql, which decides by the
// same rule over all orders.

import type { Db } from '../database/db.js';

export interface RefundRequestRow {
  refundId: string;
  amount: string;
  requestedAt: Date;
  /** history: older than liveFrom; else that of its newest instruction; null: it has none */
  state: string | null;
}

export async function refundRequestsOf(
  db: Db,
  accountId: string,
  orderNo: string,
  liveFrom: Date | null,
): Promise<RefundRequestRow[]> {
  const { rows } = await db.query<RefundRequestRow>(
    `select r.refund_id as "refundId", round(r.refund_amount, 2)::text as amount,
       r.requested_at as "requestedAt",
       case when r.requested_at < $3::timestamptz then 'history' else (
         select i.state from tieout.instructions i
         where i.account_id = r.account_id and i.refund_id = r.refund_id
           and i.operation = 'refund'
         order by (i.state = 'confirmed') desc, i.instruction_id desc limit 1) end as state
     from tieout.ledger_refunds() r where r.account_id = $1 and r.order_no = $2
     order by r.requested_at, r.refund_id limit 1000`,
    [accountId, orderNo, liveFrom],
  );
  return rows;
}
