// Attempts: the durable half of sending. The claim is a compare-and-set of the batch from queued to
// sending together with an attempt row, committed before the first byte; outcomes are written once,
// by the attempt that sent. Nothing here talks to the gateway, and nothing ever rewrites an
// attempt. Neighbours: batchesStore.ts, send/sendBatch.ts, send/recoverAttempts.ts.

import { UNCLEAN_BATCHES_MAX } from '../../core/instructions/breaker.js';
import type { PayoutAnswer } from '../../core/instructions/payoutAnswer.js';
import type { InstructionOperation } from '../../core/orders/order.js';
import type { Db } from '../../database/db.js';
import { statement } from '../../database/statements.js';
import type { Runner } from '../../runs/runsStore.js';

export interface Attempt {
  attemptId: string;
  /** of the transaction that claimed, to ask what became of its COMMIT */
  xid: string;
}

export interface InstructionOutcome {
  instructionId: bigint;
  kind: 'accepted' | 'rejected' | 'unknown';
  code: string | null;
  message: string | null;
  reference: string | null;
  reason: string | null;
  /** refunds only: refund_reference, beside the id of it */
  refund_reference?: string;
  /** payouts only: what the gateway said of it */
  payout?: PayoutAnswer;
}

/**
 * The claim must reach the wire within this time, or nothing is written (law 1 of ARCHITECTURE.md).
 */
export const SEND_BUDGET_MS = 2_000;

/**
 * Claims a batch for exactly these instructions, as the last statement of the transaction that
 * weighed it. Null when another sender has it. Throws ClaimChanged when an entry came or went
 * meanwhile, so that all of it is rolled back.
 */
export async function claimBatch(
  tx: Db,
  batchId: bigint,
  claim: {
    attemptId: string;
    instructionIds: readonly bigint[];
    bodySha256: string;
    /** the request as it is kept: compressed, masked */
    requestGzip: Buffer;
    /** the account's newest run */
    runId: bigint | null;
    journalId: string | null;
  },
  runner: Runner,
): Promise<Attempt | null> {
  const { rows } = await tx.query<{
    entries: bigint;
    others: bigint;
    xid: string;
  }>(
    statement('send/batches/claimBatch'),
    [
      batchId,
      claim.instructionIds.map(String),
      claim.attemptId,
      claim.bodySha256,
      runner.host,
      runner.boot,
      runner.pid,
      runner.started,
      SEND_BUDGET_MS / 1000,
      claim.runId,
      claim.journalId,
      claim.requestGzip,
    ],
    'claimBatch',
  );
  const row = rows[0];
  if (!row) return null;
  if (Number(row.entries) !== claim.instructionIds.length || row.others > 0n) {
    throw new ClaimChanged('the batch changed while it was claimed');
  }
  return { attemptId: claim.attemptId, xid: row.xid };
}

/** Thrown to roll a claim back. */
export class ClaimChanged extends Error {}

/** No byte had left: the batch waits again, or stays given up after too many tries. */
export async function recordNotSent(
  db: Db,
  attemptId: string,
  reason: string,
  isTry = true,
): Promise<void> {
  await db.query(statement('send/batches/recordNotSent'), [attemptId, reason, isTry ? 1 : 0]);
}

/** A raw answer as it is kept. */
export interface StoredAnswer {
  status: number;
  contentType: string | null;
  contentEncoding: string | null;
  body: Buffer;
  sha256: string;
}

/** Keeps the raw answer before anybody reads it; false where that was done before. */
export async function storeAnswer(
  db: Db,
  attemptId: string,
  answer: StoredAnswer,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into tieout.answers (attempt_id, received_at, http_status, content_type,
       content_encoding, body, body_sha256)
     select attempt_id, clock_timestamp(), $2, $3, $4, $5, $6
     from tieout.attempts where attempt_id = $1 on conflict do nothing`,
    [
      attemptId,
      answer.status,
      answer.contentType,
      answer.contentEncoding,
      answer.body,
      answer.sha256,
    ],
  );
  return rowCount === 1;
}

/**
 * Writes what became of an attempt and its entries, once; false when that was done before. Moves
 * canary and breaker of the account on.
 */
export async function recordOutcomes(
  db: Db,
  attemptId: string,
  result: {
    answered: boolean;
    reason: string | null;
    outcomes: readonly InstructionOutcome[];
    /** the sender itself says so, or its process is known to be gone: nothing can leave any more */
    isSenderGone: boolean;
    /** the raw answer, where the database does not have it yet */
    toStore?: StoredAnswer | null;
    /** false: its sender died without an answer, which says nothing of the gateway */
    tellsOfGateway: boolean;
  },
  now: Date,
): Promise<boolean> {
  const outcomes = result.outcomes.map(({ instructionId, ...outcome }) => ({
    instruction_id: instructionId.toString(),
    ...outcome,
  }));
  const answer = result.toStore ?? null;
  const { rows } = await db.query<{ written: bigint }>(
    statement('send/batches/recordOutcomes'),
    [
      attemptId,
      result.answered ? 'answered' : 'unanswered',
      result.reason,
      JSON.stringify(outcomes),
      now,
      outcomes.every((outcome) => outcome.kind !== 'unknown'),
      UNCLEAN_BATCHES_MAX,
      result.isSenderGone,
      answer?.status,
      answer?.contentType,
      answer?.contentEncoding,
      answer?.body,
      answer?.sha256,
      result.tellsOfGateway,
    ],
    'recordOutcomes',
  );
  return rows[0]?.written === 1n;
}

/** Those of these of which is on record what became of them. */
export async function endedAttempts(db: Db, attemptIds: readonly string[]): Promise<string[]> {
  const { rows } = await db.query<{ attempt_id: string }>(
    `select attempt_id from tieout.attempts
     where attempt_id = any ($1::uuid[]) and outcome is not null order by attempt_id`,
    [attemptIds],
  );
  return rows.map((row) => row.attempt_id);
}

export interface OpenAttempt {
  attemptId: string;
  batchId: bigint;
  runId: bigint;
  accountId: string;
  operation: InstructionOperation;
  runner: Omit<Runner, 'id'>;
  /** the time for sending and answering is long over, by the database's clock */
  isOverdue: boolean;
  /** it lies ahead of the database's clock, which was set back since: no time says how old it is */
  isDatedAhead: boolean;
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
    operation: InstructionOperation;
    host: string;
    boot_id: string;
    pid: number;
    process_started: string;
    is_overdue: boolean;
    is_dated_ahead: boolean;
    http_status: number | null;
    content_type: string | null;
    content_encoding: string | null;
    body: Buffer | null;
  }>(
    `select t.attempt_id, t.batch_id, b.run_id, b.account_id, b.operation, t.host, t.boot_id,
       t.pid, t.process_started,
       t.send_by + make_interval(secs => $2) < clock_timestamp() as is_overdue,
       t.claimed_at > clock_timestamp() + interval '1 second' as is_dated_ahead,
       a.http_status, a.content_type, a.content_encoding, a.body
     from tieout.attempts t
     join tieout.batches b using (batch_id)
     left join tieout.answers a using (attempt_id)
     where t.outcome is null and t.account_id = any ($1)
     order by t.account_id, t.batch_id, t.claimed_at`,
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
    isDatedAhead: row.is_dated_ahead,
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
