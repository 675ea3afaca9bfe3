// Carries queries: many requests over kept connections, safe to repeat because they move nothing.
// One total deadline from waiting for a connection to the last byte, a cap on the body, no
// redirect, no decompression, no retry of its own. Money never goes through here: see
// moneyTransport.ts. undici has its home in this file (2x the throughput of fetch).

import type { buildConnector, Dispatcher, Pool } from 'undici';
import { tlsProblem } from '../../core/text/tlsProblem.js';
import type { Profile } from '../document/profile.js';
import { type ConnectionLimits, openConnection } from './connection.js';
import { connectionProblem, type Endpoint, errorCode } from './endpoint.js';

export interface RawAnswer {
  status: number;
  contentType: string | null;
  contentEncoding: string | null;
  body: Buffer;
}

export type TransportResult =
  | ({ kind: 'answered' } & RawAnswer)
  | {
      kind: 'failed';
      reason: string;
      /** false: no connection came about, or one that was taken and answered nothing in time */
      reachable: boolean;
      /** of what is not reachable: a connection there was */
      isSilent?: true;
    };

export interface QueryTransport {
  post(request: {
    path: string;
    contentType: string;
    headers?: Readonly<Record<string, string>>;
    body: Buffer;
  }): Promise<TransportResult>;
  close(): Promise<void>;
}

const KEEP_ALIVE_MS = 4_000;

/** Codes that mean no connection came about at all. */
const NEVER_REACHED =
  /^(E(CONNREFUSED|NOTFOUND|AI_\w+|(HOST|NET)UNREACH|TIMEDOUT)|TIEOUT_PROXY|UND_ERR_CONNECT_\w+)$/;

export function openQueryTransport(
  endpoint: Endpoint,
  limits: Profile['limits'],
  proxy: URL | null = null,
): QueryTransport {
  let opened: Promise<Pool> | null = null;
  const pool = (): Promise<Pool> => {
    opened ??= openPool(endpoint, limits, proxy);
    return opened;
  };
  return {
    post: async (request) => {
      const connections = await pool();
      const deadline = new AbortController();
      const timer = setTimeout(() => deadline.abort(), limits.timeoutMs);
      let isSilent = true;
      try {
        const answer = await connections.request({
          method: 'POST',
          path: endpoint.prefix + request.path,
          headers: {
            ...request.headers,
            'content-type': request.contentType,
            'accept-encoding': 'identity',
          },
          body: request.body,
          signal: deadline.signal,
        });
        isSilent = false;
        return await readAnswer(answer, limits.maxResponseBytes);
      } catch (error) {
        if (deadline.signal.aborted) return late(limits.timeoutMs, isSilent);
        return failure(error);
      } finally {
        clearTimeout(timer);
      }
    },
    close: async () => (await opened)?.destroy(),
  };
}

/** Surely before the deadline: without a connection nobody was silent, there is no way to them. */
const CONNECT_SHARE = 0.8;

/** The library is loaded with the first connection: a run has other things to do before. */
async function openPool(
  endpoint: Endpoint,
  limits: Profile['limits'],
  proxy: URL | null,
): Promise<Pool> {
  const { Pool } = await import('undici');
  const connectMs = limits.timeoutMs * CONNECT_SHARE;
  return new Pool(endpoint.origin, {
    connections: limits.concurrency,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // One deadline holds for the whole request; the pool's own partial ones would only blur it.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect:
      proxy === null
        ? { timeout: connectMs, rejectUnauthorized: true }
        : tunnelled(endpoint, { timeoutMs: connectMs, proxy }),
  });
}

/** The tunnel of the money transport, so that both go the same way and fail in the same words. */
function tunnelled(endpoint: Endpoint, limits: ConnectionLimits): buildConnector.connector {
  return (_, callback) => {
    openConnection(endpoint, limits).then((opened) => {
      if (opened.kind === 'open') callback(null, opened.socket);
      else callback(opened.error, null);
    });
  };
}

async function readAnswer(
  answer: Dispatcher.ResponseData,
  bytesMax: number,
): Promise<TransportResult> {
  const contentEncoding = headerText(answer.headers['content-encoding']);
  const announced = Number(headerText(answer.headers['content-length']) ?? '0');
  if (contentEncoding !== null && contentEncoding.toLowerCase() !== 'identity') {
    return giveUp(answer, 'the answer is compressed though that was not asked for');
  }
  if (announced > bytesMax) return giveUp(answer, tooLarge(bytesMax));
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer.body) {
    size += (chunk as Buffer).length;
    // Leaving the loop destroys the body, and with it the connection.
    if (size > bytesMax) return { kind: 'failed', reason: tooLarge(bytesMax), reachable: true };
    chunks.push(chunk as Buffer);
  }
  return {
    kind: 'answered',
    status: answer.statusCode,
    contentType: headerText(answer.headers['content-type']),
    contentEncoding,
    body: chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, size),
  };
}

function giveUp(answer: Dispatcher.ResponseData, reason: string): TransportResult {
  answer.body.on('error', () => undefined);
  answer.body.destroy();
  return { kind: 'failed', reason, reachable: true };
}

function tooLarge(bytesMax: number): string {
  return `the answer is larger than ${bytesMax} bytes`;
}

function headerText(value: string | string[] | undefined): string | null {
  if (value === undefined) return null;
  return Array.isArray(value) ? value.join(', ') : value;
}

/** Who takes connections and says nothing (servers that hang behind a balancer) is away. */
function late(timeoutMs: number, isSilent: boolean): TransportResult {
  const reason = `no answer in ${timeoutMs} ms`;
  if (isSilent) return { kind: 'failed', reason, reachable: false, isSilent };
  return { kind: 'failed', reason, reachable: true };
}

function failure(error: unknown): TransportResult {
  const reachable = !NEVER_REACHED.test(errorCode(error)) && !isCertificateProblem(error);
  return { kind: 'failed', reason: connectionProblem(error), reachable };
}

function isCertificateProblem(error: unknown): boolean {
  return tlsProblem(errorCode(error), '') !== null;
}
