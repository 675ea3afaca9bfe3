// One plain sentence for each break: what the gateway shows and what the ledger expects, with the
// figures. Pure, and the only place where a break is put into words.

import { formatAmount, parseAmount } from '../money.js';
import type { BreakKind } from '../orders/verdict.js';
import { amountIn, moneyIn, moreOf } from '../text/amounts.js';
import { labelStates } from '../text/labels.js';
import { type Part, partsText, SETTLEMENT_SENTENCES, unknownMoney } from './settlementSentence.js';

/** What one side said when the break was seen; a field that it does not have is absent. */
export interface Side {
  state?: string;
  code?: string;
  currency?: string;
  /** null: of a refund in part that was made elsewhere nobody knows it */
  amount?: string | null;
  transaction?: string;
  /** why the ledger's row cannot be used */
  problem?: string;
  /** the number of ours that a person has to decide about */
  instruction?: string;
  /** of the acquirer: the batches, the number of lines; and the day since when it is waited for */
  batch?: string;
  times?: number;
  since?: string;
  /** what was settled as what; without an amount where that is of two currencies */
  parts?: readonly Part[];
  /** what all refund requests of the order come to, where they do not fit */
  asked?: string;
  /** where there are several transactions and none was chosen */
  candidates?: readonly Side[];
}

/** One field as both sides have it. */
interface FieldPair {
  field: 'state' | 'amount' | 'currency' | 'transaction' | 'code' | 'problem';
  expected: string | null;
  actual: string | null;
  differs: boolean;
}

/** Both sides beside each other, field by field; what neither has is left out. */
export function breakFields(expected: Side, actual: Side): FieldPair[] {
  // A request by itself is not the order that the gateway shows: neither lacks what the other has.
  const isRequest = expected.problem !== undefined && expected.state === undefined;
  return FIELDS.flatMap((field) => {
    const pair = { expected: fieldOf(expected, field), actual: fieldOf(actual, field) };
    if (pair.expected === null && pair.actual === null) return [];
    // The gateway alone has a code, the ledger alone a problem: those do not differ, they are told.
    const isTold = isRequest || TOLD.has(field);
    const differs = isTold
      ? pair.expected !== null && pair.actual !== null && pair.expected !== pair.actual
      : pair.expected !== pair.actual;
    return [{ field, ...pair, differs }];
  });
}

function fieldOf(side: Side, field: FieldPair['field']): string | null {
  return field === 'amount' && isOfSeveral(side) ? partsText(side.parts) : (side[field] ?? null);
}

function isOfSeveral(side: Side): side is Side & { parts: readonly Part[] } {
  return side.parts !== undefined && side.amount === undefined;
}

/** The same for a person: amounts with the decimals of their currency, states in words. */
export function shownFields(expected: Side, actual: Side): FieldPair[] {
  return breakFields(expected, actual).map((pair) => ({
    ...pair,
    expected: shownField(pair.field, pair.expected, expected),
    actual: shownField(pair.field, pair.actual, actual),
  }));
}

function shownField(field: FieldPair['field'], value: string | null, side: Side): string | null {
  if (value === null) return null;
  if (field === 'amount' && !isOfSeveral(side)) return amountIn(value, side.currency ?? '');
  return field === 'state' ? labelStates(value) : value;
}

const FIELDS = ['state', 'amount', 'currency', 'transaction', 'code', 'problem'] as const;
const TOLD: ReadonlySet<string> = new Set(['transaction', 'code', 'problem']);

/** "120.00 EUR", "captured 1,120 JPY", or "nothing". */
export function sideText(side: Side): string {
  if (isOfSeveral(side)) return partsText(side.parts);
  const { amount, currency } = side;
  const known = amount ? moneyIn(amount, currency) : currency;
  const money = amount === null ? unknownMoney(currency) : known;
  const state = side.state ?? (side.code === undefined ? undefined : `code ${side.code}`);
  const text = [state, money].filter((part) => part !== undefined && part !== '').join(' ');
  return text === '' ? 'nothing' : text;
}

/** A refund that nobody made here, as a line of the acquirer's files has it. */
export interface SettledRefund {
  amount: string;
  currency: string;
  batch: string;
}

/** What the ledger asks for and a person refused. */
export interface RefusedHere {
  operation: 'capture' | 'cancel' | 'refund' | 'review';
  amount: string;
  currency: string;
  by: string | null;
}

export function breakSentence(
  kind: BreakKind,
  expected: Side,
  actual: Side,
  settled: readonly SettledRefund[] = [],
  refused: RefusedHere | null = null,
): string {
  const ledger = sideText(expected);
  const gateway = sideText(actual);
  if (refused !== null) return refusedWords(actual, refused) + settledWords(settled);
  return SENTENCES[kind]({ expected, actual, ledger, gateway }) + settledWords(settled);
}

function refusedWords(actual: Side, { operation, amount, currency, by }: RefusedHere): string {
  const [asked, end] = REFUSED_WORDS[operation];
  return (
    `${asked(moneyIn(amount, currency))}, and ${by ?? 'a person'} refused it; ` +
    `the gateway shows ${actual.state ?? 'nothing'}: both differ until ${end}`
  );
}

type Asked = (money: string) => string;
const REFUSED_WORDS: Record<RefusedHere['operation'], readonly [Asked, end: string]> = {
  capture: [
    (money) => `the ledger asks to capture ${money}`,
    'the order changes in the ledger, or the capture is planned again',
  ],
  cancel: [
    () => 'the ledger asks to cancel the order',
    'the order changes in the ledger, or the cancel is planned again',
  ],
  refund: [
    (money) => `the ledger asks to refund ${money}`,
    'the request leaves the ledger or is planned again',
  ],
  review: [
    () => 'the order waits for its fraud review',
    'it is decided at the gateway, or planned again',
  ],
};

/** The gateway does not say how much of a part was given back; the acquirer's file may. */
function settledWords(settled: readonly SettledRefund[]): string {
  if (settled.length === 0) return '';
  const named = settled.slice(0, CANDIDATES_NAMED_MAX).map(({ amount, currency, batch }) => {
    return `${moneyIn(amount, currency)} (batch ${batch})`;
  });
  const all = [...named, ...moreOf(settled.length - named.length)];
  return `; the acquirer settled as refunded ${all.join(' and ')}`;
}

/** Gateway minus ledger, where the difference is one of money; null elsewhere. */
export function breakDifference(kind: BreakKind, expected: Side, actual: Side): string | null {
  const wanted = parseAmount(expected.amount ?? '');
  const shown = parseAmount(actual.amount ?? '');
  if (kind === 'missing_at_gateway' && wanted !== null) return formatAmount(-wanted);
  if (kind === 'missing_in_ledger' && shown !== null) return formatAmount(shown);
  if (kind !== 'amount_mismatch' || expected.currency !== actual.currency) return null;
  return wanted === null || shown === null ? null : formatAmount(shown - wanted);
}

/** Money that one side alone says was taken: as tieout.taken_by. */
function takenByOne({ state: wanted = '' }: Side, { state: shown = '' }: Side): string {
  if (wanted === 'captured' && NOT_TAKEN.has(shown)) {
    const there = shown === 'authorised' ? '' : ` it is ${labelStates(shown)} there, and`;
    return `:${there} nothing is captured while they differ`;
  }
  if (KEPT.has(shown) && NOT_TAKEN.has(wanted)) {
    return `: it is captured there, and ${wanted} in the ledger`;
  }
  return '';
}

const NOT_TAKEN = new Set(['authorised', 'in_review', 'pending', 'declined', 'cancelled']);
/** All of it, or what was not given back. */
const KEPT = new Set(['captured', 'partially_refunded']);

/** Why nothing of it is refunded; that a person refused it is told by itself. */
function unlikeCaptured({ asked, amount, currency }: Side): string {
  const [all, most] = [parseAmount(asked ?? ''), parseAmount(amount ?? '')];
  if (all !== null && most !== null && all > most) {
    const [back, of] = [all, most].map((one) => moneyIn(formatAmount(one), currency));
    return `the refund requests come to ${back}, more than the ${of} of the order: none is sent`;
  }
  return (
    'the refund requests want something else: some count as done, or all of them are more than ' +
    'was captured, or one is not sent'
  );
}

interface Words {
  expected: Side;
  actual: Side;
  ledger: string;
  gateway: string;
}

/** As compare/strayRefunds.sql words it. */
const UNCONFIGURED = ', of an account that is not configured,';

const SENTENCES: Record<BreakKind, (words: Words) => string> = {
  missing_at_gateway: ({ ledger }) =>
    `the ledger expects ${ledger}, and the gateway, fully asked, has no such order`,
  missing_in_ledger: ({ gateway }) =>
    `the gateway has ${gateway}, and the ledger has no such order`,
  amount_mismatch: ({ expected, actual }) =>
    expected.currency === actual.currency
      ? bothAmounts(expected, actual) + takenByOne(expected, actual)
      : `${bothAmounts(expected, actual)}: the figures differ, and are of two currencies`,
  currency_mismatch: ({ expected, actual }) => `${bothAmounts(expected, actual)}: another currency`,
  state_mismatch: ({ expected, actual }) =>
    `the gateway shows ${actual.state ?? 'nothing'}, ` +
    `the ledger expects ${expected.state ?? 'none'}`,
  transaction_mismatch: ({ actual }) =>
    'the transaction that the ledger names is not at the gateway, which has ' +
    (candidatesText(actual) ??
      (actual.transaction === undefined ? 'another' : `${actual.transaction} instead`)),
  duplicate_transaction: ({ actual, ledger }) =>
    `the gateway has more than one live transaction of this order${candidatesAside(actual)}, ` +
    `the ledger expects ${ledger}`,
  refund_mismatch: ({ expected, actual }) =>
    actual.state === 'captured'
      ? `the gateway shows captured, and ${unlikeCaptured(expected)}`
      : `the gateway shows ${actual.state ?? 'nothing'}, which the refund requests do not explain`,
  stale_authorisation: ({ gateway }) =>
    `the gateway still shows ${gateway}; an authorisation that old may lapse`,
  unknown_status: ({ actual }) =>
    `the gateway shows code ${actual.code ?? '(none)'}, which has no meaning in the profile`,
  invalid_record: ({ expected, actual }) =>
    expected.problem === undefined
      ? badEntry(actual)
      : `the ledger's row cannot be compared: ${expected.problem}`,
  instruction_rejected: ({ expected, actual }) =>
    'our instruction did not happen (refused, or proven so by a person); ' +
    `the gateway shows ${actual.state ?? 'nothing'}, ` +
    `the ledger expects ${expected.state ?? 'none'}`,
  outcome_unknown: ({ gateway }) =>
    `nobody can say yet whether the gateway did what we sent; it shows ${gateway}`,
  refund_without_order: ({ expected: { problem = 'a refund request' }, actual: { state } }) =>
    // Of such an account the ledger may have the order.
    (problem.endsWith(UNCONFIGURED)
      ? problem.slice(0, -1)
      : `${problem} names no order of the ledger`) +
    (state === undefined
      ? ': no refund is sent for it'
      : ': no refund is sent for it, and the gateway last showed the order ' +
        `${labelStates(state)}: look there before anybody refunds it`),
  payout_rejected: ({ expected }) =>
    `${expected.problem ?? 'a payout did not happen'}: ` +
    (expected.instruction === undefined
      ? 'nothing is paid until a run plans it again'
      : `nothing is paid until \`tieout instructions replan ${expected.instruction}\``),
  ...SETTLEMENT_SENTENCES,
};

/** What the words of a break may name; masking leaves it as it is. */
export function namesIn(one: { orderNo: string; expected: Side; actual: Side }): string[] {
  return [one.orderNo, ...transactionsIn(one.expected, one.actual)];
}

/** The transactions among it. */
export function transactionsIn(...sides: readonly Side[]): string[] {
  return sides.flatMap(({ transaction, candidates = [] }) => [
    ...(transaction === undefined ? [] : [transaction]),
    ...transactionsIn(...candidates),
  ]);
}

/** A sentence with more candidates than this is not read any more. */
const CANDIDATES_NAMED_MAX = 4;

/** "T1 (captured 10.00 EUR) and T2 (authorised 10.00 EUR)"; null where none are on record. */
function candidatesText(side: Side): string | null {
  const all = side.candidates ?? [];
  if (all.length === 0) return null;
  const named = all
    .slice(0, CANDIDATES_NAMED_MAX)
    .map((one) => `${one.transaction ?? 'one without a number'} (${sideText(one)})`);
  return [...named, ...moreOf(all.length - named.length)].join(' and ');
}

function candidatesAside(side: Side): string {
  const text = candidatesText(side);
  return text === null ? '' : `: ${text}`;
}

/** What the gateway has done with the money, and what the ledger wants of it. */
function bothAmounts(expected: Side, actual: Side): string {
  const { state = '' } = actual;
  const back = GIVEN_BACK[state];
  if (back === undefined) {
    const verb = DONE.includes(state) ? state : 'shows';
    return `the gateway ${verb} ${money(actual)}, the ledger expects ${money(expected)}`;
  }
  // Else it would be read as if the ledger wanted that much given back.
  const wanted = expected.state === undefined ? '' : ` to be ${expected.state}`;
  return (
    `the gateway captured ${money(actual)} and refunded ${back}, ` +
    `the ledger expects ${money(expected)}${wanted}`
  );
}

const DONE: readonly string[] = ['authorised', 'captured', 'cancelled', 'declined'];
const GIVEN_BACK: Readonly<Record<string, string>> = {
  refunded: 'it',
  partially_refunded: 'a part of it',
};

function badEntry(side: Side): string {
  const rest =
    `currency ${side.currency ?? '(none)'}, code ${side.code ?? '(none)'}, ` +
    `transaction ${side.transaction ?? '(none, or none that can be kept)'}`;
  const amount = side.amount ?? null;
  return amount !== null && parseAmount(amount) === null
    ? `the gateway's amount '${amount}' cannot be read (${rest})`
    : `the gateway's entry cannot be read (amount ${amount ?? '(none)'}, ${rest})`;
}

function money(side: Side): string {
  return moneyIn(side.amount ?? '(no amount)', side.currency ?? '(no currency)');
}
