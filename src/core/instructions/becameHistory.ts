// Requests that a later liveFrom, another name of their account, or an earlier date of their own
// turned into history, in words: what was planned for them by then is withdrawn; for the others
// nothing was. Pure.

import type { Notice } from '../runs/notices.js';
import { andMore, counted, countText } from '../text/amounts.js';
import { instructionMoney } from './instruction.js';

/** Stands before what made the request of an instruction history, in the reason it bears. */
export const NOW_HISTORY = 'its request is history now';

export interface NowHistoryFacts {
  accountId: string;
  /** which setting, from what to what */
  setting: string;
  instructions: number;
  approved: number;
  samples: readonly {
    operation: string;
    /** of a payout that of the request, too */
    orderNo: string;
    refundId: string | null;
    amount: string;
    currency: string;
    isInTotals: boolean;
    isApproved: boolean;
  }[];
}

/** What waited, and somebody wanted: a later liveFrom took it away. */
export function nowHistoryNotice(gone: NowHistoryFacts): Notice {
  const { accountId, setting, instructions, approved, samples } = gone;
  const count =
    instructions === 1
      ? '1 instruction that waited was withdrawn'
      : `${countText(instructions)} instructions that waited were withdrawn`;
  const seen = approved === 0 ? '' : `, ${approved} of them approved`;
  const named = samples.map((one) => {
    const { operation, orderNo, refundId, isApproved } = one;
    const which = refundId === null ? orderNo : `${refundId} of order ${orderNo}`;
    return `${operation} ${which} (${instructionMoney(one)}${isApproved ? ', approved' : ''})`;
  });
  const more = andMore(instructions - samples.length);
  const text =
    `${count}${seen}, since a request older than liveFrom counts as done (${setting}): ` +
    `${named.join(', ')}${more}. Nothing is sent for them; if that was not meant, set liveFrom ` +
    'back: then each waits for a person';
  const names = samples.flatMap(({ orderNo, refundId }) => [
    orderNo,
    ...(refundId ? [refundId] : []),
  ]);
  return { accountId, kind: 'now_history', about: setting, text, names };
}

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
  const one = became.requests === 1;
  const named = became.samples.map(({ operation, requestId, orderNo }) =>
    orderNo === null
      ? `${operation} ${requestId}`
      : `${operation} ${requestId} of order ${orderNo}`,
  );
  return historyNotice(became, named, {
    since: 'a request older than liveFrom does',
    advice:
      `At the night before ${one ? 'it' : 'they'} might have gone; if that was not meant, set ` +
      'liveFrom back: then each waits for a person',
  });
}

export interface DatedBackFacts {
  accountId: string;
  liveFrom: Date;
  requests: number;
  /** Refunds, with the date that each bears and the one that it bore at a look before. */
  samples: readonly { requestId: string; orderNo: string; is: Date; was: Date }[];
}

export function datedBackNotice(dated: DatedBackFacts): Notice {
  const one = dated.requests === 1;
  const named = dated.samples.map(({ requestId, orderNo, is, was }) => {
    return (
      `refund ${requestId} of order ${orderNo} (dated ${is.toISOString()}, ` +
      `before ${was.toISOString()})`
    );
  });
  return historyNotice(dated, named, {
    since: `the ledger dates ${one ? 'it' : 'them'} older than liveFrom`,
    advice:
      `At the look before ${one ? 'it was' : 'they were'} younger; if that was not meant, date ` +
      `${one ? 'it' : 'them'} in the ledger as before`,
  });
}

export interface DatedBeforeFacts {
  accountId: string;
  liveFrom: Date;
  requests: number;
  /** Payouts. */
  samples: readonly { requestId: string; orderNo: null; is: Date }[];
}

export function datedBeforeNotice(dated: DatedBeforeFacts): Notice {
  const one = dated.requests === 1;
  const named = dated.samples.map(({ requestId, is }) => {
    return `payout ${requestId} (dated ${is.toISOString()})`;
  });
  return historyNotice(dated, named, {
    since: `${one ? 'it came' : 'they came'} after the first night, dated older than liveFrom`,
    advice:
      `Nothing is paid for ${one ? 'it' : 'them'}; what is to be paid all the same is asked for ` +
      'anew, under another request_id, with a requested_at that is not before liveFrom',
  });
}

/** Requests that count as done by now: since when, which, and what to do if it was not meant. */
function historyNotice(
  {
    accountId,
    liveFrom,
    requests,
    samples,
  }: BecameHistoryFacts | DatedBackFacts | DatedBeforeFacts,
  named: readonly string[],
  { since, advice }: { since: string; advice: string },
): Notice {
  const one = requests === 1;
  const more = andMore(requests - samples.length);
  const about = `accounts[].liveFrom: ${liveFrom.toISOString()}`;
  const text =
    `${counted(requests, 'request')} for which nothing was sent ` +
    `${one ? 'counts' : 'count'} as done by now, since ${since} (${about}): ` +
    `${named.join(', ')}${more}. ${advice}`;
  return { accountId, kind: 'now_history', about, text, names: namesOf(samples) };
}

function namesOf(samples: readonly { requestId: string; orderNo: string | null }[]): string[] {
  return samples.flatMap(({ requestId, orderNo }) => [requestId, ...(orderNo ? [orderNo] : [])]);
}
