// Answers the query and the four batch operations as the document prints them: checks account,
// signature and limits, works the entries out on a draft, writes the effects down, and only then
// lets them be true. Knows no HTTP (server.ts) and no money rule (book.ts).

import type { Operation } from '../core/order.js';
import { BATCH_SHAPES, QUERY_ORDERS_MAX } from '../gateway/messages.js';
import type { Profile } from '../gateway/profile.js';
import { responseSignatureOf, sameSignature, signatureOf } from '../gateway/sign.js';
import {
  type Book,
  draftOf,
  type Effect,
  findOrder,
  type Moved,
  move,
  type RequestEntry,
  type ResultEntry,
  settle,
} from './book.js';
import { type EntryPrinter, printOrder } from './entries.js';
import type { Answer } from './faults.js';
import type { Journal, JournalLine } from './journal.js';
import type { SandboxAccountId } from './order.js';

export interface SandboxAccount extends SandboxAccountId {
  readonly signingKey: string;
}

export interface Desk {
  readonly profile: Profile;
  readonly printer: EntryPrinter;
  readonly book: Book;
  readonly journal: Journal;
  /** By account id. */
  readonly accounts: Map<string, SandboxAccount>;
  /** Every movement so far as `GET /_sandbox/effects` prints it. */
  readonly effects: string[];
}

/** A decoded request with what names it in the journal. */
export interface Received {
  readonly message: Readonly<Record<string, unknown>>;
  readonly request: string;
  readonly at: Date;
}

const JSON_TYPE = 'application/json';

/** POST /v1/retrievalTrans with the orders named by a list (profile `query.orderList`). */
export function answerQuery(desk: Desk, { message }: Received): Answer {
  const checked = checkAccount(desk, 'retrievalTrans', message);
  if (checked.kind === 'refused') return queryAnswer(message, '0', checked.reason, []);
  const { field, separator } = desk.profile.query.orderList;
  const orderNos = textOf(message[field])
    .split(separator)
    .filter((orderNo) => orderNo !== '');
  if (orderNos.length === 0) return queryAnswer(message, '0', 'no orders named', []);
  if (orderNos.length > QUERY_ORDERS_MAX) return queryAnswer(message, '0', 'too many orders', []);
  const draft = draftOf(desk.book);
  const entries: string[] = [];
  for (const orderNo of new Set(orderNos)) {
    const order = findOrder(draft, checked.account.accountId, orderNo);
    if (order === null) continue;
    entries.push(...printOrder(desk.printer, order));
    for (const rider of order.riders) {
      const beside = findOrder(draft, order.accountId, rider);
      if (beside !== null) entries.push(...printOrder(desk.printer, beside));
    }
  }
  return queryAnswer(message, '1', 'OK', entries);
}

/** POST /v1/capture, cancel, refund, review. */
export function answerBatch(desk: Desk, operation: Operation, received: Received): Answer {
  const { message } = received;
  const checked = checkAccount(desk, operation, message);
  if (checked.kind === 'refused') return batchAnswer(desk, operation, message, checked.reason, []);
  const { array, entriesMax } = BATCH_SHAPES[operation];
  const entries = readEntries(message[array]);
  if (entries === null) return batchAnswer(desk, operation, message, 'invalid entries', []);
  if (entries.length === 0) return batchAnswer(desk, operation, message, 'no orders', []);
  if (entries.length > entriesMax) {
    return batchAnswer(desk, operation, message, 'too many orders', []);
  }
  const draft = draftOf(desk.book);
  const effects: Effect[] = [];
  const results = entries.map((entry) => {
    const decision = operation === 'review' ? decisionOf(desk, entry) : null;
    const moved = move(draft, operation, checked.account.accountId, entry, decision);
    if (moved.kind === 'done') effects.push(moved.effect);
    return resultOf(desk, operation, entry, moved);
  });
  record(desk, effects, received);
  settle(draft);
  return batchAnswer(desk, operation, message, null, results);
}

/** Writes effects down; throws when that fails, and then they must not become true. */
export function record(desk: Desk, effects: readonly Effect[], received: Received): void {
  const at = received.at.toISOString();
  const lines = effects.map((effect) => ({ ...effect, at, request: received.request }));
  desk.journal.append(lines);
  for (const line of lines) keepEffect(desk.effects, line);
}

/** Adds what `GET /_sandbox/effects` says of a line; a payment only reserves and moves nothing. */
export function keepEffect(effects: string[], line: JournalLine): void {
  if (line.operation === 'authorise') return;
  const { at, operation, account_id, order_no, transaction_id, amount, refund_amount } = line;
  const money = refund_amount === undefined ? { amount } : { refund_amount };
  const { request } = line;
  effects.push(
    JSON.stringify({ at, operation, account_id, order_no, transaction_id, ...money, request }),
  );
}

export type CheckedAccount =
  | { readonly kind: 'known'; readonly account: SandboxAccount }
  | { readonly kind: 'refused'; readonly status: 400 | 404; readonly reason: string };

/** Who asks, and whether the signature is that account's. */
export function checkAccount(
  desk: Desk,
  operation: string,
  message: Readonly<Record<string, unknown>>,
): CheckedAccount {
  const account = desk.accounts.get(textOf(message.account_id));
  if (account === undefined || account.merchantId !== message.merchant_id) {
    return { kind: 'refused', status: 404, reason: 'unknown account' };
  }
  const expected = signatureOf(desk.profile.signing, operation, account.signingKey, message);
  if (sameSignature(expected, message.encryption_data)) return { kind: 'known', account };
  return { kind: 'refused', status: 400, reason: 'wrong signature' };
}

/** The signature of an answer; an account that is not known has no key to sign with. */
export function answerSignature(
  { accounts, profile }: Desk,
  operation: string,
  message: Received['message'],
  answer: Record<string, unknown>,
): string {
  if (profile.signing.responseMode === 'echo') return textOf(message.encryption_data);
  const key = accounts.get(textOf(message.account_id))?.signingKey;
  return key === undefined ? '' : responseSignatureOf(profile.signing, operation, key, answer);
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function queryAnswer(
  message: Received['message'],
  status: string,
  note: string,
  entries: readonly string[],
): Answer {
  const echo = JSON.stringify({
    merchant_id: textOf(message.merchant_id),
    account_id: textOf(message.account_id),
    return_status: status,
    return_message: note,
  });
  const head = `${echo.slice(0, -1)},"orders_list":[`;
  return { status: 200, contentType: JSON_TYPE, head, entries, tail: ']}' };
}

function batchAnswer(
  desk: Desk,
  operation: Operation,
  message: Received['message'],
  refusal: string | null,
  results: readonly ResultEntry[],
): Answer {
  const { array } = BATCH_SHAPES[operation];
  const body = {
    merchant_id: textOf(message.merchant_id),
    account_id: textOf(message.account_id),
    return_status: refusal === null ? '1' : '0',
    return_message: refusal ?? 'OK',
  };
  const signature = answerSignature(desk, operation, message, { ...body, [array]: results });
  const echo = JSON.stringify({ ...body, encryption_data: signature });
  const head = `${echo.slice(0, -1)},${JSON.stringify(array)}:[`;
  const entries = results.map((result) => JSON.stringify(result));
  return { status: 200, contentType: JSON_TYPE, head, entries, tail: ']}' };
}

/** Entries are objects of texts; anything else makes the batch invalid as a whole. */
function readEntries(value: unknown): RequestEntry[] | null {
  if (!Array.isArray(value)) return null;
  const isEntry = (entry: unknown): entry is RequestEntry =>
    entry !== null &&
    typeof entry === 'object' &&
    !Array.isArray(entry) &&
    Object.values(entry).every((field) => typeof field === 'string');
  return value.every(isEntry) ? value : null;
}

function decisionOf({ profile }: Desk, entry: RequestEntry): 'accept' | 'reject' | null {
  if (entry.review_flag === profile.reviewFlags.accept) return 'accept';
  return entry.review_flag === profile.reviewFlags.reject ? 'reject' : null;
}

/** One result entry as the table "Batch operation messages" prints it. */
function resultOf(
  { profile }: Desk,
  operation: Operation,
  entry: RequestEntry,
  moved: Moved,
): ResultEntry {
  const field = (name: string): string => entry[name] ?? '';
  const status = moved.kind === 'done' ? (profile.results.accepted[0] ?? '1') : '0';
  const echo = {
    amount: field('amount'),
    currency: field('currency'),
    order_no: field('order_no'),
    transaction_id: field('transaction_id'),
  };
  if (operation === 'refund') {
    return {
      ...echo,
      refund_amount: field('refund_amount'),
      refund_message: moved.kind === 'done' ? 'V0000:OK' : `${moved.code}:${moved.reason}`,
      refund_reason: field('refund_reason'),
      refund_reference: moved.kind === 'done' ? `R${field('transaction_id')}` : '',
      refund_reference_id: moved.kind === 'done' ? (moved.effect.refund_reference_id ?? '') : '',
      refund_status: status,
    };
  }
  const error = moved.kind === 'done' ? '' : `${moved.code}:${moved.reason}`;
  const flag = operation === 'review' ? { review_flag: field('review_flag') } : {};
  return { ...echo, ...flag, [BATCH_SHAPES[operation].status]: status, error_message: error };
}
