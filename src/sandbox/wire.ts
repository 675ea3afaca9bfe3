// Between HTTP and the desk: reads the bytes of a request under a cap, decodes the three spellings
// that the document shows (Endpoints, note 1), and finds who answers which path. Writes answers.
// Decides nothing about money and lets no fault happen; that is server.ts.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { OPERATIONS, type Operation } from '../core/order.js';
import { readForm } from '../gateway/encode.js';
import { BATCH_SHAPES, QUERY_PATH } from '../gateway/messages.js';
import { answerBatch, answerQuery, type Desk, type Received } from './desk.js';
import { type Answer, bareAnswer } from './faults.js';
import { answerPayment } from './payments.js';

const BODY_BYTES_MAX = 4 * 1024 * 1024;
/** One UTF-16 unit of a text takes at most so many bytes. */
const UTF8_BYTES_MAX = 3;
const FORM_TYPE = 'application/x-www-form-urlencoded';

type Operator = (desk: Desk, received: Received) => Answer;

const OPERATORS: ReadonlyMap<string, Operator> = new Map([
  [QUERY_PATH, answerQuery],
  ['/v1/authorise', answerPayment],
  ...OPERATIONS.map(batchOperator),
]);

/** Who answers a path; null: not offered here. */
export function operatorOf(path: string): Operator | null {
  return OPERATORS.get(path) ?? null;
}

/** The whole body; null: larger than any message may be. */
export async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > BODY_BYTES_MAX) return null;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** JSON, JSON under the form's content type, or a form; null: none of them. */
export function readMessage(contentType: string, text: string): Record<string, unknown> | null {
  const isForm = contentType.toLowerCase().startsWith(FORM_TYPE);
  if (isForm && !text.trimStart().startsWith('{')) return readForm(text);
  try {
    const read: unknown = JSON.parse(text);
    const isObject = read !== null && typeof read === 'object' && !Array.isArray(read);
    return isObject ? (read as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** UTF-8, written entry by entry: joined first, one Polish name would make a whole page wide. */
export function bytesOf({ head, entries, tail }: Answer): Buffer {
  let room = (head.length + tail.length) * UTF8_BYTES_MAX;
  for (const entry of entries) room += (entry.length + 1) * UTF8_BYTES_MAX;
  const bytes = Buffer.allocUnsafe(room);
  let at = bytes.write(head);
  for (const [number, entry] of entries.entries()) {
    if (number > 0) at += bytes.write(',', at);
    at += bytes.write(entry, at);
  }
  at += bytes.write(tail, at);
  return bytes.subarray(0, at);
}

export function send(response: ServerResponse, answer: Answer): void {
  const body = bytesOf(answer);
  response.writeHead(answer.status, {
    'content-type': answer.contentType,
    'content-length': body.length,
  });
  response.end(body);
}

export function sendText(response: ServerResponse, status: number, text: string): void {
  send(response, bareAnswer(status, 'text/plain', text));
}

function batchOperator(operation: Operation): [string, Operator] {
  const answer: Operator = (desk, received) => answerBatch(desk, operation, received);
  return [BATCH_SHAPES[operation].path, answer];
}
