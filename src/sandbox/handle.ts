// One request under /v1/ from its first byte to its last: reads it, asks whether a fault is due,
// lets the operation happen (or not, or half, or late) and answers (or does not). The only place
// where faults touch the wire; what an operation does is not decided here.

import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { QUERY_PATH } from '../gateway/document/messages.js';
import type { Desk, Received } from './desk.js';
import type { FaultRules } from './faults/faultRules.js';
import {
  type Answer,
  bareAnswer,
  distort,
  errorPage,
  type FaultAction,
  type FaultPlan,
} from './faults/faults.js';
import { bytesOf, operatorOf, readBody, readMessage, send, sendText } from './wire.js';

export interface House {
  readonly desk: Desk;
  readonly now: () => Date;
  readonly newId: () => string;
  readonly latencyMs: number;
  readonly fault: FaultPlan | null;
  readonly rules: FaultRules;
  readonly traffic: Traffic;
  /** Known once it listens. */
  baseUrl: string;
}

/** What is remembered from one request to the next. */
interface Traffic {
  readonly counts: Map<string, number>;
  /** The last answer of each operation. */
  readonly answers: Map<string, Answer>;
  /** Effects that are still to come. */
  readonly late: Set<NodeJS.Timeout>;
}

const DRIP_EVERY_MS = 20;
const BAD_GATEWAY = 502;

export function openTraffic(): Traffic {
  return { counts: new Map(), answers: new Map(), late: new Set() };
}

/** Effects that have not come by now never come. */
export function endTraffic({ late }: Traffic): void {
  for (const timer of late) clearTimeout(timer);
}

export async function handleOperation(
  house: House,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const operator = operatorOf(house.desk.profile, path);
  if (operator === null) return sendText(response, 404, 'Record not found');
  if (request.method !== 'POST') return sendText(response, 405, 'POST only');
  const body = await readBody(request);
  if (body === null) return sendText(response, 413, 'the body is too large');

  const text = body.toString('utf8');
  const operation = path.slice('/v1/'.length);
  const fault = chooseFault(house, operation, text);
  if (fault !== null && 'when' in fault && fault.when === 'before') {
    return breakOff(fault, path, request, response);
  }
  const message = readMessage(request.headers['content-type'] ?? '', text);
  const received = message === null ? null : receive(house, path, body, message, request, fault);
  const operate = (): Answer =>
    received === null
      ? bareAnswer(400, 'text/plain', 'Invalid input')
      : operator(house.desk, received);

  if (fault?.kind === 'late') {
    operateLate(house, fault.ms, operate);
    return breakOff(fault, path, request, response);
  }
  const answer = operate();
  if (house.latencyMs > 0) await sleep(house.latencyMs);
  if (fault === null) send(response, answer);
  else await answerWrongly(house, fault, { path, operation, answer }, request, response);
  house.traffic.answers.set(operation, answer);
}

function chooseFault(house: House, operation: string, body: string): FaultAction | null {
  const { counts } = house.traffic;
  const number = (counts.get(operation) ?? 0) + 1;
  counts.set(operation, number);
  return house.fault?.({ number, operation, body }) ?? house.rules.choose(operation);
}

/** A query leaves nothing in the journal, so its body needs no hash. */
function receive(
  { now, newId, baseUrl }: House,
  path: string,
  body: Buffer,
  message: Record<string, unknown>,
  { socket, headers }: IncomingMessage,
  fault: FaultAction | null,
): Received {
  const isQuery = path === QUERY_PATH;
  const hash = isQuery ? '' : `.${createHash('sha256').update(body).digest('hex')}`;
  return {
    message,
    request: `${newId()}${hash}`,
    at: now(),
    headers,
    from: socket.remoteAddress ?? '',
    baseUrl,
    ...(fault?.kind === 'half' ? { isHalved: true } : {}),
    ...(fault?.kind === 'page_shifted' ? { shift: 1 } : {}),
  };
}

/** The caller has gone by then; when the effect cannot be written down it never happened. */
function operateLate({ traffic }: House, ms: number, operate: () => Answer): void {
  const timer = setTimeout(() => {
    traffic.late.delete(timer);
    try {
      operate();
    } catch {
      // Nobody is left to be told; what was not written down did not happen.
    }
  }, ms);
  traffic.late.add(timer);
}

/** Ends a request that gets no true answer. */
function breakOff(
  fault: FaultAction,
  path: string,
  { socket }: IncomingMessage,
  response: ServerResponse,
): void {
  if (fault.kind === 'status') {
    send(response, errorPage(fault.status));
  } else if (fault.kind === 'late' && fault.answer === 'status') {
    send(response, errorPage(BAD_GATEWAY));
  } else if (fault.kind === 'redirect') {
    const location = fault.location === '' ? path : fault.location;
    response.writeHead(fault.status, { location, 'content-length': 0 });
    response.end();
  } else if (fault.kind === 'drop' && fault.how === 'fin') {
    socket.end();
  } else {
    socket.resetAndDestroy();
  }
}

async function answerWrongly(
  { traffic }: House,
  fault: FaultAction,
  { path, operation, answer }: { path: string; operation: string; answer: Answer },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  switch (fault.kind) {
    case 'drop':
    case 'status':
    case 'redirect':
    case 'half':
      return breakOff(fault, path, request, response);
    case 'truncate':
      return sendHalf(response, answer);
    case 'drip':
      return drip(response, answer);
    case 'slow':
      await sleep(fault.ms);
      return send(response, answer);
    default:
      return send(response, distort(answer, fault, traffic.answers.get(operation) ?? null));
  }
}

function sendHalf(response: ServerResponse, answer: Answer): void {
  const body = bytesOf(answer);
  response.writeHead(200, { 'content-type': answer.contentType, 'content-length': body.length });
  const half = body.subarray(0, Math.floor(body.length / 2));
  response.write(half, () => response.destroy());
}

/** Blanks, which every format allows before its content, until the caller or the sandbox ends. */
function drip(response: ServerResponse, { contentType }: Answer): void {
  response.writeHead(200, { 'content-type': contentType });
  const timer = setInterval(() => response.write(' '), DRIP_EVERY_MS);
  response.once('close', () => clearInterval(timer));
}
