// The captures and refunds that moved after the night of a business day had ended, one by one: the
// sums that days/movedAfter.sql tells of are sums of these.

import type { Db } from '../database/db.js';
import type { Named } from './daysStore.js';

/** That are named; all are counted. */
const ROWS_MAX = 1_000;

export interface MovedRow {
  orderNo: string;
  operation: 'capture' | 'refund';
  currency: string;
  amount: string;
  countsOn: string;
  at: Date;
}

export async function movedRows(db: Db, accountId: string, date: string): Promise<Named<MovedRow>> {
  const { rows } = await db.query<MovedRow & { total: number }>(
    `select m.order_no as "orderNo", m.operation, m.currency, round(m.amount, 2)::text as amount,
       m.counts_on as "countsOn", m.posted_at as at, count(*) over ()::int as total
     from tieout.runs r cross join lateral tieout.moved_after(r.run_id, $1) m
     where r.business_date = $2::date and not r.is_dry and m.belongs_to = r.business_date
     order by m.counts_on, m.currency, m.operation, m.posted_at, m.order_no limit $3`,
    [accountId, date, ROWS_MAX],
  );
  return {
    rows: rows.map(({ total: _all, ...row }) => row),
    count: rows[0]?.total ?? 0,
  };
}
