// An answer that contradicts what a person had found, and came when nothing could be asked anew:
// what was not made, as they said, and something had gone in its place; or what was made, as they
// said, and counts so. In words for a run's notices. Pure.

import { ofEachAccount } from '../accounts/ofEachAccount.js';
import type { InstructionOperation } from '../orders/order.js';
import type { Notice } from '../runs/notices.js';
import { andMore, countText } from '../text/amounts.js';
import type { Finding } from './decision.js';
import { FINDINGS } from './decision.js';

/** Of each account, so many by number. */
export const ANSWERS_MAX = 5;
/** Nothing that a person does here settles it: it is told for so long. */
export const TOLD_DAYS = 14;

export interface AnsweredLateFacts {
  accountId: string;
  instructionId: bigint;
  operation: InstructionOperation;
  orderNo: string;
  /** what a person had found */
  finding: Finding;
  by: string;
  /** the instruction that went in its place; null: something else of the order, or nothing */
  instead: bigint | null;
  /** how many the account has */
  found: number;
}

const WORDS: Record<Finding, { answered: string; said: string; perhaps: string }> = {
  not_happened: { answered: 'answered', said: 'not made', perhaps: 'It may have been made twice' },
  happened: {
    answered: 'refused',
    said: 'made',
    perhaps: 'It counts as made, and may not have been: what was not is asked for anew',
  },
};

/** No look tells one part of a refund, or one payout, from two or from none. */
export function answeredLateNotices(late: readonly AnsweredLateFacts[]): Notice[] {
  return FINDINGS.flatMap((finding) =>
    ofEachAccount(
      late.filter((one) => one.finding === finding),
      (accountId, own) => noticeOf(finding, accountId, own),
    ),
  );
}

function noticeOf(finding: Finding, accountId: string, own: readonly AnsweredLateFacts[]): Notice {
  const { answered, said, perhaps } = WORDS[finding];
  const count = own[0]?.found ?? 0;
  const about = `${countText(count)} instruction(s) of ${accountId} ${answered} after all`;
  const named = own.map(({ instructionId, operation, orderNo, by, instead }) => {
    const went = instead === null ? '' : `, #${instead} went in its place`;
    return `${operation} ${orderNo} (#${instructionId}: ${said}, said ${by}${went})`;
  });
  return {
    accountId,
    kind: 'answered_late',
    about,
    text:
      `${about}: ${named.join('; ')}${andMore(count - own.length)}. ${perhaps}: read the answer ` +
      '(`tieout instructions show NUMBER`) and look in the portal',
    names: own.map(({ orderNo }) => orderNo),
  };
}
