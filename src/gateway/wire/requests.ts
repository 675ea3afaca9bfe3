// Builds one signed request from the fields of a message: checks it, adds ids and signature, spells
// it as the profile's `bodies` says. Pure: the same fields give the same bytes. It decides nothing
// about sending. Used by payments, payout and others; batches and queries have builders of their
// own, because the run sends those by itself.

import { createHash } from 'node:crypto';
import { TieoutError } from '../../core/errors.js';
import type { Account } from '../account.js';
import { checkShape, type RecordShape } from '../document/messageShape.js';
import {
  type BodyEncoding,
  forOperation,
  type OperationName,
  type Profile,
} from '../document/profile.js';
import { readWireAmount } from './amount.js';
import { encodeAs } from './encode.js';
import { signMessage } from './sign.js';

export interface PreparedRequest {
  /** Under the base address, as printed. */
  path: string;
  contentType: string;
  /** What the head says beside the content type; a token may stand in it: never log it. */
  headers: Readonly<Record<string, string>>;
  body: Buffer;
  /** Of the body, hex. */
  sha256: string;
  /** Of the message, wherever it stands. */
  signature: string;
  /** What the body says. It may hold a card number: never log it. */
  message: Readonly<Record<string, unknown>>;
  /** Fields that the document does not print; sent, but worth checking. */
  undocumented: string[];
}

interface RequestRules {
  operation: OperationName;
  path: string;
  shape: RecordShape;
  /** Fields without which the message must not be sent. */
  required: readonly string[];
  /** Which field names the currency that amounts are in; null: no field does. */
  currency: string | null;
}

const ADDED_HERE = ['merchant_id', 'account_id', 'encryption_data'] as const;

/** Throws for what must never be sent, naming the field and never its value. */
export function prepareRequest(
  profile: Profile,
  account: Account,
  rules: RequestRules,
  fields: object,
): PreparedRequest {
  const given = fields as Record<string, unknown>;
  const undocumented = checkFields(profile, rules, given);
  const encoding = forOperation(profile.bodies, rules.operation);
  const request = signedRequest(profile, account, { ...rules, encoding }, onWire(profile, given));
  return { ...request, undocumented };
}

/** Signs and spells a message as it is. */
export function signedRequest(
  profile: Profile,
  account: Account,
  { operation, path, encoding }: { operation: string; path: string; encoding: BodyEncoding },
  fields: Record<string, unknown>,
): Omit<PreparedRequest, 'undocumented'> {
  const taken = ADDED_HERE.find((name) => Object.hasOwn(fields, name));
  if (taken !== undefined) throw new TieoutError(`${operation}: ${taken} is added by tieout`);
  const message = {
    merchant_id: account.merchantId,
    account_id: account.accountId,
    ...fields,
  };
  const signed = signMessage(profile.signing, operation, account, message);
  const { contentType, body } = encodeAs(encoding, signed.message);
  const sha256 = createHash('sha256').update(body).digest('hex');
  return { path, contentType, body, sha256, ...signed };
}

function checkFields(
  profile: Profile,
  rules: RequestRules,
  given: Record<string, unknown>,
): string[] {
  const refuse = (problem: string): never => {
    throw new TieoutError(`${rules.operation}: ${problem}`);
  };
  const currency = rules.currency === null ? '' : given[rules.currency];
  if (rules.currency !== null && !/^[A-Z]{3}$/.test(String(currency))) {
    refuse(`${rules.currency} must be a currency code of three letters`);
  }
  const isAmount = (text: string): boolean =>
    readWireAmount(profile.currencies, String(currency), text) !== null;
  const { problem, undocumented } = checkShape(rules.shape, given, isAmount);
  if (problem !== null) refuse(problem);
  for (const name of rules.required) {
    if (given[name] === undefined || given[name] === '') refuse(`${name} is missing`);
  }
  return undocumented;
}

/** The one field whose name on the wire the profile knows. */
function onWire(profile: Profile, given: Record<string, unknown>): Record<string, unknown> {
  if (!Object.hasOwn(given, 'site')) return given;
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name === 'site' ? profile.siteField : name,
      value,
    ]),
  );
}
