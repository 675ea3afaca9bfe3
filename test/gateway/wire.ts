// The client against one answer: a raw server that says it to whatever comes, and shows what came.

import { expect } from 'vitest';
import { type Profile, sandboxProfile } from '../../src/gateway/document/profile.js';
import {
  createPaymentClient,
  type PaymentClient,
} from '../../src/gateway/payments/paymentClient.js';
import { httpText, type RawServer, rawServer } from './rawServer.js';

/** HTTP statuses for which the document shows no meaning. */
export const UNANSWERED = ['502 Bad', '500 Error', '302 Found', '204 Nothing', '401 No'];

export interface Wire {
  client: PaymentClient;
  server: RawServer;
  /** Head and body of the one request. */
  request(): { line: string; head: string; body: string };
}

interface WireOptions {
  status?: string;
  profile?: Profile;
  headers?: string[];
}

const open: (() => Promise<void>)[] = [];

/** For `afterEach`. */
export async function closeWires(): Promise<void> {
  for (const close of open.splice(0).reverse()) await close();
}

export function closeLater(...closers: (() => Promise<void>)[]): void {
  open.push(...closers);
}

export async function wire(answer: string, options: WireOptions = {}): Promise<Wire> {
  const { status = '200 OK', profile = sandboxProfile(), headers = [] } = options;
  const server = await rawServer({
    asked: (socket) => socket.write(httpText(answer, headers, status)),
  });
  const client = createPaymentClient({ profile, baseUrl: server.baseUrl });
  closeLater(server.close, client.close);
  return {
    client,
    server,
    request: () => {
      expect(server.connections()).toBe(1);
      const [head = '', body = ''] = (server.received[0] ?? '').split('\r\n\r\n');
      const text = Buffer.from(body, 'latin1').toString('utf8');
      return { line: head.split('\r\n')[0] ?? '', head, body: text };
    },
  };
}
