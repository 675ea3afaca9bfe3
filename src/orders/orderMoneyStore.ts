// What moved of one order, and what the acquirer settled of it. Neighbour: historyStore.ts
// shows it with all else of the order.

import type { Db } from '../database/db.js';
import { statement } from '../database/statements.js';

export interface OrderMovement {
  readonly businessDate: string;
  readonly kind: 'captured' | 'refunded';
  readonly made: 'here' | 'elsewhere';
  readonly currency: string;
  /** null: it stands in suspense; 0.00: it was shown by mistake */
  readonly amount: string | null;
  readonly transaction: string;
  readonly reference: string | null;
  readonly instructionId: string | null;
  readonly isHistory: boolean;
  readonly knownBy: string;
  /** whose lines settle it */
  readonly batches: readonly string[];
}

export interface OrderLine {
  readonly batch: string;
  readonly line: string;
  readonly type: string;
  readonly bookedAt: string;
  readonly currency: string | null;
  readonly amount: string | null;
  readonly settleCurrency: string;
  readonly gross: string;
  readonly fee: string;
  readonly net: string;
  /** null: it waits for its movement, or has none */
  readonly matchedBy: string | null;
  readonly movedOn: string | null;
}

export interface OrderMoney {
  readonly movements: readonly OrderMovement[];
  readonly lines: readonly OrderLine[];
}

export async function orderMoney(db: Db, accountId: string, orderNo: string): Promise<OrderMoney> {
  const { rows } = await db.query<{ money: OrderMoney }>(statement('orders/orderMoney'), [
    ...[accountId, orderNo],
  ]);
  return rows[0]?.money ?? { movements: [], lines: [] };
}
