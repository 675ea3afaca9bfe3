// The part of the sandbox that no gateway has: what really moved, what it holds, who uses it.
// For auditors, tests and the daemon's users; everything under /_sandbox/. It only shows, save
// that a user may bring accounts along. Never prints a key.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { formatAmount } from '../core/money.js';
import { allOrders } from './book.js';
import { type Desk, textOf } from './desk.js';
import { printedDate } from './entries.js';
import { bareAnswer } from './faults.js';
import type { SandboxOrder } from './order.js';
import type { Users } from './users.js';
import { readBody, readMessage, send, sendText } from './wire.js';

const ORDERS_A_CHUNK = 500;

export interface Inspected {
  readonly desk: Desk;
  /** Real path of the state folder; null: nothing is remembered. */
  readonly stateDir: string | null;
  /** Null: the sandbox stays until it is told to end. */
  readonly users: Users | null;
}

/** Answers a path under /_sandbox/. */
export async function inspect(
  inspected: Inspected,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { desk, stateDir } = inspected;
  switch (`${request.method} ${request.url}`) {
    case 'GET /_sandbox/health': {
      const { orders } = desk.book.night.settings;
      const health = { ok: true, pid: process.pid, stateDir, orders };
      return send(response, bareAnswer(200, 'application/json', JSON.stringify(health)));
    }
    case 'GET /_sandbox/effects':
      return send(response, {
        status: 200,
        contentType: 'application/json',
        head: '[',
        entries: desk.effects,
        tail: ']',
      });
    case 'GET /_sandbox/orders':
      response.writeHead(200, { 'content-type': 'application/x-ndjson' });
      return pipeline(Readable.from(orderChunks(desk)), response);
    case 'POST /_sandbox/users':
      return takeUser(inspected, request, response);
    default:
      return sendText(response, 404, 'not found');
  }
}

/** `{ id, leave?, accounts? }`: a user comes, stays or goes, and may bring its accounts. */
async function takeUser(
  { desk, users }: Inspected,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await readBody(request);
  const message = body === null ? null : readMessage('application/json', body.toString('utf8'));
  const id = textOf(message?.id);
  if (message === null || id === '') return sendText(response, 400, 'a user needs an id');
  const accounts: unknown[] = Array.isArray(message.accounts) ? message.accounts : [];
  for (const account of accounts) {
    const read = account as Record<string, unknown> | null;
    const [merchantId, accountId] = [textOf(read?.merchantId), textOf(read?.accountId)];
    const signingKey = textOf(read?.signingKey);
    desk.accounts.set(accountId, { merchantId, accountId, signingKey });
  }
  if (message.leave !== true) users?.announce(id);
  else response.once('finish', () => users?.leave(id));
  sendText(response, 200, 'OK');
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
    })),
  };
}
