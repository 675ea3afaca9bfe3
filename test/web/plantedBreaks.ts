// An open break as a test wants it, beside what a real night has found.

import type { Db } from '../../src/database/db.js';

export interface PlantedBreak {
  orderNo: string;
  seen: Date;
  kind?: string;
  amount?: string | null;
  currency?: string | null;
  owner?: string;
  note?: string;
}

export async function plantBreak(db: Db, one: PlantedBreak): Promise<void> {
  const { orderNo, seen, amount = '1.00', currency = 'EUR' } = one;
  const side = {
    transaction: `TX-${orderNo}`,
    candidates: [{ transaction: `OTHER-${orderNo}` }],
    ...(amount === null ? {} : { amount }),
  };
  await db.query(
    `insert into tieout.breaks (account_id, order_no, kind, state, first_seen, first_run_id,
       last_run_id, expected, actual, fingerprint, currency, amount, owner, note)
     select a.account_id, $1, $8, 'open', $2::timestamptz, a.run_id, a.run_id,
       '{}', $3::jsonb, $1, $4, $5::numeric, $6, $7
     from tieout.run_accounts a order by a.account_id limit 1`,
    [
      orderNo,
      seen,
      JSON.stringify(side),
      currency,
      amount,
      one.owner ?? null,
      one.note ?? null,
      one.kind ?? 'missing_in_ledger',
    ],
  );
}
