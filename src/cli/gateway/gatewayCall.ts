// One call of the gateway for a person who tries a profile out: builds it as the program would,
// sends it once and says what was understood of the answer. Owns which operations move money and
// therefore need --yes. What is shown is masked in gatewayText.ts; nothing is stored here.

import { TieoutError, UsageError } from '../../core/errors.js';
import type { Operation } from '../../core/orders/order.js';
import { OPERATIONS } from '../../core/orders/order.js';
import type { Account } from '../../gateway/account.js';
import type { BatchEntry } from '../../gateway/batches/prepareBatch.js';
import { preparePayout, readPayoutAnswer } from '../../gateway/batches/preparePayout.js';
import { BATCH_SHAPES, QUERY_ORDERS_MAX, QUERY_PATH } from '../../gateway/document/messages.js';
import type {
  ApmPayment,
  DirectPayment,
  HostedPayment,
} from '../../gateway/document/paymentMessages.js';
import type { Payout } from '../../gateway/document/payoutMessages.js';
import type { Profile } from '../../gateway/document/profile.js';
import { meaningOf, stateOf } from '../../gateway/document/profile.js';
import { readApmAnswer, readDirectAnswer } from '../../gateway/payments/paymentAnswer.js';
import type { PaymentClient } from '../../gateway/payments/paymentClient.js';
import {
  prepareApm,
  prepareCheckout,
  prepareDirect,
  readCheckoutAnswer,
} from '../../gateway/payments/payments.js';
import { type QueryRecord, readQueryRecords } from '../../gateway/query/queryRecord.js';
import {
  OTHER_OPERATIONS,
  prepareOther,
  readOtherAnswer,
} from '../../gateway/query/undocumented.js';
import type { RawAnswer } from '../../gateway/transport/transport.js';
import { encodeMessage } from '../../gateway/wire/encode.js';
import type { PreparedRequest } from '../../gateway/wire/requests.js';
import { signedPaths } from '../../gateway/wire/sign.js';

export const CALLS = [
  'query',
  ...OPERATIONS,
  'authorise',
  'checkout',
  'payout',
  ...OTHER_OPERATIONS,
] as const;
export type CallName = (typeof CALLS)[number];

type Fields = Record<string, unknown>;

export interface CallReport {
  /** Asked of the gateway; secrets still in it. */
  request: {
    path: string;
    contentType: string;
    message: Readonly<Fields>;
    /** names of what the profile adds to the head; a token may stand in them */
    headerNames: readonly string[];
  };
  signedFields: readonly string[];
  undocumented: readonly string[];
  /** What became of it, in one word: page, accepted, rejected, unknown, not_sent ... */
  kind: string;
  reason: string | null;
  /** What was understood of the answer; null: nothing. */
  understood: unknown;
  /** As it came; null: nothing came. */
  body: Buffer | null;
  status: number | null;
  /** Codes of payment_status without a meaning in the profile, and how many orders bear each. */
  unmapped: Readonly<Record<string, number>>;
  /** The same of recurring_status, which stops nothing; left out where there are none. */
  unmappedRecurring?: Readonly<Record<string, number>>;
  isFine: boolean;
}

/** Whether the call creates, changes or decides something at the gateway. */
export function movesMoney(name: CallName): boolean {
  return !['query', 'searchRefund', 'optimisePaymentMethods'].includes(name);
}

export function callGateway(
  client: PaymentClient,
  account: Account,
  name: CallName,
  fields: Fields,
): Promise<CallReport> {
  if (name === 'query') return callQuery(client, account, fields);
  const batch = OPERATIONS.find((operation) => operation === name);
  if (batch !== undefined) return callBatch(client, account, batch, fields);
  return callOnce(client, account, name as SingleCall, fields);
}

async function callQuery(
  client: PaymentClient,
  account: Account,
  fields: Fields,
): Promise<CallReport> {
  const { profile } = client;
  const texts = Object.entries(fields).map(([name, value]): [string, string] => {
    if (typeof value === 'string') return [name, value];
    throw new UsageError(`query: ${name} must be text`);
  });
  const given = Object.fromEntries(texts);
  refuseTooMany(profile, given);
  const result = await client.tryQuery(account, given);
  const records = result.body === null ? null : readQueryRecords(profile, result.body);
  const unmapped = counts(
    (records ?? []).map(({ paymentStatus }) => paymentStatus),
    (code) => stateOf(profile, code),
  );
  const { recurring } = profile.statuses;
  // An order without a subscription has an empty one.
  const subscriptions = (records ?? []).map(
    ({ subscription }) => subscription.recurring_status || null,
  );
  const unmappedRecurring = counts(subscriptions, (code) => meaningOf(recurring, code));
  return {
    ...requestOf(profile, account, 'retrievalTrans', QUERY_PATH, given),
    undocumented: Object.keys(given),
    kind: result.kind,
    reason: result.kind === 'failed' ? result.reason : null,
    understood:
      result.kind === 'page' ? (records ?? []).map((one) => withState(profile, one)) : null,
    body: result.body,
    status: null,
    unmapped,
    ...(Object.keys(unmappedRecurring).length === 0 ? {} : { unmappedRecurring }),
    isFine: result.kind === 'page' && Object.keys(unmapped).length === 0,
  };
}

/** Codes without a meaning, and how many orders bear each. */
function counts(
  codes: readonly (string | null)[],
  meaning: (code: string) => string | null,
): Record<string, number> {
  const found = new Map<string, number>();
  for (const code of codes) {
    if (code !== null && meaning(code) === null) found.set(code, (found.get(code) ?? 0) + 1);
  }
  return Object.fromEntries(found);
}

/** The gateway's limit holds for a person, too ("Limits"). */
function refuseTooMany({ query }: Profile, given: Readonly<Record<string, string>>): void {
  const { field, separator } = query.orderList;
  const orders = given[field]?.split(separator).length ?? 0;
  const size = Number(given[query.window.size] ?? 0);
  const most = Math.max(orders, size);
  if (!(most > QUERY_ORDERS_MAX)) return;
  const name = orders > size ? field : query.window.size;
  throw new UsageError(
    `query: at most ${QUERY_ORDERS_MAX} orders a request, ${name} asks for ${most}`,
  );
}

function withState(
  profile: Profile,
  record: QueryRecord,
): QueryRecord & { state: string | null; recurringState: string | null } {
  const { paymentStatus, subscription } = record;
  return {
    ...record,
    state: paymentStatus === null ? null : stateOf(profile, paymentStatus),
    recurringState: meaningOf(profile.statuses.recurring, subscription.recurring_status),
  };
}

async function callBatch(
  client: PaymentClient,
  account: Account,
  operation: Operation,
  fields: Fields,
): Promise<CallReport> {
  const { profile } = client;
  const entries = entriesOf(profile, operation, fields);
  const prepared = usage(() => client.prepareBatch(account, operation, entries));
  const posted = await client.postOnce(account, prepared);
  const shown = requestOf(profile, account, operation, prepared.path, fields);
  if (posted.kind !== 'answered') return { ...shown, ...unanswered(posted) };
  const reading = client.readBatchAnswer(account, operation, entries, posted);
  const kinds = new Set(reading.entries.map((entry) => entry.kind));
  const [kind = 'unknown'] = kinds;
  return {
    ...shown,
    kind: kinds.size === 1 ? kind : 'mixed',
    reason: reading.trusted ? reading.signatureWarning : reading.reason,
    understood: reading.entries,
    body: posted.body,
    status: posted.status,
    unmapped: {},
    isFine: kinds.size === 1 && kind === 'accepted',
  };
}

/** The entries of the body in the words of the program; each field as the document prints it. */
function entriesOf(profile: Profile, operation: Operation, fields: Fields): BatchEntry[] {
  const { array } = BATCH_SHAPES[operation];
  const list = fields[array];
  const strange = Object.keys(fields).find((name) => name !== array);
  if (strange !== undefined) throw new UsageError(`${operation}: ${strange} is no field of it`);
  if (!Array.isArray(list)) throw new UsageError(`${operation}: ${array} must be a list`);
  return list.map((entry: unknown) => entryOf(profile, operation, entry));
}

const ENTRY_FIELDS: Record<Operation, readonly string[]> = {
  capture: [],
  cancel: [],
  review: ['review_flag'],
  refund: ['refund_amount', 'refund_reason'],
};

function entryOf(profile: Profile, operation: Operation, entry: unknown): BatchEntry {
  const given = (entry !== null && typeof entry === 'object' ? entry : {}) as Fields;
  const names = ['transaction_id', 'order_no', 'currency', 'amount', ...ENTRY_FIELDS[operation]];
  const strange = Object.keys(given).find((name) => !names.includes(name));
  if (strange !== undefined) throw new UsageError(`${operation}: ${strange} is no field of it`);
  const text = (name: string): string => {
    const value = given[name];
    if (typeof value === 'string') return value;
    throw new UsageError(`${operation}: ${name} must be text`);
  };
  /** The gateway may trim what was copied with a blank: by then it is no other movement to us. */
  const id = (name: string): string => {
    const value = text(name);
    if (value.trim() === value) return value;
    throw new UsageError(`${operation}: ${name} begins or ends with a space`);
  };
  const wire: BatchEntry = {
    transactionId: id('transaction_id'),
    orderNo: id('order_no'),
    currency: text('currency'),
    amount: text('amount'),
  };
  if (operation === 'refund') {
    return { ...wire, refundAmount: text('refund_amount'), refundReason: text('refund_reason') };
  }
  if (operation !== 'review') return wire;
  const { accept, reject } = profile.reviewFlags;
  const flag = text('review_flag');
  if (flag === accept) return { ...wire, decision: 'accept' };
  if (flag === reject) return { ...wire, decision: 'reject' };
  throw new UsageError(`review: review_flag must be ${accept} or ${reject} (reviewFlags)`);
}

type SingleCall = Exclude<CallName, 'query' | Operation>;

async function callOnce(
  client: PaymentClient,
  account: Account,
  name: SingleCall,
  fields: Fields,
): Promise<CallReport> {
  const { profile } = client;
  const { prepared, read } = usage(() => singleCall(profile, account, name, fields));
  const posted = await client.postOnce(account, prepared);
  const shown = {
    request: { ...prepared, headerNames: Object.keys(prepared.headers) },
    signedFields: signedPaths(profile.signing, name),
    undocumented: prepared.undocumented,
  };
  if (posted.kind !== 'answered') return { ...shown, ...unanswered(posted) };
  const { kind, reason, signatureWarning, ...understood } = read(posted);
  const words = reason ?? signatureWarning;
  return {
    ...shown,
    kind,
    reason: typeof words === 'string' ? words : null,
    understood: Object.keys(understood).length === 0 ? null : understood,
    body: posted.body,
    status: posted.status,
    unmapped: {},
    // Of an answer that nothing is held to, the status alone says whether it was one.
    isFine:
      ['accepted', 'redirect', 'page'].includes(kind) ||
      (kind === 'answered' && posted.status >= 200 && posted.status < 300),
  };
}

interface PreparedCall {
  prepared: PreparedRequest;
  read: (answer: RawAnswer) => { kind: string } & Fields;
}

/** The body is checked field by field when it is built, so it may be called what it should be. */
function singleCall(
  profile: Profile,
  account: Account,
  name: SingleCall,
  fields: Fields,
): PreparedCall {
  switch (name) {
    case 'authorise': {
      if (Object.hasOwn(fields, 'payment_method')) {
        const prepared = prepareApm(profile, account, fields as unknown as ApmPayment);
        return { prepared, read: (answer) => ({ ...readApmAnswer(profile, prepared, answer) }) };
      }
      const prepared = prepareDirect(profile, account, fields as unknown as DirectPayment);
      const read = (answer: RawAnswer) => readDirectAnswer(profile, account, prepared, answer);
      return { prepared, read: (answer) => ({ ...read(answer) }) };
    }
    case 'checkout': {
      const prepared = prepareCheckout(profile, account, fields as unknown as HostedPayment);
      return { prepared, read: (answer) => ({ ...readCheckoutAnswer(profile, prepared, answer) }) };
    }
    case 'payout': {
      const prepared = preparePayout(profile, account, fields as unknown as Payout);
      return { prepared, read: (answer) => ({ ...readPayoutAnswer(profile, prepared, answer) }) };
    }
    default:
      return {
        prepared: prepareOther(profile, account, name, fields),
        read: (answer) => ({ ...readOtherAnswer(answer) }),
      };
  }
}

function requestOf(
  profile: Profile,
  account: Account,
  operation: string,
  path: string,
  fields: Readonly<Fields>,
): Pick<CallReport, 'request' | 'signedFields' | 'undocumented'> {
  const message = {
    merchant_id: account.merchantId,
    account_id: account.accountId,
    ...fields,
    ...(profile.signing.inBody ? { encryption_data: '' } : {}),
  };
  const headerNames = Object.keys(profile.signing.headers);
  const { contentType } = encodeMessage(profile.bodies, operation, {});
  return {
    request: { path, contentType, message, headerNames },
    signedFields: signedPaths(profile.signing, operation),
    undocumented: [],
  };
}

function unanswered(
  posted: { kind: 'not_sent'; reason: string } | { kind: 'unknown'; reason: string; body?: Buffer },
): Omit<CallReport, 'request' | 'signedFields' | 'undocumented'> {
  const body = 'body' in posted ? (posted.body ?? null) : null;
  const { kind, reason } = posted;
  return { kind, reason, understood: null, body, status: null, unmapped: {}, isFine: false };
}

/** A body that must not be sent is a wrong use of the command. */
function usage<T>(build: () => T): T {
  try {
    return build();
  } catch (error) {
    if (!(error instanceof TieoutError)) throw error;
    throw new UsageError(error.message, { cause: error });
  }
}
