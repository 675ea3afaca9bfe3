// Keeps the secrets of a configuration out of everything that prints: JSON.stringify and the
// inspection of Node show a masked view, code reads the value. Owns the masking; knows no key of
// the configuration. It must never show a secret, nor part of one. Neighbour: hiding.ts.

import { inspect } from 'node:util';

export const MASK = '***';

/** The same object; whoever prints it sees `shown` instead of its values. */
export function withMaskedView<T extends object>(secret: T, shown: () => unknown): T {
  // Not enumerable, so that the object still compares and spreads as plain data.
  Object.defineProperty(secret, 'toJSON', { value: shown });
  Object.defineProperty(secret, inspect.custom, { value: shown });
  return secret;
}

/** The same object; of these keys nothing is shown but whether they are given. */
export function withMaskedKeys<T extends object>(secret: T, keys: readonly (keyof T)[]): T {
  const shown = (name: string, value: unknown): unknown =>
    keys.includes(name as keyof T) && value !== null ? MASK : value;
  return withMaskedView(secret, () =>
    Object.fromEntries(Object.entries(secret).map(([name, value]) => [name, shown(name, value)])),
  );
}

/** An address without its password: scheme, user, host and path stay. */
export function maskAddress(address: string): string {
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    return MASK;
  }
  if (url.password !== '') url.password = MASK;
  for (const name of [...url.searchParams.keys()]) {
    if (/pass|secret|key|token/i.test(name)) url.searchParams.set(name, MASK);
  }
  return url.href;
}

/** The same headers; shown are those that placeholders and the word of a scheme make up. */
export function withMaskedHeaders(headers: Record<string, string>): Record<string, string> {
  return withMaskedKeys(
    headers,
    Object.keys(headers).filter((name) => !isPlainHeader(headers[name] ?? '')),
  );
}

/** `{signature}` or `Bearer {key}`; in a value of another kind a token may stand. */
function isPlainHeader(value: string): boolean {
  const own = value.replace(PLACEHOLDER, '');
  return own !== value && /^[A-Za-z]{0,10}[ :=]*$/.test(own);
}

/**
 * What of a header's value no log may tell: what stands behind the word of a scheme, and what looks
 * like a token; a version, a date or a word is no secret. `known`: what is said everywhere, such as
 * the ids of accounts: of that nothing is taken out.
 */
export function tokensIn(value: string, known: readonly string[] = []): string[] {
  if (isPlainHeader(value)) return [];
  const own = value.replace(PLACEHOLDER, ' ').trim();
  const [, behind = ''] = /^(?:basic|bearer|token|apikey)\s+(\S{8,})$/i.exec(own) ?? [];
  const parts = own
    .split(/[\s,;:="]+/)
    .filter((one) => one.length >= 20 || (one.length >= 8 && /\d/.test(one) && /[A-Z]/i.test(one)));
  const tokens = behind === '' ? parts : [behind, ...parts];
  return tokens.filter((one) => !known.some((text) => text.includes(one)));
}

const PLACEHOLDER = /\{\w+\}/g;
