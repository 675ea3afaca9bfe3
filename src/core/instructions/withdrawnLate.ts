// What was withdrawn at the last moment, as it was to be sent, in words: the ledger had asked for
// it when it was looked at, and did no more. Pure.

import type { Notice } from '../runs/notices.js';
import { countText } from '../text/amounts.js';

export interface WithdrawnLateFacts {
  accountId: string;
  instructions: number;
  approved: number;
  /** an order of them, or the request of a payout */
  sample: string;
  isPayout: boolean;
}

/** A ledger that is loaded anew while the night sends would else be told by nobody, each night. */
export function withdrawnLateNotice(late: WithdrawnLateFacts): Notice {
  const { accountId, instructions, approved, sample, isPayout } = late;
  const one = instructions === 1;
  const about = one
    ? '1 instruction withdrawn'
    : `${countText(instructions)} instructions withdrawn`;
  const seen = approved === 0 ? '' : `, ${countText(approved)} of them approved`;
  const example = `${isPayout ? 'payout request' : 'order'} ${sample}`;
  const text =
    `${about} as ${one ? 'it was' : 'they were'} to be sent${seen}, such as that of ${example}: ` +
    'the ledger had asked for it when it was looked at, and did no more by then. What it asks ' +
    'for now is planned, at the latest by the next night; where it is loaded anew at that hour, ' +
    'begin after that (schedule.cron)';
  return { accountId, kind: 'withdrawn_late', about, text, names: [sample] };
}
