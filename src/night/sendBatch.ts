// The sending of one batch, the most dangerous page of the program (DESIGN law 1): permit, connect,
// claim, one write, raw answer kept, answer read, outcomes recorded. From the first byte on
// whatever is not a fully checked answer is unknown; nothing below retries. Safe to be called twice
// for the same batch: the second caller finds the claim taken.

import { createHash } from 'node:crypto';
import { parseAmount } from '../core/money.js';
import type { Account } from '../gateway/account.js';
import { wireAmount } from '../gateway/amount.js';
import type { BatchEntry, PreparedBatch } from '../gateway/batchOps.js';
import type { MoneyConnection } from '../gateway/moneyTransport.js';
import type { RawAnswer } from '../gateway/transport.js';
import type { InstructionOutcome } from '../store/attempts.js';
import {
  claimBatch,
  recordNotSent,
  recordOutcomes,
  SEND_BUDGET_MS,
  storeAnswer,
} from '../store/attempts.js';
import type { BatchInstruction, BatchRow } from '../store/batches.js';
import { deferBatch, dropBatch, loadBatch, withdrawFromBatch } from '../store/batches.js';
import type { NightDeps } from './deps.js';
import { lookAgain } from './lookAgain.js';
import { maySend } from './permit.js';

/** So often a batch is tried in one run before it waits for the next. */
export const BATCH_TRIES_MAX = 4;

/** Sends a batch if it still waits and may be sent. */
export async function sendBatch(deps: NightDeps, batchId: bigint): Promise<void> {
  const batch = await loadBatch(deps.db, batchId);
  if (batch?.state !== 'queued') return;
  const account = deps.config.accounts.find((one) => one.accountId === batch.accountId);
  if (!account) {
    throw new Error(`account ${batch.accountId} is not in the configuration of this worker`);
  }
  try {
    const entries = await permitted(deps, batch, account);
    if (entries === null) return;
    if (entries.length === 0) {
      await dropBatch(deps.db, batchId, 'nothing in it is needed any more');
      return;
    }
    await sendEntries(deps, batch, account, entries);
  } catch (error) {
    // Only a batch that still waits is touched: after the claim, recover.ts says what it is.
    const reason = error instanceof Error ? error.message : String(error);
    await deferBatch(deps.db, batchId, `tieout failed: ${reason}`);
    throw error;
  }
}

/** What may go out now; null when nothing may, with the reason on the batch. */
async function permitted(
  deps: NightDeps,
  batch: BatchRow,
  account: Account,
): Promise<BatchInstruction[] | null> {
  let permit = await maySend(deps, batch, account);
  if (permit.kind === 'stale') {
    await lookAgain(deps, batch.runId, permit.instructionIds);
    permit = await maySend(deps, batch, account);
  }
  switch (permit.kind) {
    case 'no':
      await deferBatch(deps.db, batch.batchId, permit.reason);
      return null;
    case 'stale':
      await deferBatch(deps.db, batch.batchId, 'the look before sending was not answered');
      return null;
    case 'yes':
      await withdrawFromBatch(deps.db, batch.runId, permit.needless, deps.now());
      return permit.entries;
  }
}

async function sendEntries(
  deps: NightDeps,
  batch: BatchRow,
  account: Account,
  entries: readonly BatchInstruction[],
): Promise<void> {
  const wire = entries.map((entry) => wireEntry(deps, entry));
  const prepared = deps.gateway.prepareBatch(account, batch.operation, wire);
  const opened = await deps.gateway.connectMoney(account);
  if (opened.kind === 'not_sent') {
    await deferBatch(deps.db, batch.batchId, opened.reason);
    return;
  }
  try {
    // Connecting may have taken long: what was permitted before it is asked again right here.
    if (await isStillPermitted(deps, batch, account, entries.length)) {
      await claimAndPost(deps, { batch, account, entries, wire, prepared }, opened.connection);
    } else await deferBatch(deps.db, batch.batchId, 'it changed while the connection was opened');
  } finally {
    opened.connection.close();
  }
}

async function isStillPermitted(
  deps: NightDeps,
  batch: BatchRow,
  account: Account,
  entries: number,
): Promise<boolean> {
  const permit = await maySend(deps, batch, account);
  return permit.kind === 'yes' && permit.needless.size === 0 && permit.entries.length === entries;
}

interface Sending {
  batch: BatchRow;
  account: Account;
  entries: readonly BatchInstruction[];
  wire: readonly BatchEntry[];
  prepared: PreparedBatch;
}

async function claimAndPost(
  deps: NightDeps,
  sending: Sending,
  connection: MoneyConnection,
): Promise<void> {
  const { batch, prepared } = sending;
  const began = deps.monotonic();
  const attempt = await claimBatch(
    deps.db,
    batch,
    {
      attemptId: deps.newId(),
      instructionIds: sending.entries.map((entry) => entry.instructionId),
      bodySha256: prepared.sha256,
    },
    deps.runner,
  );
  if (attempt === null) return;
  const posted = await connection.post({
    path: prepared.path,
    headers: { 'content-type': prepared.contentType },
    body: prepared.body,
    deadlineMs: deps.config.gateway.profile.limits.timeoutMs,
    // Asked in the tick of the first write: a sender that slept past its budget writes nothing.
    mayWrite: () => deps.monotonic() - began < SEND_BUDGET_MS,
  });
  switch (posted.kind) {
    case 'not_sent':
      await recordNotSent(deps.db, batch.batchId, attempt.attemptId, posted.reason);
      return;
    case 'unknown':
      await recordUnknown(deps, sending, attempt.attemptId, posted.reason);
      return;
    case 'answered':
      await storeAnswer(deps.db, attempt.attemptId, { ...posted, sha256: sha256Of(posted.body) });
      await readAnswer(deps, sending, attempt.attemptId, posted);
  }
}

/** Reads a stored answer and records what became of each entry; used again after a crash. */
export async function readAnswer(
  deps: NightDeps,
  sending: Pick<Sending, 'batch' | 'account' | 'entries' | 'wire'>,
  attemptId: string,
  answer: RawAnswer,
): Promise<void> {
  const { batch, account, entries, wire } = sending;
  const reading = deps.gateway.readBatchAnswer(account, batch.operation, wire, answer);
  const outcomes: InstructionOutcome[] = reading.entries.map((outcome, index) => ({
    instructionId: entries[index]?.instructionId ?? 0n,
    kind: outcome.kind,
    code: outcome.code,
    message: outcome.message,
    reference: outcome.reference,
    reason: outcome.kind === 'accepted' ? null : (outcome.reason ?? outcome.message ?? 'no reason'),
  }));
  if (reading.trusted && reading.signatureWarning !== null) {
    deps.log(`batch ${batch.batchId}: ${reading.signatureWarning}`);
  }
  const reason = reading.trusted ? null : reading.reason;
  await recordOutcomes(deps.db, batch, attemptId, { answered: true, reason, outcomes }, deps.now());
}

/** No answer that can be read: every entry is unknown. */
export async function recordUnknown(
  deps: NightDeps,
  sending: Pick<Sending, 'batch' | 'entries'>,
  attemptId: string,
  reason: string,
): Promise<void> {
  const outcomes = sending.entries.map((entry) => ({
    instructionId: entry.instructionId,
    kind: 'unknown' as const,
    code: null,
    message: null,
    reference: null,
    reason,
  }));
  await recordOutcomes(
    deps.db,
    sending.batch,
    attemptId,
    { answered: false, reason, outcomes },
    deps.now(),
  );
}

/** An instruction in the words of the wire. The tag lets a person find a refund in the portal. */
export function wireEntry(deps: NightDeps, entry: BatchInstruction): BatchEntry {
  const { profile } = deps.config.gateway;
  const wire: BatchEntry = {
    transactionId: entry.transactionId,
    orderNo: entry.orderNo,
    currency: entry.currency,
    amount: wireText(deps, entry.currency, entry.amount),
  };
  if (entry.refundAmount !== null) {
    const tag = profile.refundReasonTag ? `[tieout ${entry.instructionId}]` : '';
    wire.refundAmount = wireText(deps, entry.currency, entry.refundAmount);
    wire.refundReason = [entry.refundReason ?? '', tag].filter((part) => part !== '').join(' ');
  }
  if (entry.reviewDecision !== null) wire.decision = entry.reviewDecision;
  return wire;
}

function wireText(deps: NightDeps, currency: string, text: string): string {
  const amount = parseAmount(text);
  const wire =
    amount === null ? null : wireAmount(deps.config.gateway.profile.currencies, currency, amount);
  if (wire === null) throw new Error(`${text} ${currency} cannot be written for the gateway`);
  return wire;
}

function sha256Of(body: Buffer): string {
  return createHash('sha256').update(body).digest('hex');
}
