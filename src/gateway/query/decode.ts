// Reads the answer of a query. Hot path: ten thousand pages of a hundred orders a run, so the
// checks are written by hand over plain JSON.parse. A query answer moves no money by itself and
// bears no signature; money answers are read in prepareBatch.ts. What an entry lacks becomes null
// and is judged by the compare, never here: only what makes the whole page useless fails it.

import { isAscii, isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { UNREADABLE } from '../../core/runs/unreadable.js';
import { cutText, heldId } from '../../core/text/heldText.js';
import { maskedStart } from '../../core/text/masking.js';
import { noText, otherType } from '../../core/text/otherType.js';
import type { Account } from '../account.js';
import type { RawAnswer } from '../transport/transport.js';
import { freeText } from '../wire/freeText.js';

/**
 * Texts exactly as printed; null where the entry has no text under that name, save that of what is
 * told to a person a value of another type stands there as `otherType` says it.
 */
export interface QueryEntry {
  orderNo: string;
  transactionId: string | null;
  currency: string | null;
  amount: string | null;
  paymentStatus: string | null;
  queryResult: string | null;
  transactionDate: string | null;
  referenceNo: string | null;
  /** Of its subscription; null where it has none. */
  recurringStatus: string | null;
  /** One of the fraud checks says REJECT (document, "States and transitions"). */
  fraudRejected: boolean;
}

type DecodedPage =
  /** `unreadable`: the places of entries that name no order; absent where there are none */
  | { kind: 'page'; entries: QueryEntry[]; unreadable?: number[] }
  | { kind: 'failed'; reason: string };

export function decodeQueryAnswer(account: Account, answer: RawAnswer): DecodedPage {
  if (answer.status !== 200) return failed(`the gateway answered HTTP ${answer.status}`);
  const text = textOf(answer.body);
  if (text === null) return failed('the answer is not UTF-8');
  let page: unknown;
  try {
    page = JSON.parse(text.json);
  } catch {
    return failed('the answer is not JSON');
  }
  if (!isRecord(page)) return failed('the answer is no JSON object');
  const problem = checkEnvelope(account, envelopeOf(page, text.read));
  if (problem !== null) return failed(problem);
  if (!Array.isArray(page.orders_list)) return failed('the answer has no orders_list');
  return decodeEntries(page.orders_list, text.read);
}

/** What the envelope says, each text read as it has to be. */
function envelopeOf(page: Record<string, unknown>, read: ReadText): Record<string, unknown> {
  const names = ['return_status', 'return_message', 'merchant_id', 'account_id'];
  return Object.fromEntries(names.map((name) => [name, read(page[name]) ?? page[name]]));
}

/** Merchant, account and return_status of an answer; null when they are as they should be. */
export function checkEnvelope(account: Account, answer: Record<string, unknown>): string | null {
  if (answer.return_status !== '1') {
    const given = answer.return_status;
    const status = freeText(given) ?? otherType(given) ?? 'none';
    const message = freeText(answer.return_message) ?? 'no message';
    return `the gateway answered return_status ${status}: ${message}`;
  }
  if (answer.merchant_id !== account.merchantId) return 'the answer names another merchant';
  if (answer.account_id !== account.accountId) return 'the answer names another account';
  return null;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function failed(reason: string): DecodedPage {
  return { kind: 'failed', reason };
}

/** How one value of the parsed page becomes text; null: it is none. */
type ReadText = (value: unknown) => string | null;

/**
 * A text with one character beyond Latin in it (a name, a street) is twice as large and takes twice
 * as long to parse. So the bytes are parsed as they are, and only the few texts that are used are
 * decoded. That holds as long as nothing is escaped: an escape yields characters, not bytes.
 */
function textOf(body: Buffer): { json: string; read: ReadText } | null {
  const isPlain = isAscii(body);
  if (!isPlain && !isUtf8(body)) return null;
  const bytes = body.toString('latin1');
  // No database text can hold a NUL: such a value lacks the printed shape.
  if (!bytes.includes('\\u')) return { json: bytes, read: isPlain ? textOrNull : decodedText };
  return { json: isPlain ? bytes : body.toString('utf8'), read: textWithoutNul };
}

function decodedText(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  return BEYOND_ASCII.test(value) ? Buffer.from(value, 'latin1').toString('utf8') : value;
}

const BEYOND_ASCII = /[\x80-\xff]/;

function decodeEntries(list: unknown[], read: ReadText): DecodedPage {
  const entries: QueryEntry[] = [];
  const unreadable: number[] = [];
  for (const entry of list) {
    if (isRecord(entry) && typeof entry.order_no === 'string' && entry.order_no !== '') {
      entries.push(entryOf(entry, entry.order_no, read));
      continue;
    }
    unreadable.push(entries.length);
    entries.push(unreadableEntry(entry));
  }
  return { kind: 'page', entries, ...(unreadable.length === 0 ? {} : { unreadable }) };
}

function entryOf(entry: Record<string, unknown>, printed: string, read: ReadText): QueryEntry {
  const orderNo = heldId(read(printed));
  return {
    orderNo: orderNo ?? standInFor(read(printed) ?? printed),
    // Of an order that cannot be named nothing is to be believed: the entry is invalid.
    transactionId: orderNo === null ? null : heldId(read(entry.transaction_id)),
    currency: shownText(entry.currency, read),
    amount: shownText(entry.amount, read),
    // Without a text there it is no code, and the entry is invalid.
    paymentStatus: heldText(read(entry.payment_status)),
    queryResult: heldText(read(entry.query_result) ?? noText(entry.query_result)),
    transactionDate: heldText(read(entry.transaction_date)),
    referenceNo: heldText(read(entry.reference_no)),
    recurringStatus: recurringStatusOf(entry.subscription_result, read),
    fraudRejected: hasRejectedCheck(entry.fraud_check_result),
  };
}

/** One that names no order is told as an order of its own, the same each time, and invalid. */
function unreadableEntry(entry: unknown): QueryEntry {
  return {
    orderNo: `${UNREADABLE}${CUT_MARK}${digestOf(JSON.stringify(entry) ?? '')}`,
    transactionId: null,
    currency: null,
    amount: null,
    paymentStatus: null,
    queryResult: null,
    transactionDate: null,
    referenceNo: null,
    recurringStatus: null,
    fraudRejected: false,
  };
}

/** Any text that is no id; what is longer is cut, and shows it. */
const TEXT_CHARS_MAX = 200;
const CUT_MARK = '…';

function heldText(text: string | null): string | null {
  if (text === null || text.length <= TEXT_CHARS_MAX) return text;
  return cutText(maskedStart(text, TEXT_CHARS_MAX), TEXT_CHARS_MAX) + CUT_MARK;
}

/** What a value of another type stands there as is told to a person, and means nothing. */
function shownText(value: unknown, read: ReadText): string | null {
  return heldText(read(value) ?? otherType(value));
}

/**
 * What stands for an order number that cannot be held, the same each time: nobody asked for such a
 * one, and it is told as an order of its own.
 */
function standInFor(orderNo: string): string {
  const start = orderNo.slice(0, 40).replace(/[^\x21-\x7e]/g, '');
  return `${start}${CUT_MARK}${digestOf(orderNo)}`;
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** An order without a subscription has an empty one. */
function recurringStatusOf(subscription: unknown, read: ReadText): string | null {
  return isRecord(subscription) ? shownText(subscription.recurring_status, read) || null : null;
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function textWithoutNul(value: unknown): string | null {
  return typeof value === 'string' && !value.includes('\0') ? value : null;
}

function hasRejectedCheck(checks: unknown): boolean {
  return (
    Array.isArray(checks) && checks.some((check) => isRecord(check) && check.status === 'REJECT')
  );
}
