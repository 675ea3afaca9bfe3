// Batches: what waits to be sent together, and why it still waits. Nothing here claims or sends:
// the claim and what became of it are in attemptsStore.ts. Neighbours: send/send.ts enqueues what
// waits, send/permit.ts weighs it.

import type { BatchInstruction, QueuedBatch } from '../../core/instructions/batch.js';
import type { HoldReason } from '../../core/instructions/holdReasons.js';
import type { InstructionOperation } from '../../core/orders/order.js';
import { analyse } from '../../database/analyse.js';
import type { Db } from '../../database/db.js';
import { identifier } from '../../database/identifiers.js';
import type { RawInstruction } from '../../instructions/batchRow.js';
import { batchInstruction } from '../../instructions/batchRow.js';

export interface BatchRow {
  batchId: bigint;
  runId: bigint;
  accountId: string;
  operation: InstructionOperation;
  state: string;
  attempts: number;
}

export async function loadBatch(db: Db, batchId: bigint): Promise<BatchRow | null> {
  const { rows } = await db.query<{
    batch_id: bigint;
    run_id: bigint;
    account_id: string;
    operation: InstructionOperation;
    state: string;
    attempts: number;
  }>(
    `select batch_id, run_id, account_id, operation, state, attempts
     from tieout.batches where batch_id = $1`,
    [batchId],
  );
  const row = rows[0];
  if (!row) return null;
  return {
    batchId: row.batch_id,
    runId: row.run_id,
    accountId: row.account_id,
    operation: row.operation,
    state: row.state,
    attempts: row.attempts,
  };
}

/** The instructions of a batch in one state, in the order in which they are sent. */
export async function batchInstructions(
  db: Db,
  batchId: bigint,
  state: 'queued' | 'sending',
): Promise<BatchInstruction[]> {
  const { rows } = await db.query<RawInstruction>(
    `select instruction_id, order_no, transaction_id, currency, amount, refund_id, refund_amount,
       refund_reason, review_decision, payload
     from tieout.instructions where batch_id = $1 and state = $2 order by instruction_id`,
    [batchId, state],
  );
  return rows.map(batchInstruction);
}

/** Withdraws entries that the ledger or the gateway no longer asks for, before any claim. */
export async function withdrawFromBatch(
  db: Db,
  entries: ReadonlyMap<bigint, string>,
  now: Date,
): Promise<void> {
  if (entries.size === 0) return;
  await db.query(
    `update tieout.instructions i set state = 'withdrawn', reason = gone.reason,
       settled_at = $3, settled_run_id = null, changed_by = 'tieout'
     from unnest($1::bigint[], $2::text[]) as gone (instruction_id, reason)
     where i.instruction_id = gone.instruction_id and i.state = 'queued'`,
    [[...entries.keys()].map(String), [...entries.values()], now],
  );
}

/** What needs a person, or one again, waits for one; the words of before are not why it waits. */
export async function holdAgain(db: Db, entries: ReadonlyMap<bigint, HoldReason>): Promise<void> {
  if (entries.size === 0) return;
  await db.query(
    `update tieout.instructions i set state = 'held', hold_reason = waits.reason, reason = null,
       batch_id = null, changed_by = 'tieout'
     from unnest($1::bigint[], $2::text[]) as waits (instruction_id, reason)
     where i.instruction_id = waits.instruction_id and i.state = 'queued'`,
    [[...entries.keys()].map(String), [...entries.values()]],
  );
}

/** False: it does not wait any more. Held until the end of the transaction. */
export async function holdBatch(tx: Db, batchId: bigint): Promise<boolean> {
  const { rowCount } = await tx.query(
    `select from tieout.batches where batch_id = $1 and state = 'queued' for update`,
    [batchId],
  );
  return rowCount === 1;
}

/** A batch in which nothing is left to send. */
export async function dropBatch(db: Db, batchId: bigint, reason: string): Promise<void> {
  await db.query(
    `update tieout.batches set state = 'dropped', reason = $2
     where batch_id = $1 and state = 'queued'
       and not exists (select from tieout.instructions where batch_id = $1 and state = 'queued')`,
    [batchId, reason],
  );
}

/** Batches of these accounts that wait to be sent and have tries left, oldest first. */
export async function waitingBatches(
  db: Db,
  accountIds: readonly string[],
  triesMax: number,
): Promise<QueuedBatch[]> {
  const { rows } = await db.query<RawQueued>(
    `select batch_id, account_id, operation from tieout.batches
     where state = 'queued' and account_id = any ($1) and tries < $2 order by batch_id`,
    [accountIds, triesMax],
  );
  return rows.map(queuedBatch);
}

/** Makes waiting batches that hold something approved ready to be tried anew. */
export async function retryApproved(db: Db, accountIds: readonly string[]): Promise<void> {
  await db.query(
    `update tieout.batches b set tries = 0
     where b.state = 'queued' and b.account_id = any ($1) and exists (
       select from tieout.instructions i
       where i.batch_id = b.batch_id and i.state = 'queued' and i.approval_id is not null)`,
    [accountIds],
  );
}

/** The batches in which these instructions wait with tries left. */
export async function waitingWith(
  db: Db,
  instructionIds: readonly bigint[],
  triesMax: number,
): Promise<QueuedBatch[]> {
  const { rows } = await db.query<RawQueued>(
    `select b.batch_id, b.account_id, b.operation from tieout.batches b
     where b.state = 'queued' and b.tries < $2 and b.batch_id in (
       select batch_id from tieout.instructions
       where instruction_id = any ($1::bigint[]) and state = 'queued')
     order by b.batch_id`,
    [instructionIds.map(String), triesMax],
  );
  return rows.map(queuedBatch);
}

/** Those of these instructions that are being sent, or wait with tries left in a going account. */
export async function openAmong(
  db: Db,
  instructionIds: readonly bigint[],
  { going, left }: OpenBut,
  triesMax: number,
): Promise<number> {
  const { rows } = await db.query<{ open: bigint }>(
    `select count(*) as open from tieout.instructions i join tieout.batches b using (batch_id)
     where i.instruction_id = any ($1::bigint[]) and b.batch_id <> all ($4::bigint[])
       and (i.state = 'sending'
         or (i.state = 'queued' and b.tries < $3 and i.account_id = any ($2)))`,
    [instructionIds.map(String), going, triesMax, left.map(String)],
  );
  return Number(rows[0]?.open ?? 0n);
}

interface RawQueued {
  batch_id: bigint;
  account_id: string;
  operation: InstructionOperation;
}

function queuedBatch(row: RawQueued): QueuedBatch {
  return { batchId: row.batch_id, accountId: row.account_id, operation: row.operation };
}

interface OpenBut {
  /** of the others nothing that waits goes */
  going: readonly string[];
  /** batches of which nothing can be recorded */
  left: readonly bigint[];
}

/** Batches that are being sent; and those of `going` accounts that wait with tries left. */
export async function openSends(
  db: Db,
  { accountIds, going, left }: OpenBut & { accountIds: readonly string[] },
  triesMax: number,
): Promise<number> {
  const { rows } = await db.query<{ open: bigint }>(
    `select count(*) as open from tieout.batches
     where state in ('queued', 'sending') and account_id = any ($1)
       and batch_id <> all ($4::bigint[])
       and (state = 'sending' or (tries < $3 and account_id = any ($2)))`,
    [accountIds, going, triesMax, left.map(String)],
  );
  return Number(rows[0]?.open ?? 0n);
}

/** How many batches of each account wait; accounts without any are left out. */
export async function queuedBatches(
  db: Db,
  accountIds: readonly string[],
): Promise<Map<string, number>> {
  const { rows } = await db.query<{ account_id: string; count: bigint }>(
    `select account_id, count(*) as count from tieout.batches
     where state = 'queued' and account_id = any ($1) group by account_id`,
    [accountIds],
  );
  return new Map(rows.map((row) => [row.account_id, Number(row.count)]));
}

const TOLD_APART_BY = [
  ...['instruction_id', 'run_id', 'account_id', 'order_no', 'operation', 'transaction_id'],
  ...['refund_id', 'state', 'batch_id', 'settled_run_id', 'settled_at', 'is_open', 'is_void'],
];

/**
 * The planner must know what was just planned, or each batch is weighed by reading all others. Of
 * its many columns those that instructions are found and told apart by.
 */
export async function analyseBatches(db: Db): Promise<void> {
  await analyse(db, identifier('tieout', 'instructions'), TOLD_APART_BY);
  await analyse(db, identifier('tieout', 'batches'));
}

/**
 * Takes apart what an earlier process left waiting and never tried, to be cut anew: the queue may
 * hold a job of a dead worker under the old id, and would hide every later one for it. A worker
 * that lives after all finds its batch dropped and claims nothing.
 */
export async function dissolveWaiting(db: Db, accountIds: readonly string[]): Promise<void> {
  await db.query(
    `with gone as (
       update tieout.batches set state = 'dropped', reason = 'cut anew by the next run'
       where state = 'queued' and attempts = 0 and account_id = any ($1) returning batch_id
     )
     update tieout.instructions i set state = 'planned', batch_id = null, changed_by = 'tieout'
     from gone where i.batch_id = gone.batch_id and i.state = 'queued'`,
    [accountIds],
  );
}

/** A new run tries again what an earlier one gave up. */
export async function resetTries(db: Db, accountIds: readonly string[]): Promise<void> {
  await db.query(
    `update tieout.batches set tries = 0
     where state = 'queued' and tries > 0 and account_id = any ($1)`,
    [accountIds],
  );
}

/** Nothing was claimed and nothing sent: says why, and counts the try. */
export async function deferBatch(db: Db, batchId: bigint, reason: string): Promise<void> {
  await db.query(
    `update tieout.batches set tries = tries + 1, reason = $2
     where batch_id = $1 and state = 'queued'`,
    [batchId, reason],
  );
}

/** Says why it waits; a stop is no try. */
export async function noteBatch(db: Db, batchId: bigint, reason: string): Promise<void> {
  await db.query(`update tieout.batches set reason = $2 where batch_id = $1 and state = 'queued'`, [
    batchId,
    reason,
  ]);
}
