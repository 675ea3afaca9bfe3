// A refund request of an order whose two sides differ by what the tolerance or a waiver explains:
// nothing of the order is sent, and no break says so. Pure.

import type { Notice } from '../runs/notices.js';
import { counted, countText, moneyIn } from '../text/amounts.js';

/** Of one order. */
export interface RefundBehind {
  accountId: string;
  orderNo: string;
  requests: number;
  /** the oldest of them */
  refundId: string;
  amount: string;
  currency: string;
  /** what differs is the money of the order, and nothing else of it */
  isMoney: boolean;
}

/** Behind the sentence of what differs. */
export function refundBehindWords({ requests, refundId, amount, currency }: RefundBehind): string {
  const more = requests === 1 ? '' : ` and ${countText(requests - 1)} more of it`;
  const waits = requests === 1 ? 'waits' : 'wait';
  return (
    `refund request ${refundId} of ${moneyIn(amount, currency)}${more} ${waits}: ` +
    'nothing is refunded while they differ'
  );
}

const OF_MONEY =
  'ledger and gateway differ in the money of the order, which the tolerance or a waiver silences ' +
  'and does not free. Correct the ledger: once they are equal to the cent, the next run sends it';
const OF_ANYTHING =
  'what differs of the order was waived, and a waiver frees nothing. Once it does not differ any ' +
  'more, the next run sends it (tieout breaks list --state waived)';

/** One an account, so that a customer's money does not wait unseen. */
export function refundsBehindNotices(found: readonly RefundBehind[]): Notice[] {
  const first = new Map<string, RefundBehind>();
  const requests = new Map<string, number>();
  for (const one of found) {
    if (!first.has(one.accountId)) first.set(one.accountId, one);
    requests.set(one.accountId, (requests.get(one.accountId) ?? 0) + one.requests);
  }
  return [...first.values()].map((sample) => noticeOf(sample, requests.get(sample.accountId) ?? 0));
}

function noticeOf(sample: RefundBehind, count: number) {
  const { accountId, orderNo, refundId, amount, currency, isMoney } = sample;
  const wait = count === 1 ? 'waits and is' : 'wait and are';
  const about = `${counted(count, 'refund request')} ${wait} not sent`;
  const text =
    `${about}, such as ${refundId} of order ${orderNo}, ${moneyIn(amount, currency)}: ` +
    (isMoney ? OF_MONEY : OF_ANYTHING);
  const names = [orderNo, refundId];
  return { accountId, kind: 'refund_waits' as const, about, text, names };
}
