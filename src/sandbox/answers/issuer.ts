// The payment page of an alternative method: the issuer_url of an APM answer. Whoever visits it has
// paid; with `result=declined` the shopper changed his mind. The document shows nothing of it but
// the address, so page and parameters are the sandbox's own.

import type { GatewayState } from '../../core/orders/order.js';
import { complete } from '../book/arrivals.js';
import { draftOf, type Effect, findOrder } from '../book/book.js';
import { type Desk, record } from '../desk.js';
import { escapeMarkup, htmlPage } from './markup.js';

export const ISSUER_PATH = '/_sandbox/issuer';

/** Where the shopper pays; it names the payment and the way back, so that nothing is stored. */
export function issuerUrl(baseUrl: string, effect: Effect, returnUrl: string): string {
  const { account_id, order_no, transaction_id } = effect;
  const parameters = new URLSearchParams({ account_id, order_no, transaction_id });
  if (returnUrl !== '') parameters.set('return_url', returnUrl);
  return `${baseUrl}${ISSUER_PATH}?${parameters}`;
}

export interface Visit {
  readonly parameters: URLSearchParams;
  readonly at: Date;
  readonly request: string;
}

type Visited =
  | {
      readonly kind: 'page';
      readonly html: string;
      /** Null: it was ended before. */
      readonly paid: Effect | null;
      readonly notifyUrl: string | undefined;
    }
  | { readonly kind: 'unknown' };

/** Ends the payment at the first visit; later ones only show what became of it. */
export function visitIssuer(desk: Desk, { parameters, at, request }: Visit): Visited {
  const [accountId, orderNo, transactionId] = ['account_id', 'order_no', 'transaction_id'].map(
    (name) => parameters.get(name) ?? '',
  ) as [string, string, string];
  const draft = draftOf(desk.book);
  const order = findOrder(draft, accountId, orderNo);
  const found = order?.transactions.find((one) => one.transactionId === transactionId);
  if (found === undefined) return { kind: 'unknown' };
  const state: GatewayState = parameters.get('result') === 'declined' ? 'declined' : 'authorised';
  const effect: Effect = {
    operation: 'complete',
    account_id: accountId,
    order_no: orderNo,
    transaction_id: transactionId,
    currency: found.currency,
    amount: found.amount,
    state,
  };
  const isDone = complete(draft, effect);
  if (isDone) record(desk, draft, [effect], { at, request });
  const shown = isDone ? state : found.state;
  const html = issuerPage(`${orderNo}: ${shown}`, parameters.get('return_url') ?? '');
  const { notifyUrl } = found.details ?? {};
  return { kind: 'page', html, paid: isDone ? effect : null, notifyUrl };
}

function issuerPage(title: string, returnUrl: string): string {
  const isWeb = /^https?:\/\//i.test(returnUrl);
  const back = isWeb ? `<p><a href="${escapeMarkup(returnUrl)}">Back to the shop</a></p>` : '';
  return htmlPage(title, `<p>The sandbox's own payment page. No money moves.</p>${back}`);
}
