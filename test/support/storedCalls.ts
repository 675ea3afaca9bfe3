// Captures by hand (`tieout gateway capture`) of stored orders, as they were written down and ended
// before the first look.

import { formatAmount } from '../../src/core/money.js';
import type { Db } from '../../src/database/db.js';
import type { StoredOrder } from './orders.js';
import { ofAccount, scoped } from './snapshotStore.js';

export async function storeCaptures(
  db: Db,
  accountId: string,
  orders: readonly StoredOrder[],
): Promise<void> {
  const entries = orders.flatMap((order) =>
    (order.capturedByHand ?? []).map(({ transactionId, amount }) => ({
      order_no: order.orderNo,
      transaction_id: scoped(order, transactionId),
      currency: 'EUR',
      amount: formatAmount(amount),
    })),
  );
  await db.query(
    `insert into tieout.gateway_calls (account_id, operation, called_by, is_claim, host,
       body_sha256, entries, outcome, ended_at, looks_before)
     select $1, 'capture', 'anna', true, 'here', '', jsonb_build_array(entry), 'accepted',
       clock_timestamp(), 0
     from jsonb_array_elements($2::jsonb) as entry`,
    [accountId, JSON.stringify(ofAccount(accountId, entries))],
  );
}
