// Reads the answer of a query. Hot path: ten thousand pages of a hundred orders a night, so the
// checks are written by hand over plain JSON.parse. A query answer moves no money by itself and
// bears no signature; money answers are read in batchOps.ts. What an entry lacks becomes null and
// is judged by the compare, never here: only what makes the whole page useless fails it.

import { isAscii, isUtf8 } from 'node:buffer';
import type { Account } from './account.js';
import { freeText } from './freeText.js';
import type { RawAnswer } from './transport.js';

/** Texts exactly as printed; null where the entry has no text under that name. */
export interface QueryEntry {
  orderNo: string;
  transactionId: string | null;
  currency: string | null;
  amount: string | null;
  paymentStatus: string | null;
  queryResult: string | null;
  transactionDate: string | null;
  referenceNo: string | null;
  /** One of the fraud checks says REJECT (document, "States and transitions"). */
  fraudRejected: boolean;
}

export type DecodedPage =
  | { kind: 'page'; entries: QueryEntry[] }
  | { kind: 'failed'; reason: string };

export function decodeQueryAnswer(account: Account, answer: RawAnswer): DecodedPage {
  if (answer.status !== 200) return failed(`the gateway answered HTTP ${answer.status}`);
  const text = textOf(answer.body);
  if (text === null) return failed('the answer is not UTF-8');
  let page: unknown;
  try {
    page = JSON.parse(text);
  } catch {
    return failed('the answer is not JSON');
  }
  if (!isRecord(page)) return failed('the answer is no JSON object');
  const problem = checkEnvelope(account, page);
  if (problem !== null) return failed(problem);
  if (!Array.isArray(page.orders_list)) return failed('the answer has no orders_list');
  return decodeEntries(page.orders_list, text.includes('\\u0000'));
}

/** Merchant, account and return_status of an answer; null when they are as they should be. */
export function checkEnvelope(account: Account, answer: Record<string, unknown>): string | null {
  if (answer.return_status !== '1') {
    const status = freeText(answer.return_status) ?? 'none';
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

/** Most pages are ASCII, which is copied several times faster than UTF-8 is decoded. */
function textOf(body: Buffer): string | null {
  if (isAscii(body)) return body.toString('latin1');
  return isUtf8(body) ? body.toString('utf8') : null;
}

function decodeEntries(list: unknown[], mayHoldNul: boolean): DecodedPage {
  const entries: QueryEntry[] = [];
  // No database text can hold a NUL: such a value lacks the printed shape.
  const read = mayHoldNul ? textWithoutNul : textOrNull;
  for (const entry of list) {
    if (!isRecord(entry)) return failed('an entry of the answer is no object');
    const orderNo = read(entry.order_no);
    if (orderNo === null) return failed('an entry of the answer has no order_no');
    entries.push({
      orderNo,
      transactionId: read(entry.transaction_id),
      currency: read(entry.currency),
      amount: read(entry.amount),
      paymentStatus: read(entry.payment_status),
      queryResult: read(entry.query_result),
      transactionDate: read(entry.transaction_date),
      referenceNo: read(entry.reference_no),
      fraudRejected: hasRejectedCheck(entry.fraud_check_result),
    });
  }
  return { kind: 'page', entries };
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
