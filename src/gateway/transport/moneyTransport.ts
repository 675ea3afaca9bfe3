// Carries the one POST that may move money (law 1 of ARCHITECTURE.md). The connection stands before
// the claim is made, and serves once; the caller is asked in the same tick in which the first byte
// would go out. From that byte on every failure is `unknown`. No keep-alive, no redirect, no
// decompression, no retry: node:http and a socket of our own, since richer clients hide such
// layers.

import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type ConnectionLimits, openConnection } from './connection.js';
import { connectionProblem, type Endpoint, errorCode } from './endpoint.js';
import type { RawAnswer } from './transport.js';

interface MoneyLimits extends ConnectionLimits {
  maxResponseBytes: number;
}

export type MoneyConnect =
  | { kind: 'connected'; connection: MoneyConnection }
  | { kind: 'not_sent'; reason: string };

export type MoneyPost =
  | ({ kind: 'answered' } & RawAnswer)
  | { kind: 'not_sent'; reason: string }
  /** `body`: what arrived before it failed, for keeping. */
  | { kind: 'unknown'; reason: string; body?: Buffer };

export interface MoneyRequest {
  /** As the document prints it; the prefix of the base address is added here. */
  path: string;
  headers: Record<string, string>;
  body: Buffer;
  /** For everything from this call to the last byte of the answer. */
  deadlineMs: number;
  /** Asked once, right before the first byte; false: nothing is written. */
  mayWrite: () => boolean;
}

export interface MoneyConnection {
  /** Once; a second call is answered `not_sent`. */
  post(request: MoneyRequest): Promise<MoneyPost>;
  /** Gives the connection up unused. */
  close(): void;
}

const HEADER_BYTES_MAX = 16_384;

/** Name lookup, TCP, a proxy's tunnel and TLS. What fails here has certainly sent nothing. */
export async function connectMoney(endpoint: Endpoint, limits: MoneyLimits): Promise<MoneyConnect> {
  const opened = await openConnection(endpoint, limits);
  if (opened.kind === 'failed') {
    return { kind: 'not_sent', reason: connectionProblem(opened.error) };
  }
  opened.socket.setNoDelay(true);
  return { kind: 'connected', connection: connectionOn(opened.socket, endpoint, limits) };
}

function connectionOn(socket: Socket, endpoint: Endpoint, limits: MoneyLimits): MoneyConnection {
  let isUsed = false;
  return {
    post: (request) => {
      if (isUsed) return Promise.resolve(notSent('the connection was used already'));
      isUsed = true;
      if (!isFresh(socket)) {
        socket.destroy();
        return Promise.resolve(notSent('the connection was lost before anything was sent'));
      }
      return postOnce(socket, endpoint, limits.maxResponseBytes, request);
    },
    close: () => {
      isUsed = true;
      socket.destroy();
    },
  };
}

/** Open in both directions, and the other side has not spoken before it was asked. */
function isFresh(socket: Socket): boolean {
  return socket.writable && !socket.readableEnded && socket.readableLength === 0;
}

function notSent(reason: string): MoneyPost {
  return { kind: 'not_sent', reason };
}

/** Where a POST stands; `refusal` holds why nothing was written. */
interface Progress {
  hasWritten: boolean;
  refusal: string | null;
  chunks: Buffer[];
  size: number;
}

function postOnce(
  socket: Socket,
  endpoint: Endpoint,
  bytesMax: number,
  sent: MoneyRequest,
): Promise<MoneyPost> {
  return new Promise((resolve) => {
    const progress: Progress = { hasWritten: false, refusal: null, chunks: [], size: 0 };
    const settle = (result: MoneyPost): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(result);
    };
    const fail = (reason: string): void => settle(failedPost(progress, reason));
    const timer = setTimeout(() => fail(`no answer in ${sent.deadlineMs} ms`), sent.deadlineMs);
    guardFirstWrite(socket, progress, sent.mayWrite);
    try {
      const request = requestOn(socket, endpoint, sent);
      request.on('error', (error) => fail(connectionProblem(error)));
      request.on('upgrade', () => fail('the gateway wants another protocol'));
      const onClose = (): void => fail('the connection closed without an answer');
      request.on('close', onClose);
      request.on('response', (answer) => {
        // From here on the answer knows best whether it is whole: an answer that ends with the
        // connection is whole only then.
        request.removeListener('close', onClose);
        collect(answer, progress, bytesMax, settle, fail);
      });
      request.end(sent.body);
    } catch {
      // A path or header that cannot be written; node refuses it before the first byte.
      fail('the request cannot be written');
    }
  });
}

function requestOn(socket: Socket, endpoint: Endpoint, sent: MoneyRequest): ClientRequest {
  return httpRequest({
    createConnection: () => socket,
    method: 'POST',
    path: endpoint.prefix + sent.path,
    setHost: false,
    maxHeaderSize: HEADER_BYTES_MAX,
    insecureHTTPParser: false,
    headers: {
      ...sent.headers,
      host: endpoint.host,
      'content-length': String(sent.body.length),
      'accept-encoding': 'identity',
      connection: 'close',
    },
  });
}

/**
 * Wraps the writing of the connected socket: node hands over head and body in one tick, so that the
 * question and the first byte cannot be separated by a pause that anything could fall into.
 */
function guardFirstWrite(socket: Socket, progress: Progress, mayWrite: () => boolean): void {
  const write = socket.write.bind(socket) as (...given: unknown[]) => boolean;
  const guarded = (...given: unknown[]): boolean => {
    if (progress.refusal !== null) return false;
    if (!progress.hasWritten) {
      progress.refusal = refusalNow(socket, mayWrite);
      if (progress.refusal !== null) {
        socket.destroy();
        return false;
      }
      progress.hasWritten = true;
    }
    return write(...given);
  };
  socket.write = guarded as Socket['write'];
}

function refusalNow(socket: Socket, mayWrite: () => boolean): string | null {
  if (!isFresh(socket)) return 'the connection was lost before anything was sent';
  try {
    return mayWrite() ? null : 'the time budget between claim and sending was used up';
  } catch {
    return 'the question whether it may be sent failed';
  }
}

function failedPost(progress: Progress, reason: string): MoneyPost {
  if (!progress.hasWritten) return notSent(progress.refusal ?? reason);
  if (progress.size === 0) return { kind: 'unknown', reason };
  return { kind: 'unknown', reason, body: Buffer.concat(progress.chunks, progress.size) };
}

function collect(
  answer: IncomingMessage,
  progress: Progress,
  bytesMax: number,
  settle: (result: MoneyPost) => void,
  fail: (reason: string) => void,
): void {
  answer.on('data', (chunk: Buffer) => {
    if (progress.size + chunk.length > bytesMax) {
      fail(`the answer is larger than ${bytesMax} bytes`);
      return;
    }
    progress.size += chunk.length;
    progress.chunks.push(chunk);
  });
  answer.on('error', (error) => fail(cutReason(error)));
  answer.on('close', () => fail('the answer was cut off'));
  answer.on('end', () => {
    if (!answer.complete) return fail('the answer was cut off');
    settle({
      kind: 'answered',
      status: answer.statusCode ?? 0,
      contentType: answer.headers['content-type'] ?? null,
      contentEncoding: answer.headers['content-encoding'] ?? null,
      body: Buffer.concat(progress.chunks, progress.size),
    });
  });
}

function cutReason(error: unknown): string {
  return errorCode(error) === 'ECONNRESET' ? 'the answer was cut off' : connectionProblem(error);
}
