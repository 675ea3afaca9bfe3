// The addresses of a configuration: database, queue and gateway. Owns which of them are accepted.
// It opens none of them, and of what they name only certificates. It must never repeat an address
// in a message, since an address can hold a password. Used by config.ts alone.

import { dirname, resolve } from 'node:path';
import { ConfigurationError } from '../core/errors.js';
import { maskAddress, withMaskedView } from './secrets.js';
import { readText } from './values.js';

export type DatabaseAddress =
  | { readonly kind: 'embedded' }
  | { readonly kind: 'url'; readonly url: string };

export type QueueAddress =
  | { readonly kind: 'database' }
  | { readonly kind: 'redis'; readonly url: string };

/** What the file says of a server: an address, its parts as keys of their own, or both. */
interface ServerKeys {
  readonly url?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly name?: string | undefined;
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  readonly tls?: boolean | undefined;
}

export function databaseOf(keys: ServerKeys, file: string): DatabaseAddress {
  const given = serverUrl(keys, {
    file,
    section: 'database',
    scheme: 'postgres',
    bare: 'embedded',
  });
  if (given === 'embedded') return { kind: 'embedded' };
  if (!/^postgres(ql)?:\/\//.test(given) || !URL.canParse(given)) {
    const problem = `must be postgres://... or embedded (${ENCODED})`;
    throw new ConfigurationError(file, 'database.url', problem);
  }
  refuseUnencoded(given, file, 'database');
  const url = withCertificates(withParts(given, keys), file);
  return withMaskedView({ kind: 'url', url }, () => ({ kind: 'url', url: maskAddress(url) }));
}

export function queueOf(keys: ServerKeys, file: string): QueueAddress {
  const scheme = keys.tls === true ? 'rediss' : 'redis';
  const given = serverUrl(keys, { file, section: 'queue', scheme, bare: 'database' });
  if (given === 'database') return { kind: 'database' };
  if (!/^rediss?:\/\//.test(given) || !URL.canParse(given)) {
    const problem = `must be redis://..., rediss://... or database (${ENCODED})`;
    throw new ConfigurationError(file, 'queue.url', problem);
  }
  refuseUnencoded(given, file, 'queue');
  const url = withParts(given, keys);
  return withMaskedView({ kind: 'redis', url }, () => ({ kind: 'redis', url: maskAddress(url) }));
}

const ENCODED =
  'in an address # @ % / : ? of a password are written %23 %40 %25 %2F %3A %3F; ' +
  'or give it as the key password';

/** The address to begin with: that of the file, or one made of host, port and name. */
function serverUrl(
  keys: ServerKeys,
  about: { file: string; section: string; scheme: string; bare: string },
): string {
  const { file, section, scheme, bare } = about;
  const { url, host, port, name } = keys;
  const refuse = (key: string, problem: string): never => {
    throw new ConfigurationError(file, `${section}.${key}`, problem);
  };
  if (url !== undefined && url !== bare) {
    const twice = (['host', 'port', 'name', 'tls'] as const).find((key) => keys[key] !== undefined);
    return twice === undefined ? url : refuse(twice, `is said by ${section}.url already`);
  }
  const lone = (['port', 'name', 'user', 'password', 'tls'] as const).find(
    (key) => keys[key] !== undefined,
  );
  if (host === undefined) {
    return lone === undefined ? bare : refuse(lone, `needs ${section}.host or an address`);
  }
  if (url !== undefined) refuse('host', `and ${section}.url: ${bare} exclude each other`);
  if (!/^[\w.:-]+$/.test(host)) refuse('host', 'must be a name or an address of a machine');
  const at = host.includes(':') ? `[${host}]` : host;
  const path = name === undefined ? '' : `/${encodeURIComponent(name)}`;
  return `${scheme}://${at}${port === undefined ? '' : `:${port}`}${path}`;
}

/** A sign of a password that ends it too early would make a part of it a host, which is printed. */
function refuseUnencoded(url: string, file: string, section: string): void {
  const rest = url.slice(url.indexOf('://') + 3);
  const end = rest.search(/[/?#]/);
  const cut = end >= 0 && !rest.slice(0, end).includes('@') && rest.slice(end).includes('@');
  if (cut || rest.includes('#') || /%(?![0-9a-f]{2})/i.test(rest)) {
    throw new ConfigurationError(file, `${section}.url`, `cannot be read: ${ENCODED}`);
  }
}

function withParts(url: string, { user, password }: ServerKeys): string {
  if (user === undefined && password === undefined) return url;
  const address = new URL(url);
  if (user !== undefined) address.username = encodeURIComponent(user);
  if (password !== undefined) address.password = encodeURIComponent(password);
  return address.href;
}

const CERTIFICATES = ['sslrootcert', 'sslcert', 'sslkey'];
const CERTIFICATE_BYTES_MAX = 1 << 20;

/** Files that the address names: from the folder of the configuration, as all others are. */
function withCertificates(url: string, file: string): string {
  const address = new URL(url);
  const named = CERTIFICATES.filter((key) => address.searchParams.get(key));
  if (named.length === 0) return url;
  for (const key of named) {
    const path = resolve(dirname(file), address.searchParams.get(key) ?? '');
    readText(path, CERTIFICATE_BYTES_MAX, { file, key: `database.url, ${key}` });
    address.searchParams.set(key, path);
  }
  return address.href;
}

/** `sandbox`, or the gateway's address without a slash at its end. */
export function baseUrlOf(baseUrl: string, environment: 'test' | 'live', file: string): string {
  if (baseUrl === 'sandbox') return baseUrl;
  const problem = baseUrlProblem(baseUrl, environment);
  if (problem !== null) throw new ConfigurationError(file, 'gateway.baseUrl', problem);
  return new URL(baseUrl).href.replace(/\/+$/, '');
}

export function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

/** An address that a link may begin with: nothing in it that ends a text or hides a password. */
export function isConsoleAddress(text: string): boolean {
  return isWebAddress(text) && /^https?:\/\/[\w.:[\]/-]+$/.test(text);
}

/** Whether the address is this machine: there, http and the sandbox's profile are in order. */
export function isLoopback(address: string): boolean {
  const host = new URL(address).hostname;
  return host === 'localhost' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host);
}

function baseUrlProblem(baseUrl: string, environment: 'test' | 'live'): string | null {
  if (!isWebAddress(baseUrl)) return 'must be a http:// or https:// address or sandbox';
  const url = new URL(baseUrl);
  if (url.username !== '' || url.password !== '') return 'must not carry a user or password';
  if (url.search !== '' || url.hash !== '') return 'must end with its path';
  if (environment === 'live' && url.protocol === 'http:' && !isLoopback(baseUrl)) {
    return 'must be https:// where environment is live';
  }
  return null;
}
