// What the tolerance swallowed: differences of a run that are no breaks, one by one and in sums.
// They stand in the class explained; here they keep their money.

import type { Side } from '../core/breaks/sentence.js';
import type { Db } from '../database/db.js';

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

/** What we captured counts, where the gateway does not tell. */
const TOLERATED = 'coalesce(v.taken, v.gateway_amount) - coalesce(v.to_take, v.ledger_amount)';

/** Of this run, largest difference first. */
export async function toleratedRows(
  db: Db,
  runId: bigint,
  page: { limit: number; offset: number },
): Promise<ToleratedRow[]> {
  const { rows } = await db.query<ToleratedRow>(
    `select v.account_id as "accountId", v.order_no as "orderNo",
       r.business_date as "businessDate", v.class, v.ledger_currency as currency,
       jsonb_strip_nulls(jsonb_build_object('state', v.expected, 'currency', v.ledger_currency,
         'amount', coalesce(v.to_take, v.ledger_amount)::text)) as expected,
       jsonb_strip_nulls(jsonb_build_object('state', v.gateway_state, 'code', v.payment_status,
         'currency', v.gateway_currency, 'amount',
         coalesce(v.taken, v.gateway_amount)::text,
         'transaction', v.transaction_id)) as actual,
       (${TOLERATED})::text as difference
     from tieout.verdicts v join tieout.runs r using (run_id)
     where v.run_id = $1 and v.tolerated
     order by abs(${TOLERATED}) desc, v.account_id, v.order_no
     limit $2 offset $3`,
    [runId, page.limit, page.offset],
  );
  return rows;
}

/** The same in sums, by account and currency. */
export async function toleratedSums(db: Db, runId: bigint): Promise<ToleratedSum[]> {
  const { rows } = await db.query<Omit<ToleratedSum, 'orders'> & { orders: bigint }>(
    `select account_id as "accountId", ledger_currency as currency, count(*) as orders,
       round(sum(greatest(-(${TOLERATED}), 0)), 2)::text as below,
       round(sum(greatest(${TOLERATED}, 0)), 2)::text as above,
       round(sum(${TOLERATED}), 2)::text as net
     from tieout.verdicts v where run_id = $1 and tolerated
     group by account_id, ledger_currency order by account_id, ledger_currency`,
    [runId],
  );
  return rows.map((row) => ({ ...row, orders: Number(row.orders) }));
}
