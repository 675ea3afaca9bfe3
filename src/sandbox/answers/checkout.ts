// The hosted payment page (document, "Redirect (hosted page) request" and "Redirect response"):
// answers /v1/checkout with the form that submits itself, and stands at the other end of that form
// as the page on which the shopper pays. The meaning of the inputs is not shown: fixed ones carry
// the sandbox's own values, the others echo the request.

import { testCard } from '../book/cards.js';
import { type Desk, type Received, textOf } from '../desk.js';
import { type Answer, bareAnswer } from '../faults/faults.js';
import { escapeMarkup, hiddenInput, htmlPage } from './markup.js';
import { detailsOf, openPayment, pay } from './payments.js';
import { readSubscription } from './subscriptions.js';

type Message = Received['message'];

export const HOSTED_PATH = '/_sandbox/hosted';
const HOSTED_CARD = '4111111111111111';

const FIXED_INPUTS: Readonly<Record<string, string>> = {
  gbc_id: '1',
  connector_code: 'sandbox',
  account_name: 'sandbox',
  webSite: 'https://shop.example',
  pm_id: '1',
  apm_type: '',
  descriptor: 'SANDBOX',
  orderprefix: '',
  rrtimezone: 'UTC',
  ordernumlength: '200',
  sendbgoods: '0',
  replacename: '0',
  send_bank_website: '0',
  replace_up_id: '0',
  replace_match_address: '0',
  to_pass_page: '1',
};

/**
 * Inputs whose name is not simply the request's own field in camelCase. The document names them and
 * says of none what it holds: which field each repeats is this sandbox's choice.
 */
const RENAMED: Readonly<Record<string, string>> = {
  merNo: 'merchant_id',
  gatewayNo: 'account_id',
  orderNo: 'order_no',
  orderAmount: 'amount',
  orderCurrency: 'currency',
  signInfo: 'encryption_data',
  notifyUrl: 'notify_url',
  returnUrl: 'return_url',
  return_url: 'return_url',
  cancelUrl: 'cancel_url',
  cancel_url: 'cancel_url',
  goodsInfo: 'items',
  shipFee: 'shipping',
  defaultLang: 'browser_lang',
  isOpen3D: 'open3d',
  source_request_ip: 'shopper_ip',
  verifyBillingAddress: 'verify_billing_address',
  merSendLogoNo: 'mer_send_logo_no',
};

/** POST /v1/checkout. Declared as application/xml, so the page is well-formed XML too. */
export function answerCheckout(desk: Desk, received: Received): Answer {
  const { message } = received;
  const opened = openPayment(desk, 'checkout', received);
  if (opened.kind === 'refused') return opened.answer;
  const fixed = Object.entries(FIXED_INPUTS).map(([name, value]) => hiddenInput(name, value));
  const echoed = [...echoInputs(message)].map(([name, value]) => hiddenInput(name, value));
  const page =
    '<!DOCTYPE html><html><head><title>Redirecting</title></head>' +
    '<body onload="document.forms[0].submit()">' +
    `<form method="POST" action="${escapeMarkup(received.baseUrl + HOSTED_PATH)}">` +
    `${fixed.join('')}<script>${echoed.map(written).join('')}</script></form></body></html>`;
  return bareAnswer(200, 'application/xml', page);
}

/** POST of that form: the page on which the shopper pays; `choice` is what the shopper pressed. */
export function answerHosted(desk: Desk, received: Received): Answer {
  const request = Object.fromEntries(new URLSearchParams(textOf(received.message.allParams)));
  const opened = openPayment(desk, 'checkout', { message: request, headers: null });
  if (opened.kind === 'refused') return opened.answer;
  const choice = textOf(received.message.choice);
  const title = `${request.order_no}: ${request.amount} ${request.currency}`;
  if (choice !== 'pay' && choice !== 'decline') {
    return page(title, choiceForm(textOf(received.message.allParams)));
  }
  const card = testCard(HOSTED_CARD);
  const subscription = readSubscription(objectIn(request.subscription), received.at) ?? undefined;
  const details = detailsOf(desk, request, card, subscription);
  const state = choice === 'pay' ? 'authorised' : 'declined';
  pay(desk, { ...received, message: request }, { state, details });
  const back = /^https?:\/\//i.test(request.return_url ?? '') ? request.return_url : undefined;
  const link = back === undefined ? '' : `<a href="${escapeMarkup(back)}">Back to the shop</a>`;
  return page(title, `<p>${state}</p><p>${link}</p>`);
}

/** The document's renamed inputs, the request's own names in both spellings, and all at once. */
function echoInputs(message: Message): Map<string, string> {
  const inputs = new Map<string, string>();
  const own = Object.entries(message).map(([name, value]) => [name, flat(value)] as const);
  for (const [name, field] of Object.entries(RENAMED)) inputs.set(name, flat(message[field]));
  for (const [name, value] of own) {
    inputs.set(name, value);
    const camel = name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    if (!inputs.has(camel)) inputs.set(camel, value);
  }
  for (const name of Object.keys(FIXED_INPUTS)) inputs.delete(name);
  inputs.set('allParams', new URLSearchParams(Object.fromEntries(own)).toString());
  return inputs;
}

/** An input that the script adds; escaped as markup it holds no quote, so it is a safe literal. */
function written(input: string): string {
  const literal = input.replaceAll('\\', '&#92;').replace(/[\r\n\u2028\u2029]/g, ' ');
  return `document.write('${literal}');`;
}

function flat(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function objectIn(text: string | undefined): unknown {
  if (text === undefined || text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function choiceForm(allParams: string): string {
  const button = (choice: string, label: string): string =>
    `<form method="POST" action="${HOSTED_PATH}">${hiddenInput('allParams', allParams)}` +
    `${hiddenInput('choice', choice)}<button>${label}</button></form> `;
  return `<p>${button('pay', 'Pay with the test card')}${button('decline', 'Decline')}</p>`;
}

function page(title: string, body: string): Answer {
  return bareAnswer(200, 'text/html; charset=utf-8', htmlPage(title, body));
}
