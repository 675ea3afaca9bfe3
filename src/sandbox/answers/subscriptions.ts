// The recurring contract that a payment may carry (document, "Direct payment request",
// `subscription`). The sandbox deducts nothing by itself: it remembers the contract and shows it
// in the answer and in every query, in the two date shapes that the document prints.

import { maskCardNumbers } from '../../core/text/masking.js';
import type { Subscription } from '../book/order.js';

const TEXT_MAX = 100;
const ISO_DATE_LENGTH = 10;

/** undefined: none was given; null: what was given is none. */
export function readSubscription(value: unknown, at: Date): Subscription | undefined | null {
  if (value === undefined) return undefined;
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return null;
  const given = value as Record<string, unknown>;
  const text = (name: string): string => (typeof given[name] === 'string' ? given[name] : '');
  const kept = (name: string): string => maskCardNumbers(text(name)).slice(0, TEXT_MAX);
  const [start, count] = [text('contract_start'), kept('interval_count')];
  return {
    contractName: kept('contract_name'),
    period: count === '' ? kept('interval') : `${count} ${kept('interval')}`,
    from: /^\d{4}-\d\d-\d\d/.test(start)
      ? start.slice(0, ISO_DATE_LENGTH)
      : at.toISOString().slice(0, ISO_DATE_LENGTH),
  };
}

/** The contract of a payment at the gateway: named after the transaction that began it. */
export function recurringId(transactionId: string): string {
  return `RC${transactionId}`;
}

/** `YYYY-MM-DD hh:mm:ss`, as the answer to a payment shows it. */
export function deductionOf({ from }: Subscription): string {
  return `${from} 00:00:00`;
}
