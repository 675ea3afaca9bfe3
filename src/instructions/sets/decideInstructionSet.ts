// One decision about all instructions that match: weighed first, row by row, by the rule that
// decides about one, then done only if every row is still what was shown. It is done in parts, so
// that no row is held for long and a run goes on beside it; each has its own decision with what was
// seen. Neighbour: ../decisions.ts decides about the instructions of one part.

import { createHash } from 'node:crypto';
import type { Decider } from '../../core/instructions/decider.js';
import type { Hundredths } from '../../core/money.js';
import { formatAmount, parseAmount } from '../../core/money.js';
import type { DecideDeps, Decision, DecisionRequest, DecisionVerdict } from '../decisions.js';
import { decideInstructions } from '../decisions.js';
import type { DecidableInstruction } from '../decisionsStore.js';
import type { InstructionSetFilter } from './instructionSetStore.js';
import { instructionSet } from './instructionSetStore.js';

/** Instructions of one set: what one press decides about, in some 20 s (9 ms each, measured). */
export const INSTRUCTION_SET_MAX = 2_000;
/** Instructions of one transaction. */
const PART = 500;

interface InstructionTotal {
  count: number;
  /** by currency; a fraud review moves none */
  money: Record<string, string>;
  /** payouts in a unit that nobody has set: in no sum */
  withoutAmount: number;
  /** null: there is none */
  oldest: Date | null;
}

/** What a press would do. */
export interface InstructionPreview {
  /** of those that the press decides about */
  done: InstructionTotal;
  /** what it leaves as it is, by reason, with one of them */
  left: ReadonlyMap<string, InstructionTotal & { one: DecidableInstruction }>;
}

export interface InstructionSetPreview extends InstructionPreview {
  /** there are more than one press decides about */
  isCut: boolean;
  /** of what the press is about, row by row */
  digest: string;
}

interface SetRequest {
  readonly filter: InstructionSetFilter;
  readonly decision: Decision;
  readonly who: Decider;
}

export async function previewInstructionSet(
  deps: DecideDeps,
  request: SetRequest,
): Promise<InstructionSetPreview> {
  return (await weigh(deps, request)).preview;
}

/** The same of rows that a person picked one by one; those that are not there are in no total. */
export async function previewInstructions(
  deps: DecideDeps,
  request: DecisionRequest,
): Promise<InstructionPreview> {
  return previewOf(await decideInstructions(deps, { ...request, check: true })).preview;
}

export type InstructionSetOutcome =
  | { kind: 'changed' }
  | { kind: 'decided'; done: DecidableInstruction[]; refused: DecisionVerdict[] };

/** `digest` is that of the preview. */
export async function decideInstructionSet(
  deps: DecideDeps,
  request: SetRequest & { readonly digest: string },
): Promise<InstructionSetOutcome> {
  const { filter, decision, who } = request;
  const { preview, rows } = await weigh(deps, request);
  if (preview.digest !== request.digest || rows.length === 0) return { kind: 'changed' };
  const done: DecidableInstruction[] = [];
  const refused: DecisionVerdict[] = [];
  for (const part of partsOf(rows)) {
    const verdicts = await decideInstructions(deps, {
      ids: part.map(({ instructionId }) => instructionId),
      ...{ decision, who, accountIds: filter.accountIds },
      seen: new Map(part.map((row) => [row.instructionId, row.seenSha256])),
    });
    for (const verdict of verdicts) {
      if (verdict.kind === 'done') done.push(verdict.instruction);
      else refused.push(verdict);
    }
  }
  return { kind: 'decided', done, refused };
}

/** Nobody saw each of them by itself: what asks for that is left for its own page. */
async function weigh(deps: DecideDeps, { filter, decision, who }: SetRequest) {
  const ids = await instructionSet(deps.db, filter, INSTRUCTION_SET_MAX + 1);
  const verdicts: DecisionVerdict[] = [];
  const { accountIds } = filter;
  for (const part of partsOf(ids.slice(0, INSTRUCTION_SET_MAX))) {
    const request = { ids: part, decision, who, accountIds, check: true };
    verdicts.push(...(await decideInstructions(deps, request)));
  }
  const { preview, rows } = previewOf(verdicts);
  const isCut = ids.length > INSTRUCTION_SET_MAX;
  return { preview: { ...preview, isCut, digest: digestOf(rows) }, rows };
}

function previewOf(verdicts: readonly DecisionVerdict[]) {
  const rows: DecidableInstruction[] = [];
  const refused = new Map<string, DecidableInstruction[]>();
  for (const verdict of verdicts) {
    if (verdict.kind === 'not_found') continue;
    const { instruction, words } = verdict;
    const some = verdict.kind === 'done' ? rows : (refused.get(words) ?? []);
    some.push(instruction);
    if (verdict.kind === 'refused') refused.set(words, some);
  }
  const left = new Map<string, InstructionTotal & { one: DecidableInstruction }>();
  for (const [words, some] of refused) {
    const [one] = some;
    if (one !== undefined) left.set(words, { ...totalOf(some), one });
  }
  const preview: InstructionPreview = { done: totalOf(rows), left };
  return { preview, rows };
}

function partsOf<T>(all: readonly T[]): T[][] {
  const parts = Math.ceil(all.length / PART);
  return Array.from({ length: parts }, (_, at) => all.slice(at * PART, (at + 1) * PART));
}

function totalOf(rows: readonly DecidableInstruction[]): InstructionTotal {
  const sums = new Map<string, Hundredths>();
  let oldest: Date | null = null;
  let withoutAmount = 0;
  for (const { currency, refundAmount, amount, operation, isInTotals, createdAt } of rows) {
    if (oldest === null || createdAt < oldest) oldest = createdAt;
    if (!isInTotals) withoutAmount += 1;
    if (operation === 'review' || !isInTotals) continue;
    const moved = parseAmount(refundAmount ?? amount) ?? 0n;
    sums.set(currency, (sums.get(currency) ?? 0n) + moved);
  }
  const money = Object.fromEntries(
    [...sums].sort().map(([currency, sum]) => [currency, formatAmount(sum)]),
  );
  return { count: rows.length, money, withoutAmount, oldest };
}

function digestOf(rows: readonly DecidableInstruction[]): string {
  const hash = createHash('sha256');
  for (const { instructionId, state, seenSha256 } of rows) {
    hash.update(`${instructionId} ${state} ${seenSha256}\n`);
  }
  return hash.digest('hex');
}
