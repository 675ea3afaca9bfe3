// What a database that was put back has forgotten and a journal of permits names: on the page of an
// instruction, and on that of its order.

import type { LostPermit } from '../../../instructions/instructionListStore.js';
import type { Words } from '../../format.js';

/** To be looked up in the portal by amount. */
export function LostPermits({ lost, words }: { lost: readonly LostPermit[]; words: Words }) {
  if (lost.length === 0) return null;
  return (
    <ul class="seen">
      {lost.map(({ operation, refundId, amount, currency, transactionId, sentAt, host }) => (
        <li class="problem">
          Perhaps sent, and forgotten by a database that was put back: {operation} {refundId}{' '}
          {words.amount(amount, currency)} {currency}
          {transactionId === null ? null : <>, transaction {transactionId}</>}, at{' '}
          {words.at(sentAt)} by {host}. Look it up in the merchant portal, with its amount.
        </li>
      ))}
    </ul>
  );
}
