// The three operations of which the document shows nothing but that they exist: cancel a
// subscription, search a refund, optimise payment methods ("Endpoints" 6). Path and spelling come
// from the profile's `operations`, the fields from the caller, and the answer is handed back as it
// came: there is nothing to hold it to. Since nobody knows what they move, they go over the money
// transport, one write and no retry.

import { TieoutError } from '../../core/errors.js';
import type { Account } from '../account.js';
import type { Profile } from '../document/profile.js';
import type { RawAnswer } from '../transport/transport.js';
import { type PreparedRequest, signedRequest } from '../wire/requests.js';
import { readStrictJson } from '../wire/strictJson.js';
import type { UnknownOutcome } from '../wire/wholeAnswer.js';

export const OTHER_OPERATIONS = [
  'cancelSubscription',
  'searchRefund',
  'optimisePaymentMethods',
] as const satisfies readonly (keyof Profile['operations'])[];
export type OtherOperation = (typeof OTHER_OPERATIONS)[number];

export type OtherOutcome =
  | {
      kind: 'answered';
      status: number;
      contentType: string | null;
      body: Buffer;
      /** The body where it is a JSON object; null otherwise. */
      json: Record<string, unknown> | null;
    }
  | { kind: 'not_sent'; reason: string }
  | UnknownOutcome;

export function prepareOther(
  profile: Profile,
  account: Account,
  name: OtherOperation,
  fields: Record<string, unknown>,
): PreparedRequest {
  const { path, body: encoding } = describedOther(profile, name);
  const request = signedRequest(profile, account, { operation: name, path, encoding }, fields);
  return { ...request, undocumented: Object.keys(fields) };
}

/** How the operation is called; throws while the profile does not say. */
export function describedOther(profile: Profile, name: OtherOperation) {
  const known = profile.operations[name];
  if (known === null) {
    throw new TieoutError(
      `${name}: the interface shows only that this operation exists; ask the acquirer for its ` +
        `path and fields, then fill operations.${name} of the profile: ` +
        '{ path: /v1/..., body: json }',
    );
  }
  return known;
}

export function readOtherAnswer(raw: RawAnswer): OtherOutcome {
  const { status, contentType, body } = raw;
  const read = readStrictJson(body, { numbersAsText: true });
  const json = read.kind === 'object' ? read.value : null;
  return { kind: 'answered', status, contentType, body, json };
}
