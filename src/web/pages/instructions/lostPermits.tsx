// What a database that was put back has forgotten and a journal of permits names: on the page of an
// instruction, and on that of its order.

import type { LostPermit } from '../../../instructions/instructionListStore.js';
import type { Words } from '../../format.js';

/** To be looked up in the portal by amount. */
export function LostPermits({ lost, words }: { lost: readonly LostPermit[]; words: Words }) {
  if (lost.length === 0) return null;
  return (
    <ul class="seen">
      {lost.map(({ sentAt, host, accountId, transactionId, ...sent }) => (
        <li class="problem">
          Perhaps sent, and forgotten by a database that was put back: {sent.operation}{' '}
          {sent.refundId} {words.amount(sent.money ?? sent.amount, sent.currency)} {sent.currency}
          {sent.money === null ? null : <> (typed as {sent.amount})</>}
          {transactionId === null ? null : <>, transaction {transactionId}</>}, of{' '}
          {ofAccount(accountId)}, at {words.at(sentAt)} by {host}. Look it up in the merchant
          portal, with its amount.
        </li>
      ))}
    </ul>
  );
}

function ofAccount(accountId: string | null): string {
  return accountId === null ? 'another account' : `account ${accountId}`;
}
