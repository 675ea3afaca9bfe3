// Requests that a later liveFrom, another name of their account, or an earlier date of their own
// turned into history before anything was planned for them, in words. What was planned by then is
// withdrawn and told as that (nowHistoryNotice of core/runs/notices.ts). Pure.

import type { Notice } from '../runs/notices.js';
import { countText } from '../text/amounts.js';

export interface BecameHistoryFacts {
  accountId: string;
  liveFrom: Date;
  requests: number;
  samples: readonly {
    operation: 'refund' | 'payout';
    requestId: string;
    /** null: a payout */
    orderNo: string | null;
  }[];
}

export function becameHistoryNotice(became: BecameHistoryFacts): Notice {
  const { accountId, liveFrom, requests, samples } = became;
  const one = requests === 1;
  const named = samples.map(({ operation, requestId, orderNo }) =>
    orderNo === null
      ? `${operation} ${requestId}`
      : `${operation} ${requestId} of order ${orderNo}`,
  );
  const more = requests > samples.length ? ` and ${countText(requests - samples.length)} more` : '';
  const about = `accounts[].liveFrom: ${liveFrom.toISOString()}`;
  const text =
    `${one ? '1 request' : `${countText(requests)} requests`} for which nothing was sent ` +
    `${one ? 'counts' : 'count'} as done by now, since a request older than liveFrom does ` +
    `(${about}): ${named.join(', ')}${more}. At the night before ${one ? 'it' : 'they'} might ` +
    'have gone; if that was not meant, set liveFrom back: then each waits for a person';
  return { accountId, kind: 'now_history', about, text, names: namesOf(samples) };
}

export interface DatedBackFacts {
  accountId: string;
  liveFrom: Date;
  requests: number;
  /** Refunds, with the date that each bears and the one that it bore as a look had it open. */
  samples: readonly { requestId: string; orderNo: string; is: Date; was: Date }[];
}

export function datedBackNotice({
  accountId,
  liveFrom,
  requests,
  samples,
}: DatedBackFacts): Notice {
  const one = requests === 1;
  const named = samples.map(({ requestId, orderNo, is, was }) => {
    return (
      `refund ${requestId} of order ${orderNo} (dated ${is.toISOString()}, ` +
      `before ${was.toISOString()})`
    );
  });
  const more = requests > samples.length ? ` and ${countText(requests - samples.length)} more` : '';
  const about = `accounts[].liveFrom: ${liveFrom.toISOString()}`;
  const text =
    `${one ? '1 request' : `${countText(requests)} requests`} for which nothing was sent ` +
    `${one ? 'counts' : 'count'} as done by now, since the ledger dates ${one ? 'it' : 'them'} ` +
    `older than liveFrom (${about}): ${named.join(', ')}${more}. At the look before ` +
    `${one ? 'it was' : 'they were'} open; if that was not meant, date ` +
    `${one ? 'it' : 'them'} in the ledger as before`;
  return { accountId, kind: 'now_history', about, text, names: namesOf(samples) };
}

function namesOf(samples: readonly { requestId: string; orderNo: string | null }[]): string[] {
  return samples.flatMap(({ requestId, orderNo }) => [requestId, ...(orderNo ? [orderNo] : [])]);
}
