// Answers the four batch operations as the document prints them ("Batch operation messages"):
// checks account, signature and limits, works the entries out on a draft, writes the effects down,
// and only then lets them be true. A refusal of the whole batch is return_status "0" without
// entries.

import { createHash } from 'node:crypto';
import type { Operation } from '../../core/orders/order.js';
import { BATCH_SHAPES } from '../../gateway/document/messages.js';
import {
  type Draft,
  draftOf,
  type Effect,
  type Moved,
  move,
  type RequestEntry,
  type ResultEntry,
} from '../book/book.js';
import {
  answerSignature,
  checkAccount,
  type Desk,
  type Received,
  record,
  textOf,
} from '../desk.js';
import type { Answer } from '../faults/faults.js';

const MARK_DIGITS = 32;

/** POST /v1/capture, cancel, refund, review. */
export function answerBatch(desk: Desk, operation: Operation, received: Received): Answer {
  const { message } = received;
  const refuse = (reason: string): Answer => batchAnswer(desk, operation, message, reason, []);
  const checked = checkAccount(desk, operation, received);
  if (checked.kind === 'refused') return refuse(checked.reason);
  const { array, entriesMax } = BATCH_SHAPES[operation];
  const entries = readEntries(message[array]);
  if (entries === null) return refuse('invalid entries');
  if (entries.length === 0) return refuse('no orders');
  if (entries.length > entriesMax) return refuse('too many orders');
  const reached = received.isHalved === true ? Math.floor(entries.length / 2) : entries.length;
  const draft = draftOf(desk.book);
  const effects: Effect[] = [];
  const results = entries.slice(0, reached).map((entry) => {
    const moved = moveEntry(desk, draft, operation, checked.account.accountId, entry);
    if (moved.kind === 'done') effects.push(moved.effect);
    return resultOf(desk, operation, entry, moved);
  });
  record(desk, draft, effects, received);
  return batchAnswer(desk, operation, message, null, results);
}

/** One entry; a refund bears a mark, so that a strict sandbox knows the same request again. */
function moveEntry(
  desk: Desk,
  draft: Draft,
  operation: Operation,
  accountId: string,
  entry: RequestEntry,
): Moved {
  const decision = operation === 'review' ? decisionOf(desk, entry) : null;
  if (operation !== 'refund') return move(draft, operation, accountId, entry, decision);
  const mark = refundMark(accountId, entry);
  if (desk.isStrict && (draft.marks.has(mark) || draft.book.marks.has(mark))) {
    return { kind: 'refused', code: 'E2006', reason: 'this refund was done before' };
  }
  const moved = move(draft, operation, accountId, entry, null);
  if (moved.kind === 'refused') return moved;
  draft.marks.add(mark);
  return { kind: 'done', effect: { ...moved.effect, mark } };
}

/** A hash, since the reason is free text and has no place in the journal. */
function refundMark(accountId: string, entry: RequestEntry): string {
  const { transaction_id, order_no, refund_amount, refund_reason } = entry;
  const request = [accountId, transaction_id, order_no, refund_amount, refund_reason];
  return createHash('sha256').update(JSON.stringify(request)).digest('hex').slice(0, MARK_DIGITS);
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
  return { status: 200, contentType: 'application/json', head, entries, tail: ']}' };
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
