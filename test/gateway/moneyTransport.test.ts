// The one POST that may move money: what is certainly not sent, and what nobody can know.

import type { Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { endpointOf } from '../../src/gateway/transport/endpoint.js';
import {
  connectMoney,
  type MoneyConnection,
  type MoneyPost,
  type MoneyRequest,
} from '../../src/gateway/transport/moneyTransport.js';
import { EXPIRED, LOCALHOST, OTHER_HOST, type TestCertificate } from './certificates.js';
import { httpText, type RawServer, rawServer } from './rawServer.js';

const LIMITS = { timeoutMs: 5_000, maxResponseBytes: 2_048 };
const REQUEST: MoneyRequest = {
  path: '/v1/refund',
  headers: { 'content-type': 'application/json' },
  body: Buffer.from('{"refund":1}'),
  deadlineMs: 5_000,
  mayWrite: () => true,
};

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const close of open.splice(0).reverse()) await close();
});

async function serve(
  asked?: (socket: Socket) => void,
  connected?: (socket: Socket) => void,
): Promise<RawServer> {
  const server = await rawServer({ ...(asked && { asked }), ...(connected && { connected }) });
  open.push(server.close);
  return server;
}

async function connected(baseUrl: string): Promise<MoneyConnection> {
  const result = await connectMoney(endpointOf(baseUrl), LIMITS);
  if (result.kind !== 'connected') throw new Error(result.reason);
  open.push(async () => result.connection.close());
  return result.connection;
}

async function post(baseUrl: string, change: Partial<MoneyRequest> = {}): Promise<MoneyPost> {
  return (await connected(baseUrl)).post({ ...REQUEST, ...change });
}

describe('connectMoney', () => {
  it('has sent nothing when the port is closed or the name unknown', async () => {
    const server = await rawServer({});
    await server.close();
    expect(await connectMoney(endpointOf(server.baseUrl), LIMITS)).toEqual({
      kind: 'not_sent',
      reason: 'the gateway refused the connection',
    });
    expect(await connectMoney(endpointOf('http://gateway.invalid'), LIMITS)).toMatchObject({
      kind: 'not_sent',
    });
  });

  it('has sent nothing when the other side speaks no TLS', async () => {
    const server = await serve(undefined, (socket) => socket.end('HTTP/1.1 400 Bad\r\n\r\n'));
    const address = server.baseUrl.replace('http:', 'https:');
    expect(await connectMoney(endpointOf(address), LIMITS)).toMatchObject({ kind: 'not_sent' });
  });

  it('has sent nothing when the handshake never ends', async () => {
    const server = await serve();
    const address = server.baseUrl.replace('http:', 'https:');
    const limits = { ...LIMITS, timeoutMs: 100 };
    expect(await connectMoney(endpointOf(address), limits)).toEqual({
      kind: 'not_sent',
      reason: 'no connection in time',
    });
  });

  it.each([
    ['is not trusted', LOCALHOST, undefined],
    ['is made out to another name', OTHER_HOST, OTHER_HOST.cert],
    ['has expired', EXPIRED, EXPIRED.cert],
  ])(
    'has sent nothing when its certificate %s, whatever is allowed',
    async (why, certificate, ca) => {
      const { address, received } = await serveTls(certificate);
      const limits = { ...LIMITS, ...(ca !== undefined && { ca }) };
      vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
      expect(await connectMoney(endpointOf(address), limits)).toEqual({
        kind: 'not_sent',
        reason: expect.stringContaining(`the gateway's certificate ${why}`),
      });
      expect(received()).toBe('');
    },
  );

  it('sends over TLS and asks in the same way', async () => {
    const { address, received } = await serveTls(LOCALHOST);
    const limits = { ...LIMITS, ca: LOCALHOST.cert };
    for (const may of [false, true]) {
      const result = await connectMoney(endpointOf(address), limits);
      if (result.kind !== 'connected') throw new Error(result.reason);
      const posted = await result.connection.post({ ...REQUEST, mayWrite: () => may });
      expect(posted.kind).toBe(may ? 'answered' : 'not_sent');
      expect(received().includes('{"refund":1}')).toBe(may);
    }
  });
});

describe('a money connection', () => {
  it('sends one POST and brings the answer', async () => {
    const server = await serve((socket) =>
      socket.write(httpText('{"a":1}', ['content-type: application/json'])),
    );
    expect(await post(`${server.baseUrl}/base`)).toEqual({
      kind: 'answered',
      status: 200,
      contentType: 'application/json',
      contentEncoding: null,
      body: Buffer.from('{"a":1}'),
    });
    const [request = ''] = server.received;
    expect(request).toMatch(/^POST \/base\/v1\/refund HTTP\/1.1\r\n/);
    expect(request).toContain(`host: ${server.baseUrl.slice('http://'.length)}\r\n`);
    expect(request).toContain('connection: close\r\n');
    expect(request).toContain('accept-encoding: identity\r\n');
    expect(request).toContain('content-length: 12\r\n');
    expect(request.match(/content-type|host:/g)).toHaveLength(2);
    expect(request.endsWith('\r\n\r\n{"refund":1}')).toBe(true);
  });

  it('writes not one byte when it may not', async () => {
    const server = await serve();
    let questions = 0;
    const result = await post(server.baseUrl, {
      mayWrite: () => {
        questions += 1;
        return false;
      },
    });
    expect(result).toEqual({ kind: 'not_sent', reason: expect.stringContaining('budget') });
    await server.close();
    expect([questions, server.connections(), server.received]).toEqual([1, 1, ['']]);
  });

  it('writes not one byte when the question itself fails', async () => {
    const server = await serve();
    const mayWrite = () => {
      throw new Error('no clock');
    };
    expect(await post(server.baseUrl, { mayWrite })).toMatchObject({ kind: 'not_sent' });
    await server.close();
    expect(server.received).toEqual(['']);
  });

  it('asks in the tick of the write: before it no byte has left, after it all have', async () => {
    const server = await serve((socket) => socket.write(httpText('{}')));
    const seen: (string | undefined)[] = [];
    const mayWrite = () => {
      seen.push(server.received[0]);
      return true;
    };
    const body = Buffer.alloc(5_000, 0x61);
    expect(await post(server.baseUrl, { mayWrite, body })).toMatchObject({ kind: 'answered' });
    expect(seen).toEqual(['']);
    expect(server.received[0]?.endsWith(body.toString())).toBe(true);
  });

  it.each([
    ['the gateway closed it', (socket: Socket) => socket.end()],
    ['the gateway reset it', (socket: Socket) => socket.resetAndDestroy()],
    ['the gateway spoke before it was asked', (socket: Socket) => socket.write(httpText('{}'))],
  ])('sends nothing when %s while it waited', async (_, act) => {
    const sockets: Socket[] = [];
    const server = await serve(undefined, (socket) => sockets.push(socket));
    const connection = await connected(server.baseUrl);
    await expect.poll(() => sockets.length).toBe(1);
    act(sockets[0] as Socket);
    // One more connection made and answered: what was sent before it has arrived by then.
    await connected(server.baseUrl);
    await expect.poll(() => sockets.length).toBe(2);
    const result = await connection.post(REQUEST);
    expect(result.kind).toBe('not_sent');
    expect(server.received[0]).toBe('');
  });

  it('serves once', async () => {
    const server = await serve((socket) => socket.write(httpText('{}')));
    const connection = await connected(server.baseUrl);
    expect((await connection.post(REQUEST)).kind).toBe('answered');
    expect((await connection.post(REQUEST)).kind).toBe('not_sent');
    expect(server.connections()).toBe(1);
  });

  it('sends nothing over a connection that was given up', async () => {
    const server = await serve();
    const connection = await connected(server.baseUrl);
    connection.close();
    expect((await connection.post(REQUEST)).kind).toBe('not_sent');
  });

  it('sends nothing when the request cannot be written', async () => {
    const server = await serve();
    const result = await post(server.baseUrl, { headers: { 'x-bad': 'a\nb' } });
    expect(result.kind).toBe('not_sent');
    await server.close();
    expect(server.received).toEqual(['']);
  });

  const ok = 'HTTP/1.1 200 OK\r\n';
  const unknowns: [string, (socket: Socket) => void, RegExp][] = [
    ['a reset', (s) => s.resetAndDestroy(), /reset/],
    ['a close without an answer', (s) => s.end(), /connection/],
    ['a wrong length', (s) => s.end(`${ok}content-length: 9\r\n\r\n{`), /cut off/],
    ['a cut chunk', (s) => s.end(`${ok}transfer-encoding: chunked\r\n\r\n5\r\nab`), /cut off/],
    [
      'an answer that is too large',
      (s) => s.write(httpText('x'.repeat(2_049))),
      /larger than 2048/,
    ],
    ['endless headers', (s) => s.write(`${ok}x: ${'y'.repeat(100_000)}`), /headers/],
    ['garbage', (s) => s.end('garbage\r\n\r\n'), /HTTP/],
    ['two lengths', (s) => s.end(`${ok}content-length: 2\r\ncontent-length: 3\r\n\r\n{}`), /HTTP/],
    [
      'another protocol',
      (s) => s.write('HTTP/1.1 101 X\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n'),
      /protocol/,
    ],
    [
      'a second answer behind the first',
      (s) => s.write(httpText('{}', ['connection: close']) + httpText('{}')),
      /HTTP/,
    ],
  ];
  it.each(unknowns)('knows nothing after %s', async (_, asked, reason) => {
    const server = await serve(asked);
    const result = await post(server.baseUrl);
    expect(result).toMatchObject({ kind: 'unknown', reason: expect.stringMatching(reason) });
    expect(server.connections()).toBe(1);
  });

  it.each([
    ['ends with the connection', (s: Socket) => s.end(`${ok}\r\n{"a":1}`)],
    [
      'comes in chunks',
      (s: Socket) => s.end(`${ok}transfer-encoding: chunked\r\n\r\n7\r\n{"a":1}\r\n0\r\n\r\n`),
    ],
    ['comes with its length and a close', (s: Socket) => s.end(httpText('{"a":1}'))],
    [
      'follows an interim one',
      (s: Socket) => s.write(`HTTP/1.1 100 Continue\r\n\r\n${httpText('{"a":1}')}`),
    ],
  ])('reads an answer that %s', async (_, asked) => {
    const server = await serve(asked as (socket: Socket) => void);
    expect(await post(server.baseUrl)).toMatchObject({
      kind: 'answered',
      body: Buffer.from('{"a":1}'),
    });
  });

  it('keeps what arrived of a cut answer', async () => {
    const server = await serve((s) => s.end(`${ok}content-length: 9\r\n\r\n{"a"`));
    expect(await post(server.baseUrl)).toMatchObject({ body: Buffer.from('{"a"') });
  });

  it.each([
    ['never answers', () => undefined],
    ['floods it with interim answers', flood],
    ['drips', drip],
  ])('knows nothing at the deadline when the gateway %s', async (_, asked) => {
    const server = await serve(asked as (socket: Socket) => void);
    expect(await post(server.baseUrl, { deadlineMs: 150 })).toMatchObject({
      kind: 'unknown',
      reason: 'no answer in 150 ms',
    });
  });

  it.each(['301', '302', '303', '307', '308'])('follows no redirect %s', async (status) => {
    const other = await serve();
    const server = await serve((socket) =>
      socket.write(httpText('', [`location: ${other.baseUrl}/`], `${status} Moved`)),
    );
    expect(await post(server.baseUrl)).toMatchObject({ kind: 'answered', status: Number(status) });
    expect([other.connections(), server.connections()]).toEqual([0, 1]);
  });

  it('leaves a compressed body as it came', async () => {
    const server = await serve((s) => s.write(httpText('zipped', ['content-encoding: gzip'])));
    expect(await post(server.baseUrl)).toMatchObject({
      kind: 'answered',
      contentEncoding: 'gzip',
      body: Buffer.from('zipped'),
    });
  });
});

async function serveTls(
  certificate: TestCertificate,
): Promise<{ address: string; received: () => string }> {
  let received = '';
  const server = createTlsServer(certificate, (socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      received += chunk.toString();
      socket.write(httpText('{}'));
    });
  });
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push(() => new Promise((resolve) => server.close(() => resolve())));
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  return { address: `https://127.0.0.1:${port}`, received: () => received };
}

function drip(socket: Socket): void {
  socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n');
  const timer = setInterval(() => socket.write('x'), 20);
  socket.on('close', () => clearInterval(timer));
}

function flood(socket: Socket): void {
  const timer = setInterval(() => socket.write('HTTP/1.1 102 Processing\r\n\r\n'.repeat(50)), 5);
  socket.on('close', () => clearInterval(timer));
}
