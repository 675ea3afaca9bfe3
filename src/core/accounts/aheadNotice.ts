// What a person is told of an account whose liveFrom lies ahead: it is only observed, and what was
// asked for until then counts as done. Pure. Neighbour: observed.ts.

import type { Notice } from '../runs/notices.js';
import { observedSentence } from './observed.js';

/** Nothing of an account is sent before its liveFrom, and what was asked for until then never. */
export function liveFromAheadNotice(ahead: {
  accountId: string;
  liveFrom: Date;
  refunds: number;
  payouts: number;
}): Notice {
  const { accountId, liveFrom, refunds, payouts } = ahead;
  const requests =
    refunds + payouts === 0
      ? 'requests from before it count as done'
      : `${refunds} refund request(s) and ${payouts} payout request(s) from before it count as ` +
        'done, and are never sent';
  return {
    accountId,
    kind: 'live_from_ahead',
    about: `liveFrom of ${accountId} lies ahead`,
    text: `${observedSentence(liveFrom)}; ${requests}`,
  };
}
