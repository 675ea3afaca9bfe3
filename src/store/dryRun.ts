// What a dry run needs beside the night: numbers that come back when it is rolled back, and what it
// would do, order by order. Neighbour: night/night.ts runs the dry run in one transaction.

import type { WouldDo } from '../core/summary.js';
import type { Db } from './db.js';

/** What a dry run numbers, and people read: orders' instructions and breaks, and their events. */
const NUMBERED: readonly (readonly [string, string])[] = [
  ['tieout.instructions', 'instruction_id'],
  ['tieout.instruction_events', 'seq'],
  ['tieout.breaks', 'break_id'],
  ['tieout.break_events', 'event_id'],
];
/** So far on do the numbers of a dry run begin: nobody else draws one of them meanwhile. */
const FAR = 1_000_000;

/**
 * A sequence does not come back with a rollback, a sequence that was begun anew does. Others that
 * want a number wait until this transaction ends, which is soon: its look is made before. Where the
 * sequences are another's than this role, the numbers are used up, and nothing else happens.
 */
export async function borrowNumbers(tx: Db): Promise<void> {
  for (const [table, column] of NUMBERED) {
    const { rows } = await tx.query<{ name: string; last: bigint }>(
      `select s.oid::regclass::text as name, coalesce(pg_sequence_last_value(s.oid), 0) as last
       from pg_class s where s.oid = pg_get_serial_sequence($1, $2)::regclass
         and pg_has_role(s.relowner, 'usage')`,
      [table, column],
    );
    const [found] = rows;
    if (found === undefined) continue;
    const start = found.last + BigInt(FAR);
    await tx.query(`alter sequence ${found.name} restart with ${start}`);
  }
}

export async function wouldDo(tx: Db, accountIds: readonly string[]): Promise<WouldDo[]> {
  const { rows } = await tx.query<{
    account_id: string;
    order_no: string;
    refund_id: string | null;
    operation: string;
    amount: string;
    currency: string;
    is_held: boolean;
    hold_reason: string | null;
  }>(
    `select account_id, coalesce(order_no, '') as order_no, refund_id, operation,
       coalesce(refund_amount, amount) as amount, currency, state = 'held' as is_held, hold_reason
     from tieout.instructions
     where account_id = any ($1) and state in ('planned', 'held', 'queued')
     order by account_id, is_held, operation, order_no, refund_id`,
    [accountIds],
  );
  return rows.map((row) => ({
    accountId: row.account_id,
    orderNo: row.order_no,
    refundId: row.refund_id,
    operation: row.operation,
    amount: row.amount,
    currency: row.currency,
    next: row.is_held ? 'wait' : 'send',
    reason: row.hold_reason,
  }));
}
