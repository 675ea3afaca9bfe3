// What comes into the book from outside: payments, the end of a payment that was begun elsewhere,
// payouts. Also does again what a journal says was done. Like every move it changes a draft only.
// It checks no field and no signature: payments.ts, issuer.ts and payouts.ts do.

import {
  type Draft,
  type Effect,
  findOrder,
  move,
  putOrder,
  putTransaction,
  type RequestEntry,
} from './book.js';
import type { SandboxTransaction } from './order.js';

/** Puts a payment into the book: a new order, or another attempt at one. */
export function authorise(draft: Draft, effect: Effect): void {
  const known = findOrder(draft, effect.account_id, effect.order_no);
  const attempt: SandboxTransaction = {
    transactionId: effect.transaction_id,
    currency: effect.currency,
    amount: effect.amount,
    state: effect.state ?? 'authorised',
    at: effect.authorised_at ?? 0,
    refunded: 0n,
    refundCount: 0,
    details: effect.details ?? { shown: {} },
  };
  putOrder(draft, {
    accountId: effect.account_id,
    orderNo: effect.order_no,
    transactions: [...(known?.transactions ?? []), attempt],
    riders: known?.riders ?? [],
  });
}

/** Ends a pending payment; false: there is none that is pending. */
export function complete(draft: Draft, effect: Effect): boolean {
  const order = findOrder(draft, effect.account_id, effect.order_no);
  const found = order?.transactions.find((one) => one.transactionId === effect.transaction_id);
  if (order === null || found?.state !== 'pending') return false;
  putTransaction(draft, order, { ...found, state: effect.state ?? 'authorised' });
  return true;
}

/** Does again what a journal says was done; false: the book does not allow it. */
export function repeat(draft: Draft, effect: Effect): boolean {
  if (effect.mark !== undefined) draft.marks.add(effect.mark);
  switch (effect.operation) {
    case 'authorise':
      authorise(draft, effect);
      return true;
    case 'complete':
      return complete(draft, effect);
    case 'payout':
      return true;
    default: {
      const { operation, account_id, decision } = effect;
      return move(draft, operation, account_id, entryOf(effect), decision ?? null).kind === 'done';
    }
  }
}

function entryOf(effect: Effect): RequestEntry {
  const { transaction_id, order_no, currency, amount, refund_amount = '' } = effect;
  return { transaction_id, order_no, currency, amount, refund_amount };
}
