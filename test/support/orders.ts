// Orders for tests of the compare: one order as the ledger, the gateway, the refund requests and
// our instructions know it, written as short text. The same order becomes the facts of
// core/orders/decideVerdict.ts and rows of a real database (snapshotStore.ts), so that both roads are asked the same
// question.

import type { InstructionState } from '../../src/core/instructions/instruction.js';
import type { Hundredths } from '../../src/core/money.js';
import { formatAmount, parseAmount } from '../../src/core/money.js';
import type { Verdict } from '../../src/core/orders/decideVerdict.js';
import type {
  EntryFacts,
  InstructionFacts,
  LedgerFacts,
  OrderFacts,
  Rules,
} from '../../src/core/orders/facts.js';
import type { ExpectedState, GatewayState, Operation } from '../../src/core/orders/order.js';
import { GATEWAY_STATES } from '../../src/core/orders/order.js';
import type { ReviewDecision } from '../../src/core/orders/verdict.js';

/** The time of the snapshot in all cases; the date ended three hours before it. */
export const SNAPSHOT_AT = new Date('2026-11-20T03:00:00.000Z');
export const DATE_END = new Date('2026-11-20T00:00:00.000Z');
export const LIVE_FROM = new Date('2026-11-10T00:00:00.000Z');
/** Orders and transactions are older than the grace period unless a case says otherwise. */
export const USUAL_AGE = '30h';

/** An entry as the answer of the gateway gives it, before equal ones are counted once. */
export interface StoredEntry extends EntryFacts {
  amountText: string | null;
  queryResult: string | null;
  /** the fraud check says REJECT */
  fraudRejected?: boolean;
}

export interface StoredInstruction {
  operation: Operation;
  transactionId: string;
  refundId: string | null;
  refundAmount: Hundredths | null;
  state: InstructionState;
  /** accept unless said otherwise; reviews only */
  decision?: ReviewDecision;
  /** what was asked for, where that is not the amount of the ledger */
  amount?: Hundredths;
  /** a capture of less than was authorised */
  isPart?: boolean;
  /** withdrawn by a person */
  isRefused?: boolean;
  /** a person wants it planned again */
  isReplanned?: boolean;
  /** what the gateway showed when it was planned, where that is not what the operation needs */
  fromState?: GatewayState;
}

/** answered and failed: the page it is asked in; separator: never asked; unasked: came by itself */
export type PageKind = 'answered' | 'failed' | 'separator' | 'unasked';

export interface StoredOrder {
  orderNo: string;
  page: PageKind;
  ledger: LedgerFacts | null;
  entries: StoredEntry[];
  refunds: { refundId: string; amount: Hundredths; requestedAt: Date }[];
  instructions: StoredInstruction[];
}

/** What a case says of an order; every line is words, amounts and key=value. */
export interface OrderText {
  /** "captured 10.00 EUR [names=T1] [take=8.00] [decision=accept] [age=30h]"; null: no row */
  ledger: string | null;
  /** "T1 captured 10.00 EUR [age=30h] [code=3000] [found=0] [fraud=1]"; `-` is a field that is not there */
  gateway?: readonly string[];
  /** "R1 4.00 [age=30h]" */
  refunds?: readonly string[];
  /**
   * Oldest first: "capture T1 confirmed", "refund T1 R1 4.00 unknown [from=captured]",
   * "review T1 reject held", "capture T1 withdrawn by=person [again=yes] [amount=9.00]",
   * "capture T1 confirmed amount=8.00 part=yes"
   */
  did?: readonly string[];
  page?: PageKind;
}

export function orderOf(orderNo: string, text: OrderText): StoredOrder {
  return {
    orderNo,
    page: text.page ?? 'answered',
    ledger: text.ledger === null ? null : ledgerOf(text.ledger),
    entries: (text.gateway ?? []).map(entryOf),
    refunds: (text.refunds ?? []).map(refundOf),
    instructions: (text.did ?? []).map(instructionOf),
  };
}

/** The facts of an order for core/orders/decideVerdict.ts: equal entries once, the contradiction said. */
export function factsOf(order: StoredOrder): OrderFacts {
  const distinct = new Map(order.entries.map((entry) => [contentOf(entry), entry]));
  const entries = [...distinct.values()];
  const ids = new Set(entries.map((entry) => entry.transactionId ?? ''));
  return {
    ledger: order.ledger,
    hasSnapshot: order.page === 'answered' || order.page === 'unasked',
    entries,
    contradictory: ids.size < entries.length,
    refunds: order.refunds,
    instructions: order.instructions.map((instruction) => instructionFactsOf(order, instruction)),
  };
}

export function instructionFactsOf(
  { ledger }: StoredOrder,
  instruction: StoredInstruction,
): InstructionFacts {
  const { operation, refundAmount } = instruction;
  return {
    operation,
    transactionId: instruction.transactionId,
    currency: ledger?.currency ?? 'EUR',
    amount: instruction.amount ?? maxOf(ledger?.amount ?? 1000n, refundAmount ?? 0n),
    refundId: instruction.refundId,
    refundAmount,
    reviewDecision: operation === 'review' ? (instruction.decision ?? 'accept') : null,
    state: instruction.state,
    isRefused: instruction.isRefused ?? false,
    isReplanned: instruction.isReplanned ?? false,
    isPart: instruction.isPart ?? false,
  };
}

function maxOf(a: Hundredths, b: Hundredths): Hundredths {
  return a > b ? a : b;
}

/** A verdict in one line, as the cases write it: "need capture 10.00 EUR; stale_authorisation". */
export function verdictText(verdict: Omit<Verdict, 'transaction'>): string {
  const { need } = verdict;
  const parts: string[] = [];
  if (verdict.notCompared !== null) parts.push(`not compared: ${verdict.notCompared}`);
  if (need) {
    const refund =
      need.refundAmount === null ? '' : ` ${need.refundId} ${money(need.refundAmount)}`;
    const decision = need.reviewDecision === null ? '' : ` ${need.reviewDecision}`;
    const what = `${money(need.amount)} ${need.currency}${refund}${decision}`;
    parts.push(`need ${need.operation} ${need.transactionId} ${what}`);
  }
  if (verdict.awaited) parts.push('awaited');
  if (verdict.tolerated) parts.push('tolerated');
  parts.push(...verdict.kinds);
  return parts.length === 0 ? 'matched' : parts.join('; ');
}

export function plainRules(changes: Partial<Rules> = {}): Rules {
  return {
    asOf: SNAPSHOT_AT,
    dateEnd: DATE_END,
    graceMs: 24 * HOUR_MS,
    staleMs: 6 * 24 * HOUR_MS,
    tolerance: { below: 0n, above: 0n, partsPerMillion: 0n },
    partialCapture: false,
    liveFrom: LIVE_FROM,
    off: new Set(),
    ...changes,
  };
}

export function money(amount: Hundredths): string {
  return formatAmount(amount);
}

export const HOUR_MS = 3_600_000;

/** The default codes of the profile; a state that has none is written with another code. */
export const CODES: Record<GatewayState, string> = {
  pending: '1000',
  in_review: '1500',
  authorised: '2000',
  captured: '3000',
  cancelled: '4000',
  declined: '5000',
  partially_refunded: '6000',
  refunded: '6500',
};

function ledgerOf(text: string): LedgerFacts {
  const { words, keys } = wordsOf(text);
  return {
    expected: words[0] as ExpectedState,
    amount: amountOf(words[1]),
    currency: words[2] ?? 'EUR',
    transactionId: keys.get('names') ?? null,
    captureAmount: keys.has('take') ? amountOf(keys.get('take')) : null,
    reviewDecision: (keys.get('decision') as ReviewDecision | undefined) ?? null,
    placedAt: before(keys.get('age') ?? USUAL_AGE),
  };
}

function entryOf(text: string): StoredEntry {
  const { words, keys } = wordsOf(text);
  const [id, state, amount, currency = 'EUR'] = words;
  const known = GATEWAY_STATES.find((one) => one === state) ?? null;
  const code = keys.get('code') ?? (known === null ? '9999' : CODES[known]);
  const age = keys.get('age') ?? USUAL_AGE;
  const queryResult = keys.get('found') ?? '1';
  const exact = parseAmount(amount ?? '');
  return {
    transactionId: present(id),
    state: code === '-' ? null : known,
    paymentStatus: present(code),
    amount: exact,
    amountText: exact === null ? present(amount) : null,
    currency: present(currency),
    queryResult: present(queryResult),
    found: queryResult === '1',
    transactionAt: age === '-' ? null : before(age),
    ...(keys.get('fraud') === '1' ? { fraudRejected: true } : {}),
  };
}

function refundOf(text: string): StoredOrder['refunds'][number] {
  const { words, keys } = wordsOf(text);
  return {
    refundId: words[0] ?? '',
    amount: amountOf(words[1]),
    requestedAt: before(keys.get('age') ?? USUAL_AGE),
  };
}

function instructionOf(text: string): StoredInstruction {
  const { words, keys } = wordsOf(text);
  const isRefund = words[0] === 'refund';
  const from = GATEWAY_STATES.find((state) => state === keys.get('from'));
  return {
    ...(from === undefined ? {} : { fromState: from }),
    ...(keys.has('amount') ? { amount: amountOf(keys.get('amount')) } : {}),
    ...(keys.get('part') === 'yes' ? { isPart: true } : {}),
    ...(keys.get('by') === 'person' ? { isRefused: true } : {}),
    ...(keys.get('again') === 'yes' ? { isReplanned: true } : {}),
    ...(words[2] === 'reject' ? { decision: 'reject' as const } : {}),
    operation: words[0] as Operation,
    transactionId: words[1] ?? '',
    refundId: isRefund ? (words[2] ?? null) : null,
    refundAmount: isRefund ? amountOf(words[3]) : null,
    state: words.at(-1) as InstructionState,
  };
}

function wordsOf(text: string): { words: string[]; keys: Map<string, string> } {
  const tokens = text.split(/\s+/).filter((token) => token !== '');
  const keyed = tokens.filter((token) => token.includes('='));
  return {
    words: tokens.filter((token) => !token.includes('=')),
    keys: new Map(keyed.map((token) => [token.split('=')[0] ?? '', token.split('=')[1] ?? ''])),
  };
}

/** "30h", "6d" or "6d+1s" before the snapshot. */
function before(age: string): Date {
  const units: Record<string, number> = { d: 24 * HOUR_MS, h: HOUR_MS, s: 1000 };
  const total = age.split('+').reduce((sum, part) => {
    const unit = units[part.slice(-1)];
    if (unit === undefined) throw new Error(`no such age: ${age}`);
    return sum + Number(part.slice(0, -1)) * unit;
  }, 0);
  return new Date(SNAPSHOT_AT.getTime() - total);
}

function present(word: string | undefined): string | null {
  if (word === undefined || word === '-') return null;
  return word === "''" ? '' : word;
}

function amountOf(text: string | undefined): Hundredths {
  const amount = parseAmount(text ?? '');
  if (amount === null) throw new Error(`a case needs an amount, not ${text}`);
  return amount;
}

function contentOf(entry: StoredEntry): string {
  return JSON.stringify({ ...entry, amount: entry.amount?.toString() ?? null });
}
