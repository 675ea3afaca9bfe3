// The addresses of a configuration: database, queue and gateway. Owns which of them are accepted.
// Pure: it opens none of them. It must never repeat an address in a message, since an address can
// hold a password. Used by config.ts alone.

import { maskAddress, withMaskedView } from './configSecrets.js';
import { ConfigurationError } from './core/errors.js';

export type DatabaseAddress =
  | { readonly kind: 'embedded' }
  | { readonly kind: 'url'; readonly url: string };

export type QueueAddress =
  | { readonly kind: 'database' }
  | { readonly kind: 'redis'; readonly url: string };

export function databaseOf(url: string, file: string): DatabaseAddress {
  if (url === 'embedded') return { kind: 'embedded' };
  if (!/^postgres(ql)?:\/\//.test(url) || !URL.canParse(url)) {
    throw new ConfigurationError(file, 'database.url', 'must be postgres://... or embedded');
  }
  return withMaskedView({ kind: 'url', url }, () => ({ kind: 'url', url: maskAddress(url) }));
}

export function queueOf(url: string, file: string): QueueAddress {
  if (url === 'database') return { kind: 'database' };
  if (!/^rediss?:\/\//.test(url) || !URL.canParse(url)) {
    const problem = 'must be redis://..., rediss://... or database';
    throw new ConfigurationError(file, 'queue.url', problem);
  }
  return withMaskedView({ kind: 'redis', url }, () => ({ kind: 'redis', url: maskAddress(url) }));
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
