// What became of a batch that was sent: reads the answer entry by entry, or says that nobody knows.
// Pure reading and one statement, so that it can be done again after a crash from the answer that
// was stored, with the same result. Neighbours: sendBatch.ts right after a send, recover.ts later.

import type { RawAnswer } from '../gateway/transport.js';
import type { InstructionOutcome } from '../store/attempts.js';
import { recordOutcomes } from '../store/attempts.js';
import type { QueuedBatch } from '../store/batches.js';
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
    deps.log(`batch ${batch.batchId}: ${reading.signatureWarning}`, {
      level: 'warn',
      ...aboutBatch(batch),
    });
  }
  const reason = reading.trusted ? null : reading.reason;
  const result = { answered: true, reason, outcomes, isSenderGone };
  await recordOutcomes(deps.db, attemptId, result, deps.now());
  tellTrouble(deps, batch, outcomes, reason);
  if (batch.operation === 'payout') {
    await confirmAcceptedPayouts(deps.db, [batch.accountId], deps.now());
  }
}

/** A batch that was accepted whole is told by the figures alone. */
function tellTrouble(
  { log }: NightDeps,
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
export function tellUnanswered(deps: NightDeps, { batch, entries }: SentBatch, why: string): void {
  deps.log(`batch ${batch.batchId}, ${batch.operation}: ${entries.length} unknown: ${why}`, {
    level: 'warn',
    ...aboutBatch(batch),
  });
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
