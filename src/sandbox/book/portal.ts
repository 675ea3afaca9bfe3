// The merchant portal of the sandbox: capture, cancel and refund by hand (document, "What the
// service does"), so that a test can move money behind tieout's back. No signature: whoever reaches
// the loopback address may act. The effects bear a request that begins with `portal`.

import { formatAmount, parseAmount } from '../../core/money.js';
import { printedDate } from '../answers/entries.js';
import { escapeMarkup, hiddenInput, htmlPage } from '../answers/markup.js';
import { type Desk, record, textOf } from '../desk.js';
import { draftOf, findOrder, move, type RequestEntry } from './book.js';
import { ALWAYS, type Listing, listingOf } from './listing.js';
import type { SandboxOrder, SandboxTransaction } from './order.js';

export const PORTAL_PATH = '/_sandbox/portal';
export const PORTAL_ACTIONS = ['capture', 'cancel', 'refund'] as const;
export type PortalAction = (typeof PORTAL_ACTIONS)[number];

const ORDERS_A_PAGE = 50;
const PAGE_NO_MAX = 1_000_000;

type Acted =
  | { readonly kind: 'done'; readonly transaction: string; readonly state: string }
  | { readonly kind: 'refused'; readonly reason: string };

/** Does one movement as a person would; amounts that are not given are the whole ones. */
export function actByHand(
  desk: Desk,
  action: PortalAction,
  fields: Readonly<Record<string, unknown>>,
  receipt: { readonly at: Date; readonly request: string },
): Acted {
  const [accountId, orderNo] = [textOf(fields.account_id), textOf(fields.order_no)];
  const draft = draftOf(desk.book);
  const order = findOrder(draft, accountId, orderNo);
  const id = textOf(fields.transaction_id);
  const found = order?.transactions.find((one) => one.transactionId === id);
  if (found === undefined) return { kind: 'refused', reason: 'E1001:no such transaction' };
  const entry: RequestEntry = {
    transaction_id: id,
    order_no: orderNo,
    currency: found.currency,
    amount: textOf(fields.amount) || found.amount,
    refund_amount: textOf(fields.refund_amount) || restOf(found),
  };
  const moved = move(draft, action, accountId, entry, null);
  if (moved.kind === 'refused') return { kind: 'refused', reason: `${moved.code}:${moved.reason}` };
  record(desk, draft, [moved.effect], receipt);
  const after = findOrder(draft, accountId, orderNo)?.transactions;
  const state = after?.find((one) => one.transactionId === id)?.state ?? found.state;
  return { kind: 'done', transaction: id, state };
}

/** A page of orders, newest first, or the one order that is searched for. */
export function portalPage(desk: Desk, parameters: URLSearchParams, note: string | null): string {
  const accountIds = [...desk.accounts.keys()];
  const accountId = parameters.get('account_id') || (accountIds[0] ?? '');
  const orderNo = parameters.get('order_no') ?? '';
  const page = Math.min(PAGE_NO_MAX, Math.max(1, Number(parameters.get('page')) || 1));
  const listing = listingOf(desk.book, accountId, ALWAYS);
  const orders = orderNo === '' ? newest(listing, page) : searched(desk, accountId, orderNo);
  const rows = orders.flatMap((order) => order.transactions.map((one) => rowOf(order, one)));
  const head = ['Order', 'Transaction', 'Date (UTC)', 'Card', 'Amount', 'State', ''];
  return htmlPage(
    `Sandbox portal: account ${accountId}`,
    (note === null ? '' : `<p role="status"><strong>${escapeMarkup(note)}</strong></p>`) +
      searchForm(accountIds, accountId, orderNo) +
      `<p>${listing.size} orders. ${pageLinks(accountId, page, listing.size)}</p>` +
      `<table><thead><tr>${head.map((name) => `<th>${name}</th>`).join('')}</tr></thead>` +
      `<tbody>${rows.join('')}</tbody></table>`,
  );
}

function newest(listing: Listing, page: number): SandboxOrder[] {
  const end = listing.size - (page - 1) * ORDERS_A_PAGE;
  return listing.slice(end - ORDERS_A_PAGE, end).reverse();
}

function searched(desk: Desk, accountId: string, orderNo: string): SandboxOrder[] {
  const order = findOrder(draftOf(desk.book), accountId, orderNo);
  return order === null ? [] : [order];
}

function searchForm(accountIds: readonly string[], accountId: string, orderNo: string): string {
  const options = accountIds.map((id) => {
    const chosen = id === accountId ? ' selected' : '';
    return `<option${chosen}>${escapeMarkup(id)}</option>`;
  });
  return (
    `<form method="get" action="${PORTAL_PATH}">` +
    `<label>Account <select name="account_id">${options.join('')}</select></label> ` +
    `<label>Order <input name="order_no" value="${escapeMarkup(orderNo)}"></label> ` +
    '<button>Show</button></form>'
  );
}

function pageLinks(accountId: string, page: number, size: number): string {
  const link = (no: number, label: string): string => {
    const query = new URLSearchParams({ account_id: accountId, page: `${no}` });
    return `<a href="${PORTAL_PATH}?${escapeMarkup(query.toString())}">${label}</a> `;
  };
  const newer = page > 1 ? link(page - 1, 'Newer') : '';
  return newer + (page * ORDERS_A_PAGE < size ? link(page + 1, 'Older') : '');
}

function rowOf(order: SandboxOrder, one: SandboxTransaction): string {
  const texts = [order.orderNo, one.transactionId, printedDate(one.at), one.details?.card ?? ''];
  const cells = texts.map((text) => `<td>${escapeMarkup(text)}</td>`).join('');
  const back = one.refunded > 0n ? ` (−${formatAmount(one.refunded)})` : '';
  const money = `<td class="money">${escapeMarkup(`${one.amount} ${one.currency}${back}`)}</td>`;
  const buttons = actionsOf(one).map((action) => actionForm(action, order, one));
  return `<tr>${cells}${money}<td>${one.state}</td><td>${buttons.join(' ')}</td></tr>`;
}

function actionsOf({ state }: SandboxTransaction): PortalAction[] {
  if (state === 'authorised') return ['capture', 'cancel'];
  return state === 'captured' || state === 'partially_refunded' ? ['refund'] : [];
}

function actionForm(action: PortalAction, order: SandboxOrder, one: SandboxTransaction): string {
  const field = action === 'refund' ? 'refund_amount' : 'amount';
  const value = action === 'refund' ? restOf(one) : one.amount;
  const label = escapeMarkup(`${action} ${order.orderNo}: amount`);
  const amount =
    action === 'cancel'
      ? ''
      : `<input name="${field}" value="${escapeMarkup(value)}" aria-label="${label}">`;
  return (
    `<form method="post" action="${PORTAL_PATH}/${action}">` +
    hiddenInput('account_id', order.accountId) +
    hiddenInput('order_no', order.orderNo) +
    hiddenInput('transaction_id', one.transactionId) +
    `${amount}<button>${action}</button></form>`
  );
}

/** What could still be given back. */
function restOf(one: SandboxTransaction): string {
  const amount = parseAmount(one.amount);
  return amount === null ? one.amount : formatAmount(amount - one.refunded);
}
