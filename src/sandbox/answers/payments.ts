// Takes payments (document, "Direct payment request", "APM payment request"): a card is decided at
// once, an alternative method waits until its issuer_url was visited (issuer.ts). Of a card number
// only the masked form goes on from here. Answers in XML; 400 and 404 as the document names them.

import { parseAmount } from '../../core/money.js';
import type { GatewayState } from '../../core/orders/order.js';
import { maskCardNumbers } from '../../core/text/masking.js';
import { authorise } from '../book/arrivals.js';
import { draftOf, type Effect } from '../book/book.js';
import { maskedCard, type TestCard, testCard, tokenCard, tokenOf } from '../book/cards.js';
import type { PaymentDetails, Subscription } from '../book/order.js';
import {
  answerSignature,
  checkAccount,
  type Desk,
  nextTransactionId,
  type Received,
  record,
  type SandboxAccount,
  textOf,
} from '../desk.js';
import { type Answer, bareAnswer } from '../faults/faults.js';
import { riskCode } from './codes.js';
import { SHOWN_FIELDS } from './entries.js';
import { issuerUrl } from './issuer.js';
import { responXml, type XmlElement } from './markup.js';
import { deductionOf, readSubscription, recurringId } from './subscriptions.js';

type Message = Received['message'];
type PaidState = Extract<GatewayState, 'authorised' | 'declined' | 'in_review' | 'pending'>;

const XML_TYPE = 'application/xml';
const EXPIRY_FIELDS = ['expiration_month', 'expiration_year', 'security_code'] as const;
const ORDER_NO_MAX = 200;
const KEPT_TEXT_MAX = 200;

/** What the shop is told of a payment; only 1 and 0000:Success are the document's. */
const RESULTS: Record<PaidState, { status: string; info: string }> = {
  authorised: { status: '1', info: '0000:Success' },
  declined: { status: '0', info: '1005:Declined' },
  in_review: { status: '2', info: '0001:In review' },
  pending: { status: '2', info: '0002:Pending' },
};

/** The profile says which order_status a payment that went well bears. */
function resultOf({ profile }: Desk, state: PaidState): { status: string; info: string } {
  const own = RESULTS[state];
  return state === 'authorised' ? { ...own, status: profile.payments.accepted[0] ?? '1' } : own;
}

/** POST /v1/authorise: `payment_method` without card fields selects the APM form (note 2). */
export function answerPayment(desk: Desk, received: Received): Answer {
  const { message } = received;
  const opened = openPayment(desk, 'authorise', received);
  if (opened.kind === 'refused') return opened.answer;
  const { account } = opened;
  const isApm = textOf(message.payment_method) !== '' && message.card === undefined;
  if (isApm) return answerApm(desk, account, received);
  const card = cardOf(account, message);
  if (card === 'unknown token') return refusal(404);
  const subscription = readSubscription(message.subscription, received.at);
  if (card === null || subscription === null) return refusal(400);
  const details = detailsOf(desk, message, card, subscription);
  const effect = pay(desk, received, { state: card.leadsTo, details });
  return bareAnswer(200, XML_TYPE, directXml(desk, account, message, card, effect));
}

/** Who pays and whether ids, order number, amount and currency can be used at all. */
export function openPayment(
  desk: Desk,
  operation: 'authorise' | 'checkout',
  received: Pick<Received, 'message' | 'headers'>,
): { kind: 'open'; account: SandboxAccount } | { kind: 'refused'; answer: Answer } {
  const checked = checkAccount(desk, operation, received);
  if (checked.kind === 'refused') return { kind: 'refused', answer: refusal(checked.status) };
  if (!isPayment(desk, received.message)) return { kind: 'refused', answer: refusal(400) };
  return { kind: 'open', account: checked.account };
}

/** Writes a payment down; the shop hears of it when it asked to. */
export function pay(
  desk: Desk,
  received: Received,
  { state, details }: { state: PaidState; details: PaymentDetails },
): Effect {
  const { message } = received;
  const effect: Effect = {
    operation: 'authorise',
    account_id: textOf(message.account_id),
    order_no: textOf(message.order_no),
    transaction_id: nextTransactionId(desk, 'T', received.at),
    currency: textOf(message.currency),
    amount: textOf(message.amount),
    authorised_at: received.at.getTime(),
    state,
    details,
  };
  const draft = draftOf(desk.book);
  authorise(draft, effect);
  record(desk, draft, [effect], received);
  notifyPayment(desk, textOf(message.merchant_id), effect, details.notifyUrl);
  return effect;
}

/** What is kept of a payment: nothing that could be a card number. */
export function detailsOf(
  desk: Desk,
  message: Message,
  card: TestCard | null,
  subscription?: Subscription | undefined,
): PaymentDetails {
  const kept = (name: string): string =>
    maskCardNumbers(textOf(message[name])).slice(0, KEPT_TEXT_MAX);
  const names = [...SHOWN_FIELDS, desk.profile.siteField];
  const given = names.map((name) => [name, kept(name)] as const);
  const notifyUrl = kept('notify_url');
  return {
    ...(card === null ? {} : { card: maskedCard(card) }),
    shown: Object.fromEntries(given.filter(([, value]) => value !== '')),
    ...(notifyUrl === '' ? {} : { notifyUrl }),
    ...(subscription === undefined ? {} : { subscription }),
  };
}

/** The small notification that the sandbox sends of a payment; the document shows none. */
export function notifyPayment(
  desk: Desk,
  merchantId: string,
  effect: Effect,
  url: string | undefined,
): void {
  const { account_id, order_no, transaction_id, currency, amount, state } = effect;
  const ids = { merchant_id: merchantId, account_id, order_no, transaction_id };
  const { status, info } = resultOf(desk, (state ?? 'authorised') as PaidState);
  desk.notify(url, { ...ids, currency, amount, order_status: status, result_info: info });
}

function refusal(status: 400 | 404): Answer {
  return bareAnswer(status, 'text/plain', status === 404 ? 'Record not found' : 'Invalid input');
}

/**
 * The fields that docs/CONTRACT.md section 8 asks for; an order number that can be asked for again.
 */
function isPayment(desk: Desk, message: Message): boolean {
  const orderNo = textOf(message.order_no);
  const amount = parseAmount(textOf(message.amount));
  return (
    orderNo !== '' &&
    orderNo.length <= ORDER_NO_MAX &&
    !/\p{Cc}/u.test(orderNo) &&
    !orderNo.includes(desk.profile.query.orderList.separator) &&
    amount !== null &&
    amount > 0n &&
    /^[A-Z]{3}$/.test(textOf(message.currency))
  );
}

/** The card, by its number or by a token that an earlier payment was given. */
function cardOf(account: SandboxAccount, message: Message): TestCard | 'unknown token' | null {
  const token = textOf(message.token_id);
  if (message.card === undefined && token !== '') {
    return tokenCard(account.signingKey, token) ?? 'unknown token';
  }
  const isWhole = EXPIRY_FIELDS.every((field) => textOf(message[field]) !== '');
  return isWhole ? testCard(textOf(message.card)) : null;
}

/** Elements in the sequence of the document's table. */
function directXml(
  desk: Desk,
  account: SandboxAccount,
  message: Message,
  card: TestCard,
  effect: Effect,
): string {
  const { status, info } = resultOf(desk, card.leadsTo);
  const isReviewed = card.leadsTo === 'in_review';
  const subscription = effect.details?.subscription;
  const wantsToken = ['', '0', undefined].every((none) => message.token_flag !== none);
  const elements: XmlElement[] = [
    ...echoOf(effect, account),
    ['transaction_id', effect.transaction_id],
    ['card', maskedCard(card)],
    ['order_status', status],
    ['result_info', info],
    ['contract_name', subscription?.contractName ?? ''],
    ['recurring_id', subscription === undefined ? '' : recurringId(effect.transaction_id)],
    ['recurring_deduction_period', subscription?.period ?? ''],
    ['recurring_deduction_time', subscription === undefined ? '' : deductionOf(subscription)],
    ['note', textOf(message.note)],
    ['token_id', wantsToken ? tokenOf(account.signingKey, card) : ''],
    ['connector', 'sandbox'],
    ['threeds_result', 'not enrolled'],
    ['risk_action', riskCode(desk.profile, isReviewed ? 'review' : 'accept')],
    ['risk_score', isReviewed ? '80' : '0'],
  ];
  const reasons: XmlElement[] = [
    ['name', 'velocity'],
    ['status', isReviewed ? 'REJECT' : 'ACCEPT'],
  ];
  const signature = answerSignature(desk, 'authorise', message, Object.fromEntries(elements));
  return responXml([...elements, ['risk_reasons', reasons], ['encryption_data', signature]]);
}

/** No transaction_id in the answer: the document shows none for this form. */
function answerApm(desk: Desk, account: SandboxAccount, received: Received): Answer {
  const details = detailsOf(desk, received.message, null);
  const effect = pay(desk, received, { state: 'pending', details });
  const url = issuerUrl(received.baseUrl, effect, textOf(received.message.return_url));
  return bareAnswer(200, XML_TYPE, responXml([...echoOf(effect, account), ['issuer_url', url]]));
}

function echoOf(effect: Effect, account: SandboxAccount): XmlElement[] {
  return [
    ['merchant_id', account.merchantId],
    ['account_id', effect.account_id],
    ['order_no', effect.order_no],
    ['amount', effect.amount],
    ['currency', effect.currency],
  ];
}
