// A proxy that knows CONNECT and nothing else, and can be told to misbehave.

import { connect, createServer, type Socket } from 'node:net';

export interface ProxyServer {
  url: URL;
  /** The head of each request, as it came. */
  heads: string[];
  close(): Promise<void>;
}

/** `answer`: what it says to a CONNECT; without it the tunnel is opened. */
export async function proxyServer(answer?: (socket: Socket) => void): Promise<ProxyServer> {
  const heads: string[] = [];
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    return socket;
  };
  const server = createServer((socket) => {
    keep(socket).once('data', (head) => {
      const text = head.toString('latin1');
      heads.push(text);
      if (answer !== undefined) return answer(socket);
      const [, host = '', port = ''] = /^CONNECT ([^ ]+):(\d+) HTTP\/1\.1\r\n/.exec(text) ?? [];
      const onward = keep(connect({ host: host.replace(/^\[|\]$/g, ''), port: Number(port) }));
      onward.on('connect', () => {
        socket.write('HTTP/1.1 200 Connection established\r\nx-proxy: yes\r\n\r\n');
        socket.pipe(onward).pipe(socket);
      });
      onward.on('error', () => socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  return {
    url: new URL(`http://127.0.0.1:${port}`),
    heads,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
