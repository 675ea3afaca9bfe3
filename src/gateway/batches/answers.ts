// Judges one entry of a money answer against what was sent: accepted, rejected or unknown
// (docs/CONTRACT.md section 3, "Reading a money answer"). Pure, and the only place with this rule.
// That the answer as a whole can be trusted is settled before, in prepareBatch.ts.

import type { Operation } from '../../core/orders/order.js';
import { heldId } from '../../core/text/heldText.js';
import { type AnyEntryWire, BATCH_SHAPES } from '../document/messages.js';
import type { PayoutRecord } from '../document/payoutMessages.js';
import { freeText } from '../wire/freeText.js';

export interface EntryOutcome {
  transactionId: string;
  orderNo: string;
  kind: 'accepted' | 'rejected' | 'unknown';
  /** The status of the entry; for a refund the code in its refund_message. */
  code: string | null;
  message: string | null;
  /** refund_reference_id. */
  reference: string | null;
  /** refund_reference, which stands beside it. */
  refundReference?: string | null;
  /** Why it is unknown. */
  reason?: string;
  /** Payouts only: what the answer says of it. */
  payout?: PayoutRecord & { meaning: 'done' | 'pending' | 'failed' };
}

type Answered = Record<string, unknown>;

/** The code that the document shows for a refund that went well. */
export const REFUND_ACCEPTED_CODE = 'V0000';
const REFERENCE_CHARS_MAX = 200;
const REFUND_MESSAGE = /^([^\s:]{1,40}):(.*)$/s;

export function judgeEntry(
  operation: Operation,
  acceptedStatuses: readonly string[],
  sent: AnyEntryWire,
  answered: Answered,
): EntryOutcome {
  const ids = [sent.transaction_id, sent.order_no];
  const said =
    operation === 'refund'
      ? refundSignal(answered, ids)
      : errorSignal(BATCH_SHAPES[operation].status, answered, ids);
  const outcome = {
    transactionId: sent.transaction_id,
    orderNo: sent.order_no,
    code: said.code,
    message: said.message,
    reference: referenceOf(answered.refund_reference_id),
    ...(operation === 'refund' && { refundReference: referenceOf(answered.refund_reference) }),
  };
  const difference = firstDifference(sent, answered);
  if (difference !== null) {
    return { ...outcome, kind: 'unknown', reason: `${difference} is not what was sent` };
  }
  const status = answered[BATCH_SHAPES[operation].status];
  if (typeof status !== 'string' || status === '') {
    return { ...outcome, kind: 'unknown', reason: 'the entry has no status' };
  }
  const isAccepted = acceptedStatuses.includes(status);
  if (isAccepted && said.kind === 'fine') return { ...outcome, kind: 'accepted' };
  if (!isAccepted && said.kind === 'error') return { ...outcome, kind: 'rejected' };
  return { ...outcome, kind: 'unknown', reason: contradiction(status, said) };
}

export function unknownEntry(sent: AnyEntryWire, reason: string): EntryOutcome {
  return {
    transactionId: sent.transaction_id,
    orderNo: sent.order_no,
    kind: 'unknown',
    code: null,
    message: null,
    reference: null,
    reason,
  };
}

interface Signal {
  /** unclear: the entry lacks the field or its printed shape. */
  kind: 'fine' | 'error' | 'unclear';
  code: string | null;
  message: string | null;
}

/** Capture, cancel, review: error_message, empty when there is no error (document, "Errors"). */
function errorSignal(statusField: string, answered: Answered, ids: string[]): Signal {
  const code = freeText(answered[statusField]);
  const text = answered.error_message;
  if (typeof text !== 'string') return { kind: 'unclear', code, message: null };
  return { kind: text === '' ? 'fine' : 'error', code, message: freeText(text, ids) };
}

/** Refund: refund_message as <code>:<text> (document, "Errors"). */
function refundSignal(answered: Answered, ids: string[]): Signal {
  const text = answered.refund_message;
  const match = typeof text === 'string' ? REFUND_MESSAGE.exec(text) : null;
  if (match === null) return { kind: 'unclear', code: null, message: freeText(text, ids) };
  const code = match[1] ?? '';
  const message = freeText(match[2], ids);
  // The document prints no error_message for refunds but says that each entry carries one
  // (Endpoints, note 5): where one comes with V0000, the entry contradicts itself.
  const alsoError = answered.error_message !== undefined && answered.error_message !== '';
  if (code !== REFUND_ACCEPTED_CODE) return { kind: 'error', code: freeText(code), message };
  return { kind: alsoError ? 'unclear' : 'fine', code, message };
}

/** An id: kept as it is, or not at all where it is absurd. */
function referenceOf(value: unknown): string | null {
  if (typeof value !== 'string' || value === '') return null;
  return value.length > REFERENCE_CHARS_MAX ? null : heldId(value);
}

/**
 * Amount and currency (refund_amount, review_flag too) must be the very texts that were sent, and
 * so must the reason of a refund where one comes back: it bears our tag.
 */
function firstDifference(sent: AnyEntryWire, answered: Answered): string | null {
  const fields: Record<string, string | undefined> = {
    amount: sent.amount,
    currency: sent.currency,
  };
  if ('refund_amount' in sent) fields.refund_amount = sent.refund_amount;
  if ('refund_reason' in sent && answered.refund_reason != null) {
    fields.refund_reason = sent.refund_reason;
  }
  if ('review_flag' in sent) fields.review_flag = sent.review_flag;
  return Object.keys(fields).find((name) => answered[name] !== fields[name]) ?? null;
}

function contradiction(status: string, said: Signal): string {
  const shown = freeText(status) ?? 'blank';
  if (said.kind === 'unclear') return `status ${shown} without a clear message`;
  return said.kind === 'error'
    ? `status ${shown} says done but the message says error`
    : `status ${shown} has no meaning and no error came with it`;
}
