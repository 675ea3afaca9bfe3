// Owns every answer to what the gateway's document leaves open ("not shown"): signing, how orders
// are named in a query, what the codes mean, how bodies are spelled, how fast it may be asked.
// No such answer may stand anywhere else in the code. The defaults are the profile of the sandbox.
// Reads text, never a file: the configuration does that.

import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { ConfigurationError } from '../../core/errors.js';
import { GATEWAY_STATES, type GatewayState } from '../../core/orders/order.js';
import { readYaml, schemaFault } from '../../core/text/readYaml.js';
import { isTimezone, timezoneProblem } from '../../core/time.js';
import { SHOWN } from './profileShown.js';

/** The operations of the document by the last part of their path; the last three have no path. */
const OPERATION_NAMES = [
  'authorise',
  'checkout',
  'retrievalTrans',
  'capture',
  'review',
  'cancel',
  'refund',
  'payout',
  'searchRefund',
  'cancelSubscription',
  'optimisePaymentMethods',
] as const;
export type OperationName = (typeof OPERATION_NAMES)[number];

/** Before the name of the root. */
export const XML = 'xml:';
const BODY_ENCODINGS = ['json', 'json-as-form', 'form'] as const;
/** `xml:ROOT` for the redirect, which alone is declared as XML (Endpoints, note 1). */
export type BodyEncoding = (typeof BODY_ENCODINGS)[number] | `xml:${string}`;

const TIMEOUT_MS_MAX = 600_000;
const REQUESTS_PER_SECOND_MAX = 10_000;
const CONCURRENCY_MAX = 256;
const RESPONSE_BYTES_MAX = 256 * 1024 * 1024;
const MAP_KEYS_MAX = 1_000;
const PATHS_MAX = 100;

const filled = z.string().min(1, 'must not be empty');
const flag = z.boolean('must be true or false');
const code = z.string('a code is a text: put it in quotes');
const timezone = filled.refine(isTimezone, 'is no timezone such as UTC or Europe/Berlin');
/** `a.b`, `a[].b`, and `a[].{b,c}` for both of each entry before the next entry. */
const fieldPath = filled.regex(
  /^[^.[\]{}]+(\[\])?(\.[^.[\]{}]+(\[\])?)*(\.\{[^.[\]{}]+\})?$/,
  'is no path of a field',
);
const encoding = z.enum(BODY_ENCODINGS);
const xmlEncoding = z.templateLiteral([XML, z.string().regex(/^[A-Za-z_][\w.-]{0,63}$/)]);

/** A map by operation that needs a `default` for those it does not name. */
function byOperation<T extends z.ZodType>(value: T) {
  const names = new Set<string>(['default', ...OPERATION_NAMES]);
  return z.record(z.string(), value).superRefine((map, context) => {
    for (const name of Object.keys(map)) {
      if (names.has(name)) continue;
      context.addIssue({ code: 'unrecognized_keys', keys: [name], input: map });
    }
    if (!Object.hasOwn(map, 'default')) {
      context.addIssue({ code: 'custom', path: ['default'], message: 'must be given' });
    }
  });
}

const bodiesSchema = byOperation(
  z.union([encoding, xmlEncoding], {
    error: `is none of ${BODY_ENCODINGS.join(', ')}, nor ${XML} and the name of a root element`,
  }),
).superRefine((map, context) => {
  for (const [name, value] of Object.entries(map)) {
    if (!value.startsWith(XML) || name === 'checkout') continue;
    const message = `${value}: checkout alone is declared as XML`;
    context.addIssue({ code: 'custom', path: [name], message });
  }
});

const signedPaths = byOperation(
  z
    .array(fieldPath.refine((path) => path !== 'encryption_data', 'cannot sign itself'))
    .max(PATHS_MAX),
);

/** Capture, cancel and review are signed alike, each over its own array. */
function batchPaths(array: string, amount = 'amount'): string[] {
  return ['merchant_id', 'account_id', `${array}[].transaction_id`, `${array}[].${amount}`];
}

const PAYMENT_PATHS = ['merchant_id', 'account_id', 'order_no', 'currency', 'amount'];

const HEADER_NAME = /^[A-Za-z][A-Za-z0-9-]*$/;
/** Those that make the message what it is, and are ours. */
const OWN_HEADERS = /^(content-.*|transfer-encoding|accept-encoding|host|connection|expect|te)$/i;
const HEADERS_MAX = 10;

const headersSchema = z
  .record(
    z
      .string()
      .regex(HEADER_NAME, 'is no name of a header')
      .refine((name) => !OWN_HEADERS.test(name), 'is a header of the message itself'),
    filled.refine(
      (text) => !/\{(?!(signature|key|merchantId|accountId)\})/.test(text),
      'knows {signature}, {key}, {merchantId} and {accountId}',
    ),
  )
  .refine((headers) => Object.keys(headers).length <= HEADERS_MAX, 'too many headers');

/** `name=value` in place of the value alone. */
const pairsSchema = z
  .strictObject({
    join: z.string().default('='),
    keyName: filled.nullable().default(null),
    skipEmpty: flag.default(false),
  })
  .nullable()
  .default(null);

const signingSchema = z.strictObject({
  algorithm: z.enum(['sha256', 'sha512', 'hmac-sha256', 'hmac-sha512']).default('sha256'),
  key: z.enum(['append', 'prepend']).default('append'),
  separator: z.string().default(''),
  pairs: pairsSchema,
  sort: flag.default(false),
  output: z.enum(['hex', 'hex-upper', 'base64']).default('hex'),
  inBody: flag.default(true),
  headers: headersSchema.default({}),
  fields: signedPaths.default({
    default: ['merchant_id', 'account_id'],
    authorise: PAYMENT_PATHS,
    checkout: PAYMENT_PATHS,
    capture: batchPaths('capture_orders'),
    cancel: batchPaths('cancel_orders'),
    review: batchPaths('review_orders'),
    refund: batchPaths('refund_orders', 'refund_amount'),
    payout: ['merchant_id', 'account_id', 'request_id', 'payment_currency', 'payment_amount'],
  }),
  responses: z.enum(['off', 'warn', 'enforce']).default('warn'),
  responseMode: z.enum(['signed', 'echo']).default('signed'),
  responseFields: signedPaths.default({ default: ['merchant_id', 'account_id', 'return_status'] }),
});

const windowSchema = z.strictObject({
  from: filled.default('date_from'),
  to: filled.default('date_to'),
  format: filled
    .regex(/^(yyyy|MM|dd|HH|mm|ss|[-/:. T])+$/, 'is made of yyyy MM dd HH mm ss and - / : . T')
    .default('yyyyMMddHHmmss'),
  timezone: timezone.default('UTC'),
  page: filled.default('page_no'),
  firstPage: z.int().min(0).max(1).default(1),
  size: filled.default('page_size'),
});

const querySchema = z.strictObject({
  select: z.enum(['order_list', 'window', 'none']).default('order_list'),
  orderList: z
    .strictObject({ field: filled.default('order_no'), separator: filled.default(',') })
    .prefault({}),
  window: windowSchema.prefault({}),
  found: z.array(code).min(1).max(MAP_KEYS_MAX).default(['1']),
});

const SANDBOX_STATUSES: Record<string, GatewayState> = {
  '1000': 'pending',
  '1500': 'in_review',
  '2000': 'authorised',
  '3000': 'captured',
  '4000': 'cancelled',
  '5000': 'declined',
  '6000': 'partially_refunded',
  '6500': 'refunded',
};

const reviewFlagsSchema = z
  .strictObject({ accept: code.min(1).default('1'), reject: code.min(1).default('2') })
  .refine((flags) => flags.accept !== flags.reject, 'accept and reject must differ');

const codes = z.array(code.min(1)).max(MAP_KEYS_MAX);

/** What a payout's status means; one that is in no list has no meaning. */
const payoutStatusesSchema = z
  .strictObject({
    done: codes.min(1).default(['COMPLETED']),
    pending: codes.default([]),
    failed: codes.default([]),
  })
  .refine(({ done, pending, failed }) => {
    const all = [...done, ...pending, ...failed];
    return new Set(all).size === all.length;
  }, 'one status stands in two of done, pending and failed');

/** Payments: printed HTTP errors that mean nothing was done, and order_status of a good one. */
const paymentsSchema = z.strictObject({
  notDone: z.array(z.literal([400, 404])).default([]),
  accepted: codes.min(1).default(['1']),
});

const RECURRING_STATES = ['active', 'ended'] as const;
const RISK_ACTIONS = ['accept', 'review', 'reject'] as const;

const hiddenOperation = z
  .strictObject({
    path: filled.regex(/^\/[^\s?#]*$/, 'is no path such as /v1/name'),
    body: encoding,
  })
  .nullable()
  .default(null);

const limitsSchema = z.strictObject({
  timeoutMs: z.int().min(1).max(TIMEOUT_MS_MAX).default(30_000),
  requestsPerSecond: z.number().positive().max(REQUESTS_PER_SECOND_MAX).default(20),
  concurrency: z.int().min(1).max(CONCURRENCY_MAX).default(8),
  maxResponseBytes: z.int().min(1_024).max(RESPONSE_BYTES_MAX).default(8_388_608),
});

const profileSchema = z.strictObject({
  signing: signingSchema.prefault({}),
  query: querySchema.prefault({}),
  statuses: z
    .strictObject({
      payment: z.record(z.string(), z.enum(GATEWAY_STATES)).default(SANDBOX_STATUSES),
      recurring: z.record(z.string(), z.enum(RECURRING_STATES)).default({ '1': 'active' }),
      risk: z.record(z.string(), z.enum(RISK_ACTIONS)).default({ ACCEPT: 'accept' }),
    })
    .prefault({}),
  results: z
    .strictObject({ accepted: z.array(code.min(1)).min(1).max(MAP_KEYS_MAX).default(['1']) })
    .prefault({}),
  payments: paymentsSchema.prefault({}),
  bodies: bodiesSchema.default({ default: 'json', retrievalTrans: 'form' }),
  siteField: filled.default('the service'),
  transactionDate: z.strictObject({ timezone: timezone.default('UTC') }).prefault({}),
  reviewFlags: reviewFlagsSchema.prefault({}),
  partialCapture: flag.default(false),
  refundReasonTag: flag.default(true),
  currencies: z
    .record(z.string().regex(/^[A-Z]{3}$/, 'is no currency code'), z.int().min(0).max(4))
    .default({}),
  payout: z
    .strictObject({
      unit: z.enum(['major', 'minor']).nullable().default(null),
      statuses: payoutStatusesSchema.prefault({}),
    })
    .prefault({}),
  operations: z
    .strictObject({
      searchRefund: hiddenOperation,
      cancelSubscription: hiddenOperation,
      optimisePaymentMethods: hiddenOperation,
    })
    .prefault({}),
  limits: limitsSchema.prefault({}),
});

export type Profile = z.infer<typeof profileSchema>;

/** `profile: sandbox`: every default, as docs/CONFIGURATION.md lists them. */
export function sandboxProfile(): Profile {
  return structuredClone(profileSchema.parse({}));
}

/**
 * A merchant's file. What it does not give is as printed, save signing and statuses, which only the
 * sandbox does without. One that was kept with a night was used as it stands.
 */
export function parseProfile(
  text: string,
  file: string,
  { isSandbox = false, isKept = false }: { isSandbox?: boolean; isKept?: boolean } = {},
): Profile {
  const { value: given, lineOf } = readYaml(text, file);
  const read = profileSchema.safeParse(given);
  if (!read.success) throw schemaFault(file, read.error.issues, lineOf);
  if (!isKept) {
    const problem = timezoneProblem(read.data.transactionDate.timezone);
    if (problem !== null) {
      throw new ConfigurationError(file, ZONE.join('.'), `${problem}${lineOf(ZONE)}`);
    }
  }
  if (!isSandbox && !isKept) {
    mustBeGiven(given, ['signing'], file);
    mustBeGiven(given, ['statuses', 'payment'], file);
  }
  return structuredClone(read.data);
}

/** By which the database reads times; others are reckoned here. */
const ZONE = ['transactionDate', 'timezone'];

export interface ProfileOrigin {
  /** Dotted, as in `query.orderList.field`; a map such as `statuses.payment` is one key. */
  key: string;
  /** file: set by the merchant, to something else than the default; document: the default, and the
   * gateway's document shows it. */
  origin: 'file' | 'document' | 'default';
  /** Whether the file says it at all, be it the default. */
  isGiven: boolean;
  /** What the document shows about it. */
  shown: string;
}

/** Where each value comes from; a null text is `profile: sandbox`, in which nothing is set. */
export function profileOrigins(text: string | null, file: string): ProfileOrigin[] {
  const given = text === null ? {} : readYaml(text, file).value;
  const origins: ProfileOrigin[] = [];
  // `tieout init` writes every key: that a value stands there does not make it the merchant's.
  const defaults: unknown = sandboxProfile();
  // That the gateway can be used so was asked when the configuration was read.
  const read: unknown = text === null ? defaults : parseProfile(text, file, { isSandbox: true });
  const walk = (value: unknown, schema: z.ZodType, path: string[]): void => {
    const inner = unwrap(schema);
    if (inner instanceof z.ZodObject) {
      for (const [name, part] of Object.entries(inner.shape)) {
        walk(ownValue(value, name), part as z.ZodType, [...path, name]);
      }
      return;
    }
    const key = path.join('.');
    const own = path.reduce<unknown>(ownValue, read);
    const isOwn = value !== undefined && !isDeepStrictEqual(own, path.reduce(ownValue, defaults));
    const { isAnswer = false, words = 'not shown' } = SHOWN[key] ?? {};
    const unset = isAnswer ? 'document' : 'default';
    origins.push({
      key,
      origin: isOwn ? 'file' : unset,
      isGiven: value !== undefined,
      shown: words,
    });
  };
  walk(given, profileSchema, []);
  return origins;
}

/** The state that a payment_status means; null: the code has no meaning and moves no money. */
export function stateOf(profile: Profile, paymentStatus: string): GatewayState | null {
  const states = profile.statuses.payment;
  return Object.hasOwn(states, paymentStatus) ? (states[paymentStatus] ?? null) : null;
}

/** What a code of one of the other maps of statuses means; null: nothing that anybody knows. */
export function meaningOf<T extends string>(
  meanings: Readonly<Record<string, T>>,
  code: string | null,
): T | null {
  return code !== null && Object.hasOwn(meanings, code) ? (meanings[code] ?? null) : null;
}

/** What a map by operation says of one operation. */
export function forOperation<T>(map: Record<string, T>, operation: string): T {
  const own = Object.hasOwn(map, operation) ? map[operation] : map.default;
  if (own === undefined) throw new Error(`the profile has no default for ${operation}`);
  return own;
}

function mustBeGiven(given: unknown, path: string[], file: string): void {
  const value = path.reduce(ownValue, given);
  const keys = value !== null && typeof value === 'object' ? Object.keys(value) : [];
  if (keys.length > 0) return;
  throw new ConfigurationError(
    file,
    path.join('.'),
    'must be given here: against anything but the sandbox there is no default',
  );
}

function ownValue(value: unknown, name: string): unknown {
  if (value === null || typeof value !== 'object' || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}

function unwrap(schema: z.ZodType): z.ZodType {
  let inner = schema;
  while (inner instanceof z.ZodPrefault || inner instanceof z.ZodDefault) {
    inner = inner.unwrap() as z.ZodType;
  }
  return inner;
}
