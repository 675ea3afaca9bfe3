// What the gateway showed of an order beside state and money, for a person who looks at it: site,
// reference, 3-D Secure, fraud checks, shopper, delivery and subscription. Read from the newest
// page that was kept whole, since a run needs none of it. What is personal is masked here.

import { gunzipSync } from 'node:zlib';
import { meaningOf, type Profile } from '../gateway/document/profile.js';
import type { QueryRecord } from '../gateway/query/queryRecord.js';
import { readQueryRecords } from '../gateway/query/queryRecord.js';

export interface ShownRecord {
  transaction: string | null;
  reference: string | null;
  site: string | null;
  is3ds: string | null;
  antifraudProvider: string | null;
  fraudChecks: QueryRecord['fraudChecks'];
  shopper: { email: string | null; phone: string | null };
  /** Persons and streets by their first letter alone; where it goes by city, state and country. */
  delivery: QueryRecord['delivery'];
  /** null: the order has none */
  subscription: (QueryRecord['subscription'] & { meaning: 'active' | 'ended' | null }) | null;
}

const PAGE_BYTES_MAX = 64 * 1024 * 1024;

/** The entries of one order on a page as it was kept; a page that cannot be read shows none. */
export function shownRecords(profile: Profile, orderNo: string, pageGzip: Buffer): ShownRecord[] {
  const records = readQueryRecords(profile, unpacked(pageGzip)) ?? [];
  return records
    .filter((record) => record.orderNo === orderNo)
    .map((record) => shownRecord(profile, record));
}

function unpacked(gzip: Buffer): Buffer {
  try {
    return gunzipSync(gzip, { maxOutputLength: PAGE_BYTES_MAX });
  } catch {
    return Buffer.alloc(0);
  }
}

const PLACES = ['delivery_city', 'delivery_state', 'delivery_country'];

function shownRecord({ statuses }: Profile, record: QueryRecord): ShownRecord {
  const { subscription, delivery } = record;
  const hasSubscription = Object.values(subscription).some((value) => value !== null);
  const meaning = meaningOf(statuses.recurring, subscription.recurring_status);
  return {
    transaction: record.transactionId,
    // An id that the gateway gave, which people compare with the acquirer's list: shown whole.
    reference: record.referenceNo,
    site: record.site,
    is3ds: record.is3ds,
    antifraudProvider: record.antifraudProvider,
    fraudChecks: record.fraudChecks,
    shopper: { email: maskedEmail(record.shopperEmail), phone: maskedEnd(record.shopperPhone) },
    delivery: Object.fromEntries(
      Object.entries(delivery).map(([name, value]) => [
        name,
        PLACES.includes(name) ? value : maskedStart(value),
      ]),
    ) as QueryRecord['delivery'],
    subscription: hasSubscription ? { ...subscription, meaning } : null,
  };
}

const HIDDEN = '***';
const PHONE_SHOWN = 3;

function maskedStart(text: string | null): string | null {
  return text === null ? null : [...text].slice(0, 1).join('') + HIDDEN;
}

function maskedEnd(text: string | null): string | null {
  return text === null ? null : HIDDEN + text.slice(-PHONE_SHOWN);
}

function maskedEmail(text: string | null): string | null {
  const at = text?.lastIndexOf('@') ?? -1;
  if (text === null || at < 1) return maskedStart(text);
  return `${maskedStart(text)}${text.slice(at)}`;
}

/** One transaction in sentences; what the gateway left empty is left out. */
export function shownLines(record: ShownRecord): string[] {
  const { shopper, delivery, subscription, fraudChecks } = record;
  const place = Object.values(delivery).filter((part) => part !== null && part !== '');
  const checks = fraudChecks.map(({ checkItems, status }) => `${checkItems} ${status}`);
  const lines = [
    ['site', record.site],
    ['reference', record.reference],
    ['3-D Secure', record.is3ds],
    ['fraud checks', [record.antifraudProvider, ...checks].filter(Boolean).join(', ')],
    ['shopper', [shopper.email, shopper.phone].filter(Boolean).join(', ')],
    ['delivery', place.join(', ')],
    ['subscription', subscription === null ? '' : subscriptionText(subscription)],
  ] as const;
  return lines.flatMap(([name, text]) => (text ? [`${name}: ${text}`] : []));
}

function subscriptionText(one: NonNullable<ShownRecord['subscription']>): string {
  const status = one.recurring_status ?? 'none';
  return [
    one.contract_name,
    one.recurring_id,
    one.recurring_deduction_period,
    one.recurring_deduction_time && `next ${one.recurring_deduction_time}`,
    one.meaning ?? `recurring_status ${status}, without a meaning in the profile`,
  ]
    .filter(Boolean)
    .join(', ');
}
