// Computes and checks `encryption_data`. The document shows neither algorithm nor fields
// (Authentication 4), so every choice comes from the profile's `signing`. It must never log or
// return the signed text: the key is part of it. Used by the request builders and the sandbox.

import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { forOperation, type Profile } from '../document/profile.js';

type Signing = Profile['signing'];
type Message = Record<string, unknown>;

/** The signature of a request: lower-case hex. */
export function signatureOf(
  signing: Signing,
  operation: string,
  key: string,
  message: Message,
): string {
  return signPaths(signing, forOperation(signing.fields, operation), key, message);
}

/** The signature that an answer should bear under `responseMode: signed`. */
export function responseSignatureOf(
  signing: Signing,
  operation: string,
  key: string,
  message: Message,
): string {
  return signPaths(signing, forOperation(signing.responseFields, operation), key, message);
}

/** Compares in constant time; anything but the exact same text is wrong, upper case included. */
export function sameSignature(expected: string, found: unknown): boolean {
  if (typeof found !== 'string') return false;
  const left = Buffer.from(expected, 'utf8');
  const right = Buffer.from(found, 'utf8');
  return left.length === right.length && timingSafeEqual(left, right);
}

function signPaths(signing: Signing, paths: string[], key: string, message: Message): string {
  const values = paths.flatMap((path) => valuesAt(message, path.split('.')));
  const keyed = signing.algorithm.startsWith('hmac-');
  const hash = signing.algorithm.endsWith('sha512') ? 'sha512' : 'sha256';
  if (keyed) return createHmac(hash, key).update(values.join(signing.separator)).digest('hex');
  const parts = signing.key === 'append' ? [...values, key] : [key, ...values];
  return createHash(hash).update(parts.join(signing.separator), 'utf8').digest('hex');
}

/** All values of one path; `name[]` gives one value an entry, in the entries' order. */
function valuesAt(node: unknown, names: string[]): string[] {
  const [name, ...rest] = names;
  if (name === undefined) return [asText(node)];
  if (!name.endsWith('[]')) return valuesAt(ownValue(node, name), rest);
  const entries = ownValue(node, name.slice(0, -2));
  return Array.isArray(entries) ? entries.flatMap((entry) => valuesAt(entry, rest)) : [];
}

function ownValue(node: unknown, name: string): unknown {
  if (node === null || typeof node !== 'object' || !Object.hasOwn(node, name)) return undefined;
  return (node as Message)[name];
}

/** Absent values are empty; a whole object or array has no text of its own and is empty too. */
function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}
