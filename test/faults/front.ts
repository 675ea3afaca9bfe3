// A server in front of the sandbox that can do to any request what networks and gateways do: lose
// it before or after the effect, answer with something else, never end. What it passes on it passes
// on byte by byte. Knows nothing of tieout. Used by the tests of faults.

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Passed {
  status: number;
  contentType: string;
  body: string;
}

export interface Call {
  /** The last part of the path, such as `capture`. */
  operation: string;
  body: string;
  request: IncomingMessage;
  response: ServerResponse;
  /** Lets the gateway work on it; answers what it said, and the caller hears nothing yet. */
  pass(): Promise<Passed>;
}

/** Answers the call, or leaves it to the gateway by returning false. */
export type Trouble = (call: Call) => Promise<boolean> | boolean;

export interface Front {
  baseUrl: string;
  /** What goes wrong from now on. */
  trouble: Trouble;
  /** How often each operation was asked, by its name. */
  asked: Map<string, number>;
  /** Refuses new connections; those that stand are kept. */
  refuse(): void;
  /** Refuses new connections and resets those that stand: nobody is there any more. */
  vanish(): void;
  /** Listens again, on the same port. */
  accept(): Promise<void>;
  close(): Promise<void>;
}

export async function startFront(gatewayUrl: string): Promise<Front> {
  let server: Server | null = null;
  let port = 0;
  const front: Front = {
    baseUrl: '',
    trouble: () => false,
    asked: new Map(),
    refuse: () => {
      server?.close();
      server = null;
    },
    vanish: () => {
      server?.closeAllConnections();
      front.refuse();
    },
    accept: async () => {
      server = createServer((request, response) => {
        handle(front, gatewayUrl, request, response).catch(() => response.destroy());
      });
      const listening = server;
      await new Promise<void>((resolve) => listening.listen(port, '127.0.0.1', resolve));
      port = (listening.address() as AddressInfo).port;
      front.baseUrl = `http://127.0.0.1:${port}`;
    },
    close: async () => {
      server?.closeAllConnections();
      server?.close();
    },
  };
  await front.accept();
  return front;
}

async function handle(
  front: Front,
  gatewayUrl: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = request.url ?? '';
  const operation = path.split('/').at(-1) ?? '';
  front.asked.set(operation, (front.asked.get(operation) ?? 0) + 1);
  const parts: Buffer[] = [];
  for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
  const body = Buffer.concat(parts).toString('utf8');
  const contentType = request.headers['content-type'] ?? '';
  const pass = async (): Promise<Passed> => {
    const answer = await fetch(`${gatewayUrl}${path}`, {
      method: 'POST',
      headers: { 'content-type': contentType },
      body,
    });
    const type = answer.headers.get('content-type') ?? '';
    return { status: answer.status, contentType: type, body: await answer.text() };
  };
  if (await front.trouble({ operation, body, request, response, pass })) return;
  answerWith(response, await pass());
}

export function answerWith(response: ServerResponse, { status, contentType, body }: Passed): void {
  const bytes = Buffer.from(body);
  response.writeHead(status, { 'content-type': contentType, 'content-length': bytes.length });
  response.end(bytes);
}

/** Resets the connection, as a broken line does. */
export function drop({ request }: Call): true {
  request.socket.resetAndDestroy();
  return true;
}

const JSON_TYPE = 'application/json';

/** 200 and JSON of our own. */
export function answerJson({ response }: Call, value: unknown): true {
  answerWith(response, { status: 200, contentType: JSON_TYPE, body: JSON.stringify(value) });
  return true;
}

/** Lets the gateway work, then tells the caller something else of it. */
export async function retell(
  call: Call,
  change: (answer: Record<string, unknown>) => unknown,
): Promise<true> {
  const { body } = await call.pass();
  return answerJson(call, change(JSON.parse(body) as Record<string, unknown>));
}

/** Sends bytes for ever, quickly or a byte at a time; ends with the connection. */
export function neverEnd({ response }: Call, everyMs: number, bytes: number): true {
  response.writeHead(200, { 'content-type': JSON_TYPE });
  const chunk = ' '.repeat(bytes);
  const timer = setInterval(() => response.write(chunk), everyMs);
  response.once('close', () => clearInterval(timer));
  return true;
}

/** The gateway shows what `shows` makes of each entry, by its order. */
export function showing(front: Front, shows: (entry: Record<string, unknown>) => object): void {
  const retold = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(retold);
    if (typeof value !== 'object' || value === null) return value;
    const entry = value as Record<string, unknown>;
    if (typeof entry.transaction_id === 'string') return { ...entry, ...shows(entry) };
    return Object.fromEntries(Object.entries(entry).map(([key, one]) => [key, retold(one)]));
  };
  front.trouble = (call) => call.operation === 'retrievalTrans' && retell(call, retold);
}
