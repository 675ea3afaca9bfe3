// The shapes that values of tieout.yaml have in more than one section: filled texts, whole numbers,
// amounts, percents, keys. Numbers may come as text, since ${NAME} always fills in text. Used by
// config.ts and the files of its sections.

import { z } from 'zod';
import { identifierProblem } from '../core/ledger/ledgerRow.js';
import type { Hundredths } from '../core/money.js';
import { readAmount } from '../core/money.js';
import { timezoneProblem } from '../core/time.js';

export const filled = z
  .string({
    error: ({ input }) =>
      input === undefined ? 'must be given' : 'must be text: put it in quotes',
  })
  .min(1, 'must not be empty');

export const flag = z.boolean({ error: 'must be true or false' });

export function numeric(schema: z.ZodNumber | z.ZodInt) {
  return z.preprocess(
    (value) => (typeof value === 'string' && /^\d+(\.\d+)?$/.test(value) ? Number(value) : value),
    schema,
  );
}

/**
 * What only tunes the work: YAML reads `reports:` with all of its keys commented out as null, and
 * that is the section with its defaults. Not for where the database, queue and gateway are.
 */
export function tuning<T extends z.ZodRawShape>(shape: T) {
  return z.preprocess((value) => value ?? {}, z.strictObject(shape));
}

export function whole(min: number, max: number) {
  return numeric(z.int().min(min).max(max));
}

export const identifier = filled.superRefine((text, context) => {
  const problem = identifierProblem(text);
  if (problem !== null) context.addIssue({ code: 'custom', message: problem });
});

export const timezone = filled.superRefine((text, context) => {
  const problem = timezoneProblem(text);
  if (problem !== null) context.addIssue({ code: 'custom', message: problem });
});

/** A key of 32 bytes, or its public half. */
const ed25519 = filled.regex(
  /^[A-Za-z0-9+/]{43}=$/,
  'must be 32 bytes in base64: `openssl rand -base64 32` makes a key',
);

/** By which key it is signed what people decide, and whose signatures count beside it. */
export const keys = z
  .strictObject({ key: ed25519.nullable().default(null), publicKeys: z.array(ed25519).default([]) })
  .prefault({});

export const amount = filled.transform((text, context): Hundredths => {
  const found = readAmount(text);
  if (found !== null) return found;
  const message = 'must be an amount in whole hundredths, such as "500.00", or "20000" of yen';
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
});

/** In millionths, so that no float meets money: 0.5 is 5000n. */
export const percent = z
  .union([z.number(), z.string()])
  .default(0)
  .transform((given, context): bigint => {
    const match = /^(\d{1,3})(?:\.(\d{1,4}))?$/.exec(String(given));
    const parts = BigInt((match?.[1] ?? '') + (match?.[2] ?? '').padEnd(4, '0'));
    if (match !== null && parts <= 1_000_000n) return parts;
    context.addIssue({ code: 'custom', message: 'must be 0 to 100 with at most four decimals' });
    return z.NEVER;
  });

export const currency = z.string().regex(/^[A-Z]{3}$/, 'is no currency code');

export const byCurrency = z.record(currency, amount);

/** A map by operation in which every operation is optional and any other key unknown. */
export function perOperation<T extends z.ZodType>(value: T) {
  const shape = { capture: value, cancel: value, refund: value, review: value, payout: value };
  return z.preprocess((given) => given ?? {}, z.strictObject(shape).partial());
}
