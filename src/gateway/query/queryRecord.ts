// The whole record of an order as a query shows it, field by field as the document prints them
// (section "Query request and response"). The run reads less and faster: decode.ts. This one is
// for a person who looks at one order; it shows what came and judges nothing.

import type { Profile } from '../document/profile.js';
import { freeText } from '../wire/freeText.js';
import { readStrictJson } from '../wire/strictJson.js';
import { isRecord } from './decode.js';

/** null where the entry has no text under that name. */
export interface QueryRecord {
  orderNo: string | null;
  transactionId: string | null;
  referenceNo: string | null;
  amount: string | null;
  currency: string | null;
  paymentStatus: string | null;
  queryResult: string | null;
  /** Sample shape YYYYMMDDhhmmss, in the profile's transactionDate.timezone. */
  transactionDate: string | null;
  /** `0` in the sample. */
  is3ds: string | null;
  shopperEmail: string | null;
  shopperPhone: string | null;
  antifraudProvider: string | null;
  /** `ACCEPT` and `REJECT` are shown. */
  fraudChecks: { checkItems: string | null; status: string | null }[];
  delivery: Record<(typeof DELIVERY_FIELDS)[number], string | null>;
  subscription: Record<(typeof SUBSCRIPTION_FIELDS)[number], string | null>;
  /** The merchant's web site, found under the profile's `siteField`. */
  site: string | null;
}

const DELIVERY_FIELDS = [
  'delivery_address',
  'delivery_city',
  'delivery_country',
  'delivery_firstname',
  'delivery_lastname',
  'delivery_postal_code',
  'delivery_state',
] as const;

/** recurring_deduction_time has the sample shape YYYY-MM-DD here; recurring_status shows `1`. */
const SUBSCRIPTION_FIELDS = [
  'contract_name',
  'recurring_deduction_period',
  'recurring_deduction_time',
  'recurring_id',
  'recurring_status',
] as const;

const FRAUD_CHECKS_MAX = 1_000;

/** All entries of an answer; null: it is no page. */
export function readQueryRecords(profile: Profile, body: Uint8Array): QueryRecord[] | null {
  const read = readStrictJson(body);
  if (read.kind === 'refused') return null;
  const list = read.value.orders_list;
  if (!Array.isArray(list)) return null;
  return list.filter(isRecord).map((entry) => recordOf(profile, entry));
}

function recordOf(profile: Profile, entry: Record<string, unknown>): QueryRecord {
  const textOf = (name: string): string | null => textOrNull(entry[name]);
  const checks = Array.isArray(entry.fraud_check_result) ? entry.fraud_check_result : [];
  return {
    orderNo: textOf('order_no'),
    transactionId: textOf('transaction_id'),
    referenceNo: textOf('reference_no'),
    amount: textOf('amount'),
    currency: textOf('currency'),
    paymentStatus: textOf('payment_status'),
    queryResult: textOf('query_result'),
    transactionDate: textOf('transaction_date'),
    is3ds: textOf('is3ds'),
    shopperEmail: freeText(entry.shopper_email),
    shopperPhone: freeText(entry.shopper_phone),
    antifraudProvider: freeText(entry.antifraud_provider),
    fraudChecks: checks.slice(0, FRAUD_CHECKS_MAX).map((check) => ({
      checkItems: freeText(isRecord(check) ? check.check_items : null),
      status: freeText(isRecord(check) ? check.status : null),
    })),
    delivery: fieldsOf(DELIVERY_FIELDS, entry.delivery_information),
    subscription: fieldsOf(SUBSCRIPTION_FIELDS, entry.subscription_result),
    site: freeText(entry[profile.siteField]),
  };
}

function fieldsOf<Name extends string>(
  names: readonly Name[],
  value: unknown,
): Record<Name, string | null> {
  const from = isRecord(value) ? value : {};
  return Object.fromEntries(names.map((name) => [name, freeText(from[name])])) as Record<
    Name,
    string | null
  >;
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
