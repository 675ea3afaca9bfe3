// The way to the gateway: when a proxy is used, what it is told, what its failures mean, and
// certificates of a private authority.

import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { proxyOf } from '../../src/config/proxy.js';
import { ConfigurationError } from '../../src/core/errors.js';
import { sandboxProfile } from '../../src/gateway/document/profile.js';
import { endpointOf } from '../../src/gateway/transport/endpoint.js';
import { connectMoney } from '../../src/gateway/transport/moneyTransport.js';
import { openQueryTransport } from '../../src/gateway/transport/transport.js';
import { LOCALHOST, OTHER_HOST, type TestCertificate } from './certificates.js';
import { type CompiledClient, compileClient } from './compiledClient.js';
import { type ProxyServer, proxyServer } from './proxyServer.js';
import { httpText, rawServer } from './rawServer.js';

const GATEWAY = 'https://gw.example/api';
const PROXY = { HTTPS_PROXY: 'http://proxy.example:3128' };

describe('the proxy of the configuration', () => {
  it.each<[string, string, NodeJS.ProcessEnv, string | null]>([
    ['none given', GATEWAY, {}, null],
    ['HTTPS_PROXY', GATEWAY, PROXY, 'http://proxy.example:3128/'],
    ['https_proxy', GATEWAY, { https_proxy: 'https://p:1' }, 'https://p:1/'],
    ['an empty one', GATEWAY, { HTTPS_PROXY: '' }, null],
    ['HTTP_PROXY', GATEWAY, { HTTP_PROXY: 'http://p:1' }, null],
    ['the sandbox', 'sandbox', PROXY, null],
    ['localhost', 'https://localhost:8443', PROXY, null],
    ['127.0.0.1', 'https://127.0.0.1:8443', PROXY, null],
    ['127.9.9.9', 'https://127.9.9.9', PROXY, null],
    ['::1', 'https://[::1]:8443', PROXY, null],
    ['plain http', 'http://gw.example', PROXY, null],
    ['NO_PROXY of the host', GATEWAY, { ...PROXY, NO_PROXY: 'a.example, gw.example' }, null],
    ['no_proxy of the domain', GATEWAY, { ...PROXY, no_proxy: '.example' }, null],
    ['NO_PROXY of the domain without a point', GATEWAY, { ...PROXY, NO_PROXY: 'EXAMPLE' }, null],
    ['NO_PROXY of the domain with a star', GATEWAY, { ...PROXY, NO_PROXY: '*.example' }, null],
    ['NO_PROXY of everything', GATEWAY, { ...PROXY, NO_PROXY: '*' }, null],
    ['NO_PROXY with the port', GATEWAY, { ...PROXY, NO_PROXY: 'gw.example:443' }, null],
    [
      'NO_PROXY of an address',
      'https://[2001:db8::1]',
      { ...PROXY, NO_PROXY: '2001:db8::1' },
      null,
    ],
    [
      'NO_PROXY with another port',
      GATEWAY,
      { ...PROXY, NO_PROXY: 'gw.example:8443' },
      'http://proxy.example:3128/',
    ],
    [
      'NO_PROXY of another host',
      GATEWAY,
      { ...PROXY, NO_PROXY: 'w.example,xample' },
      'http://proxy.example:3128/',
    ],
  ])('follows %s', (_, baseUrl, env, expected) => {
    expect(proxyOf(baseUrl, env)?.href ?? null).toBe(expected);
  });

  it.each(['proxy:3128', 'socks5://p:1', 'http://p:1/path', 'http://p:1?a=b', 'nonsense'])(
    'refuses %j and does not repeat it',
    (address) => {
      const call = () => proxyOf(GATEWAY, { HTTPS_PROXY: address });
      expect(call).toThrow(ConfigurationError);
      expect(call).toThrow('environment: HTTPS_PROXY: must be http://host:port');
    },
  );

  it('never prints its password', () => {
    const proxy = proxyOf(GATEWAY, { HTTPS_PROXY: 'http://user:s3cret@proxy.example:3128' });
    expect(JSON.stringify({ proxy })).toBe('{"proxy":"http://user:***@proxy.example:3128/"}');
    expect(proxy?.password).toBe('s3cret');
  });
});

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function proxied(answer?: (socket: Socket) => void): Promise<ProxyServer> {
  const proxy = await proxyServer(answer);
  open.push(proxy.close);
  return proxy;
}

async function tlsGateway(
  certificate: TestCertificate,
): Promise<{ address: string; seen: string[] }> {
  const seen: string[] = [];
  const server: Server = createServer(certificate, (request, response) => {
    seen.push(`${request.method} ${request.url}`);
    request.resume().on('end', () => response.end('{"return_status":"9"}'));
  });
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push(
    () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  );
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  return { address: `https://127.0.0.1:${port}`, seen };
}

const MONEY = { timeoutMs: 5_000, maxResponseBytes: 2_048, ca: LOCALHOST.cert };
const POST = {
  path: '/v1/refund',
  headers: { 'content-type': 'application/json' },
  body: Buffer.from('{"refund":1}'),
  deadlineMs: 5_000,
};

describe('money through a proxy', () => {
  it('goes end to end encrypted: the proxy learns host and port alone', async () => {
    const gateway = await tlsGateway(LOCALHOST);
    const proxy = await proxied();
    proxy.url.username = 'ann';
    proxy.url.password = 'p%40ss';
    const result = await connectMoney(endpointOf(gateway.address), { ...MONEY, proxy: proxy.url });
    if (result.kind !== 'connected') throw new Error(result.reason);
    expect(gateway.seen).toEqual([]);
    const posted = await result.connection.post({ ...POST, mayWrite: () => true });
    expect(posted).toMatchObject({ kind: 'answered', status: 200 });
    expect(gateway.seen).toEqual(['POST /v1/refund']);
    const target = gateway.address.slice('https://'.length);
    const basic = Buffer.from('ann:p@ss').toString('base64');
    expect(proxy.heads).toEqual([
      `CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n` +
        `Proxy-Authorization: Basic ${basic}\r\n\r\n`,
    ]);
  });

  it('writes nothing when it may not, through a tunnel as well', async () => {
    const gateway = await tlsGateway(LOCALHOST);
    const { url } = await proxied();
    const result = await connectMoney(endpointOf(gateway.address), { ...MONEY, proxy: url });
    if (result.kind !== 'connected') throw new Error(result.reason);
    const posted = await result.connection.post({ ...POST, mayWrite: () => false });
    expect(posted.kind).toBe('not_sent');
    expect(gateway.seen).toEqual([]);
  });

  it('holds the certificate behind the tunnel to the name of the gateway', async () => {
    const gateway = await tlsGateway(OTHER_HOST);
    const { url } = await proxied();
    const limits = { ...MONEY, ca: OTHER_HOST.cert, proxy: url };
    expect(await connectMoney(endpointOf(gateway.address), limits)).toEqual({
      kind: 'not_sent',
      reason: expect.stringContaining('certificate'),
    });
  });

  const refusing: [string, (socket: Socket) => void, string][] = [
    ['refuses', (s) => s.end('HTTP/1.1 403 No\r\n\r\n'), 'the proxy refused with HTTP 403'],
    ['wants a password', (s) => s.end('HTTP/1.1 407 Who\r\n\r\n'), 'refused with HTTP 407'],
    ['closes', (s) => s.end(), 'the proxy closed the connection'],
    ['speaks no HTTP', (s) => s.end('SSH-2.0\r\n\r\n'), 'does not speak HTTP'],
    ['says too much', (s) => s.write('HTTP/1.1 200 OK\r\n\r\nextra'), 'more than was asked'],
    ['floods', (s) => s.write(`HTTP/1.1 200 ${'x'.repeat(20_000)}`), 'too large'],
    ['resets', (s) => s.resetAndDestroy(), 'the proxy closed the connection'],
  ];
  it.each(refusing)('is not sent when the proxy %s', async (_, answer, reason) => {
    const { url } = await proxied(answer);
    const result = await connectMoney(endpointOf(GATEWAY), { ...MONEY, proxy: url });
    expect(result).toEqual({ kind: 'not_sent', reason: expect.stringContaining(reason) });
  });

  it('is not sent when the proxy is silent, or is not there', async () => {
    const { url } = await proxied(() => undefined);
    const brief = { ...MONEY, timeoutMs: 100 };
    expect(await connectMoney(endpointOf(GATEWAY), { ...brief, proxy: url })).toEqual({
      kind: 'not_sent',
      reason: 'no connection in time',
    });
    const gone = await proxyServer();
    await gone.close();
    expect(await connectMoney(endpointOf(GATEWAY), { ...MONEY, proxy: gone.url })).toEqual({
      kind: 'not_sent',
      reason: 'the proxy refused the connection',
    });
  });
});

describe('queries through a proxy', () => {
  const QUERY = { path: '/v1/retrievalTrans', contentType: 'text/plain', body: Buffer.from('a') };

  it('share kept tunnels', async () => {
    const server = await rawServer({
      connected: (socket) => socket.on('data', () => socket.write(httpText('{}'))),
    });
    const proxy = await proxied();
    const limits = { ...sandboxProfile().limits, concurrency: 1 };
    const transport = openQueryTransport(endpointOf(server.baseUrl), limits, proxy.url);
    open.push(server.close, transport.close);
    for (let count = 0; count < 3; count += 1) {
      expect(await transport.post(QUERY)).toMatchObject({ kind: 'answered', status: 200 });
    }
    expect(proxy.heads).toHaveLength(1);
  });

  it('say that the gateway was never reached when the proxy refuses', async () => {
    const { url } = await proxied((socket) => socket.end('HTTP/1.1 403 No\r\n\r\n'));
    const transport = openQueryTransport(endpointOf(GATEWAY), sandboxProfile().limits, url);
    open.push(transport.close);
    expect(await transport.post(QUERY)).toEqual({
      kind: 'failed',
      reason: 'the proxy refused with HTTP 403',
      reachable: false,
    });
  });
});

describe('a private certificate authority', () => {
  let compiled: CompiledClient;
  beforeAll(() => {
    compiled = compileClient();
    writeFileSync(join(compiled.folder, 'ca.pem'), LOCALHOST.cert);
  });
  afterAll(() => compiled.remove());

  async function run(args: string[], env: NodeJS.ProcessEnv): Promise<string[]> {
    const program = [compiled.program, ...args];
    const { stdout } = await promisify(execFile)(process.execPath, program, { env });
    return JSON.parse(stdout) as string[];
  }

  it('is trusted by both transports through NODE_EXTRA_CA_CERTS alone', async () => {
    const { address } = await tlsGateway(LOCALHOST);
    const { url, heads } = await proxied();
    const env = { NODE_EXTRA_CA_CERTS: join(compiled.folder, 'ca.pem') };
    const reached = [
      expect.stringContaining('return_status 9'),
      expect.stringContaining('the answer'),
    ];
    expect(await run([address], env)).toEqual(reached);
    expect(heads).toEqual([]);
    expect(await run([address, url.href], env)).toEqual(reached);
    expect(heads).toHaveLength(2);
    const refused = expect.stringContaining('certificate is not trusted');
    expect(await run([address], {})).toEqual([refused, refused]);
    expect(await run([address, url.href], { NODE_TLS_REJECT_UNAUTHORIZED: '0' })).toEqual([
      refused,
      refused,
    ]);
  });
});
