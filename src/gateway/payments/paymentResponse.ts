// A stored answer of a direct payment as `tieout import responses` takes it: ids, amount and what
// became of it, each held to its printed shape. It never says what a status means and never
// verifies the signature: sign.ts does, on `values`. Neighbours: responXml.ts reads the XML,
// paymentAnswer.ts reads the answers to our own requests.

import { identifierProblem } from '../../core/ledger/ledgerRow.js';
import type { Hundredths } from '../../core/money.js';
import { parseAmount } from '../../core/money.js';
import { PAYMENT_RESPONSE_LIMITS, readRespon, refused, type XmlLimits } from '../wire/responXml.js';

export interface PaymentResponse {
  kind: 'response';
  merchantId: string;
  accountId: string;
  orderNo: string;
  amount: Hundredths;
  currency: string;
  /** null where the element is absent, as in the answer of an alternative payment method. */
  transactionId: string | null;
  orderStatus: string | null;
  resultCode: string | null;
  resultMessage: string | null;
  signature: string | null;
  /** Every element of the root that holds text alone, as it came. */
  values: Record<string, string>;
}

type PaymentResponseReading = PaymentResponse | { kind: 'refused'; reason: string };

export function parsePaymentResponse(
  xml: string | Uint8Array,
  limits: XmlLimits = PAYMENT_RESPONSE_LIMITS,
): PaymentResponseReading {
  const root = readRespon(xml, limits);
  return root.kind === 'refused' ? root : readResponse(root.values);
}

function readResponse(values: Map<string, string>): PaymentResponseReading {
  const ids: string[] = [];
  for (const name of ['merchant_id', 'account_id', 'order_no']) {
    const value = values.get(name);
    if (value === undefined) return refused(`has no ${name} that is text alone`);
    const problem = identifierProblem(value);
    if (problem !== null) return refused(`${name} ${problem}`);
    ids.push(value);
  }
  const [merchantId = '', accountId = '', orderNo = ''] = ids;
  const amount = parseAmount(values.get('amount') ?? '');
  if (amount === null || amount === 0n) return refused('amount lacks the printed shape');
  const currency = values.get('currency') ?? '';
  if (!/^[A-Z]{3}$/.test(currency)) return refused('currency is no currency code');
  // Printed as <code>:<message>; without a colon it is neither.
  const result = /^([^:]*):(.*)$/s.exec(values.get('result_info') ?? '');
  const transactionId = values.get('transaction_id') || null;
  const problem = transactionId === null ? null : identifierProblem(transactionId);
  if (problem !== null) return refused(`transaction_id ${problem}`);
  return {
    kind: 'response',
    merchantId,
    accountId,
    orderNo,
    amount,
    currency,
    transactionId,
    orderStatus: values.get('order_status') || null,
    resultCode: result?.[1] ?? null,
    resultMessage: result?.[2] ?? null,
    signature: values.get('encryption_data') || null,
    values: Object.fromEntries(values),
  };
}
