// Attempts: the durable half of sending. The claim is a compare-and-set of the batch from queued to
// sending together with an attempt row, committed before the first byte; outcomes are written once,
// by the attempt that sent. Nothing here talks to the gateway, and nothing ever rewrites an
// attempt. Neighbours: batches.ts, night/sendBatch.ts, night/recover.ts.

import type { Operation } from '../core/order.js';
import type { BatchRow } from './batches.js';
import type { Database, Db } from './db.js';
import type { Runner } from './runs.js';

export interface Attempt {
  attemptId: string;
  attemptNo: number;
  claimedAt: Date;
}

export interface InstructionOutcome {
  instructionId: bigint;
  kind: 'accepted' | 'rejected' | 'unknown';
  code: string | null;
  message: string | null;
  reference: string | null;
  reason: string | null;
}

/** The claim must reach the wire within this time, or nothing is written (DESIGN law 1). */
export const SEND_BUDGET_MS = 2_000;

/**
 * Claims a batch: queued becomes sending for exactly these instructions, with an attempt on record.
 * Null when anything is not as it was read: another sender has it, or an entry was withdrawn.
 * Resolves only after COMMIT was acknowledged.
 */
export async function claimBatch(
  db: Database,
  batch: BatchRow,
  claim: { attemptId: string; instructionIds: readonly bigint[]; bodySha256: string },
  runner: Runner,
): Promise<Attempt | null> {
  const ids = claim.instructionIds.map(String);
  return db
    .transaction(async (tx) => {
      // Commit must wait for the disk whatever the session's default says.
      await tx.query(`set local synchronous_commit = on`);
      const moved = await tx.query<{ attempts: number }>(
        `update tieout.batches set state = 'sending', attempts = attempts + 1
         where batch_id = $1 and state = 'queued' returning attempts`,
        [batch.batchId],
      );
      const attemptNo = moved.rows[0]?.attempts;
      if (attemptNo === undefined) return null;
      const entries = await tx.query(
        `update tieout.instructions set state = 'sending', changed_by = 'tieout', reason = null
         where batch_id = $1 and state = 'queued' and instruction_id = any ($2::bigint[])`,
        [batch.batchId, ids],
      );
      const others = await tx.query(
        `select from tieout.instructions where batch_id = $1 and state = 'queued'`,
        [batch.batchId],
      );
      if (entries.rowCount !== ids.length || others.rowCount > 0) throw new ClaimChanged();
      const { rows } = await tx.query<{ claimed_at: Date }>(
        `insert into tieout.attempts (attempt_id, batch_id, attempt_no, account_id, entries,
           body_sha256, host, boot_id, pid, process_started, claimed_at, send_by)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, clock_timestamp(),
           clock_timestamp() + make_interval(secs => $11))
         returning claimed_at`,
        [
          claim.attemptId,
          batch.batchId,
          attemptNo,
          batch.accountId,
          JSON.stringify(ids),
          claim.bodySha256,
          runner.host,
          runner.boot,
          runner.pid,
          runner.started,
          SEND_BUDGET_MS / 1000,
        ],
      );
      return {
        attemptId: claim.attemptId,
        attemptNo,
        claimedAt: rows[0]?.claimed_at ?? new Date(0),
      };
    })
    .catch((error: unknown) => {
      if (error instanceof ClaimChanged) return null;
      throw error;
    });
}

/** Thrown inside the claim to roll it back; never leaves this file. */
class ClaimChanged extends Error {}

/** No byte had left: the batch waits again, or stays given up after too many tries. */
export async function recordNotSent(
  db: Database,
  batchId: bigint,
  attemptId: string,
  reason: string,
): Promise<void> {
  await db.transaction(async (tx) => {
    const { rowCount } = await tx.query(
      `update tieout.attempts set outcome = 'not_sent', finished_at = clock_timestamp(), reason = $2
       where attempt_id = $1 and outcome is null`,
      [attemptId, reason],
    );
    if (rowCount !== 1) return;
    await tx.query(
      `update tieout.instructions set state = 'queued', changed_by = 'tieout', reason = $2
       where batch_id = $1 and state = 'sending'`,
      [batchId, reason],
    );
    await tx.query(
      `update tieout.batches set state = 'queued', tries = tries + 1, reason = $2
       where batch_id = $1 and state = 'sending'`,
      [batchId, reason],
    );
  });
}

/** Keeps the raw answer before anybody reads it. */
export async function storeAnswer(
  db: Db,
  attemptId: string,
  answer: {
    status: number;
    contentType: string | null;
    contentEncoding: string | null;
    body: Buffer;
    sha256: string;
  },
): Promise<void> {
  await db.query(
    `insert into tieout.answers (attempt_id, received_at, http_status, content_type,
       content_encoding, body, body_sha256)
     values ($1, clock_timestamp(), $2, $3, $4, $5, $6) on conflict do nothing`,
    [
      attemptId,
      answer.status,
      answer.contentType,
      answer.contentEncoding,
      answer.body,
      answer.sha256,
    ],
  );
}

/**
 * Writes what became of each entry. Only instructions that are still sending move: after somebody
 * called them unknown, a late answer changes nothing here.
 */
export async function recordOutcomes(
  db: Database,
  batch: { batchId: bigint; runId: bigint },
  attemptId: string,
  result: { answered: boolean; reason: string | null; outcomes: readonly InstructionOutcome[] },
  now: Date,
): Promise<boolean> {
  return db.transaction(async (tx) => {
    const outcome = result.answered ? 'answered' : 'unanswered';
    const { rowCount } = await tx.query(
      `update tieout.attempts set outcome = $2, finished_at = clock_timestamp(), reason = $3
       where attempt_id = $1 and outcome is null`,
      [attemptId, outcome, result.reason],
    );
    if (rowCount !== 1) return false;
    await tx.query(
      `update tieout.instructions i
       set state = o.kind, outcome_code = o.code, outcome_message = o.message,
         gateway_reference = o.reference, reason = o.reason, changed_by = 'tieout',
         settled_at = case when o.kind = 'rejected' then $2::timestamptz end,
         settled_run_id = case when o.kind = 'rejected' then $3::bigint end
       from jsonb_to_recordset($4::jsonb) as o (instruction_id bigint, kind text, code text,
         message text, reference text, reason text)
       where i.instruction_id = o.instruction_id and i.state = 'sending' and i.batch_id = $1`,
      [
        batch.batchId,
        now,
        batch.runId,
        JSON.stringify(
          result.outcomes.map((entry) => ({
            ...entry,
            instruction_id: entry.instructionId.toString(),
            instructionId: undefined,
          })),
        ),
      ],
    );
    await tx.query(
      `update tieout.batches set state = $2, reason = $3 where batch_id = $1 and state = 'sending'`,
      [batch.batchId, outcome, result.reason],
    );
    return true;
  });
}

export interface OpenAttempt {
  attemptId: string;
  batchId: bigint;
  runId: bigint;
  accountId: string;
  operation: Operation;
  runner: Omit<Runner, 'id'>;
  /** the time for sending and answering is long over, by the database's clock */
  isOverdue: boolean;
  answer: {
    status: number;
    contentType: string | null;
    contentEncoding: string | null;
    body: Buffer;
  } | null;
}

/** Attempts without an outcome: somebody is sending, or died while sending. */
export async function openAttempts(
  db: Db,
  accountIds: readonly string[],
  graceSeconds: number,
): Promise<OpenAttempt[]> {
  const { rows } = await db.query<{
    attempt_id: string;
    batch_id: bigint;
    run_id: bigint;
    account_id: string;
    operation: Operation;
    host: string;
    boot_id: string;
    pid: number;
    process_started: string;
    is_overdue: boolean;
    http_status: number | null;
    content_type: string | null;
    content_encoding: string | null;
    body: Buffer | null;
  }>(
    `select t.attempt_id, t.batch_id, b.run_id, b.account_id, b.operation, t.host, t.boot_id,
       t.pid, t.process_started,
       t.send_by + make_interval(secs => $2) < clock_timestamp() as is_overdue,
       a.http_status, a.content_type, a.content_encoding, a.body
     from tieout.attempts t
     join tieout.batches b using (batch_id)
     left join tieout.answers a using (attempt_id)
     where t.outcome is null and t.account_id = any ($1)`,
    [accountIds, graceSeconds],
  );
  return rows.map((row) => ({
    attemptId: row.attempt_id,
    batchId: row.batch_id,
    runId: row.run_id,
    accountId: row.account_id,
    operation: row.operation,
    runner: {
      host: row.host,
      boot: row.boot_id,
      pid: row.pid,
      started: row.process_started,
    },
    isOverdue: row.is_overdue,
    answer:
      row.body === null || row.http_status === null
        ? null
        : {
            status: row.http_status,
            contentType: row.content_type,
            contentEncoding: row.content_encoding,
            body: row.body,
          },
  }));
}
