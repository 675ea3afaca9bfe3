// Brings what waits in the outbox to where it is to be told: each message at least once, with an id
// by which the receiver knows a second one. A receiver that is away costs tries and time, never a
// night; after a day it is given up, and stays to be seen. Neighbours: postWebhook.ts makes the
// request, watchRuns.ts finds what to tell beside the runs.

import { createHmac } from 'node:crypto';
import type { Config } from '../config/config.js';
import { addressOf, getsOf, nameOfChannel, signingKeyOf } from '../core/alertChannels.js';
import { pauseAfter } from '../core/alertMessages.js';
import type { Log } from '../core/log.js';
import { withZonedTimes } from '../core/text/zonedTimes.js';
import type { Db } from '../database/db.js';
import type { Delivery, OutboxMessage } from '../outbox/outboxStore.js';
import { forgetOld, noteDelivery, takeDue } from '../outbox/outboxStore.js';
import type { CallRequest, CallResult } from './postWebhook.js';
import { call } from './postWebhook.js';

export interface AlertDeps {
  db: Db;
  config: Config;
  version: string;
  /** takes the secrets of the configuration out of a text */
  hide: (text: string) => string;
  now: () => Date;
  log: Log;
}

const AT_A_TIME = 10;
const CALL_TIMEOUT_MS = 10_000;
/** Longer than a call may take, so that no other process takes what this one is at. */
const LEASE_SECONDS = 60;
const KEPT_DAYS = 90;
const BODY_BYTES_MAX = 65_536;

/** Tells everything that is due; answers how many were delivered. */
export async function deliverDue(deps: AlertDeps, signal: AbortSignal): Promise<number> {
  let delivered = 0;
  while (!signal.aborted) {
    const due = await takeDue(deps.db, AT_A_TIME, LEASE_SECONDS);
    if (due.length === 0) break;
    const results = await Promise.all(due.map((message) => deliver(deps, message, signal)));
    delivered += results.filter(Boolean).length;
  }
  await forgetOld(deps.db, KEPT_DAYS);
  return delivered;
}

async function deliver(
  deps: AlertDeps,
  message: OutboxMessage,
  signal: AbortSignal,
): Promise<boolean> {
  const address = addressOf(deps.config.notify, message.channel);
  const result: CallResult =
    address === null
      ? { kind: 'failed', reason: 'there is no address for it in the configuration any more' }
      : await call(address, requestOf(deps, message), { timeoutMs: CALL_TIMEOUT_MS, signal });
  const delivery = deliveryOf(result, message.tries);
  await noteDelivery(deps.db, message, delivery);
  if (delivery.kind !== 'delivered') tellTrouble(deps, message, delivery);
  return delivery.kind === 'delivered';
}

function deliveryOf(result: CallResult, tries: number): Delivery {
  if (result.kind === 'accepted') return { kind: 'delivered' };
  const inSeconds = pauseAfter(tries);
  const problem = result.reason;
  return inSeconds === null ? { kind: 'failed', problem } : { kind: 'again', problem, inSeconds };
}

function tellTrouble(
  { log }: AlertDeps,
  { messageId, event, subject, channel }: OutboxMessage,
  delivery: Exclude<Delivery, { kind: 'delivered' }>,
): void {
  const next = delivery.kind === 'again' ? `again in ${delivery.inSeconds} s` : 'given up';
  log(
    `${nameOfChannel(channel)}: ${event} of ${subject} was not told: ${delivery.problem}; ${next}`,
    {
      level: delivery.kind === 'again' ? 'warn' : 'error',
      message: messageId,
    },
  );
}

function requestOf(
  { config, version, hide, now }: AlertDeps,
  { messageId, channel, event, createdAt, body }: OutboxMessage,
): CallRequest {
  const headers = { 'user-agent': `tieout/${version}`, 'tieout-message-id': messageId };
  if (getsOf(channel) === 'ping') return { method: 'GET', headers, body: '' };
  const { environment } = config;
  const sentence = withZonedTimes(String(body.text), config.schedule.timezone);
  const base = { id: messageId, event, at: createdAt, environment, version };
  const text = JSON.stringify(hidden({ ...base, ...body, text: sentence }, hide));
  // A run of very many kinds: the sentence says the most important.
  const short = { ...base, text: sentence };
  const sent =
    Buffer.byteLength(text) <= BODY_BYTES_MAX ? text : JSON.stringify(hidden(short, hide));
  return {
    method: 'POST',
    headers: {
      ...headers,
      'content-type': 'application/json',
      'tieout-event': event,
      ...signedHeaders(signingKeyOf(config.notify, channel), messageId, now(), sent),
    },
    body: sent,
  };
}

/** Dated by the try, so that a receiver may refuse an old message that somebody sends again. */
function signedHeaders(
  key: string | null,
  messageId: string,
  now: Date,
  body: string,
): Record<string, string> {
  const timestamp = String(Math.floor(now.getTime() / 1000));
  if (key === null) return { 'tieout-timestamp': timestamp };
  const signed = `${messageId}.${timestamp}.${body}`;
  const signature = createHmac('sha256', key).update(signed, 'utf8').digest('hex');
  return { 'tieout-timestamp': timestamp, 'tieout-signature': `v1=${signature}` };
}

/** The same value with every text in it looked through. */
function hidden(value: unknown, hide: (text: string) => string): unknown {
  if (typeof value === 'string') return hide(value);
  if (Array.isArray(value)) return value.map((part) => hidden(part, hide));
  if (value instanceof Date || typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, hidden(part, hide)]),
  );
}
