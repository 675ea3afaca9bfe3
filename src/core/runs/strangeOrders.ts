// Orders and requests of accounts that the configuration does not name, in words: a typo in the
// ledger, an account that was forgotten, or one that is none of ours. Pure.

import { countText } from '../text/amounts.js';
import type { Notice } from './notices.js';

export interface StrangeOrdersFacts {
  accountId: string;
  orders: number;
  sample: string;
}

/** No break, since another program may look after that account; but it is said. */
export function strangeOrdersNotice({ accountId, orders, sample }: StrangeOrdersFacts): Notice {
  const what = orders === 1 ? '1 order' : `${countText(orders)} orders`;
  const text =
    `${what}, such as ${sample}, of account ${accountId}, which is not configured: ` +
    'no night looks at them. Configure the account, or correct the ledger';
  const about = `${what} of account ${accountId}, which is not configured`;
  return { accountId, kind: 'strange_orders', about, text, names: [sample, accountId] };
}

export interface StrangeAccountFacts {
  accountId: string;
  kind: 'refund' | 'payout';
  requests: number;
  sample: string;
}

/** Requests that nobody plans: a typo in the ledger, or an account that left the configuration. */
export function strangeAccountNotice(strange: StrangeAccountFacts): Notice {
  const { accountId, kind, requests, sample } = strange;
  const what = `${countText(requests)} ${kind} ${requests === 1 ? 'request' : 'requests'}`;
  const text =
    `${what}, such as ${sample}, of account ${accountId}, which is not configured: ` +
    'nothing is done about them. Configure the account, or correct the ledger';
  const names = [sample, accountId];
  const about = `${what} of account ${accountId}, which is not configured`;
  return { accountId, kind: 'strange_account', about, text, names };
}
