// What all operations of the sandbox share: its state, who asks, whether the signature is right,
// and the one way in which effects are written down before they become true. Knows no HTTP
// (handle.ts) and no money rule (book.ts). Neighbours: queries, batches, payments, payouts, portal.

import { DAY_MS } from '../core/time.js';
import type { Profile } from '../gateway/document/profile.js';
import { responseSignatureOf, sameSignature, signMessage } from '../gateway/wire/sign.js';
import type { EntryPrinter } from './answers/entries.js';
import { printedDay } from './answers/printedDay.js';
import { type Book, type Draft, type Effect, settle } from './book/book.js';
import type { SandboxAccountId } from './book/order.js';
import type { Journal, JournalLine } from './journal.js';

export interface SandboxAccount extends SandboxAccountId {
  readonly signingKey: string;
}

export interface Desk {
  readonly profile: Profile;
  readonly printer: EntryPrinter;
  readonly book: Book;
  readonly journal: Journal;
  /** By account id. */
  readonly accounts: Map<string, SandboxAccount>;
  /** Every movement so far as `GET /_sandbox/effects` prints it. */
  readonly effects: string[];
  /** Refuses the second refund of the same request and the second payout of a request_id. */
  readonly isStrict: boolean;
  /** Addresses that may query; null: everyone who reaches the sandbox. */
  readonly callers: ReadonlySet<string> | null;
  /** Tells a shop what became of its payment or payout; does nothing unless asked for. */
  readonly notify: (url: string | undefined, fields: Readonly<Record<string, string>>) => void;
}

/** A decoded request with what names it in the journal. */
export interface Received {
  readonly message: Readonly<Record<string, unknown>>;
  readonly request: string;
  readonly at: Date;
  /** Of the request, by lower-case name; null: a form of our own, which can carry none. */
  readonly headers: Readonly<Record<string, unknown>> | null;
  /** Address of the caller. */
  readonly from: string;
  /** Address of the sandbox, for links in answers. */
  readonly baseUrl: string;
  /** A fault: only the first half of a batch is worked out. */
  readonly isHalved?: boolean;
  /** A fault: a page begins so many orders later. */
  readonly shift?: number;
}

const SERIAL_DIGITS = 6;

/** Writes effects down and lets the draft be true; throws when they cannot be written. */
export function record(
  desk: Desk,
  draft: Draft,
  effects: readonly Effect[],
  received: Pick<Received, 'at' | 'request'>,
): void {
  const at = received.at.toISOString();
  const lines = effects.map((effect) => ({ ...effect, at, request: received.request }));
  desk.journal.append(lines);
  for (const line of lines) keepEffect(desk.effects, line);
  settle(draft);
}

/** Adds what `GET /_sandbox/effects` says of a line; a payment only reserves and moves nothing. */
export function keepEffect(effects: string[], line: JournalLine): void {
  if (line.operation === 'authorise' || line.operation === 'complete') return;
  const { at, operation, account_id, order_no, transaction_id, amount, refund_amount } = line;
  const money = refund_amount === undefined ? { amount } : { refund_amount };
  const { request } = line;
  effects.push(
    JSON.stringify({ at, operation, account_id, order_no, transaction_id, ...money, request }),
  );
}

/** Journal lines are never removed, so their number names a payment or payout once and for all. */
export function nextTransactionId({ journal }: Desk, letter: 'T' | 'P', at: Date): string {
  const day = printedDay(Math.floor(at.getTime() / DAY_MS));
  return `${letter}${day}A${String(journal.count() + 1).padStart(SERIAL_DIGITS, '0')}`;
}

type CheckedAccount =
  | { readonly kind: 'known'; readonly account: SandboxAccount }
  | { readonly kind: 'refused'; readonly status: 400 | 404; readonly reason: string };

/** Who asks, and whether the signature is that account's. */
export function checkAccount(
  desk: Desk,
  operation: string,
  { message, headers }: Pick<Received, 'message' | 'headers'>,
): CheckedAccount {
  const account = desk.accounts.get(textOf(message.account_id));
  if (account === undefined || account.merchantId !== message.merchant_id) {
    return { kind: 'refused', status: 404, reason: 'unknown account' };
  }
  const { signing } = desk.profile;
  const expected = signMessage(signing, operation, account, message);
  const isSigned = !signing.inBody || sameSignature(expected.signature, message.encryption_data);
  const hasHeaders = Object.entries(expected.headers).every(
    ([name, text]) => headers === null || sameSignature(text, headers[name.toLowerCase()]),
  );
  if (isSigned && hasHeaders) return { kind: 'known', account };
  return { kind: 'refused', status: 400, reason: 'wrong signature' };
}

/** The signature of an answer; an account that is not known has no key to sign with. */
export function answerSignature(
  { accounts, profile }: Desk,
  operation: string,
  message: Received['message'],
  answer: Record<string, unknown>,
): string {
  const { signing } = profile;
  const account = accounts.get(textOf(message.account_id));
  if (account === undefined) return '';
  // Wherever the request bears it: its signature was found right before.
  if (signing.responseMode === 'echo') {
    return signMessage(signing, operation, account, message).signature;
  }
  return responseSignatureOf(signing, operation, account.signingKey, answer);
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
