// What is common to all answers to our own money requests: is it the answer of the gateway at all,
// and of this request? The error answers that the document prints for payments become kinds of
// their own where the profile says so; whatever else is not a fully checked answer is unknown
// (law 1 of ARCHITECTURE.md).
// Pure.

import type { Profile } from '../document/profile.js';
import type { MoneyPost } from '../transport/moneyTransport.js';
import type { RawAnswer } from '../transport/transport.js';

/** Nobody can say whether the gateway did it. */
export interface UnknownOutcome {
  kind: 'unknown';
  reason: string;
}

/** Certainly not done: it never left, or the gateway refused it as the profile has it. */
export type NotDone =
  | { kind: 'not_sent'; reason: string }
  /** HTTP 400 of /v1/authorise or /v1/checkout (document, "Errors"). */
  | { kind: 'invalid_input'; reason: string }
  /** HTTP 404 of /v1/authorise or /v1/checkout. */
  | { kind: 'not_found'; reason: string };

export function unknown(reason: string): UnknownOutcome {
  return { kind: 'unknown', reason };
}

/** An answer with a body to read, or what the absence of one means. */
export function answerOf(
  posted: MoneyPost,
): ({ kind: 'answered' } & RawAnswer) | UnknownOutcome | { kind: 'not_sent'; reason: string } {
  return posted.kind === 'unknown' ? unknown(posted.reason) : posted;
}

/** Why the body is not worth reading; null: it is. The media type is not judged: none is shown. */
export function transferProblem(answer: RawAnswer): string | null {
  if (answer.status !== 200) return `the gateway answered HTTP ${answer.status}`;
  const encoding = answer.contentEncoding?.trim().toLowerCase() ?? 'identity';
  return encoding === 'identity' ? null : 'the answer is compressed though that was not asked for';
}

/**
 * The two error statuses that the document prints for authorise and checkout. It does not show when
 * they come, so that only the profile says whether nothing was done then.
 */
export function documentedRefusal(
  { payments }: Pick<Profile, 'payments'>,
  { status }: RawAnswer,
): NotDone | UnknownOutcome | null {
  if (status !== 400 && status !== 404) return null;
  const reason = status === 400 ? 'Invalid input' : 'Record not found';
  if (!payments.notDone.includes(status)) return unknown(`HTTP ${status}: ${reason}`);
  return { kind: status === 400 ? 'invalid_input' : 'not_found', reason };
}

/** The first field whose echo differs from what was sent; null: all as sent. */
export function echoDifference(
  sent: Readonly<Record<string, unknown>>,
  echoed: (name: string) => unknown,
  names: readonly string[],
): string | null {
  const name = names.find((one) => echoed(one) !== sent[one]);
  return name === undefined ? null : `${name} is not what was sent`;
}
