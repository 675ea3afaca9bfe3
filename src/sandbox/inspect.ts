// The part of the sandbox that no gateway has, everything under /_sandbox/: what really moved, what
// it holds, who uses it, what shall go wrong, the portal and the pages on which shoppers pay. Never
// prints a key. Pages that act refuse a browser that comes from another site.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { TieoutError } from '../core/errors.js';
import { formatAmount } from '../core/money.js';
import { isCalendarDate } from '../core/settlement/workingDays.js';
import { DAY_MS } from '../core/time.js';
import { settlementFile } from './acquirer/settlementFile.js';
import { answerHosted, HOSTED_PATH } from './answers/checkout.js';
import { printedDate } from './answers/entries.js';
import { ISSUER_PATH, visitIssuer } from './answers/issuer.js';
import { notifyPayment } from './answers/payments.js';
import { allOrders } from './book/book.js';
import type { SandboxOrder } from './book/order.js';
import {
  actByHand,
  PORTAL_ACTIONS,
  PORTAL_PATH,
  type PortalAction,
  portalPage,
} from './book/portal.js';
import { type Desk, textOf } from './desk.js';
import { parseFaultRules } from './faults/faultRules.js';
import { bareAnswer } from './faults/faults.js';
import type { House } from './handle.js';
import { type Book, ledgerFile } from './seed/ledgerFile.js';
import type { Users } from './users.js';
import { readBody, readMessage, send, sendText } from './wire.js';

const ORDERS_A_CHUNK = 500;
const JSON_TYPE = 'application/json';
const CSV_TYPE = 'text/csv; charset=utf-8';
const HTML_TYPE = 'text/html; charset=utf-8';

export interface Inspected {
  readonly house: House;
  /** Real path of the state folder; null: nothing is remembered. */
  readonly stateDir: string | null;
  /** Null: the sandbox stays until it is told to end. */
  readonly users: Users | null;
}

type Page = (visit: Visit) => void | Promise<void>;

interface Visit extends Inspected {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly parameters: URLSearchParams;
}

const PAGES: ReadonlyMap<string, Page> = new Map<string, Page>([
  ['GET /_sandbox/health', showHealth],
  ['GET /_sandbox/effects', showEffects],
  ['GET /_sandbox/orders', showOrders],
  ['GET /_sandbox/ledger/orders', (visit) => showLedger(visit, 'orders')],
  ['GET /_sandbox/ledger/refunds', (visit) => showLedger(visit, 'refunds')],
  ['GET /_sandbox/settlement', showSettlement],
  ['POST /_sandbox/users', takeUser],
  ['GET /_sandbox/faults', ({ house, response }) => sendJson(response, 200, house.rules.list())],
  ['POST /_sandbox/faults', addFaults],
  ['DELETE /_sandbox/faults', clearFaults],
  [`GET ${PORTAL_PATH}`, showPortal],
  ...PORTAL_ACTIONS.map((action): [string, Page] => [
    `POST ${PORTAL_PATH}/${action}`,
    (visit) => takeAction(visit, action),
  ]),
  [`GET ${ISSUER_PATH}`, showIssuer],
  [`POST ${HOSTED_PATH}`, takeHosted],
]);

/** Answers a path under /_sandbox/. */
export async function inspect(
  inspected: Inspected,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://sandbox');
  const page = PAGES.get(`${request.method} ${pathname}`);
  if (page === undefined) return sendText(response, 404, 'not found');
  await page({ ...inspected, request, response, parameters: searchParams });
}

function showHealth({ house, stateDir, response }: Visit): void {
  const { orders } = house.desk.book.plan.settings;
  sendJson(response, 200, { ok: true, pid: process.pid, stateDir, orders });
}

function showEffects({ house, response }: Visit): void {
  const entries = house.desk.effects;
  send(response, { status: 200, contentType: JSON_TYPE, head: '[', entries, tail: ']' });
}

function showOrders({ house, response }: Visit): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/x-ndjson' });
  return pipeline(Readable.from(orderChunks(house.desk)), response);
}

/** What the shop of the night has in its books. */
function showLedger({ house, response }: Visit, book: Book): Promise<void> {
  response.writeHead(200, { 'content-type': CSV_TYPE });
  return pipeline(Readable.from(ledgerFile(house.desk.book.plan.settings, book)), response);
}

/** `?until=YYYY-MM-DD`, else the last day that has ended; `differences=1` plants some. */
function showSettlement({ house, response, parameters }: Visit): void | Promise<void> {
  const yesterday = new Date(house.now().getTime() - DAY_MS).toISOString().slice(0, 10);
  const until = parameters.get('until') ?? yesterday;
  if (!isCalendarDate(until)) {
    return sendText(response, 400, 'until must be a date such as 2026-11-19');
  }
  const withDifferences = parameters.get('differences') === '1';
  response.writeHead(200, { 'content-type': CSV_TYPE });
  const lines = settlementFile(house.desk, { until, withDifferences });
  return pipeline(Readable.from(lines), response);
}

/** `{ id, leave?, accounts? }`: a user comes, stays or goes, and may bring its accounts. */
async function takeUser({ house, users, request, response }: Visit): Promise<void> {
  const message = await messageOf(request);
  const id = textOf(message?.id);
  if (message === null || id === '') return sendText(response, 400, 'a user needs an id');
  const accounts: unknown[] = Array.isArray(message.accounts) ? message.accounts : [];
  for (const account of accounts) {
    const read = account as Record<string, unknown> | null;
    const [merchantId, accountId] = [textOf(read?.merchantId), textOf(read?.accountId)];
    const signingKey = textOf(read?.signingKey);
    house.desk.accounts.set(accountId, { merchantId, accountId, signingKey });
  }
  if (message.leave !== true) users?.announce(id);
  else response.once('finish', () => users?.leave(id));
  sendText(response, 200, 'OK');
}

async function addFaults({ house, request, response }: Visit): Promise<void> {
  const body = await readBody(request);
  if (body === null) return sendText(response, 413, 'the body is too large');
  try {
    house.rules.add(parseFaultRules(body.toString('utf8')));
  } catch (error) {
    if (!(error instanceof TieoutError)) throw error;
    return sendJson(response, 400, { error: error.message });
  }
  sendJson(response, 200, house.rules.list());
}

function clearFaults({ house, response }: Visit): void {
  house.rules.clear();
  sendJson(response, 200, []);
}

function showPortal({ house, response, parameters }: Visit): void {
  const html = portalPage(house.desk, parameters, parameters.get('note'));
  send(response, bareAnswer(200, HTML_TYPE, html));
}

/** JSON is answered in JSON; a form of the portal's page goes back to that page. */
async function takeAction(visit: Visit, action: PortalAction): Promise<void> {
  const { house, request, response } = visit;
  if (isFromElsewhere(visit)) return sendText(response, 403, 'from another site');
  const fields = await messageOf(request);
  if (fields === null) return sendText(response, 400, 'Invalid input');
  const receipt = { at: house.now(), request: `portal.${house.newId()}` };
  const acted = actByHand(house.desk, action, fields, receipt);
  if ((request.headers['content-type'] ?? '').startsWith(JSON_TYPE)) {
    return sendJson(response, acted.kind === 'done' ? 200 : 409, acted);
  }
  const [accountId, orderNo] = [textOf(fields.account_id), textOf(fields.order_no)];
  const note = acted.kind === 'done' ? `${orderNo}: ${acted.state}` : acted.reason;
  const query = new URLSearchParams({ account_id: accountId, order_no: orderNo, note });
  response.writeHead(303, { location: `${PORTAL_PATH}?${query}`, 'content-length': 0 });
  response.end();
}

async function showIssuer({ house, response, parameters }: Visit): Promise<void> {
  const { desk, now, newId } = house;
  const visited = visitIssuer(desk, { parameters, at: now(), request: newId() });
  if (visited.kind === 'unknown') return sendText(response, 404, 'Record not found');
  if (visited.paid !== null) {
    const merchantId = desk.accounts.get(visited.paid.account_id)?.merchantId ?? '';
    notifyPayment(desk, merchantId, visited.paid, visited.notifyUrl);
  }
  send(response, bareAnswer(200, HTML_TYPE, visited.html));
}

async function takeHosted({ house, request, response }: Visit): Promise<void> {
  const message = await messageOf(request);
  if (message === null) return sendText(response, 400, 'Invalid input');
  const { desk, now, newId, baseUrl } = house;
  const from = request.socket.remoteAddress ?? '';
  const received = {
    message,
    request: `hosted.${newId()}`,
    at: now(),
    headers: null,
    from,
    baseUrl,
  };
  send(response, answerHosted(desk, received));
}

async function messageOf(request: IncomingMessage): Promise<Record<string, unknown> | null> {
  const body = await readBody(request);
  const contentType = request.headers['content-type'] ?? JSON_TYPE;
  return body === null ? null : readMessage(contentType, body.toString('utf8'));
}

/** A browser names the site that sends a form; other programs name none. */
function isFromElsewhere({ request }: Visit): boolean {
  const { origin, host } = request.headers;
  return origin !== undefined && origin !== `http://${host}`;
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  send(response, bareAnswer(status, JSON_TYPE, JSON.stringify(value)));
}

function* orderChunks(desk: Desk): Generator<string> {
  let lines: string[] = [];
  for (const order of allOrders(desk.book)) {
    lines.push(`${JSON.stringify(orderLine(order))}\n`);
    if (lines.length < ORDERS_A_CHUNK) continue;
    yield lines.join('');
    lines = [];
  }
  yield lines.join('');
}

function orderLine(order: SandboxOrder): unknown {
  return {
    account_id: order.accountId,
    order_no: order.orderNo,
    transactions: order.transactions.map((one) => ({
      transaction_id: one.transactionId,
      currency: one.currency,
      amount: one.amount,
      state: one.state,
      refunded: formatAmount(one.refunded),
      transaction_date: printedDate(one.at),
      ...(one.details?.card === undefined ? {} : { card: one.details.card }),
    })),
  };
}
