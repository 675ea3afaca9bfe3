// Opens one connection to the gateway: name, TCP, the tunnel through a proxy where there is one,
// TLS with the gateway itself. Whatever fails here has certainly sent nothing to the gateway. It
// never carries a message; both transports do that over what is opened here. Whether a proxy is
// used at all is decided in the configuration.

import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { connectionProblem, type Endpoint, ProxyError } from './endpoint.js';

export interface ConnectionLimits {
  timeoutMs: number;
  /** Certificates to trust in place of those that node trusts; for private networks and tests. */
  ca?: string;
  /** http://host:port or https://host:port, user and password included; null: straight. */
  proxy?: URL | null;
}

type OpenedConnection = { kind: 'open'; socket: Socket } | { kind: 'failed'; error: Error };

const PROXY_HEAD_BYTES_MAX = 16_384;

/** One deadline for all of it; what was opened before a failure is closed again. */
export function openConnection(
  endpoint: Endpoint,
  limits: ConnectionLimits,
): Promise<OpenedConnection> {
  return new Promise((resolve) => {
    const opened: Socket[] = [];
    let isSettled = false;
    const settle = (result: OpenedConnection): void => {
      if (!isSettled) clearTimeout(timer);
      if (isSettled || result.kind === 'failed') for (const socket of opened) socket.destroy();
      isSettled = true;
      resolve(result);
    };
    const failed = (error: unknown): void =>
      settle({ kind: 'failed', error: error instanceof Error ? error : new Error('unknown') });
    const timer = setTimeout(
      () => failed(Object.assign(new Error('late'), { code: 'ETIMEDOUT' })),
      limits.timeoutMs,
    );
    const keep = (socket: Socket): Socket => {
      // A socket may break more than once, or while it waits to be used: neither may take the
      // process down.
      socket.on('error', () => undefined);
      opened.push(socket);
      return socket;
    };
    const opening =
      limits.proxy == null
        ? openStraight(endpoint, limits, keep)
        : openThrough(limits.proxy, endpoint, limits, keep);
    opening.then((socket) => settle({ kind: 'open', socket }), failed);
  });
}

type Keep = (socket: Socket) => Socket;

function openStraight(endpoint: Endpoint, limits: ConnectionLimits, keep: Keep): Promise<Socket> {
  const { hostname: host, port } = endpoint;
  if (!endpoint.secure) return ready(keep(connectTcp({ host, port })), 'connect');
  const tls = connectTls({ port, ...tlsOptions(endpoint, limits) });
  return ready(keep(tls), 'secureConnect');
}

async function openThrough(
  proxy: URL,
  endpoint: Endpoint,
  limits: ConnectionLimits,
  keep: Keep,
): Promise<Socket> {
  const tunnel = await openProxy(proxy, limits, keep);
  await askForTunnel(tunnel, proxy, endpoint);
  if (!endpoint.secure) return tunnel;
  const tls = connectTls({ socket: tunnel, ...tlsOptions(endpoint, limits) });
  return ready(keep(tls), 'secureConnect');
}

function tlsOptions({ serverName, hostname }: Endpoint, { ca }: ConnectionLimits) {
  return {
    // Over a tunnel there is no peer address of the gateway's: the certificate is held to `host`.
    host: hostname,
    ...(serverName === null ? {} : { servername: serverName }),
    ...(ca === undefined ? {} : { ca }),
    ALPNProtocols: ['http/1.1'],
    minVersion: 'TLSv1.2' as const,
    // Stated, so that no environment variable can switch it off.
    rejectUnauthorized: true,
  };
}

async function openProxy(proxy: URL, { ca }: ConnectionLimits, keep: Keep): Promise<Socket> {
  const host = proxy.hostname.replace(/^\[|\]$/g, '');
  const isSecure = proxy.protocol === 'https:';
  const port = proxy.port === '' ? (isSecure ? 443 : 80) : Number(proxy.port);
  const socket = isSecure
    ? connectTls({ host, port, ...(ca === undefined ? {} : { ca }), rejectUnauthorized: true })
    : connectTcp({ host, port });
  try {
    return await ready(keep(socket), isSecure ? 'secureConnect' : 'connect');
  } catch (error) {
    // The same words, said of the proxy.
    throw new ProxyError(connectionProblem(error).replaceAll('the gateway', 'the proxy'));
  }
}

/** CONNECT (RFC 9110, 9.3.6); the proxy learns host and port, and nothing of the message. */
async function askForTunnel(socket: Socket, proxy: URL, endpoint: Endpoint): Promise<void> {
  const name = endpoint.hostname.includes(':') ? `[${endpoint.hostname}]` : endpoint.hostname;
  const target = `${name}:${endpoint.port}`;
  const lines = [`CONNECT ${target} HTTP/1.1`, `Host: ${target}`];
  if (proxy.username !== '') lines.push(`Proxy-Authorization: Basic ${credentials(proxy)}`);
  const answer = readHead(socket);
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  const { head, rest } = await answer;
  const status = /^HTTP\/1\.[01] (\d{3})[ \r]/.exec(head)?.[1];
  if (status === undefined) throw new ProxyError('the proxy does not speak HTTP');
  if (!status.startsWith('2')) throw new ProxyError(`the proxy refused with HTTP ${status}`);
  // The gateway never speaks first, so these bytes are nobody's answer.
  if (rest > 0) throw new ProxyError('the proxy said more than was asked');
}

function credentials({ username, password }: URL): string {
  const text = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return Buffer.from(text, 'utf8').toString('base64');
}

/** Everything up to the empty line; `rest`: how many bytes came behind it. */
function readHead(socket: Socket): Promise<{ head: string; rest: number }> {
  return new Promise((resolve, reject) => {
    let text = '';
    const settle = (error: ProxyError | null, end = 0): void => {
      // `readable` and not `data`: the socket must be left as one that nobody has read from.
      socket.off('readable', onReadable).off('close', onClose);
      if (error !== null) reject(error);
      else resolve({ head: text.slice(0, end), rest: text.length - end });
    };
    const onClose = (): void => settle(new ProxyError('the proxy closed the connection'));
    const onReadable = (): void => {
      text += ((socket.read() as Buffer | null) ?? Buffer.alloc(0)).toString('latin1');
      const end = text.indexOf('\r\n\r\n');
      if (end >= 0) settle(null, end + 4);
      else if (text.length > PROXY_HEAD_BYTES_MAX) {
        settle(new ProxyError('the headers of the proxy are too large'));
      }
    };
    socket.on('readable', onReadable).on('close', onClose);
  });
}

function ready(socket: Socket, event: 'connect' | 'secureConnect'): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const onClose = (): void => reject(Object.assign(new Error('closed'), { code: 'ECONNRESET' }));
    socket.once('error', reject);
    socket.once('close', onClose);
    socket.once(event, () => {
      socket.off('error', reject).off('close', onClose);
      resolve(socket);
    });
  });
}
