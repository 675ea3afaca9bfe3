// Payments: direct, by an alternative payment method, on the hosted page. Builds the request and
// reads the answer; both are pure. All three create something at the gateway and go over the money
// transport, one write and no retry: the client does that. Neighbours: paymentShapes.ts holds the
// fields, requests.ts signs, paymentAnswer.ts and hiddenForm.ts read.

import { TieoutError } from '../../core/errors.js';
import type { Account } from '../account.js';
import type { RecordShape } from '../document/messageShape.js';
import type { ApmPayment, DirectPayment, HostedPayment } from '../document/paymentMessages.js';
import { APM_SHAPE, CARD_FIELDS, DIRECT_SHAPE, HOSTED_SHAPE } from '../document/paymentShapes.js';
import type { Profile } from '../document/profile.js';
import type { RawAnswer } from '../transport/transport.js';
import { readWireAmount } from '../wire/amount.js';
import { type PreparedRequest, prepareRequest } from '../wire/requests.js';
import {
  documentedRefusal,
  type NotDone,
  transferProblem,
  type UnknownOutcome,
  unknown,
} from '../wire/wholeAnswer.js';
import { type HiddenForm, readHiddenForm } from './hiddenForm.js';

export type CheckoutOutcome =
  /** `html` is handed to the shopper's browser as it is; it submits its form by itself. */
  { kind: 'page'; html: string; form: HiddenForm } | NotDone | UnknownOutcome;

type Payment = DirectPayment | ApmPayment | HostedPayment;

const REQUIRED = ['order_no', 'currency', 'amount'] as const;

export function prepareDirect(
  profile: Profile,
  account: Account,
  payment: DirectPayment,
): PreparedRequest {
  // With payment_method the gateway would take it as the other kind ("Endpoints" 2).
  refuseFields('authorise', payment, ['payment_method']);
  return prepare(profile, account, 'authorise', DIRECT_SHAPE, payment, []);
}

export function prepareApm(
  profile: Profile,
  account: Account,
  payment: ApmPayment,
): PreparedRequest {
  refuseFields('authorise', payment, CARD_FIELDS);
  return prepare(profile, account, 'authorise', APM_SHAPE, payment, ['payment_method']);
}

export function prepareCheckout(
  profile: Profile,
  account: Account,
  payment: HostedPayment,
): PreparedRequest {
  refuseFields('checkout', payment, [...CARD_FIELDS, 'accept']);
  return prepare(profile, account, 'checkout', HOSTED_SHAPE, payment, []);
}

export function readCheckoutAnswer(
  profile: Profile,
  sent: PreparedRequest,
  raw: RawAnswer,
): CheckoutOutcome {
  const refusal = documentedRefusal(profile, raw);
  if (refusal !== null) return refusal;
  const problem = transferProblem(raw);
  if (problem !== null) return unknown(problem);
  const html = utf8Of(raw.body);
  if (html === null) return unknown('the page is not UTF-8');
  const form = readHiddenForm(html);
  if (form.kind === 'refused') return unknown(form.reason);
  const foreign = foreignEcho(sent, form);
  return foreign === null ? { kind: 'page', html, form } : unknown(foreign);
}

function prepare(
  profile: Profile,
  account: Account,
  operation: 'authorise' | 'checkout',
  shape: RecordShape,
  payment: Payment,
  alsoRequired: readonly string[],
): PreparedRequest {
  const prepared = prepareRequest(
    profile,
    account,
    {
      operation,
      path: `/v1/${operation}`,
      shape,
      required: [...REQUIRED, ...alsoRequired],
      currency: 'currency',
    },
    payment,
  );
  if (readWireAmount(profile.currencies, payment.currency, payment.amount) === 0n) {
    throw new TieoutError(`${operation}: amount must be above zero`);
  }
  return prepared;
}

function refuseFields(operation: string, payment: object, names: readonly string[]): void {
  const found = names.find((name) => Object.hasOwn(payment, name));
  if (found === undefined) return;
  throw new TieoutError(`${operation}: ${found} has no place in this kind of payment`);
}

/** The inputs echo the request where they bear its names ("Redirect response"). */
function foreignEcho(sent: PreparedRequest, form: HiddenForm): string | null {
  const names = ['merchant_id', 'account_id', ...REQUIRED];
  const wrong = names.find((name) => {
    const echoed = form.inputs.get(name);
    return echoed !== undefined && echoed !== sent.message[name];
  });
  return wrong === undefined ? null : `the page is of another payment: ${wrong} differs`;
}

function utf8Of(body: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    return null;
  }
}
