// Takes a direct payment (document, "Direct payment request") so that outsiders can put orders of
// their own into the sandbox: it always authorises. Of the card only the masked number goes back
// into the answer; nothing of it is kept. Answers in XML, written by hand with every value escaped.

import { parseAmount } from '../core/money.js';
import { authorise, draftOf, type Effect, settle } from './book.js';
import { answerSignature, checkAccount, type Desk, type Received, record, textOf } from './desk.js';
import { printedDate } from './entries.js';
import { type Answer, bareAnswer } from './faults.js';

const XML_TYPE = 'application/xml';
const CARD_FIELDS = ['expiration_month', 'expiration_year', 'security_code'] as const;
const ORDER_NO_MAX = 200;

/** POST /v1/authorise with card fields. */
export function answerPayment(desk: Desk, received: Received): Answer {
  const { message } = received;
  const checked = checkAccount(desk, 'authorise', message);
  if (checked.kind === 'refused') {
    const note = checked.status === 404 ? 'Record not found' : 'Invalid input';
    return bareAnswer(checked.status, 'text/plain', note);
  }
  if (!isPayment(desk, message)) return bareAnswer(400, 'text/plain', 'Invalid input');
  const effect: Effect = {
    operation: 'authorise',
    account_id: checked.account.accountId,
    order_no: textOf(message.order_no),
    transaction_id: nextTransactionId(desk, received.at),
    currency: textOf(message.currency),
    amount: textOf(message.amount),
    authorised_at: received.at.getTime(),
  };
  const draft = draftOf(desk.book);
  authorise(draft, effect);
  record(desk, [effect], received);
  settle(draft);
  return bareAnswer(200, XML_TYPE, paymentXml(desk, message, effect));
}

/** The fields that CONTRACT section 8 asks for; an order number that can be asked for again. */
function isPayment(desk: Desk, message: Received['message']): boolean {
  const orderNo = textOf(message.order_no);
  const amount = parseAmount(textOf(message.amount));
  return (
    orderNo !== '' &&
    orderNo.length <= ORDER_NO_MAX &&
    !/\p{Cc}/u.test(orderNo) &&
    !orderNo.includes(desk.profile.query.orderList.separator) &&
    amount !== null &&
    amount > 0n &&
    /^[A-Z]{3}$/.test(textOf(message.currency)) &&
    /^\d{12,19}$/.test(textOf(message.card)) &&
    CARD_FIELDS.every((field) => textOf(message[field]) !== '')
  );
}

/** Journal lines are never removed, so their number names a payment once and for all. */
function nextTransactionId({ journal }: Desk, at: Date): string {
  const day = printedDate(at.getTime()).slice(0, 8);
  return `T${day}A${String(journal.count() + 1).padStart(6, '0')}`;
}

function paymentXml(desk: Desk, message: Received['message'], effect: Effect): string {
  const card = textOf(message.card);
  const values: [string, string][] = [
    ['merchant_id', textOf(message.merchant_id)],
    ['account_id', effect.account_id],
    ['order_no', effect.order_no],
    ['amount', effect.amount],
    ['currency', effect.currency],
    ['transaction_id', effect.transaction_id],
    ['card', `${card.slice(0, 6)}******${card.slice(-4)}`],
    ['order_status', '1'],
    ['result_info', '0000:Success'],
    ['note', textOf(message.note)],
    ['connector', 'sandbox'],
    ['risk_action', 'ACCEPT'],
  ];
  const signature = answerSignature(desk, 'authorise', message, Object.fromEntries(values));
  values.push(['encryption_data', signature]);
  const body = values.map(([name, value]) => `<${name}>${escapeXml(value)}</${name}>`).join('');
  return `<?xml version="1.0" encoding="UTF-8"?><respon>${body}</respon>`;
}

function escapeXml(value: string): string {
  return value
    .replace(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}
