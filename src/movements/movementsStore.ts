// Reads and writes of the book of movements. The long statements are files beside this one.
// Neighbour: bookMovements.ts says in which order.

import { exactAmount, formatAmount } from '../core/money.js';
import type { BookEntry, MovementKind, ShownTransaction } from '../core/movements/bookEntries.js';
import type { GatewayState } from '../core/orders/order.js';
import type { Db } from '../database/db.js';
import { statement } from '../database/statements.js';
import type { AccountRules } from '../runs/deps.js';

/** For which run, and from when on: what is of before `from` is history. */
export interface Booking {
  runId: bigint;
  businessDate: string;
  accountIds: readonly string[];
  from: string;
  schedule: { timezone: string; cutOff: string };
}

/** Where an entry belongs. */
interface Place {
  account_id: string;
  order_no: string;
  transaction_id: string;
  currency: string;
  /** the order is of before `from` */
  is_old: boolean;
}

/** The first night with `settlement` opens the book of an account. */
export async function openBooks(tx: Db, booking: Booking): Promise<void> {
  await tx.query(
    `insert into tieout.movement_books (account_id, begins, history_before, run_id)
     select account_id, $2, $3, $1 from unnest($4::text[]) as a (account_id)
     on conflict do nothing`,
    [booking.runId, booking.businessDate, booking.from, booking.accountIds],
  );
}

/** What we made, as its business days have it. */
export async function bookOurs(
  tx: Db,
  { runId, accountIds, from }: Pick<Booking, 'runId' | 'accountIds' | 'from'>,
): Promise<void> {
  await tx.query(statement('movements/bookOurs'), [runId, accountIds, from]);
}

/** Until `forgetShown`, or the end of the transaction, the next two read what the run saw. */
export async function showTransactions(tx: Db, { runId, accountIds }: Booking): Promise<void> {
  await tx.query(statement('movements/showTransactions'), [runId, accountIds]);
  await tx.query('analyze movements_shown');
}

export async function forgetShown(tx: Db): Promise<void> {
  await tx.query('drop table movements_shown');
}

/** Captures made elsewhere of transactions of which nothing is booked: nearly all there are. */
export async function bookFirstCaptures(tx: Db, booking: Booking): Promise<void> {
  const { runId, businessDate, from, schedule } = booking;
  await tx.query(statement('movements/bookFirstCaptures'), [
    ...[runId, businessDate, from, schedule.cutOff, schedule.timezone],
  ]);
}

/** What the run saw and the book does not plainly agree with, beside what is booked of it. */
export async function shownBeside(
  tx: Db,
  booking: Booking,
  rules: readonly AccountRules[],
): Promise<(ShownTransaction & { place: Place })[]> {
  const { rows } = await tx.query<
    Place & {
      state: GatewayState;
      amount: string;
      undecided: MovementKind[];
      requested: string;
      booked: {
        id: string;
        kind: MovementKind;
        made: 'here' | 'elsewhere';
        currency: string;
        amount: string | null;
      }[];
    }
  >(statement('movements/shownBeside'), [
    ...[JSON.stringify(rules), booking.from],
    ...[booking.schedule.cutOff, booking.schedule.timezone],
  ]);
  return rows.map(({ state, amount, undecided, requested, booked, ...place }) => ({
    place,
    state,
    currency: place.currency,
    amount: exactAmount(amount),
    undecided,
    requested: exactAmount(requested),
    booked: booked.map(({ id, ...one }) => {
      const known = one.amount === null ? null : exactAmount(one.amount);
      return { ...one, movementId: id, amount: known };
    }),
  }));
}

/** Books entries of the rule; corrections are rows of their own. */
export async function addMovements(
  tx: Db,
  booking: Booking,
  entries: readonly (Place & BookEntry)[],
): Promise<void> {
  const rows = JSON.stringify(
    entries.map(({ amount, ...entry }) => {
      return { ...entry, amount: amount === null ? null : formatAmount(amount) };
    }),
  );
  const { runId, businessDate, from } = booking;
  await tx.query(statement('movements/addMovements'), [runId, businessDate, from, rows]);
  await tx.query(statement('movements/addAmounts'), [runId, businessDate, rows]);
}
