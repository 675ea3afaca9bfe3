// What a person does next about an instruction that waits, in words: for the workbook of finance.
// Pure; the rules are those of decision.ts, nothing is decided here.

import { isApprovable } from './decision.js';

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

/** What a person does next about an instruction that waits; empty where nothing is to be done. */
export function nextStep(one: Waiting): string {
  const id = one.instructionId;
  switch (one.state) {
    case 'held':
      return isApprovable(one.holdReason)
        ? `decide: tieout instructions approve ${id}, or reject ${id} --reason TEXT`
        : 'nothing frees it but the setting that holds it';
    case 'unknown':
      return (
        `in the merchant portal look for transaction ${one.transactionId ?? '(none)'}: ` +
        `is there a ${one.operation} of ${moneyOf(one)}${refundTag(one)}? Then tieout ` +
        `instructions resolve ${id} happened, or not-happened, --reason TEXT --reference TEXT`
      );
    case 'rejected':
      return `read the gateway's message; to try again: tieout instructions replan ${id}`;
    case 'accepted':
      return one.operation === 'payout'
        ? `nothing until it has arrived or come back; then tieout instructions resolve ${id} ` +
            'happened, or not-happened, --reason TEXT --reference TEXT'
        : 'nothing: the next look shows it, or makes it unknown';
    default:
      return '';
  }
}

function moneyOf({ amount, currency }: Waiting): string {
  return amount === null ? 'this order' : `${amount} ${currency ?? ''}`.trim();
}

/** The tag that the reason of a refund bears, so that it can be told from another of its size. */
function refundTag({ operation, instructionId }: Waiting): string {
  return operation === 'refund' ? ` (its reason may bear [tieout ${instructionId}])` : '';
}
