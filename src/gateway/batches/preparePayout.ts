// The payout: builds the request and reads the answer, both pure. It moves money and goes over the
// money transport, one write and no retry. Only `COMPLETED` is shown of its status: what others
// mean is the profile's `payout.statuses`, and without one of them and without the document's
// failure fields nobody can say what became of the payout. Neighbours: payoutEcho.ts holds the
// answer to what was asked, payoutShapes.ts has the fields, requests.ts signs.

import type { Account } from '../account.js';
import type { Payout, PayoutRecord } from '../document/payoutMessages.js';
import { PAYOUT_SHAPE } from '../document/payoutShapes.js';
import type { Profile } from '../document/profile.js';
import { isRecord } from '../query/decode.js';
import type { RawAnswer } from '../transport/transport.js';
import { freeText } from '../wire/freeText.js';
import { type PreparedRequest, prepareRequest } from '../wire/requests.js';
import { readStrictJson } from '../wire/strictJson.js';
import { transferProblem, type UnknownOutcome, unknown } from '../wire/wholeAnswer.js';
import { payoutDifference } from './payoutEcho.js';

export type PayoutOutcome =
  | { kind: 'accepted'; record: PayoutRecord }
  /** Taken by the gateway and not done yet (`payout.statuses.pending`). */
  | { kind: 'pending'; record: PayoutRecord }
  /** A failure: failure_type or failure_reason, or a status that the profile calls failed. */
  | { kind: 'rejected'; record: PayoutRecord }
  | { kind: 'not_sent'; reason: string }
  | UnknownOutcome;

export function preparePayout(profile: Profile, account: Account, payout: Payout): PreparedRequest {
  return prepareRequest(
    profile,
    account,
    {
      operation: 'payout',
      path: '/v1/payout',
      shape: PAYOUT_SHAPE,
      required: ['request_id', 'payment_amount', 'payment_currency'],
      currency: 'payment_currency',
    },
    payout,
  );
}

export function readPayoutAnswer(
  profile: Profile,
  sent: PreparedRequest,
  raw: RawAnswer,
): PayoutOutcome {
  const problem = transferProblem(raw);
  if (problem !== null) return unknown(problem);
  const read = readStrictJson(raw.body, { numbersAsText: true });
  if (read.kind === 'refused') return unknown(read.reason);
  const answer = read.value;
  const difference = payoutDifference(sent.message, answer);
  if (difference !== null) return unknown(difference);
  return judge(profile.payout.statuses, answer);
}

function judge(
  { done, pending, failed }: Profile['payout']['statuses'],
  answer: Record<string, unknown>,
): PayoutOutcome {
  const [status, type, reason] = ['status', 'failure_type', 'failure_reason'].map((name) =>
    printedText(ownValue(answer, name)),
  );
  if (status === undefined || type === undefined || reason === undefined) {
    return unknown('status, failure_type or failure_reason is not text');
  }
  if (status === '') return unknown('the answer has no status');
  const record = recordOf(answer);
  const hasFailed = type !== '' || reason !== '';
  const shown = freeText(status) ?? 'blank';
  const isDone = done.includes(status);
  if (!isDone && !pending.includes(status)) {
    if (hasFailed || failed.includes(status)) return { kind: 'rejected', record };
    return unknown(`status ${shown} has no meaning and no failure came with it`);
  }
  if (hasFailed) return unknown(`status ${shown} came with a failure`);
  // Without an id of the gateway's nobody could find it again.
  if (record.transaction_id === null) return unknown('the answer names no transaction');
  return { kind: isDone ? 'accepted' : 'pending', record };
}

/** Absent and null are no text said; undefined: something else than text. */
function printedText(value: unknown): string | undefined {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : undefined;
}

function recordOf(answer: Record<string, unknown>): PayoutRecord {
  const text = (name: string): string | null => freeText(ownValue(answer, name));
  const amount = (name: string): string | null => amountText(ownValue(answer, name));
  return {
    amount_beneficiary_receives: amount('amount_beneficiary_receives'),
    amount_payer_pays: amount('amount_payer_pays'),
    created_at: text('created_at'),
    last_updated_at: text('last_updated_at'),
    failure_reason: text('failure_reason'),
    failure_type: text('failure_type'),
    fee_amount: amount('fee_amount'),
    fee_currency: text('fee_currency'),
    payer_id: idText(ownValue(answer, 'payer_id')),
    transaction_id: idText(ownValue(answer, 'transaction_id')),
    short_reference_id: idText(ownValue(answer, 'short_reference_id')),
    status: text('status'),
    local_clearing_system: freeText(clearingOf(answer)),
  };
}

/** The one field that stands inside the echo. */
function clearingOf(answer: Record<string, unknown>): unknown {
  const path = ['beneficiary', 'bank_details', 'local_clearing_system'];
  return path.reduce<unknown>((at, name) => (isRecord(at) ? ownValue(at, name) : null), answer);
}

const AMOUNT_CHARS_MAX = 40;
const ID_CHARS_MAX = 200;

/** The digits as they came; null for anything that is no plain decimal number. */
function amountText(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > AMOUNT_CHARS_MAX) return null;
  return /^-?\d+(\.\d+)?$/.test(value) ? value : null;
}

/** An id is never altered: kept as it is, or not at all where it is absurd. */
function idText(value: unknown): string | null {
  if (typeof value !== 'string' || value === '' || value.length > ID_CHARS_MAX) return null;
  return value;
}

function ownValue(answer: Record<string, unknown>, name: string): unknown {
  return isRecord(answer) && Object.hasOwn(answer, name) ? answer[name] : undefined;
}
