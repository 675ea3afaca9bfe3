// What became of a batch that was sent: reads the answer entry by entry, or says that nobody knows.
// Pure reading and one statement, so that it can be done again after a crash from the answer that
// was stored, with the same result. Neighbours: sendBatch.ts right after a send, recoverAttempts.ts
// later.

import { messageOf } from '../core/errors.js';
import type { QueuedBatch } from '../core/instructions/batch.js';
import type { PayoutAnswer } from '../core/instructions/payoutAnswer.js';
import { oneLine } from '../core/log.js';
import { isOfValues } from '../database/connection.js';
import type { EntryOutcome } from '../gateway/batches/answers.js';
import { feeMoney } from '../gateway/batches/payoutMoney.js';
import type { RawAnswer } from '../gateway/transport/transport.js';
import { confirmAcceptedPayouts } from '../instructions/payoutsStore.js';
import type { InstructionOutcome, StoredAnswer } from './batches/attemptsStore.js';
import { recordOutcomes } from './batches/attemptsStore.js';
import type { SendDeps } from './deps.js';
import type { SentBatch } from './prepareSend.js';
import { readSent } from './prepareSend.js';

export type OutcomeDeps = Pick<SendDeps, 'db' | 'gateway' | 'log' | 'now'>;

/** What an answer says of each entry. */
export interface Outcomes {
  outcomes: InstructionOutcome[];
  /** why it cannot be trusted as a whole; null: it can */
  reason: string | null;
  signatureWarning: string | null;
}

/** Pure: the same answer says the same, today and after a crash. */
export function outcomesOf(
  deps: Pick<SendDeps, 'gateway'>,
  sent: SentBatch,
  answer: RawAnswer,
): Outcomes {
  const { entries } = sent;
  const reading = readSent(deps, sent, answer);
  const outcomes: InstructionOutcome[] = reading.entries.map((outcome, index) => ({
    instructionId: entries[index]?.instructionId ?? 0n,
    kind: outcome.kind,
    code: outcome.code,
    message: outcome.message,
    reference: outcome.reference,
    ...(outcome.refundReference && { refund_reference: outcome.refundReference }),
    ...(outcome.payout && { payout: payoutAnswer(deps, outcome.payout) }),
    reason: outcome.kind === 'accepted' ? null : (outcome.reason ?? outcome.message ?? 'no reason'),
  }));
  return reading.trusted
    ? { outcomes, reason: null, signatureWarning: reading.signatureWarning }
    : { outcomes, reason: reading.reason, signatureWarning: null };
}

function payoutAnswer(
  { gateway }: Pick<SendDeps, 'gateway'>,
  said: NonNullable<EntryOutcome['payout']>,
): PayoutAnswer {
  return {
    meaning: said.meaning,
    status: said.status,
    fee_amount: said.fee_amount,
    fee_currency: said.fee_currency,
    fee: feeMoney(gateway.profile, said),
    amount_payer_pays: said.amount_payer_pays,
    amount_beneficiary_receives: said.amount_beneficiary_receives,
    created_at: said.created_at,
    last_updated_at: said.last_updated_at,
    payer_id: said.payer_id,
    short_reference_id: said.short_reference_id,
    local_clearing_system: said.local_clearing_system,
  };
}

/**
 * Records what an answer said, and the answer itself where the database has yet to store it. What
 * the database does not take leaves the entries unknown: it would fail again each time, and
 * everything else would wait for it.
 */
export async function recordAnswer(
  deps: Pick<SendDeps, 'db' | 'log' | 'now'>,
  { batch, entries }: Pick<SentBatch, 'batch' | 'entries'>,
  attemptId: string,
  said: Outcomes,
  more: { isSenderGone: boolean; toStore?: StoredAnswer | null },
): Promise<void> {
  const record = async (what: Outcomes): Promise<Outcomes> => {
    const { outcomes, reason } = what;
    const result = { answered: true, reason, outcomes, tellsOfGateway: true, ...more };
    await recordOutcomes(deps.db, attemptId, result, deps.now());
    return what;
  };
  const { outcomes, reason, signatureWarning } = await record(said).catch((error: unknown) => {
    if (!isOfValues(error)) throw error;
    return record(unreadable(entries, 'what its answer says could not be recorded', error));
  });
  if (signatureWarning !== null) {
    deps.log(`batch ${batch.batchId}: ${signatureWarning}`, {
      level: 'warn',
      ...aboutBatch(batch),
    });
  }
  tellTrouble(deps, batch, outcomes, reason);
  if (batch.operation === 'payout') {
    await confirmAcceptedPayouts(deps.db, [batch.accountId], deps.now());
  }
}

/** Of an answer that its sender did not come to read: one that cannot be read says nothing. */
export function readOrUnknown(entries: SentBatch['entries'], read: () => Outcomes): Outcomes {
  try {
    return read();
  } catch (error) {
    return unreadable(entries, 'its answer could not be read', error);
  }
}

const ERROR_CHARS_MAX = 200;

function unreadable(entries: SentBatch['entries'], what: string, error: unknown): Outcomes {
  const reason = `${what}: ${oneLine(messageOf(error), ERROR_CHARS_MAX)}`;
  return { outcomes: allUnknown(entries, reason), reason, signatureWarning: null };
}

function allUnknown(entries: SentBatch['entries'], reason: string): InstructionOutcome[] {
  return entries.map(({ instructionId }) => ({
    instructionId,
    kind: 'unknown',
    code: null,
    message: null,
    reference: null,
    reason,
  }));
}

/** A batch that was accepted whole is told by the figures alone. */
function tellTrouble(
  { log }: Pick<SendDeps, 'log'>,
  batch: QueuedBatch,
  outcomes: readonly InstructionOutcome[],
  reason: string | null,
): void {
  const counts = OUTCOMES.map((kind) => ({
    kind,
    count: outcomes.filter((outcome) => outcome.kind === kind).length,
  })).filter(({ count }) => count > 0);
  if (counts.every(({ kind }) => kind === 'accepted')) return;
  const words = counts.map(({ kind, count }) => `${count} ${kind}`).join(', ');
  const why = reason === null ? '' : `: ${reason}`;
  const isUnknown = counts.some(({ kind }) => kind === 'unknown');
  log(`batch ${batch.batchId}, ${batch.operation}: ${words}${why}`, {
    level: isUnknown ? 'warn' : 'info',
    ...aboutBatch(batch),
  });
}

const OUTCOMES = ['accepted', 'rejected', 'unknown'] as const;

function aboutBatch({ accountId, batchId }: QueuedBatch) {
  return { account: accountId, batch: String(batchId) };
}

/** Nobody answered what was sent: told by whoever sent it. */
export function tellUnanswered(
  deps: Pick<SendDeps, 'log'>,
  { batch, entries }: SentBatch,
  why: string,
): void {
  deps.log(`batch ${batch.batchId}, ${batch.operation}: ${entries.length} unknown: ${why}`, {
    level: 'warn',
    ...aboutBatch(batch),
  });
}

/** No answer that can be read: every entry is unknown. */
export async function recordUnknown(
  deps: Pick<SendDeps, 'db' | 'now'>,
  sent: Pick<SentBatch, 'entries'>,
  attemptId: string,
  reason: string,
  { isSenderGone = true, tellsOfGateway = true } = {},
): Promise<void> {
  const outcomes = allUnknown(sent.entries, reason);
  const result = { answered: false, reason, outcomes, isSenderGone, tellsOfGateway };
  await recordOutcomes(deps.db, attemptId, result, deps.now());
}
