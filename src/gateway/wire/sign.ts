// Computes and checks `encryption_data`. The document shows neither algorithm nor fields
// (Authentication 4), so every choice comes from the profile's `signing`: what is signed, how it is
// joined and written, and where the signature stands. It must never log or return the signed text:
// the key is part of it. Used by the request builders and the sandbox.

import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { TieoutError } from '../../core/errors.js';
import type { Account } from '../account.js';
import { forOperation, type Profile } from '../document/profile.js';

type Signing = Profile['signing'];
type Message = Record<string, unknown>;
type Signer = Pick<Account, 'merchantId' | 'accountId' | 'signingKey'>;

/** `warning`: for whoever runs the program; null where there is nothing to say. */
interface JudgedSignature {
  isGood: boolean;
  warning: string | null;
}

/** A message as it goes out, and what its head says beside the content type. */
export interface SignedMessage {
  message: Message;
  signature: string;
  headers: Record<string, string>;
}

/** Signs a message and puts the signature where the profile wants it. */
export function signMessage(
  signing: Signing,
  operation: string,
  account: Signer,
  message: Message,
): SignedMessage {
  const signature = signatureOf(signing, operation, account.signingKey, message);
  return {
    message: signing.inBody ? { ...message, encryption_data: signature } : message,
    signature,
    headers: headersOf(signing, account, signature),
  };
}

function headersOf(
  { headers }: Signing,
  { merchantId, accountId, signingKey }: Signer,
  signature: string,
): Record<string, string> {
  const values: Record<string, string> = { signature, key: signingKey, merchantId, accountId };
  return Object.fromEntries(
    Object.entries(headers).map(([name, template]) => {
      const text = template.replace(/\{(\w+)\}/g, (_, part: string) => values[part] ?? '');
      // The value itself may be the key: only the name is told.
      if (!/^[\x20-\x7e]*$/.test(text))
        throw new TieoutError(`the header ${name} is no plain text`);
      return [name, text];
    }),
  );
}

/** The signature of a request, as the profile writes it. */
export function signatureOf(
  signing: Signing,
  operation: string,
  key: string,
  message: Message,
): string {
  return signPaths(signing, signedPaths(signing, operation), key, message);
}

/** What is signed of a request, in the order in which it is. */
export function signedPaths({ fields, sort }: Signing, operation: string): string[] {
  return inOrder(sort, forOperation(fields, operation));
}

/** By the code of each character, whatever the language of the machine. */
function inOrder(sort: boolean, paths: string[]): string[] {
  return sort ? [...paths].sort() : paths;
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

/**
 * Holds the signature of an answer against the account's key, and where a key is being changed
 * against the one before; `signedWith` makes the signature that a key would give.
 */
export function judgeSignature(
  account: Pick<Account, 'signingKey' | 'previousSigningKey'>,
  found: unknown,
  signedWith: (key: string) => string,
): JudgedSignature {
  if (sameSignature(signedWith(account.signingKey), found)) return { isGood: true, warning: null };
  const before = account.previousSigningKey ?? null;
  if (before !== null && sameSignature(signedWith(before), found)) {
    return { isGood: true, warning: 'the answer is signed with accounts[].previousSigningKey' };
  }
  const isMissing = found === undefined || found === null || found === '';
  const warning = isMissing
    ? 'the answer bears no signature'
    : 'the signature of the answer is wrong';
  return { isGood: false, warning };
}

/** Compares in constant time; anything but the exact same text is wrong, upper case included. */
export function sameSignature(expected: string, found: unknown): boolean {
  if (typeof found !== 'string') return false;
  const left = Buffer.from(expected, 'utf8');
  const right = Buffer.from(found, 'utf8');
  return left.length === right.length && timingSafeEqual(left, right);
}

function signPaths(signing: Signing, paths: string[], key: string, message: Message): string {
  const { pairs, sort, separator, algorithm } = signing;
  const parts = inOrder(sort, paths).flatMap((path) => partsAt(message, path.split('.'), ''));
  const signed = pairs?.skipEmpty ? parts.filter(([, value]) => value !== '') : parts;
  const texts = signed.map(([name, value]) => (pairs ? name + pairs.join + value : value));
  const hash = algorithm.endsWith('sha512') ? 'sha512' : 'sha256';
  const isKeyed = algorithm.startsWith('hmac-');
  const keyText = pairs?.keyName ? pairs.keyName + pairs.join + key : key;
  const all = signing.key === 'append' ? [...texts, keyText] : [keyText, ...texts];
  const text = (isKeyed ? texts : all).join(separator);
  const made = isKeyed ? createHmac(hash, key) : createHash(hash);
  const digest = made.update(text, 'utf8').digest();
  if (signing.output === 'base64') return digest.toString('base64');
  const hex = digest.toString('hex');
  return signing.output === 'hex-upper' ? hex.toUpperCase() : hex;
}

type Part = readonly [name: string, value: string];

/**
 * All values of one path with their names; `name[]` gives one value an entry, in their order, and
 * `{a,b}` both of each entry before the next one.
 */
function partsAt(node: unknown, names: string[], last: string): Part[] {
  const [name, ...rest] = names;
  if (name === undefined) return [[last, asText(node)]];
  if (name.startsWith('{')) {
    const group = name.slice(1, -1).split(',');
    return group.flatMap((one) => partsAt(node, [one.trim(), ...rest], last));
  }
  if (!name.endsWith('[]')) return partsAt(ownValue(node, name), rest, name);
  const entries = ownValue(node, name.slice(0, -2));
  return Array.isArray(entries)
    ? entries.flatMap((entry) => partsAt(entry, rest, name.slice(0, -2)))
    : [];
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
