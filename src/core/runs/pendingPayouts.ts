// Payouts that the gateway took and has not done yet, those by hand, requests of payouts that a
// night did not come to, and those that were changed after they were sent, in words for a run's
// notices. Pure.

import { ofEachAccount } from '../accounts/ofEachAccount.js';
import { andMore, countText } from '../text/amounts.js';
import { maskCardNumbers } from '../text/masking.js';
import type { Notice } from './notices.js';

export interface PendingPayouts {
  accountId: string;
  payouts: number;
  /** the one that has waited longest */
  oldestId: string;
  /** YYYY-MM-DD, when it was sent */
  since: string;
  /** those that a notification named meanwhile, the oldest few */
  hintedIds: readonly string[];
}

/** No look shows a payout: what the gateway calls pending stays so until a person settles it. */
export function pendingPayoutsNotice({
  accountId,
  payouts,
  oldestId,
  since,
  hintedIds,
}: PendingPayouts): Notice {
  const named = hintedIds.map((id) => `#${id}`).join(', ');
  return {
    accountId,
    kind: 'payout_pending',
    about: `${payouts} payout(s) of ${accountId} not done yet`,
    instructions: payouts,
    text:
      `${payouts} payout(s) were taken by the gateway and are not done yet, the oldest ` +
      `(#${oldestId}) since ${since}; no query shows a payout: when it has arrived or come back, ` +
      `\`tieout instructions resolve ${oldestId} happened\`, or \`not-happened\`` +
      (named === '' ? '' : `. A notification has named ${named}: look there first`),
  };
}

/** Requests that wait for a payout, beyond those that one night weighs. */
export interface PayoutsLeftOut {
  accountId: string;
  requests: number;
  /** null: none of them has a time */
  oldest: Date | null;
}

export function payoutsLeftOutNotice({ accountId, requests, oldest }: PayoutsLeftOut): Notice {
  const about = `${countText(requests)} payout request(s) of ${accountId} not weighed yet`;
  const since = oldest === null ? '' : `, the oldest of ${oldest.toISOString().slice(0, 10)}`;
  return {
    accountId,
    kind: 'payouts_left_out',
    about,
    text:
      `${about}${since}: more wait than one night weighs. The next one weighs more of them, and ` +
      'so does `tieout run` once those that were weighed have gone',
  };
}

/** A request that was sent, and asks for something else by now. */
export interface PayoutChanged {
  accountId: string;
  requestId: string;
  instructionId: string;
  /** amount and currency as written; null: none */
  sent: string | null;
  asked: string | null;
  /** of the account, in all */
  requests: number;
}

/** Of each account one: those that are named, and how many there are. */
export function payoutsChangedNotices(changed: readonly PayoutChanged[]): Notice[] {
  return ofEachAccount(changed, (accountId, own) => {
    const count = own[0]?.requests ?? 0;
    const about = `${countText(count)} payout request(s) of ${accountId} changed after being sent`;
    const named = own.map(({ requestId, instructionId, sent, asked }) => {
      const what =
        sent === asked
          ? `${sent}, otherwise now`
          : `${sent ?? 'no amount'}, now ${asked ?? 'none'}`;
      return `${requestId} (#${instructionId}: ${maskCardNumbers(what, [])})`;
    });
    return {
      accountId,
      kind: 'payout_changed',
      about,
      text:
        `${about}: ${named.join('; ')}${andMore(count - own.length)}. Nothing is sent for that: ` +
        'put the request back as it was, and ask for more under a number of its own',
      names: own.map(({ requestId }) => requestId),
    };
  });
}

export interface PayoutByHand {
  accountId: string;
  callId: bigint;
  by: string;
  at: Date;
  /** the gateway took it, and had not done it */
  isPending: boolean;
  requestId: string;
  /** amount and currency as they were typed */
  printed: string;
  /** how many the account has */
  found: number;
}

/** No look shows a payout, and no instruction stands for one by hand. */
export function payoutsByHandNotices(calls: readonly PayoutByHand[]): Notice[] {
  return ofEachAccount(calls, (accountId, own) => {
    const count = own[0]?.found ?? 0;
    const about = `${countText(count)} payout(s) of ${accountId} by hand with no known end`;
    const named = own.map(({ callId, by, at, isPending, requestId, printed }) => {
      const end = isPending ? 'pending' : 'unknown';
      const what = maskCardNumbers(printed, []);
      return `${requestId} (call ${callId} of ${by} at ${at.toISOString()}: ${what}, ${end})`;
    });
    return {
      accountId,
      kind: 'payout_by_hand',
      about,
      text:
        `${about}: ${named.join('; ')}${andMore(count - own.length)}. Look in the portal what ` +
        'became of it; a payout by hand stands in no figure',
      names: own.map(({ requestId }) => requestId),
    };
  });
}

/** Of an account, date and currency. */
export interface PaidByHand {
  accountId: string;
  date: string;
  currency: string;
  /** as they were typed, together */
  amount: string;
  payouts: number;
  /** the newest of them */
  requestIds: readonly string[];
}

/** The bank has them, and the figures of the day do not: whoever holds the two together is told. */
export function paidByHandNotices(paid: readonly PaidByHand[]): Notice[] {
  return ofEachAccount(paid, (accountId, own) => {
    const count = own.reduce((sum, { payouts }) => sum + payouts, 0);
    const names = own.flatMap(({ requestIds }) => requestIds);
    const about = `${countText(count)} payout(s) of ${accountId} by hand`;
    // A date that a night covers anew is told anew: by itself, so that nobody adds it twice.
    const sums = own.map(({ date, amount, currency }) => `on ${date} ${amount} ${currency}`);
    return {
      accountId,
      kind: 'paid_by_hand',
      about,
      text:
        `${about}: ${sums.join(', ')} as typed ` +
        `(${names.join(', ')}${andMore(count - names.length)}). ` +
        'The gateway took them, and they stand in no figure: add those of a date to its *paid ' +
        'out* where you hold it against the bank',
      names,
    };
  });
}
