// Reads the XML answers of /v1/authorise: of a direct payment and of an alternative payment method
// (document, "Direct payment response", "APM payment response"). An answer that is not surely that
// of our own request is unknown. What a code other than 0000 means is not shown, so a payment
// without it is called not accepted, never declined. Pure; responXml.ts parses.

import { maskCardNumbers } from '../../core/text/masking.js';
import type { Account } from '../account.js';
import type { PaymentAnswer } from '../document/paymentMessages.js';
import { meaningOf, type Profile } from '../document/profile.js';
import type { RawAnswer } from '../transport/transport.js';
import { freeText } from '../wire/freeText.js';
import type { PreparedRequest } from '../wire/requests.js';
import { type Respon, readRespon } from '../wire/responXml.js';
import { judgeSignature, responseSignatureOf } from '../wire/sign.js';
import {
  documentedRefusal,
  echoDifference,
  type NotDone,
  transferProblem,
  type UnknownOutcome,
  unknown,
} from '../wire/wholeAnswer.js';

export type DirectOutcome =
  | { kind: 'accepted'; answer: PaymentAnswer; signatureWarning: string | null }
  /** Processed, without the code of success. */
  | { kind: 'not_accepted'; answer: PaymentAnswer; signatureWarning: string | null }
  | NotDone
  | UnknownOutcome;

export type ApmOutcome =
  /** The merchant requests issuerUrl once more and sends the shopper where it leads. */
  | { kind: 'redirect'; answer: PaymentAnswer; issuerUrl: string }
  | { kind: 'not_accepted'; answer: PaymentAnswer }
  | NotDone
  | UnknownOutcome;

/** "Errors": success is this code; the status that goes with it is `payments.accepted`. */
const SUCCESS_CODE = '0000';
const ECHOED = ['merchant_id', 'account_id', 'order_no', 'amount', 'currency'] as const;

export function readDirectAnswer(
  profile: Profile,
  account: Account,
  sent: PreparedRequest,
  raw: RawAnswer,
): DirectOutcome {
  const refusal = documentedRefusal(profile, raw);
  if (refusal !== null) return refusal;
  const respon = openRespon(sent, raw);
  if (respon.kind !== 'respon') return respon;
  const signature = checkSignature(profile, account, sent, respon);
  if (!signature.isGood && profile.signing.responses === 'enforce') {
    return unknown(signature.warning ?? '');
  }
  const answer = answerFrom(profile, respon);
  const { resultCode, orderStatus, transactionId } = answer;
  if (resultCode === null) return unknown('the answer has no result of the form <code>:<message>');
  const outcome = { answer, signatureWarning: signature.warning };
  const isAccepted = orderStatus !== null && profile.payments.accepted.includes(orderStatus);
  const status = freeText(orderStatus) ?? 'none';
  if (resultCode !== SUCCESS_CODE) {
    if (!isAccepted) return { kind: 'not_accepted', ...outcome };
    return unknown(`status ${status} came with result ${freeText(resultCode) ?? 'blank'}`);
  }
  if (!isAccepted) return unknown(`result ${SUCCESS_CODE} came with status ${status}`);
  if (transactionId === null) return unknown('the answer names no transaction');
  return { kind: 'accepted', ...outcome };
}

/** It bears no signature: the document names direct payments and batches only. */
export function readApmAnswer(profile: Profile, sent: PreparedRequest, raw: RawAnswer): ApmOutcome {
  const refusal = documentedRefusal(profile, raw);
  if (refusal !== null) return refusal;
  const respon = openRespon(sent, raw);
  if (respon.kind !== 'respon') return respon;
  const answer = answerFrom(profile, respon);
  const { issuerUrl, resultCode } = answer;
  if (issuerUrl === null) {
    const isRefused = resultCode !== null && resultCode !== SUCCESS_CODE;
    return isRefused ? { kind: 'not_accepted', answer } : unknown('the answer has no issuer_url');
  }
  if (!isWebAddress(issuerUrl)) return unknown('issuer_url is no web address');
  return { kind: 'redirect', answer, issuerUrl };
}

/** The root element, once it is surely the answer to what was sent. */
function openRespon(sent: PreparedRequest, raw: RawAnswer): Respon | UnknownOutcome {
  const problem = transferProblem(raw);
  if (problem !== null) return unknown(problem);
  const respon = readRespon(raw.body);
  if (respon.kind === 'refused') return unknown(`the answer ${freeText(respon.reason) ?? ''}`);
  const difference = echoDifference(sent.message, (name) => respon.values.get(name), ECHOED);
  return difference === null ? respon : unknown(difference);
}

function checkSignature(
  { signing }: Profile,
  account: Account,
  sent: PreparedRequest,
  respon: Respon,
) {
  if (signing.responses === 'off') return { isGood: true, warning: null };
  const values = Object.fromEntries(respon.values);
  return judgeSignature(account, values.encryption_data, (key) =>
    signing.responseMode === 'echo'
      ? sent.signature
      : responseSignatureOf(signing, 'authorise', key, values),
  );
}

function answerFrom({ statuses }: Profile, { values, riskReasons }: Respon): PaymentAnswer {
  const textOf = (name: string): string | null => values.get(name) || null;
  const freeOf = (name: string): string | null => freeText(values.get(name));
  // Printed as <code>:<message>; without a colon it is neither.
  const result = /^([^\s:]{1,40}):(.*)$/s.exec(values.get('result_info') ?? '');
  const card = textOf('card');
  return {
    merchantId: values.get('merchant_id') ?? '',
    accountId: values.get('account_id') ?? '',
    orderNo: values.get('order_no') ?? '',
    amount: values.get('amount') ?? '',
    currency: values.get('currency') ?? '',
    transactionId: textOf('transaction_id'),
    // Masked by the gateway; should it ever not be, it is here.
    card: card === null ? null : maskCardNumbers(card),
    orderStatus: textOf('order_status'),
    resultCode: result?.[1] ?? null,
    resultMessage: freeText(result?.[2]),
    contractName: freeOf('contract_name'),
    recurringId: textOf('recurring_id'),
    recurringDeductionPeriod: textOf('recurring_deduction_period'),
    recurringDeductionTime: textOf('recurring_deduction_time'),
    note: freeOf('note'),
    tokenId: textOf('token_id'),
    connector: freeOf('connector'),
    threedsResult: freeOf('threeds_result'),
    riskAction: freeOf('risk_action'),
    riskMeaning: meaningOf(statuses.risk, textOf('risk_action')),
    riskScore: freeOf('risk_score'),
    riskReasons: riskReasons.map(({ name, status }) => {
      return { name: freeText(name), status: freeText(status) };
    }),
    issuerUrl: textOf('issuer_url'),
  };
}

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
