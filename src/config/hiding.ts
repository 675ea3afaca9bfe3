// What of a configuration must never be read by anybody, as texts, and how they are taken out of
// whatever is printed: the last guard behind all that keeps secrets apart in the first place. It
// knows every key that holds a secret. Neighbours: secrets.ts masks the configuration itself,
// cli/context.ts puts this before every log line and error.

import type { Config } from './config.js';
import { MASK, tokensIn } from './secrets.js';

/** Anything shorter is no secret, and hiding it would make every line unreadable. */
const SECRET_LENGTH_MIN = 4;

/** Takes every secret of the configuration out of a text, also as addresses and JSON spell it. */
export function hidingSecrets(config: Config): (text: string) => string {
  const spelled = secretsOf(config).flatMap((secret) => [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
  ]);
  const hidden = [...new Set(spelled)]
    .filter((text) => text.length >= SECRET_LENGTH_MIN)
    // A secret may be part of another one.
    .sort((a, b) => b.length - a.length);
  return (text) => hidden.reduce((rest, secret) => rest.replaceAll(secret, MASK), text);
}

function secretsOf(config: Config): string[] {
  const { database, queue, gateway, notify } = config;
  const addresses = [
    database.kind === 'url' ? database.url : null,
    queue.kind === 'redis' ? queue.url : null,
    gateway.proxy?.href ?? null,
  ];
  const known = config.accounts.flatMap(({ accountId, merchantId }) => [accountId, merchantId]);
  return [
    ...config.accounts.flatMap((one) => [one.signingKey, one.previousSigningKey ?? '']),
    config.web.metricsToken ?? '',
    config.web.notifications?.secret ?? '',
    ...addresses.flatMap((address) => (address === null ? [] : passwordsOf(address))),
    notify.webhookKey ?? '',
    config.decisions.key ?? '',
    ...Object.values(gateway.profile.signing.headers).flatMap((value) =>
      tokensIn(value, [...known, gateway.baseUrl]),
    ),
    ...[notify.webhook, notify.deadMansSwitch].flatMap((address) => {
      return address === null ? [] : wholeAddress(address);
    }),
  ];
}

/** As it is written in the address, and as the server is told it. */
function passwordsOf(address: string): string[] {
  const url = new URL(address);
  const inQuery = [...url.searchParams]
    .filter(([name]) => /pass|secret|key|token/i.test(name))
    .map(([, value]) => value);
  return [url.password, decoded(url.password), ...inQuery];
}

/** Of an address that is told something the path alone may be the secret. */
function wholeAddress(address: string): string[] {
  const url = new URL(address);
  const path = url.pathname + url.search;
  return [address, url.href, path, url.pathname, ...passwordsOf(address), url.username];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
