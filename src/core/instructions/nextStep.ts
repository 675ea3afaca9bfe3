// What a person does next about an instruction that waits, in words: for the workbook of finance.
// Pure; the rules are those of decision.ts, nothing is decided here.

import { moneyIn } from '../text/amounts.js';
import { freedBy, isApprovable } from './holdReasons.js';

/** An instruction that waits, as far as the words for its next step need it. */
interface Waiting {
  instructionId: string;
  operation: string;
  state: string;
  holdReason: string | null;
  currency: string | null;
  amount: string | null;
  transactionId: string | null;
}

const REJECT_HERE = 'reject it here by Decision and Reason';

/** What a person does next about an instruction that waits; empty where nothing is to be done. */
export function nextStep(one: Waiting): string {
  const id = one.instructionId;
  switch (one.state) {
    case 'held':
      return isApprovable(one.holdReason)
        ? 'approve or reject it: here by Decision and Reason, or on the console under Approvals'
        : `nothing frees it but ${freedBy(one.holdReason ?? '', REJECT_HERE)}`;
    case 'unknown':
      return (
        `in the merchant portal look for transaction ${one.transactionId ?? '(none)'}: ` +
        `is there a ${one.operation} of ${moneyOf(one)}${refundTag(one)}? Then an operator ` +
        `says on the console whether it happened, and where that is seen (instruction ${id})`
      );
    case 'rejected':
      return (
        "read the gateway's message; to try again, an operator has it planned again on the " +
        `console (instruction ${id})`
      );
    case 'accepted':
      return one.operation === 'payout'
        ? 'nothing until it has arrived or come back; then an operator says on the console which ' +
            `(instruction ${id})`
        : 'nothing: the next look shows it, or makes it unknown';
    default:
      return '';
  }
}

function moneyOf({ amount, currency }: Waiting): string {
  return amount === null ? 'this order' : moneyIn(amount, currency);
}

/** The tag that the reason of a refund bears, so that it can be told from another of its size. */
function refundTag({ operation, instructionId }: Waiting): string {
  return operation === 'refund' ? ` (its reason may bear [tieout ${instructionId}])` : '';
}
