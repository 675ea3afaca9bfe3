// The ways in which a real gateway or the network fails, and what the caller sees of an answer
// under each. A fault decides whether an operation happens, when, and what is told of it; never
// what it does. Who asks for a fault is faultRules.ts or the function of a test; handle.ts lets it
// happen.

/** What a fault function is told of a request. */
interface FaultRequest {
  /** 1 for the first request on this operation since the start. */
  readonly number: number;
  /** The last part of the path, such as `capture` or `retrievalTrans`. */
  readonly operation: string;
  readonly body: string;
}

type When = 'before' | 'after';

/** Faults of the content alone: the operation happens and the answer lies. */
export const CONTENT_FAULTS = [
  'html',
  'entry_missing',
  'entry_twice',
  'entries_swapped',
  'entry_foreign',
  'entries_reordered',
  'wrong_amount',
  'wrong_currency',
  'wrong_signature',
  'wrong_account',
  'unknown_code',
  'refused_with_effect',
  'page_repeated',
] as const;

export type FaultAction =
  /** The connection ends, by a reset or in good order, before or after the effect. */
  | { readonly kind: 'drop'; readonly when: When; readonly how?: 'rst' | 'fin' }
  /** An HTTP error, before or after the effect. */
  | { readonly kind: 'status'; readonly status: number; readonly when: When }
  /** Another address is named instead of an answer; default: the same operation again. */
  | {
      readonly kind: 'redirect';
      readonly status: number;
      readonly when: When;
      readonly location: string;
    }
  /** Half of the answer, then the connection is reset. */
  | { readonly kind: 'truncate' }
  /** The whole answer, so much later. */
  | { readonly kind: 'slow'; readonly ms: number }
  /** An answer that never ends: one byte at a time. */
  | { readonly kind: 'drip' }
  /** The first half of a batch is done, then the connection is reset. */
  | { readonly kind: 'half' }
  /** The effect comes so much later; the caller is told nothing, or an error, at once. */
  | { readonly kind: 'late'; readonly ms: number; readonly answer: 'drop' | 'status' }
  /** A page of a window begins one order later: the order in between is on no page. */
  | { readonly kind: 'page_shifted' }
  | { readonly kind: (typeof CONTENT_FAULTS)[number] };

export type FaultPlan = (request: FaultRequest) => FaultAction | null;

/** An answer whose entries can still be told apart. */
export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly head: string;
  readonly entries: readonly string[];
  readonly tail: string;
  /** Every character is one byte of UTF-8 (entries.ts); else texts are encoded when sent. */
  readonly isBytes?: boolean;
}

const PAGE = '<!doctype html><title>Maintenance</title><p>Please come back later.</p>';
/** Each keeps its first group and loses the rest; they fit JSON and XML alike. */
const SIGNATURE = /(encryption_data"?[>:]"?)[^"<]+/;
const ACCOUNT = /(account_id"?[>:]"?)[^"<]*/;
const AMOUNT = /(amount"?[>:]"?\d+)/;
const CURRENCY = /(currency"?[>:]"?)[A-Z]{3}/;
const CODE =
  /((?:payment|order|capture|cancel|review|refund)_status"?[>:]"?|"status":"(?=[CF]))[^"<]*/;
const FOREIGN = { order_no: 'NOBODY-1', transaction_id: 'T00000000NOBODY' };

export function bareAnswer(status: number, contentType: string, text: string): Answer {
  return { status, contentType, head: text, entries: [], tail: '' };
}

/** A page for people with an HTTP status. */
export function errorPage(status: number): Answer {
  return bareAnswer(status, 'text/html', PAGE);
}

/** What the caller sees of an answer; `before` is the last answer of the same operation. */
export function distort(answer: Answer, fault: FaultAction, before: Answer | null = null): Answer {
  const { entries } = answer;
  const [first, second, ...rest] = entries;
  switch (fault.kind) {
    case 'html':
      return errorPage(200);
    case 'entry_missing':
      return { ...answer, entries: entries.slice(1) };
    case 'entry_twice':
      return { ...answer, entries: [...entries.slice(0, 1), ...entries] };
    case 'entry_foreign':
      return first === undefined ? answer : { ...answer, entries: [...entries, foreign(first)] };
    case 'entries_reordered':
      return { ...answer, entries: entries.toReversed() };
    case 'entries_swapped':
      if (first === undefined || second === undefined) return answer;
      return { ...answer, entries: [withIds(first, second), withIds(second, first), ...rest] };
    case 'page_repeated':
      return before === null ? answer : { ...answer, entries: before.entries };
    case 'refused_with_effect':
      return refused(answer);
    case 'wrong_signature':
      return edited(answer, 'head', SIGNATURE, (name) => name + '0'.repeat(64));
    case 'wrong_account':
      return edited(answer, 'head', ACCOUNT, (name) => `${name}NOBODY`);
    case 'wrong_amount':
      return edited(answer, 'entry', AMOUNT, (amount) => `${amount}9`);
    case 'wrong_currency':
      return edited(answer, 'entry', CURRENCY, (name) => `${name}XTS`);
    case 'unknown_code':
      return edited(answer, 'entry', CODE, (name) => `${name}8888`);
    default:
      return answer;
  }
}

/** The first entry, or the whole answer where it has none (a payment, a payout). */
function edited(
  answer: Answer,
  where: 'head' | 'entry',
  found: RegExp,
  by: (kept: string) => string,
): Answer {
  const change = (text: string): string => text.replace(found, (_, kept: string) => by(kept));
  const [first, ...rest] = answer.entries;
  if (where === 'head' || first === undefined) {
    return { ...answer, head: change(answer.head) };
  }
  return { ...answer, entries: [change(first), ...rest] };
}

/** An accepted message that says it was not; without entries, as a refusal of the sandbox is. */
function refused(answer: Answer): Answer {
  const head = answer.head
    .replace(
      '"return_status":"1","return_message":"OK"',
      '"return_status":"0","return_message":"E9999"',
    )
    .replace('>0000:Success<', '>9999:Failed<')
    .replace(/"status":"[^"]*"\}$/, '"status":"FAILED"}');
  return { ...answer, head, entries: [] };
}

function foreign(entry: string): string {
  return JSON.stringify({ ...JSON.parse(entry), ...FOREIGN });
}

/** An entry under the ids of another. */
function withIds(entry: string, other: string): string {
  const { order_no, transaction_id } = JSON.parse(other);
  return JSON.stringify({ ...JSON.parse(entry), order_no, transaction_id });
}
