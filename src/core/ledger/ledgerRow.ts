// One imported row of the ledger, checked (docs/CONTRACT.md section 4). Owns the columns of each
// importable relation, which of them may be null, and what each may hold. Pure: knows neither files
// nor SQL, and never repairs a value: what is not exactly right is refused with column, value and
// reason. Neighbours: currency.ts for amounts; src/ledger reads the files and writes the rows.

import type { CurrencyDecimals } from '../currency.js';
import { checkLedgerAmount, checkPlainAmount, currencyProblem } from '../currency.js';
import type { Hundredths } from '../money.js';
import type { ExpectedState } from '../orders/order.js';
import { EXPECTED_STATES } from '../orders/order.js';

/** Longest identifier; the gateway's document gives no limit, an index needs one. */
export const MAX_ID_LENGTH = 128;

/** Longest free text of a refund request. */
const MAX_TEXT_LENGTH = 1_000;

/** Years that a time in the ledger may name; anything else is a slip of the keyboard. */
const FIRST_YEAR = 1970;
const LAST_YEAR = 2999;

/** An order is placed before it is told; clocks and zones may differ by this much. */
const AHEAD_MAX_MS = 86_400_000;

export interface Column {
  readonly name: string;
  readonly nullable: boolean;
  /** Holds JSON: NDJSON may have it as it is. Names people and accounts, so it is never shown. */
  readonly isJson?: true;
}

/** A line as it was read: a column that the file does not have is not in it, empty is null. */
export type RawLine = Readonly<Record<string, string | null>>;

export interface ValueProblem {
  readonly column: string;
  readonly value: string | null;
  /** of the column as a whole: there is no value */
  readonly isHeader?: true;
  readonly reason: string;
}

export type RowCheck<Row> =
  | { readonly kind: 'ok'; readonly row: Row }
  | { readonly kind: 'refused'; readonly problem: ValueProblem };

export type ReviewDecision = 'accept' | 'reject';

/** A row of ledger.orders; times as ISO 8601 text with zone, at most six decimals. */
export interface LedgerOrder {
  readonly accountId: string;
  readonly orderNo: string;
  readonly currency: string;
  readonly amount: Hundredths;
  readonly expected: ExpectedState;
  readonly transactionId: string | null;
  readonly captureAmount: Hundredths | null;
  readonly reviewDecision: ReviewDecision | null;
  readonly placedAt: string;
  readonly updatedAt: string | null;
}

/** A row of ledger.refund_requests. */
export interface LedgerRefund {
  readonly accountId: string;
  readonly refundId: string;
  readonly orderNo: string;
  readonly refundAmount: Hundredths;
  readonly reason: string | null;
  readonly requestedBy: string | null;
  readonly requestedAt: string;
}

export const ORDER_COLUMNS: readonly Column[] = [
  { name: 'account_id', nullable: false },
  { name: 'order_no', nullable: false },
  { name: 'currency', nullable: false },
  { name: 'amount', nullable: false },
  { name: 'expected', nullable: false },
  { name: 'transaction_id', nullable: true },
  { name: 'capture_amount', nullable: true },
  { name: 'review_decision', nullable: true },
  { name: 'placed_at', nullable: false },
  { name: 'updated_at', nullable: true },
];

export const REFUND_COLUMNS: readonly Column[] = [
  { name: 'account_id', nullable: false },
  { name: 'refund_id', nullable: false },
  { name: 'order_no', nullable: false },
  { name: 'refund_amount', nullable: false },
  { name: 'reason', nullable: true },
  { name: 'requested_by', nullable: true },
  { name: 'requested_at', nullable: false },
];

const REVIEW_DECISIONS: readonly ReviewDecision[] = ['accept', 'reject'];

/** The first value of a line that is not right; `checking` answers it, and nobody else sees it. */
export class Refusal extends Error {
  readonly problem: ValueProblem;

  constructor(column: string, value: string | null, reason: string) {
    super(reason);
    this.problem = { column, value, reason };
  }
}

/** `now`: nothing is placed long after it. */
export function checkOrderLine(
  line: RawLine,
  currencies: CurrencyDecimals,
  now: Date,
): RowCheck<LedgerOrder> {
  return checking(() => {
    const currency = currencyOf(line, currencies);
    const amount = amountOf(line, 'amount', currency, currencies);
    return {
      accountId: identifier(line, 'account_id'),
      orderNo: identifier(line, 'order_no'),
      currency,
      amount,
      expected: oneOf(line, 'expected', EXPECTED_STATES),
      transactionId: present(line, 'transaction_id') ? identifier(line, 'transaction_id') : null,
      captureAmount: captureAmountOf(line, amount, currency, currencies),
      reviewDecision: present(line, 'review_decision')
        ? oneOf(line, 'review_decision', REVIEW_DECISIONS)
        : null,
      placedAt: notAhead(line, 'placed_at', now),
      updatedAt: present(line, 'updated_at') ? instant(line, 'updated_at') : null,
    };
  });
}

export function checkRefundLine(line: RawLine, now: Date): RowCheck<LedgerRefund> {
  return checking(() => ({
    accountId: identifier(line, 'account_id'),
    refundId: identifier(line, 'refund_id'),
    orderNo: identifier(line, 'order_no'),
    refundAmount: accepted(
      line,
      'refund_amount',
      checkPlainAmount(required(line, 'refund_amount')),
    ),
    reason: present(line, 'reason') ? freeText(line, 'reason') : null,
    requestedBy: present(line, 'requested_by') ? freeText(line, 'requested_by') : null,
    requestedAt: notAhead(line, 'requested_at', now),
  }));
}

/** Why a text cannot be an identifier; null where it can. Never trims: a space is a difference. */
export function identifierProblem(text: string): string | null {
  if (text === '') return 'must not be empty';
  if (text.length > MAX_ID_LENGTH) return `is longer than ${MAX_ID_LENGTH} characters`;
  if (/^-?\d(?:[.,]\d+)?E[+-]\d{1,3}$/i.test(text)) {
    return 'is in scientific notation: a spreadsheet has lost its digits';
  }
  if (/^[\x21-\x7e]+$/.test(text)) return null;
  if (text.trim() !== text) return 'begins or ends with a space';
  if (/[\p{C}\p{Zl}\p{Zp}]/u.test(text)) return 'has a control or invisible character';
  if (text.normalize('NFKC') !== text) return 'has a character that looks like another';
  if (/\p{Script=Latin}/u.test(text) && /[\p{Script=Cyrillic}\p{Script=Greek}]/u.test(text)) {
    return 'mixes alphabets: a letter looks like another';
  }
  return null;
}

const INSTANT =
  /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(Z|[+-]\d\d(?::?\d\d)?)$/;

/** Most times of a million lines are spelled as ours are: of them only the day is looked at. */
const AS_OURS = /^[12]\d{3}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/;

/** ISO 8601 with zone, in one spelling (at most six decimals of a second); null if it is not. */
export function normalInstant(text: string): string | null {
  if (AS_OURS.test(text)) return isKnownDay(text) ? text : null;
  const match = INSTANT.exec(text);
  if (match === null) return null;
  const [, year = '', month = '', day = '', hour = '', minute = '', second = '00'] = match;
  if (!isKnownDay(`${year}-${month}-${day}`)) return null;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null;
  const zone = normalZone(match[8] ?? '');
  if (zone === null) return null;
  const fraction = (match[7] ?? '').slice(0, 6).replace(/0+$/, '');
  const time = `${hour}:${minute}:${second}${fraction === '' ? '' : `.${fraction}`}`;
  return `${year}-${month}-${day}T${time}${zone}`;
}

/** What normalInstant answered, in UTC with six decimals: such texts follow one another in time. */
export function utcInstant(normal: string): string {
  const fraction = (/\.(\d+)/.exec(normal)?.[1] ?? '').padEnd(6, '0');
  const local = normal.slice(0, 19);
  if (normal.endsWith('Z')) return `${local}.${fraction}Z`;
  const zone = normal.slice(-6);
  return `${new Date(Date.parse(`${local}${zone}`)).toISOString().slice(0, 19)}.${fraction}Z`;
}

export function checking<Row>(read: () => Row): RowCheck<Row> {
  try {
    return { kind: 'ok', row: read() };
  } catch (error) {
    if (error instanceof Refusal) return { kind: 'refused', problem: error.problem };
    throw error;
  }
}

export function present(line: RawLine, column: string): boolean {
  return (line[column] ?? null) !== null;
}

function required(line: RawLine, column: string): string {
  const value = line[column] ?? null;
  if (value === null || value === '') throw new Refusal(column, value, 'must not be empty');
  return value;
}

export function identifier(line: RawLine, column: string): string {
  const value = required(line, column);
  const problem = identifierProblem(value);
  if (problem !== null) throw new Refusal(column, value, problem);
  return value;
}

function freeText(line: RawLine, column: string): string {
  const value = required(line, column);
  if (value.length > MAX_TEXT_LENGTH) {
    throw new Refusal(column, value, `is longer than ${MAX_TEXT_LENGTH} characters`);
  }
  // Tab and line breaks too: the text goes to the gateway inside one field.
  if (/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(value)) {
    throw new Refusal(column, value, 'has a control character');
  }
  return value;
}

export function oneOf<Word extends string>(
  line: RawLine,
  column: string,
  words: readonly Word[],
): Word {
  const value = required(line, column);
  const word = words.find((candidate) => candidate === value);
  if (word === undefined) throw new Refusal(column, value, `must be ${words.join(', ')}`);
  return word;
}

export function currencyOf(line: RawLine, currencies: CurrencyDecimals): string {
  const currency = required(line, 'currency');
  const problem = currencyProblem(currency, currencies);
  if (problem !== null) throw new Refusal('currency', currency, problem);
  return currency;
}

export function amountOf(
  line: RawLine,
  column: string,
  currency: string,
  currencies: CurrencyDecimals,
): Hundredths {
  return accepted(line, column, checkLedgerAmount(required(line, column), currency, currencies));
}

function accepted(
  line: RawLine,
  column: string,
  check: ReturnType<typeof checkPlainAmount>,
): Hundredths {
  if (check.kind === 'refused') throw new Refusal(column, line[column] ?? null, check.reason);
  return check.amount;
}

function captureAmountOf(
  line: RawLine,
  amount: Hundredths,
  currency: string,
  currencies: CurrencyDecimals,
): Hundredths | null {
  if (!present(line, 'capture_amount')) return null;
  const captureAmount = amountOf(line, 'capture_amount', currency, currencies);
  if (captureAmount > amount) {
    throw new Refusal('capture_amount', line.capture_amount ?? null, 'is above amount');
  }
  return captureAmount;
}

export function instant(line: RawLine, column: string): string {
  const value = required(line, column);
  const normal = normalInstant(value);
  if (normal === null) {
    throw new Refusal(column, value, 'must be ISO 8601 with zone, such as "2026-11-19T08:30:00Z"');
  }
  return normal;
}

/** Of an order or a request: no night would come to it, or it would go long before its time. */
function notAhead(line: RawLine, column: string, now: Date): string {
  const at = instant(line, column);
  if (isAhead(at, now)) throw new Refusal(column, line[column] ?? null, AHEAD);
  return at;
}

export const AHEAD = 'lies more than a day ahead';

export function isAhead(at: string, now: Date): boolean {
  return Date.parse(at) > now.getTime() + AHEAD_MAX_MS;
}

/** Of a text that begins as 2026-11-19 does: a day of the calendar, in years that count. */
function isKnownDay(text: string): boolean {
  const year = Number(text.slice(0, 4));
  const month = Number(text.slice(5, 7));
  const day = Number(text.slice(8, 10));
  if (year < FIRST_YEAR || year > LAST_YEAR || month < 1 || month > 12 || day < 1) return false;
  return day <= DAYS_OF_ALL_YEARS || day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
}

/** Every month has so many. */
const DAYS_OF_ALL_YEARS = 28;

function normalZone(zone: string): string | null {
  if (zone === 'Z') return 'Z';
  const hours = zone.slice(1, 3);
  const minutes = zone.length > 3 ? zone.slice(-2) : '00';
  if (Number(hours) > 14 || Number(minutes) > 59) return null;
  return `${zone.slice(0, 1)}${hours}:${minutes}`;
}
