// A person's decision about one instruction or many: approve, reject, resolve, replan. For the
// command line with a claimed name, for the console with one that logged in. One transaction; each
// instruction gets its own verdict, and one that refuses does not keep the others from being
// decided. What is approved is put into batches at once, and they are enqueued.

import type { LiveFrom } from '../core/accounts/observed.js';
import { unsentWords } from '../core/accounts/observed.js';
import { messageOf, UsageError } from '../core/errors.js';
import type { QueuedBatch } from '../core/instructions/batch.js';
import type { Decider } from '../core/instructions/decider.js';
import { wordsProblem } from '../core/instructions/decider.js';
import type { DecisionKind, Finding } from '../core/instructions/decision.js';
import { refusalOf, refusalWords } from '../core/instructions/decision.js';
import type { InstructionState } from '../core/instructions/instruction.js';
import type { QueuePort } from '../core/queuePort.js';
import { withoutCards } from '../core/text/cardSpellings.js';
import type { Database, Tx } from '../database/db.js';
import type { DecidableInstruction } from './decisionsStore.js';
import { holdInstructions, waitForFigures, writeDecisions } from './decisionsStore.js';
import { cutApproved } from './instructionsStore.js';

/** Instructions that one decision may cover. */
export const DECIDED_MAX = 1_000;

export type Decision =
  | { kind: 'approve'; reason: string | null }
  | { kind: 'reject'; reason: string }
  | { kind: 'resolve'; finding: Finding; reason: string; reference: string }
  | { kind: 'replan'; reason: string | null };

export interface DecisionRequest {
  ids: readonly bigint[];
  decision: Decision;
  who: Decider;
  /** the digest that each was seen with; without one it is decided as it is now */
  seen?: ReadonlyMap<bigint, string>;
  /** its own sheet was shown, and this is the decision about that one; absent: it was not */
  isAlone?: boolean;
  /** null: of every account */
  accountIds?: readonly string[] | null;
  /** says what would happen and changes nothing */
  check?: boolean;
}

export type DecisionVerdict =
  | {
      kind: 'done';
      instruction: DecidableInstruction;
      becomes: InstructionState;
      words: string;
      /** approved, and not sent by this configuration */
      isUnsent: boolean;
    }
  | { kind: 'refused'; instruction: DecidableInstruction; why: string; words: string }
  | { kind: 'not_found'; instructionId: bigint; words: string };

export interface DecideDeps {
  /** that of whoever decides: what is approved is sent by it, or is not */
  config: { accounts: readonly LiveFrom[] };
  db: Database;
  queuePort: QueuePort;
  now: () => Date;
  log: (line: string) => void;
}

/** One verdict for each id, in the order of the ids. */
export async function decideInstructions(
  deps: DecideDeps,
  request: DecisionRequest,
): Promise<DecisionVerdict[]> {
  const ids = [...new Set(request.ids)];
  requireWords(request, ids.length);
  let batches: QueuedBatch[] = [];
  const verdicts = await deps.db.transaction(async (tx) => {
    if (request.check !== true) await waitForFigures(tx);
    const held = await holdInstructions(tx, ids, request.accountIds ?? null);
    const judged = new Map(held.map((one) => [one.instructionId, judge(deps, one, request)]));
    const done = held.filter((one) => judged.get(one.instructionId)?.kind === 'done');
    if (request.check !== true && done.length > 0) batches = await write(deps, tx, done, request);
    return ids.map((id) => judged.get(id) ?? notFound(id));
  });
  await enqueueBatches(deps, batches);
  return verdicts;
}

function judge(
  deps: DecideDeps,
  one: DecidableInstruction,
  request: DecisionRequest,
): DecisionVerdict {
  const { decision, who, seen, ids } = request;
  const isAlone = request.isAlone === true && ids.length === 1;
  const sha256 = seen?.get(one.instructionId) ?? null;
  const refusal = refusalOf(decision.kind, who, one, sha256, isAlone);
  if (refusal !== null) {
    const words = refusalWords(refusal);
    return { kind: 'refused', instruction: one, why: refusal.kind, words };
  }
  const outcome = outcomeOf(decision, one);
  const { accounts } = deps.config;
  const unsent =
    decision.kind === 'approve' ? unsentWords(one.accountId, accounts, deps.now()) : null;
  const words = unsent ?? outcome.words;
  return { kind: 'done', instruction: one, ...outcome, words, isUnsent: unsent !== null };
}

function outcomeOf(
  decision: Decision,
  one: DecidableInstruction,
): { becomes: InstructionState; words: string } {
  switch (decision.kind) {
    case 'approve':
      return {
        becomes: 'queued',
        words: 'sent by a running worker, `tieout send` or the next run',
      };
    case 'reject':
      return { becomes: 'withdrawn', words: 'not planned again until somebody wants it' };
    case 'resolve':
      return decision.finding === 'happened'
        ? { becomes: 'confirmed', words: 'counted by the next run' }
        : { becomes: 'rejected', words: afterDisproof(one.operation) };
    case 'replan':
      // A run plans once for an order: the one that this is of never plans it again.
      return {
        becomes: one.state,
        words: `planned by a run of a later date than ${one.plannedFor}, if it is still needed`,
      };
  }
}

function afterDisproof(operation: string): string {
  const twice = operation === 'refund' || operation === 'payout';
  return twice
    ? 'a second person may have it planned again'
    : 'not sent again until somebody has it planned again';
}

function notFound(instructionId: bigint): DecisionVerdict {
  return { kind: 'not_found', instructionId, words: 'there is no such instruction' };
}

async function write(
  deps: DecideDeps,
  tx: Tx,
  done: readonly DecidableInstruction[],
  { decision, who }: DecisionRequest,
): Promise<QueuedBatch[]> {
  const ids = done.map((one) => one.instructionId);
  // Whatever a person types may hold a card number; the ids of these orders are none.
  const keep = done.flatMap((one) => [one.orderNo, one.transactionId]);
  const masked = (text: string | null): string | null =>
    text === null || text.trim() === '' ? null : withoutCards(text.trim(), keep);
  await writeDecisions(tx, ids, {
    kind: decision.kind,
    who,
    reason: masked(decision.reason),
    reference: decision.kind === 'resolve' ? masked(decision.reference) : null,
    finding: decision.kind === 'resolve' ? decision.finding : null,
  });
  return decision.kind === 'approve' ? cutApproved(tx, ids, deps.now()) : [];
}

/** The approval stands whether or not the queue hears: the next run or `tieout send` sends it. */
async function enqueueBatches(deps: DecideDeps, batches: readonly QueuedBatch[]): Promise<void> {
  for (const { operation, batchId } of batches) {
    try {
      await deps.queuePort.enqueue(operation, [batchId.toString()]);
    } catch (error) {
      const reason = messageOf(error);
      deps.log(`approved, but no worker could be told (${reason}): \`tieout send\` sends it`);
      return;
    }
  }
}

const NEEDS_REASON: ReadonlySet<DecisionKind> = new Set(['reject', 'resolve']);

function requireWords({ decision, who }: DecisionRequest, count: number): void {
  if (count > DECIDED_MAX) {
    throw new UsageError(`one decision covers at most ${DECIDED_MAX} instructions`);
  }
  require('the name of who decides', who.name);
  if (decision.reason !== null || NEEDS_REASON.has(decision.kind)) {
    require('the reason', decision.reason ?? '');
  }
  if (decision.kind === 'resolve') require('the reference', decision.reference);
}

function require(what: string, text: string): void {
  const problem = wordsProblem(text);
  if (problem !== null) throw new UsageError(`${what} ${problem}`);
}
