// Builds the request of one money batch and reads its answer. Pure: the same entries give the same
// bytes, so an answer that was stored can be read again later. It never believes an answer that
// could be understood in two ways (law 3 of ARCHITECTURE.md). Neighbours: answers judges the single
// entry, moneyTransport carries the bytes.

import { createHash } from 'node:crypto';
import { TieoutError } from '../../core/errors.js';
import type { Operation } from '../../core/orders/order.js';
import type { Account } from '../account.js';
import { type AnyEntryWire, BATCH_SHAPES } from '../document/messages.js';
import type { Profile } from '../document/profile.js';
import { checkEnvelope, isRecord } from '../query/decode.js';
import type { RawAnswer } from '../transport/transport.js';
import { readWireAmount } from '../wire/amount.js';
import { encodeMessage } from '../wire/encode.js';
import {
  judgeSignature,
  responseSignatureOf,
  type SignedMessage,
  signMessage,
} from '../wire/sign.js';
import { readStrictJson } from '../wire/strictJson.js';
import { type EntryOutcome, judgeEntry, unknownEntry } from './answers.js';

/** One instruction as it goes into a batch. Amounts are the texts of the wire. */
export interface BatchEntry {
  transactionId: string;
  orderNo: string;
  currency: string;
  amount: string;
  /** Refunds only. */
  refundAmount?: string;
  refundReason?: string;
  /** Reviews only. */
  decision?: 'accept' | 'reject';
}

export interface PreparedBatch {
  /** Under the base address, as printed. */
  path: string;
  contentType: string;
  /** What the head says beside the content type; a token may stand in it: never log it. */
  headers: Readonly<Record<string, string>>;
  body: Buffer;
  /** Of the body, hex. */
  sha256: string;
}

export type BatchReading =
  | { trusted: true; signatureWarning: string | null; entries: EntryOutcome[] }
  | { trusted: false; reason: string; entries: EntryOutcome[] };

/** Throws for what must never be sent; the caller held it to these rules before. */
export function prepareBatch(
  profile: Profile,
  account: Account,
  operation: Operation,
  entries: readonly BatchEntry[],
): PreparedBatch {
  refuseBadBatch(profile, operation, entries);
  const sent = wireEntries(profile, operation, entries);
  const { message, headers } = batchMessage(profile, account, operation, sent);
  const { contentType, body } = encodeMessage(profile.bodies, operation, message);
  const sha256 = createHash('sha256').update(body).digest('hex');
  return { path: BATCH_SHAPES[operation].path, contentType, headers, body, sha256 };
}

/** One outcome for each entry that was sent, in the order in which they were sent. */
export function readBatchAnswer(
  profile: Profile,
  account: Account,
  operation: Operation,
  sentEntries: readonly BatchEntry[],
  answer: RawAnswer,
): BatchReading {
  const sent = wireEntries(profile, operation, sentEntries);
  const untrusted = (reason: string): BatchReading => ({
    trusted: false,
    reason,
    entries: sent.map((entry) => unknownEntry(entry, reason)),
  });
  const opened = openAnswer(account, answer);
  if (typeof opened === 'string') return untrusted(opened);
  const signature = checkSignature(profile, account, operation, sent, opened);
  if (!signature.isGood && profile.signing.responses === 'enforce') {
    return untrusted(signature.warning ?? '');
  }
  const found = entriesById(operation, sent, opened);
  if (typeof found === 'string') return untrusted(found);
  const entries = sent.map((entry) => {
    const answered = found.get(entryId(entry.transaction_id, entry.order_no));
    if (answered === undefined) return unknownEntry(entry, 'the answer does not mention it');
    return judgeEntry(operation, profile.results.accepted, entry, answered);
  });
  return { trusted: true, signatureWarning: signature.warning, entries };
}

function refuseBadBatch(
  profile: Profile,
  operation: Operation,
  entries: readonly BatchEntry[],
): void {
  const { entriesMax } = BATCH_SHAPES[operation];
  if (entries.length === 0 || entries.length > entriesMax) {
    throw new TieoutError(`a ${operation} batch has 1 to ${entriesMax} entries`);
  }
  const orders = new Set(entries.map((entry) => entry.orderNo));
  const transactions = new Set(entries.map((entry) => entry.transactionId));
  if (orders.size !== entries.length || transactions.size !== entries.length) {
    throw new TieoutError(`a ${operation} batch names an order or transaction twice`);
  }
  for (const entry of entries) {
    const problem = entryProblem(profile, operation, entry);
    if (problem !== null)
      throw new TieoutError(`${operation} of order ${entry.orderNo}: ${problem}`);
  }
}

function entryProblem(profile: Profile, operation: Operation, entry: BatchEntry): string | null {
  if (entry.orderNo === '' || entry.transactionId === '') return 'an id is empty';
  if (!/^[A-Z]{3}$/.test(entry.currency)) return 'the currency is no code of three letters';
  const amount = readWireAmount(profile.currencies, entry.currency, entry.amount);
  if (amount === null || amount <= 0n) return 'the amount lacks the printed shape';
  if (operation === 'review') return entry.decision ? null : 'the decision is missing';
  if (operation !== 'refund') return null;
  const refund = readWireAmount(profile.currencies, entry.currency, entry.refundAmount ?? '');
  if (refund === null || refund <= 0n) return 'the refund amount lacks the printed shape';
  return refund > amount ? 'the refund is larger than the order' : null;
}

/** Field by field as printed in the document, "Batch operation messages". */
function wireEntries(
  profile: Profile,
  operation: Operation,
  entries: readonly BatchEntry[],
): AnyEntryWire[] {
  return entries.map((entry) => {
    const wire: AnyEntryWire = {
      transaction_id: entry.transactionId,
      order_no: entry.orderNo,
      currency: entry.currency,
      amount: entry.amount,
    };
    if (operation === 'review') {
      const flag = profile.reviewFlags[entry.decision ?? 'reject'];
      return { ...wire, review_flag: flag };
    }
    if (operation !== 'refund') return wire;
    const refund_amount = entry.refundAmount ?? '';
    return { ...wire, refund_amount, refund_reason: entry.refundReason ?? '' };
  });
}

function batchMessage(
  profile: Profile,
  account: Account,
  operation: Operation,
  entries: AnyEntryWire[],
): SignedMessage {
  const message = {
    merchant_id: account.merchantId,
    account_id: account.accountId,
    [BATCH_SHAPES[operation].array]: entries,
  };
  return signMessage(profile.signing, operation, account, message);
}

/**
 * The answer as an object, or why it cannot be trusted. Its media type is not judged: the document
 * shows none for answers, and a body that is not strict JSON fails here anyway.
 */
function openAnswer(account: Account, answer: RawAnswer): Record<string, unknown> | string {
  if (answer.status !== 200) return `the gateway answered HTTP ${answer.status}`;
  const encoding = answer.contentEncoding?.trim().toLowerCase() ?? 'identity';
  if (encoding !== 'identity') return 'the answer is compressed though that was not asked for';
  const read = readStrictJson(answer.body);
  if (read.kind === 'refused') return read.reason;
  return checkEnvelope(account, read.value) ?? read.value;
}

/** Good as well where nobody asked to look. */
function checkSignature(
  profile: Profile,
  account: Account,
  operation: Operation,
  sent: AnyEntryWire[],
  answer: Record<string, unknown>,
) {
  const { signing } = profile;
  if (signing.responses === 'off') return { isGood: true, warning: null };
  return judgeSignature(account, answer.encryption_data, (signingKey) =>
    signing.responseMode === 'echo'
      ? batchMessage(profile, { ...account, signingKey }, operation, sent).signature
      : responseSignatureOf(signing, operation, signingKey, answer),
  );
}

/** The result entries by id, or why the whole answer is untrusted. */
function entriesById(
  operation: Operation,
  sent: AnyEntryWire[],
  answer: Record<string, unknown>,
): Map<string, Record<string, unknown>> | string {
  const { array } = BATCH_SHAPES[operation];
  const list = answer[array];
  if (!Array.isArray(list)) return `the answer has no ${array}`;
  const asked = new Set(sent.map((entry) => entryId(entry.transaction_id, entry.order_no)));
  const found = new Map<string, Record<string, unknown>>();
  for (const entry of list as unknown[]) {
    if (!isRecord(entry)) return 'an entry of the answer is no object';
    const { transaction_id: transactionId, order_no: orderNo } = entry;
    if (typeof transactionId !== 'string' || typeof orderNo !== 'string') {
      return 'an entry of the answer has no ids';
    }
    const id = entryId(transactionId, orderNo);
    if (!asked.has(id)) return 'the answer holds an entry that nobody asked for';
    if (found.has(id)) return 'the answer holds an entry twice';
    found.set(id, entry);
  }
  return found;
}

/** No id of an answer can hold a NUL, so no two pairs share a text. */
function entryId(transactionId: string, orderNo: string): string {
  return `${transactionId}\0${orderNo}`;
}
