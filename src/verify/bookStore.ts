// Reads what the book of movements is worked out again from: what a run showed, what was booked
// before it, and what it left. Neighbour: verifyBook.ts compares.

import { exactAmount } from '../core/money.js';
import type {
  BookedMovement,
  MovementKind,
  ShownTransaction,
} from '../core/movements/bookEntries.js';
import type { GatewayState } from '../core/orders/order.js';
import type { Db } from '../database/db.js';
import { statement } from '../database/statements.js';
import type { AccountRules } from '../runs/deps.js';

export interface ShownThen {
  accountId: string;
  orderNo: string;
  transactionId: string;
  /** null: the run did not see it whole */
  shown: ShownTransaction | null;
  before: BookedMovement[];
  after: BookedMovement[];
}

type KeptMovement = Omit<BookedMovement, 'amount'> & { amount: string | null };

/** Those of which the book is not plainly what is shown. */
export async function shownThen(
  tx: Db,
  run: { runId: bigint; businessDate: string },
  rules: readonly AccountRules[],
  { areLinesFirst }: { areLinesFirst: boolean },
): Promise<ShownThen[]> {
  const { rows } = await tx.query<{
    account_id: string;
    order_no: string;
    transaction_id: string;
    state: GatewayState | null;
    currency: string;
    amount: string;
    undecided: MovementKind[];
    requested: string;
    before: KeptMovement[];
    after: KeptMovement[];
  }>(statement('verify/shownThen'), [
    ...[run.runId, rules.map(({ account_id }) => account_id), run.businessDate],
    ...[JSON.stringify(rules), areLinesFirst],
  ]);
  return rows.map(({ state, currency, ...row }) => {
    const before = row.before.map(withAmount);
    const shown = state && {
      ...{ state, currency, amount: exactAmount(row.amount), booked: before },
      ...{ undecided: row.undecided, requested: exactAmount(row.requested) },
    };
    const { account_id: accountId, order_no: orderNo, transaction_id: transactionId } = row;
    return { accountId, orderNo, transactionId, shown, before, after: row.after.map(withAmount) };
  });
}

function withAmount({ amount, ...movement }: KeptMovement): BookedMovement {
  return { ...movement, amount: amount === null ? null : exactAmount(amount) };
}

/** Accounts of a run that had a book by then. */
export async function accountsWithBook(
  tx: Db,
  runId: bigint,
  accountIds: readonly string[],
): Promise<string[]> {
  const { rows } = await tx.query<{ account_id: string }>(
    `select account_id from tieout.movement_books
     where run_id <= $1 and account_id = any ($2) order by 1`,
    [runId, accountIds],
  );
  return rows.map((row) => row.account_id);
}
