// One decision about all instructions that match: weighed first, row by row, by the rule that
// decides about one, then done only if every row is still what was shown. It is done in parts, so
// that no row is held for long and a run goes on beside it; each has its own decision with what was
// seen. Neighbour: ../decisions.ts decides about the instructions of one part.

import { createHash } from 'node:crypto';
import { inSentence } from '../../core/accounts/alike.js';
import type { Decider } from '../../core/instructions/decider.js';
import { NOT_APPROVABLE, notApprovable } from '../../core/instructions/holdReasons.js';
import type { Hundredths } from '../../core/money.js';
import { addAmounts, formatAmount, parseAmount } from '../../core/money.js';
import { countText, moreOf } from '../../core/text/amounts.js';
import type { Db } from '../../database/db.js';
import type { DecideDeps, Decision, DecisionRequest, DecisionVerdict } from '../decisions.js';
import { decideInstructions } from '../decisions.js';
import type { DecidableInstruction } from '../decisionsStore.js';
import type { InstructionSetFilter } from './instructionSetStore.js';
import { instructionGroups, instructionSet } from './instructionSetStore.js';

/** Instructions of one set: what one press decides about, in some 20 s (9 ms each, measured). */
export const INSTRUCTION_SET_MAX = 2_000;
/** Instructions that are looked through for one set. */
const LOOKED_MAX = 4_000;
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
  /** the same by why they wait, where that is not one thing alone */
  reasons: ReadonlyMap<string, InstructionTotal>;
  /** those among them that this configuration does not send, by account */
  unsent: ReadonlyMap<string, number>;
  /** the payouts among them: whoever decides sees where each goes */
  payouts: readonly DecidableInstruction[];
  /** what it leaves as it is, by reason, with one of them */
  left: ReadonlyMap<string, Left>;
}

type Left = InstructionTotal & { one: Pick<DecidableInstruction, 'instructionId'> };

export interface InstructionSetPreview extends InstructionPreview {
  /** of those that match, how many were not looked at */
  notLooked: number;
  /** as many as one press decides about: the next one goes on */
  isFull: boolean;
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

/**
 * Those that the decision would change, until one press has enough of them: what it leaves is
 * passed over, so that nothing stands in the way of the others. Nobody saw each of them by itself:
 * what asks for that is left for its own page.
 */
async function weigh(deps: DecideDeps, { filter, decision, who }: SetRequest) {
  const barred = decision.kind === 'approve' ? NOT_APPROVABLE : [];
  const { ids, found } = await instructionSet(deps.db, { ...filter, barred }, LOOKED_MAX);
  const verdicts: DecisionVerdict[] = [];
  const { accountIds } = filter;
  let open = INSTRUCTION_SET_MAX;
  for (const part of partsOf(ids)) {
    if (open === 0) break;
    const request = { ids: part, decision, who, accountIds, check: true };
    for (const verdict of await decideInstructions(deps, request)) {
      if (open === 0) break;
      if (verdict.kind === 'done') open -= 1;
      verdicts.push(verdict);
    }
  }
  const { preview, rows } = previewOf(verdicts);
  const left = new Map([...preview.left, ...(await leftOf(deps.db, filter, barred))]);
  const cut = { notLooked: found - verdicts.length, isFull: open === 0 };
  return { preview: { ...preview, left, ...cut, digest: digestOf(rows) }, rows };
}

/** What no approval frees, whoever gives it: it is counted, and not weighed one by one. */
async function leftOf(
  db: Db,
  { accountIds, state, operation, holdReason, currency }: InstructionSetFilter,
  barred: readonly string[],
): Promise<Map<string, Left>> {
  if (barred.length === 0) return new Map();
  const groups = (await instructionGroups(db, accountIds, state)).filter(
    (one) =>
      barred.includes(one.holdReason ?? '') &&
      (operation === null || one.operation === operation) &&
      (holdReason === null || one.holdReason === holdReason) &&
      (currency === null || one.currency === currency),
  );
  const left = new Map<string, Left>();
  for (const { holdReason: reason, operation: what, ...one } of groups) {
    const words = notApprovable(reason ?? '');
    const before = left.get(words);
    const moved = what === 'review' || one.money === null ? [] : [[one.currency, one.money]];
    const money: Record<string, string> = { ...before?.money };
    for (const [key = '', amount = ''] of moved) {
      money[key] = addAmounts(money[key] ?? '0.00', amount);
    }
    const oldest = before?.oldest ?? one.oldest;
    left.set(words, {
      count: (before?.count ?? 0) + one.count,
      money,
      withoutAmount: (before?.withoutAmount ?? 0) + one.withoutAmount,
      oldest: oldest < one.oldest ? oldest : one.oldest,
      one: before?.one ?? { instructionId: one.first },
    });
  }
  return left;
}

/** What becomes of those that an approval is about, as far as this configuration sends them. */
export function approvedWords({ done, unsent }: InstructionPreview): string {
  const count = [...unsent.values()].reduce((sum, one) => sum + one, 0);
  const sent = count < done.count || count === 0 ? ', and sent after one more snapshot' : '';
  if (count === 0) return `will be approved${sent}`;
  const whose = `${countText(count)} of ${inSentence(unsent.keys())}`;
  return `will be approved${sent}; not sent: ${whose}, only observed or not in this configuration`;
}

/** Of what was not looked at; empty where all was. */
export function notLookedWords({ notLooked, isFull }: InstructionSetPreview): string {
  const next = isFull ? 'the next press goes on with them' : 'choose fewer to look at them';
  return moreOf(notLooked)
    .map((more) => `; ${more} ${notLooked === 1 ? 'matches' : 'match'}: ${next}`)
    .join('');
}

function previewOf(verdicts: readonly DecisionVerdict[]) {
  const rows: DecidableInstruction[] = [];
  const refused = new Map<string, DecidableInstruction[]>();
  const unsent = new Map<string, number>();
  for (const verdict of verdicts) {
    if (verdict.kind === 'not_found') continue;
    const { instruction, words } = verdict;
    const some = verdict.kind === 'done' ? rows : (refused.get(words) ?? []);
    some.push(instruction);
    if (verdict.kind === 'refused') refused.set(words, some);
    const { accountId } = instruction;
    if (verdict.kind === 'done' && verdict.isUnsent) {
      unsent.set(accountId, (unsent.get(accountId) ?? 0) + 1);
    }
  }
  const left = new Map<string, Left>();
  for (const [words, some] of refused) {
    const [one] = some;
    if (one !== undefined) left.set(words, { ...totalOf(some), one });
  }
  const payouts = rows.filter(({ operation }) => operation === 'payout');
  const preview: InstructionPreview = {
    ...{ done: totalOf(rows), reasons: reasonsOf(rows), unsent, payouts, left },
  };
  return { preview, rows };
}

/** What waits because of a dispute is not to vanish in a sum of what waits for its policy. */
function reasonsOf(rows: readonly DecidableInstruction[]): Map<string, InstructionTotal> {
  const found = new Map<string, DecidableInstruction[]>();
  for (const row of rows) {
    if (row.holdReason === null) continue;
    found.set(row.holdReason, [...(found.get(row.holdReason) ?? []), row]);
  }
  if (found.size < 2) return new Map();
  return new Map([...found].sort().map(([reason, some]) => [reason, totalOf(some)]));
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
