// Between HTTP and the desk: reads the bytes of a request under a cap, decodes the spellings that
// the document declares (Endpoints, note 1), and finds who answers which path. Writes answers.
// Decides nothing about money and lets no fault happen; that is handle.ts.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { OPERATIONS, type Operation } from '../core/orders/order.js';
import { BATCH_SHAPES, QUERY_PATH } from '../gateway/document/messages.js';
import type { Profile } from '../gateway/document/profile.js';
import { readForm } from '../gateway/wire/encode.js';
import { readXmlMessage } from '../gateway/wire/messageXml.js';
import { answerBatch } from './answers/batches.js';
import { answerCheckout } from './answers/checkout.js';
import { otherOperator } from './answers/others.js';
import { answerPayment } from './answers/payments.js';
import { answerPayout } from './answers/payouts.js';
import { answerQuery } from './answers/queries.js';
import type { Desk, Received } from './desk.js';
import { type Answer, bareAnswer } from './faults/faults.js';

const BODY_BYTES_MAX = 4 * 1024 * 1024;
const FORM_TYPE = 'application/x-www-form-urlencoded';
const XML_TYPE = 'application/xml';

type Operator = (desk: Desk, received: Received) => Answer;

const OPERATORS: ReadonlyMap<string, Operator> = new Map([
  [QUERY_PATH, answerQuery],
  ['/v1/authorise', answerPayment],
  ['/v1/checkout', answerCheckout],
  ['/v1/payout', answerPayout],
  ...OPERATIONS.map(batchOperator),
]);

/** Who answers a path; null: not offered here. */
export function operatorOf(profile: Profile, path: string): Operator | null {
  return OPERATORS.get(path) ?? otherOperator(profile, path);
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

/** JSON, JSON under the form's content type, a form, or XML; null: none of them. */
export function readMessage(contentType: string, text: string): Record<string, unknown> | null {
  const isForm = contentType.toLowerCase().startsWith(FORM_TYPE);
  if (isForm && !text.trimStart().startsWith('{')) return readForm(text);
  if (contentType.toLowerCase().startsWith(XML_TYPE)) return readXmlMessage(text, BODY_BYTES_MAX);
  try {
    const read: unknown = JSON.parse(text);
    const isObject = read !== null && typeof read === 'object' && !Array.isArray(read);
    return isObject ? (read as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** Joined one by one: the pieces of a page are then copied once, when it is sent. */
function textOfAnswer({ head, entries, tail }: Answer): string {
  let text = head;
  for (let at = 0; at < entries.length; at += 1) text += at === 0 ? entries[at] : `,${entries[at]}`;
  return text + tail;
}

/** In an answer of bytes each character is one byte already; any other text is encoded. */
export function bytesOf(answer: Answer): Buffer {
  return Buffer.from(textOfAnswer(answer), encodingOf(answer));
}

export function send(response: ServerResponse, answer: Answer): void {
  const text = textOfAnswer(answer);
  const encoding = encodingOf(answer);
  response.writeHead(answer.status, {
    'content-type': answer.contentType,
    'content-length': Buffer.byteLength(text, encoding),
  });
  response.end(text, encoding);
}

function encodingOf({ isBytes }: Answer): 'latin1' | 'utf8' {
  return isBytes === true ? 'latin1' : 'utf8';
}

export function sendText(response: ServerResponse, status: number, text: string): void {
  send(response, bareAnswer(status, 'text/plain', text));
}

function batchOperator(operation: Operation): [string, Operator] {
  const answer: Operator = (desk, received) => answerBatch(desk, operation, received);
  return [BATCH_SHAPES[operation].path, answer];
}
