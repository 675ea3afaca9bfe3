// The proxy on the way to the gateway, from the environment: HTTPS_PROXY and NO_PROXY, in capitals
// or small letters. Owns the rule when one is used: never for an address of this machine, never
// for plain http. It must never repeat an address in a message, since it can hold a password.
// Used by config.ts alone; gateway/transport/connection.ts opens the tunnel.

import { isIP } from 'node:net';
import { ConfigurationError } from '../core/errors.js';
import { isLoopback } from './addresses.js';
import { maskAddress, withMaskedView } from './secrets.js';

/** null: the gateway is reached straight. */
export function proxyOf(baseUrl: string, env: NodeJS.ProcessEnv): URL | null {
  if (baseUrl === 'sandbox' || isLoopback(baseUrl)) return null;
  const target = new URL(baseUrl);
  if (target.protocol !== 'https:') return null;
  const [name, given] = firstGiven(env, ['HTTPS_PROXY', 'https_proxy']);
  if (given === '') return null;
  const [, exceptions] = firstGiven(env, ['NO_PROXY', 'no_proxy']);
  if (isExcepted(target, exceptions)) return null;
  const proxy = URL.canParse(given) ? new URL(given) : null;
  const isUsable =
    proxy !== null && /^https?:$/.test(proxy.protocol) && /^\/?$/.test(proxy.pathname);
  if (!isUsable || proxy.search !== '' || proxy.hash !== '') {
    throw new ConfigurationError('environment', name, 'must be http://host:port');
  }
  return withMaskedView(proxy, () => maskAddress(proxy.href));
}

function firstGiven(env: NodeJS.ProcessEnv, names: readonly [string, string]): [string, string] {
  const name = names.find((one) => (env[one] ?? '') !== '') ?? names[0];
  return [name, env[name]?.trim() ?? ''];
}

/** `*`, a host, a domain with all below it (its leading point or not), each with a port. */
function isExcepted(target: URL, exceptions: string): boolean {
  const host = target.hostname.toLowerCase();
  const port = target.port === '' ? '443' : target.port;
  return exceptions
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((one) => one !== '')
    .some((one) => {
      if (one === '*') return true;
      const [, name = one, onlyPort] = /^(.*?)(?::(\d+))?$/.exec(bracketed(one)) ?? [];
      if (onlyPort !== undefined && onlyPort !== port) return false;
      const domain = name.replace(/^\*?\./, '');
      return host === domain || host.endsWith(`.${domain}`);
    });
}

/** An IPv6 address may stand without its brackets. */
function bracketed(name: string): string {
  return isIP(name) === 6 ? `[${name}]` : name;
}
