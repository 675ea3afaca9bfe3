// Where the gateway is: one base address taken apart once, for both transports. Knows nothing of
// operations. Whether plain http is allowed is decided in the configuration.

import { isIP } from 'node:net';
import { ConfigurationError } from '../../core/errors.js';
import { tlsProblem } from '../../core/text/tlsProblem.js';

export interface Endpoint {
  secure: boolean;
  origin: string;
  /** Without the brackets of an IPv6 address. */
  hostname: string;
  port: number;
  /** What the Host header says. */
  host: string;
  /** Path of the base address without a trailing slash; operations are appended. */
  prefix: string;
  /** Name for TLS; an address has none. */
  serverName: string | null;
}

export function endpointOf(baseUrl: string): Endpoint {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new ConfigurationError('gateway', 'baseUrl', 'is no http or https address');
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new ConfigurationError('gateway', 'baseUrl', 'must be host and path only');
  }
  const secure = url.protocol === 'https:';
  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  return {
    secure,
    origin: url.origin,
    hostname,
    port: url.port === '' ? (secure ? 443 : 80) : Number(url.port),
    host: url.host,
    prefix: url.pathname.replace(/\/+$/, ''),
    serverName: isIP(hostname) === 0 ? hostname : null,
  };
}

/** A proxy on the way that gave no tunnel: nothing has reached the gateway. */
export class ProxyError extends Error {
  readonly code = 'TIEOUT_PROXY';
}

/** What a failed connection means, in words for a person; never the raw library text alone. */
export function connectionProblem(error: unknown): string {
  if (error instanceof ProxyError) return error.message;
  const code = errorCode(error);
  switch (code) {
    case 'ECONNREFUSED':
      return 'the gateway refused the connection';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EAI_FAIL':
      return "the gateway's host name was not found";
    case 'ECONNRESET':
    case 'EPIPE':
    case 'UND_ERR_SOCKET':
      return 'the connection was reset';
    case 'ETIMEDOUT':
    case 'UND_ERR_CONNECT_TIMEOUT':
      return 'no connection in time';
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return 'the gateway cannot be reached over the network';
    case 'HPE_HEADER_OVERFLOW':
    case 'UND_ERR_HEADERS_OVERFLOW':
      return 'the headers of the answer are too large';
    default:
      return describeCode(code);
  }
}

function describeCode(code: string): string {
  const tls = tlsProblem(code, 'the gateway');
  if (tls !== null) return tls;
  if (/^HPE_|^UND_ERR_.*(PARSER|LENGTH)/.test(code)) return `the answer is not HTTP (${code})`;
  return `the connection failed (${code})`;
}

/** The code of an error, or of the first inner one where several addresses were tried. */
export function errorCode(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return errorCode(error.errors[0]);
  if (error === null || typeof error !== 'object') return 'unknown';
  // undici leaves the code of some parser errors empty.
  if ('name' in error && error.name === 'HTTPParserError') return 'HPE_PARSER';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return 'cause' in error && error.cause !== undefined ? errorCode(error.cause) : 'unknown';
}
