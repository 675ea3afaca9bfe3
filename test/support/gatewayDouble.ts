// A small gateway written from the acquirer's document and the printed profile alone: it shares no
// line with src/gateway or the sandbox, so that what both of those get wrong alike shows here. It
// verifies every signature by itself, moves money in memory, and keeps count of what it was asked.

import { createHash, createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** How this gateway answers what the document leaves open. */
export interface Wire {
  algorithm: 'sha256' | 'sha512' | 'hmac-sha256' | 'hmac-sha512';
  keyPlace: 'append' | 'prepend';
  separator: string;
  /** By operation; one for each that is called. */
  signed: Record<string, string[]>;
  signedAnswer: string[];
  /** What is put into an answer's encryption_data. */
  answers: 'signed' | 'echo' | 'nothing';
  body: Record<string, 'json' | 'json-as-form' | 'form'>;
  listField: string;
  listSeparator: string;
  found: string;
  codes: Record<string, string>;
  accepted: string;
  refused: string;
  flags: { accept: string; reject: string };
  site: string;
}

export interface DoubleOrder {
  orderNo: string;
  transactionId: string;
  currency: string;
  /** As it stands on the wire. */
  amount: string;
  state: string;
  /** YYYYMMDDhhmmss in the gateway's own zone. */
  date: string;
}

export interface DoubleOptions {
  wire: Wire;
  account: { merchantId: string; accountId: string; signingKey: string };
  orders: readonly DoubleOrder[];
  /** Every answer takes so long. */
  delayMs?: number;
}

export interface Double {
  baseUrl: string;
  orders: Map<string, DoubleOrder>;
  /** `capture NO AMOUNT`, in the order in which it happened. */
  moved: string[];
  /** Requests that were not as the profile says, in words. */
  complaints: string[];
  mostAtOnce: number;
  /** When each request came, in milliseconds. */
  cameAt: number[];
  close(): Promise<void>;
}

type Message = Record<string, unknown>;
type Entry = Record<string, string>;

export async function startDouble(options: DoubleOptions): Promise<Double> {
  let atOnce = 0;
  const double: Double = {
    baseUrl: '',
    orders: new Map(options.orders.map((order) => [order.orderNo, { ...order }])),
    moved: [],
    complaints: [],
    mostAtOnce: 0,
    cameAt: [],
    close: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
  const server = createServer(async (request, response) => {
    atOnce += 1;
    double.mostAtOnce = Math.max(double.mostAtOnce, atOnce);
    double.cameAt.push(performance.now());
    const answer = await answerTo(double, options, request);
    if (options.delayMs !== undefined) await sleep(options.delayMs);
    atOnce -= 1;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  double.baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/gate`;
  return double;
}

async function answerTo(
  double: Double,
  options: DoubleOptions,
  request: IncomingMessage,
): Promise<Message> {
  let text = '';
  for await (const part of request) text += String(part);
  const { wire, account } = options;
  const operation = /^\/gate\/v1\/(\w+)$/.exec(request.url ?? '')?.[1] ?? '';
  const refuse = (reason: string): Message => {
    double.complaints.push(`${request.url}: ${reason}`);
    return { return_status: '0', return_message: reason };
  };
  if (request.method !== 'POST' || operation === '') return refuse('no such operation');
  const message = decode(wire.body[operation] ?? 'json', request, text);
  if (message === null) return refuse(`spelled wrongly: ${text.slice(0, 80)}`);
  const ids = { merchant_id: account.merchantId, account_id: account.accountId };
  if (message.merchant_id !== ids.merchant_id || message.account_id !== ids.account_id) {
    return refuse('another account');
  }
  const expected = sign(wire, account.signingKey, wire.signed[operation] ?? [], message);
  if (message.encryption_data !== expected) return refuse('a wrong signature');
  const whole = { ...ids, return_status: '1', return_message: 'OK' };
  if (operation === 'retrievalTrans') {
    return { ...whole, orders_list: listOrders(double, wire, message) };
  }
  const array = `${operation}_orders`;
  const entries = message[array] as Entry[];
  const results = entries.map((entry) => moveOne(double, wire, operation, entry));
  const answer = { ...whole, [array]: results };
  return { ...answer, ...answerSignature(wire, account.signingKey, message, answer) };
}

function listOrders(double: Double, wire: Wire, message: Message): Message[] {
  const asked = String(message[wire.listField] ?? '').split(wire.listSeparator);
  if (asked.length > 100) double.complaints.push(`${asked.length} orders in a query`);
  return asked.flatMap((orderNo) => {
    const order = double.orders.get(orderNo);
    if (order === undefined) return [];
    return {
      order_no: orderNo,
      transaction_id: order.transactionId,
      currency: order.currency,
      amount: order.amount,
      payment_status: wire.codes[order.state] ?? order.state,
      query_result: wire.found,
      transaction_date: order.date,
      [wire.site]: 'https://shop.example',
      fraud_check_result: [],
    };
  });
}

const NEEDS: Record<string, string[]> = {
  capture: ['authorised'],
  cancel: ['authorised'],
  review: ['in_review'],
  refund: ['captured', 'partially_refunded'],
};

function moveOne(double: Double, wire: Wire, operation: string, entry: Entry): Entry {
  const order = double.orders.get(entry.order_no ?? '');
  const fits =
    order !== undefined &&
    order.transactionId === entry.transaction_id &&
    order.currency === entry.currency &&
    (NEEDS[operation] ?? []).includes(order.state);
  const status = fits ? wire.accepted : wire.refused;
  if (fits) {
    order.state = stateAfter(wire, operation, order, entry);
    if (operation === 'capture') order.amount = entry.amount ?? order.amount;
    const what = entry.refund_amount ?? entry.review_flag ?? entry.amount;
    double.moved.push(`${operation} ${order.orderNo} ${what}`);
  }
  const result = { ...entry, [`${operation}_status`]: status };
  if (operation === 'refund') {
    const said = fits ? 'V0000:OK' : 'E0001:no';
    return { ...result, refund_message: said, refund_reference_id: `${entry.transaction_id}-01` };
  }
  return { ...result, error_message: fits ? '' : 'not possible' };
}

function stateAfter(wire: Wire, operation: string, order: DoubleOrder, entry: Entry): string {
  switch (operation) {
    case 'capture':
      return 'captured';
    case 'cancel':
      return 'cancelled';
    case 'review':
      return entry.review_flag === wire.flags.accept ? 'authorised' : 'declined';
    default:
      return entry.refund_amount === order.amount ? 'refunded' : 'partially_refunded';
  }
}

function answerSignature(wire: Wire, key: string, asked: Message, answer: Message): Message {
  switch (wire.answers) {
    case 'nothing':
      return {};
    case 'echo':
      return { encryption_data: asked.encryption_data };
    case 'signed':
      return { encryption_data: sign(wire, key, wire.signedAnswer, answer) };
  }
}

/** Fields joined in their order; `list[].field` stands for that field of every entry. */
function sign(wire: Wire, key: string, fields: readonly string[], message: Message): string {
  const texts: string[] = [];
  for (const field of fields) {
    const [array, inner] = field.split('[].');
    if (inner === undefined) texts.push(String(message[field] ?? ''));
    else
      for (const entry of message[array ?? ''] as Entry[]) texts.push(String(entry[inner] ?? ''));
  }
  const hash = wire.algorithm.includes('512') ? 'sha512' : 'sha256';
  if (wire.algorithm.startsWith('hmac')) {
    return createHmac(hash, key).update(texts.join(wire.separator)).digest('hex');
  }
  if (wire.keyPlace === 'append') texts.push(key);
  else texts.unshift(key);
  return createHash(hash).update(texts.join(wire.separator)).digest('hex');
}

const TYPES = {
  json: 'application/json',
  'json-as-form': 'application/x-www-form-urlencoded',
  form: 'application/x-www-form-urlencoded',
};

/** Null: not in the spelling that this gateway reads. */
function decode(
  spelling: 'json' | 'json-as-form' | 'form',
  request: IncomingMessage,
  text: string,
): Message | null {
  if (!(request.headers['content-type'] ?? '').startsWith(TYPES[spelling])) return null;
  if (spelling !== 'form') return text.startsWith('{') ? (JSON.parse(text) as Message) : null;
  if (text.startsWith('{')) return null;
  const message: Message = {};
  for (const [name, value] of new URLSearchParams(text)) {
    const [, array, index, field] = /^(\w+)\[(\d+)\]\[(\w+)\]$/.exec(name) ?? [];
    if (array === undefined || field === undefined) {
      message[name] = value;
      continue;
    }
    const entries = (message[array] ?? []) as Entry[];
    message[array] = entries;
    entries[Number(index)] = { ...entries[Number(index)], [field]: value };
  }
  return message;
}
