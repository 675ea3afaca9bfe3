// What became of a batch that was sent: reads the answer entry by entry, or says that nobody knows.
// Pure reading and one statement, so that it can be done again after a crash from the answer that
// was stored, with the same result. Neighbours: sendBatch.ts right after a send, recover.ts later.

import type { RawAnswer } from '../gateway/transport.js';
import type { InstructionOutcome } from '../store/attempts.js';
import { recordOutcomes } from '../store/attempts.js';
import { confirmAcceptedPayouts } from '../store/payouts.js';
import type { NightDeps } from './deps.js';
import type { SentBatch } from './prepareSend.js';
import { readSent } from './prepareSend.js';

/** Reads a stored answer and records what became of each entry; used again after a crash. */
export async function readAnswer(
  deps: NightDeps,
  sent: SentBatch,
  attemptId: string,
  answer: RawAnswer,
  isSenderGone = true,
): Promise<void> {
  const { batch, entries } = sent;
  const reading = readSent(deps, sent, answer);
  const outcomes: InstructionOutcome[] = reading.entries.map((outcome, index) => ({
    instructionId: entries[index]?.instructionId ?? 0n,
    kind: outcome.kind,
    code: outcome.code,
    message: outcome.message,
    reference: outcome.reference,
    reason: outcome.kind === 'accepted' ? null : (outcome.reason ?? outcome.message ?? 'no reason'),
  }));
  if (reading.trusted && reading.signatureWarning !== null) {
    deps.log(`batch ${batch.batchId}: ${reading.signatureWarning}`, { level: 'warn' });
  }
  const reason = reading.trusted ? null : reading.reason;
  const result = { answered: true, reason, outcomes, isSenderGone };
  await recordOutcomes(deps.db, attemptId, result, deps.now());
  if (batch.operation === 'payout') {
    await confirmAcceptedPayouts(deps.db, [batch.accountId], deps.now());
  }
}

/** No answer that can be read: every entry is unknown. */
export async function recordUnknown(
  deps: NightDeps,
  sent: Pick<SentBatch, 'entries'>,
  attemptId: string,
  reason: string,
  isSenderGone = true,
): Promise<void> {
  const outcomes = sent.entries.map((entry) => ({
    instructionId: entry.instructionId,
    kind: 'unknown' as const,
    code: null,
    message: null,
    reference: null,
    reason,
  }));
  const result = { answered: false, reason, outcomes, isSenderGone };
  await recordOutcomes(deps.db, attemptId, result, deps.now());
}
