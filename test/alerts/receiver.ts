// A receiver of alerts on this machine: keeps what it is told and answers as it is asked to.

import type { IncomingHttpHeaders } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Told {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface Receiver {
  address: string;
  told: Told[];
  /** the status of the answers from now on; null: none comes */
  status: number | null;
  close(): Promise<void>;
}

export async function openReceiver(): Promise<Receiver> {
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
    const { method = '', url = '', headers } = request;
    receiver.told.push({ method, path: url, headers, body: Buffer.concat(parts).toString() });
    if (receiver.status === null) return;
    response.writeHead(receiver.status, { location: '/elsewhere' });
    response.end('x'.repeat(100_000));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const receiver: Receiver = {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    told: [],
    status: 200,
    close: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return receiver;
}
