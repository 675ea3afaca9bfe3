// What a dry run needs beside the run: a mark on its transaction, so that whoever needs what it
// holds can end it; its numbers given back; and what it would do, order by order. Neighbours:
// night/dryRun.ts runs the dry run in one transaction, runs/heartbeat.ts keeps a run's way free.

import type { WouldDo } from '../core/runs/summary.js';
import type { Database, Db } from '../database/db.js';
import { asWritten, identifier, named } from '../database/identifiers.js';

/** The two numbers of the mark; nobody else locks by them. */
const MARK = [0x74_69_65, 0x64_72_79] as const;

/** Excludes nobody: it only tells by whose locks others are held up. */
export async function markDry(tx: Db): Promise<void> {
  await tx.query('select pg_advisory_xact_lock_shared($1, $2)', MARK);
}

/** How often it is looked whether a dry run is in the way of somebody. */
export const GIVE_WAY_MS = 500;

/**
 * Ends each dry run that somebody waits for, whatever became of its process, and says how many.
 * Two dry runs wait for one another.
 */
export async function endDryRunsInTheWay(db: Db): Promise<number> {
  const { rowCount } = await db.query(
    `with dry as materialized (
       select pid from pg_locks
       where locktype = 'advisory' and granted and objsubid = 2
         and classid = $1::oid and objid = $2::oid
         and database = (select oid from pg_database where datname = current_database())
     )
     select pg_terminate_backend(pid) from dry
     where exists (
       select from pg_locks waiting
       where not waiting.granted and waiting.pid not in (select pid from dry)
         and dry.pid = any (pg_blocking_pids(waiting.pid)))`,
    MARK,
  );
  return rowCount;
}

/** What a dry run numbers, and people read: orders' instructions and breaks, and their events. */
const NUMBERED: readonly (readonly [string, string])[] = [
  ['instructions', 'instruction_id'],
  ['instruction_events', 'seq'],
  ['breaks', 'break_id'],
  ['break_events', 'event_id'],
];

/** How far a sequence was, by its name; null: nobody has drawn from it. */
export type Numbers = readonly {
  table: string;
  column: string;
  name: string;
  last: bigint | null;
}[];

/** Where the sequences are another's than this role, none is told, and none is given back. */
export async function numbersNow(db: Db): Promise<Numbers> {
  const found = [];
  for (const [table, column] of NUMBERED) {
    const { rows } = await db.query<{ name: string; last: bigint | null }>(
      `select s.oid::regclass::text as name, pg_sequence_last_value(s.oid) as last
       from pg_class s where s.oid = pg_get_serial_sequence('tieout.' || $1, $2)::regclass
         and pg_has_role(s.relowner, 'usage')`,
      [table, column],
    );
    found.push(...rows.map((row) => ({ table, column, ...row })));
  }
  return found;
}

/** A sequence that somebody else draws from at this moment is left as it is. */
const TRY_MS = 1;

/**
 * A sequence does not come back with a rollback. Who has drawn from it holds it until the end of
 * its transaction: so where this one gets it, every number that is in use stands in the table.
 */
export async function giveNumbersBack(db: Database, before: Numbers): Promise<void> {
  for (const { table, column, name, last } of before) {
    const giveBack = async (tx: Db): Promise<void> => {
      await tx.query(named`set local lock_timeout = ${TRY_MS}`);
      await tx.query(named`alter sequence ${asWritten(name)} no cycle`);
      await tx.query(
        named`select setval($1::regclass, greatest(used, 1), used > 0)
         from (
           select greatest($2::bigint, max(${identifier(column)}), 0) as used
           from ${identifier('tieout', table)}
         ) as found`,
        [name, last],
      );
    };
    // Numbers that are used up do no harm.
    await db.transaction(giveBack).catch(() => {});
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
    is_in_totals: boolean;
    is_held: boolean;
    hold_reason: string | null;
  }>(
    `select account_id, coalesce(order_no, '') as order_no, refund_id, operation,
       coalesce(refund_amount, amount) as amount, currency, is_in_totals,
       state = 'held' as is_held, hold_reason
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
    isInTotals: row.is_in_totals,
    next: row.is_held ? 'wait' : 'send',
    reason: row.hold_reason,
  }));
}
