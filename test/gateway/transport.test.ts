// Queries over raw servers that misbehave: each ends as a clear `failed`, within its limits.

import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { sandboxProfile } from '../../src/gateway/document/profile.js';
import { endpointOf } from '../../src/gateway/transport/endpoint.js';
import { openQueryTransport, type TransportResult } from '../../src/gateway/transport/transport.js';
import { httpText, type RawServer, rawServer } from './rawServer.js';

const LIMITS = { ...sandboxProfile().limits, timeoutMs: 5_000, maxResponseBytes: 2_048 };
const BRIEF = { ...LIMITS, timeoutMs: 150 };
const REQUEST = {
  path: '/v1/retrievalTrans',
  contentType: 'application/x-www-form-urlencoded',
  body: Buffer.from('a=b'),
};

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function serve(asked: (socket: Socket) => void): Promise<RawServer> {
  const server = await rawServer({ asked });
  open.push(server.close);
  return server;
}

function post(baseUrl: string, limits = LIMITS): Promise<TransportResult> {
  const transport = openQueryTransport(endpointOf(baseUrl), limits);
  open.push(transport.close);
  return transport.post(REQUEST);
}

describe('openQueryTransport', () => {
  it('brings back status, headers and bytes', async () => {
    const body = 'x'.repeat(2_048);
    const server = await serve((socket) =>
      socket.write(httpText(body, ['content-type: application/json'], '503 Busy')),
    );
    expect(await post(`${server.baseUrl}/base/`)).toEqual({
      kind: 'answered',
      status: 503,
      contentType: 'application/json',
      contentEncoding: null,
      body: Buffer.from(body),
    });
    expect(server.received[0]).toMatch(/^POST \/base\/v1\/retrievalTrans HTTP\/1.1\r\n/);
    expect(server.received[0]).toMatch(/accept-encoding: identity/i);
    expect(server.received[0]).toMatch(/\r\n\r\na=b$/);
  });

  const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
  const gzip = gzipSync(Buffer.alloc(1_000_000)).subarray(0, 500).toString('latin1');
  const failing: [string, (socket: Socket) => void, RegExp][] = [
    ['closes without an answer', (s) => s.end(), /connection/],
    ['resets', (s) => s.resetAndDestroy(), /reset/],
    [
      'cuts the answer off',
      (s) => s.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{'),
      /connection|HTTP/,
    ],
    ['cuts a chunk off', (s) => s.end(`${chunked}5\r\nab`), /connection|HTTP/],
    ['speaks no HTTP', (s) => s.end('garbage\r\n\r\n'), /HTTP/],
    [
      'announces too much',
      (s) => s.write('HTTP/1.1 200 OK\r\ncontent-length: 2049\r\n\r\n'),
      /larger than 2048/,
    ],
    [
      'sends too much',
      (s) => s.write(`${chunked}801\r\n${'x'.repeat(0x801)}\r\n`),
      /larger than 2048/,
    ],
    ['compresses', (s) => s.write(httpText(gzip, ['content-encoding: gzip'])), /compressed/],
    [
      'chains compressions',
      (s) => s.write(httpText('x', ['content-encoding: gzip, br'])),
      /compressed/,
    ],
    [
      'sends endless headers',
      (s) => s.write(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}`),
      /headers/,
    ],
  ];
  it.each(failing)('fails when the gateway %s', async (_, asked, reason) => {
    const server = await serve(asked);
    const result = await post(server.baseUrl);
    expect(result).toEqual({
      kind: 'failed',
      reason: expect.stringMatching(reason),
      reachable: true,
    });
    expect(server.connections()).toBe(1);
  });

  const SILENT = { reachable: false, isSilent: true };
  it.each([
    ['never answers', () => undefined, SILENT],
    ['never ends its headers', (s: Socket) => s.write('HTTP/1.1 200 OK\r\n'), SILENT],
    ['drips its body', drip, { reachable: true }],
  ])('gives up at the total deadline when the gateway %s', async (_, asked, is) => {
    const server = await serve(asked as (socket: Socket) => void);
    expect(await post(server.baseUrl, BRIEF)).toEqual({
      kind: 'failed',
      reason: 'no answer in 150 ms',
      ...is,
    });
  });

  it.each(['301', '302', '303', '307', '308'])('follows no redirect %s', async (status) => {
    const other = await serve((socket) => socket.write(httpText('{}')));
    const server = await serve((socket) =>
      socket.write(httpText('', [`location: ${other.baseUrl}/`], `${status} Moved`)),
    );
    expect(await post(server.baseUrl)).toMatchObject({ kind: 'answered', status: Number(status) });
    expect(other.connections()).toBe(0);
  });

  it('says that a closed port and an unknown name were never reached', async () => {
    const server = await rawServer({});
    await server.close();
    expect(await post(server.baseUrl)).toEqual({
      kind: 'failed',
      reason: 'the gateway refused the connection',
      reachable: false,
    });
    expect(await post('http://gateway.invalid')).toMatchObject({
      kind: 'failed',
      reachable: false,
    });
  });

  it('was never reached where the connection itself does not come about', async () => {
    // Takes the packets, and never shakes hands.
    const server = await serve(() => undefined);
    const result = await post(server.baseUrl.replace('http:', 'https:'));
    expect(result).toEqual({
      kind: 'failed',
      reason: expect.stringMatching(/connect/),
      reachable: false,
    });
  });

  it('never opens more connections than the profile allows', async () => {
    const waiting: Socket[] = [];
    const server = await rawServer({ asked: (socket) => waiting.push(socket) });
    open.push(server.close);
    const transport = openQueryTransport(endpointOf(server.baseUrl), { ...LIMITS, concurrency: 2 });
    open.push(transport.close);
    const posts = Array.from({ length: 6 }, () => transport.post(REQUEST));
    await expect.poll(() => waiting.length).toBe(2);
    expect(server.connections()).toBe(2);
    for (const socket of waiting) {
      socket.on('data', () => socket.write(httpText('{}')));
      socket.write(httpText('{}'));
    }
    expect((await Promise.all(posts)).every((result) => result.kind === 'answered')).toBe(true);
    expect(server.connections()).toBe(2);
  });
});

describe('endpointOf', () => {
  it.each(['ftp://x', 'x', '', 'https://u:p@x', 'https://x/?a=1', 'https://x/#a'])(
    'refuses the address %j',
    (address) => {
      expect(() => endpointOf(address)).toThrow('baseUrl');
    },
  );

  it('takes an address apart', () => {
    expect(endpointOf('https://[::1]/a/b/')).toEqual({
      secure: true,
      origin: 'https://[::1]',
      hostname: '::1',
      port: 443,
      host: '[::1]',
      prefix: '/a/b',
      serverName: null,
    });
    expect(endpointOf('http://pay.example:81')).toMatchObject({
      port: 81,
      prefix: '',
      serverName: 'pay.example',
    });
  });
});

function drip(socket: Socket): void {
  socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n');
  const timer = setInterval(() => socket.write('x'), 20);
  socket.on('close', () => clearInterval(timer));
}
