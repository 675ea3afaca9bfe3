// An answer to what a person had found not to have happened, which came when something had gone in
// its place: in words for a run's notices. Pure.

import { ofEachAccount } from '../accounts/ofEachAccount.js';
import type { InstructionOperation } from '../orders/order.js';
import type { Notice } from '../runs/notices.js';
import { andMore, countText } from '../text/amounts.js';

export interface AnsweredLateFacts {
  accountId: string;
  instructionId: bigint;
  operation: InstructionOperation;
  orderNo: string;
  /** who had found that it did not happen */
  by: string;
  /** the instruction that went in its place; null: something else of the order */
  instead: bigint | null;
  /** how many the account has */
  found: number;
}

/** No look tells one part of a refund, or one payout, from two. */
export function answeredLateNotices(late: readonly AnsweredLateFacts[]): Notice[] {
  return ofEachAccount(late, (accountId, own) => {
    const count = own[0]?.found ?? 0;
    const about = `${countText(count)} instruction(s) of ${accountId} answered after all`;
    const named = own.map(({ instructionId, operation, orderNo, by, instead }) => {
      const went = instead === null ? '' : `, #${instead} went in its place`;
      return `${operation} ${orderNo} (#${instructionId}: not made, said ${by}${went})`;
    });
    return {
      accountId,
      kind: 'answered_late',
      about,
      text:
        `${about}: ${named.join('; ')}${andMore(count - own.length)}. It may have been made ` +
        'twice: read the answer (`tieout instructions show NUMBER`) and look in the portal',
      names: own.map(({ orderNo }) => orderNo),
    };
  });
}
