// Takes payouts (document, "Payout request" and "Payout response"). Only what is signed is needed.
// The document shows no error shape, so a payout that is not made is a record with a status that
// means failed, failure_type and failure_reason. Asked again it pays again, unless the sandbox is
// strict.

import { draftOf, type Effect } from '../book/book.js';
import {
  checkAccount,
  type Desk,
  nextTransactionId,
  type Received,
  record,
  textOf,
} from '../desk.js';
import { type Answer, bareAnswer } from '../faults/faults.js';
import { payoutCode } from './codes.js';

type Message = Received['message'];

interface Failure {
  readonly type: string;
  readonly reason: string;
}

const DUPLICATE: Failure = { type: 'DUPLICATE_REQUEST', reason: 'this request_id was paid before' };

/** A `reference` that begins so is refused by the beneficiary's bank. */
const REFUSED_REFERENCE = 'FAIL';
/** One that begins so has left the payer and not yet arrived; nothing more is ever said of it. */
const PENDING_REFERENCE = 'PENDING';
/** One that ends so costs the payer this much more. */
const COSTLY_REFERENCE = 'FEE';
const FEE = 12.5;
const REQUEST_ID_MAX = 100;
const SHORT_ID_LETTERS = 6;

/** POST /v1/payout. */
export function answerPayout(desk: Desk, received: Received): Answer {
  const { message } = received;
  const transactionId = nextTransactionId(desk, 'P', received.at);
  const failure = problemOf(desk, received);
  const mark = `payout ${textOf(message.account_id)} ${textOf(message.request_id)}`;
  const again = desk.isStrict && desk.book.marks.has(mark);
  const refused = failure ?? (again ? DUPLICATE : null);
  if (refused !== null) return payoutAnswer(desk, received, '', refused);
  const effect: Effect = {
    operation: 'payout',
    account_id: textOf(message.account_id),
    order_no: textOf(message.request_id),
    transaction_id: transactionId,
    currency: textOf(message.payment_currency),
    amount: amountOf(message),
    mark,
  };
  const draft = draftOf(desk.book);
  draft.marks.add(mark);
  record(desk, draft, [effect], received);
  const { merchant_id, account_id, request_id } = message;
  desk.notify(textOf(message.notify_url), {
    merchant_id: textOf(merchant_id),
    account_id: textOf(account_id),
    request_id: textOf(request_id),
    transaction_id: transactionId,
    payment_amount: effect.amount,
    payment_currency: effect.currency,
    status: payoutCode(desk.profile, meaningOf(message)),
  });
  return payoutAnswer(desk, received, transactionId, null);
}

function problemOf(desk: Desk, received: Received): Failure | null {
  const { message } = received;
  const checked = checkAccount(desk, 'payout', received);
  if (checked.kind === 'refused') return invalid(checked.reason);
  const requestId = textOf(message.request_id);
  if (requestId === '' || requestId.length > REQUEST_ID_MAX) return invalid('invalid request_id');
  if (!/^[A-Z]{3}$/.test(textOf(message.payment_currency))) return invalid('invalid currency');
  if (!/^[1-9]\d{0,14}$/.test(amountOf(message))) return invalid('invalid payment_amount');
  if (!textOf(message.reference).startsWith(REFUSED_REFERENCE)) return null;
  return { type: 'BENEFICIARY_REJECTED', reason: "the beneficiary's bank refused the payment" };
}

function invalid(reason: string): Failure {
  return { type: 'INVALID_REQUEST', reason };
}

/** The echo of the request and the fields that the document adds. */
function payoutAnswer(
  { profile }: Desk,
  { message, at }: Received,
  transactionId: string,
  failure: Failure | null,
): Answer {
  const amount = failure?.type === 'INVALID_REQUEST' ? 0 : Number(amountOf(message));
  const isCostly = textOf(message.reference).endsWith(COSTLY_REFERENCE);
  const fee = failure === null && isCostly ? FEE : 0;
  const moment = `${at.toISOString().slice(0, 19)}+0000`;
  const body = {
    ...message,
    ...beneficiaryOf(message.beneficiary),
    amount_beneficiary_receives: failure === null ? amount : 0,
    amount_payer_pays: failure === null ? amount + fee : 0,
    created_at: moment,
    last_updated_at: moment,
    failure_reason: failure?.reason ?? '',
    failure_type: failure?.type ?? '',
    fee_amount: fee,
    fee_currency: textOf(message.payment_currency),
    payer_id: `PY${textOf(message.account_id)}`,
    transaction_id: transactionId,
    short_reference_id: transactionId === '' ? '' : shortReference(transactionId),
    status: payoutCode(profile, failure === null ? meaningOf(message) : 'failed'),
  };
  return bareAnswer(200, 'application/json', JSON.stringify(body));
}

function meaningOf({ reference }: Message): 'done' | 'pending' {
  return textOf(reference).startsWith(PENDING_REFERENCE) ? 'pending' : 'done';
}

/** bank_details come back with `local_clearing_system` and without `bank_code`. */
function beneficiaryOf(value: unknown): { beneficiary?: unknown } {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return {};
  const beneficiary = value as Record<string, unknown>;
  const bank = beneficiary.bank_details;
  if (bank === null || typeof bank !== 'object' || Array.isArray(bank)) return {};
  const { bank_code: _, ...shown } = bank as Record<string, unknown>;
  return { beneficiary: { ...beneficiary, bank_details: { ...shown, local_clearing_system: '' } } };
}

/** `YYYYMMDD-<six characters>`: the day and the serial of the transaction. */
function shortReference(transactionId: string): string {
  return `${transactionId.slice(1, 9)}-${transactionId.slice(-SHORT_ID_LETTERS)}`;
}

function amountOf(message: Message): string {
  const value = message.payment_amount;
  return typeof value === 'number' ? String(value) : textOf(value);
}
