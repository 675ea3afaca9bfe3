// A bare TCP server whose answers are written by hand: what no HTTP server would ever send.

import { createServer, type Socket } from 'node:net';
import type { Account } from '../../src/gateway/account.js';

export const ACCOUNT: Account = {
  merchantId: 'M1',
  accountId: 'A1',
  signingKey: 'key-of-a1',
  liveFrom: null,
};

export interface RawServer {
  baseUrl: string;
  /** Everything that arrived, one text a connection. */
  received: string[];
  connections(): number;
  close(): Promise<void>;
}

interface RawHandlers {
  connected?: (socket: Socket) => void;
  /** Called with the first bytes of a request. */
  asked?: (socket: Socket) => void;
}

export async function rawServer(handlers: RawHandlers): Promise<RawServer> {
  const received: string[] = [];
  const sockets = new Set<Socket>();
  let count = 0;
  const server = createServer((socket) => {
    const index = count;
    count += 1;
    sockets.add(socket);
    received[index] = '';
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (chunk) => {
      const isFirst = received[index] === '';
      received[index] += chunk.toString('latin1');
      if (isFirst) handlers.asked?.(socket);
    });
    handlers.connected?.(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    received,
    connections: () => count,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

/** An HTTP answer as text; headers as given, nothing added but the length. */
export function httpText(body: string, headers: string[] = [], status = '200 OK'): string {
  const length = `content-length: ${Buffer.byteLength(body)}`;
  return [`HTTP/1.1 ${status}`, length, ...headers, '', body].join('\r\n');
}
