// What a decision about an instruction is bound to, side by side: the ledger, the refund requests,
// what the gateway showed. The same for who approves now and for who asks later what was seen.

import { UNREADABLE_AMOUNT, writtenAmount } from '../../../core/instructions/instruction.js';
import type { AskedPayout, Payee } from '../../../core/instructions/payouts/payoutAsked.js';
import {
  accountWords,
  beneficiaryWords,
  leavingWords,
  newPayeeWords,
} from '../../../core/instructions/payouts/payoutAsked.js';
import { asWritten, moreOf } from '../../../core/text/amounts.js';
import { disputeText, labelOf } from '../../../core/text/labels.js';
import type { DecidableInstruction, Seen } from '../../../instructions/decisionsStore.js';
import type { Words } from '../../format.js';

/** `payee` is given to who may approve it. */
export function SeenList(props: { seen: Seen; words: Words; payee?: Payee | null }) {
  const { seen, words, payee = null } = props;
  const { ledger, payout } = seen;
  if (payout !== undefined) return <PayoutSeen payout={payout} payee={payee} words={words} />;
  return (
    <ul class="seen">
      <li>
        Ledger:{' '}
        {ledger === null
          ? 'has no such order'
          : `${ledger.expected} ${words.amount(ledger.amount, ledger.currency)} ${ledger.currency}`}
        {ledger?.captureAmount
          ? `, to capture ${words.amount(ledger.captureAmount, ledger.currency)} ${ledger.currency}`
          : ''}
        {ledger?.reviewDecision ? `, review decision ${ledger.reviewDecision}` : ''}
      </li>
      {(seen.refundRequests ?? []).map((one) => (
        <li>
          Refund {one.refundId}: {words.amount(one.amount, ledger?.currency ?? null)}
          {ledger === null ? '' : ` ${ledger.currency}`}, asked by{' '}
          {words.free(one.requestedBy, [one.refundId]) || 'nobody named'}
          {one.reason === null ? '' : `: ${words.free(one.reason, [one.refundId])}`}
        </li>
      ))}
      {seen.gateway === null ? <li>Gateway: was not seen to have it</li> : null}
      {(seen.gateway ?? []).map((entry) => (
        <li>
          Gateway: {entry.state === null ? `code ${entry.code}` : labelOf(entry.state)}{' '}
          {words.amount(entry.amount, entry.currency)} {entry.currency}, transaction{' '}
          {entry.transaction}
          {entry.fraudRejected ? ', fraud check says REJECT' : ''}
        </li>
      ))}
      {(seen.disputes ?? []).map((one) => (
        <li>
          Taken back, or may be:{' '}
          {disputeText({ ...one, amount: words.amount(one.amount, one.currency) })}
          {one.at === null ? '' : `, since ${one.at.slice(0, 10)}`}
        </li>
      ))}
      {(seen.byHand ?? []).map((one) => (
        <li>
          By hand: {one.operation} {words.amount(one.amount, one.currency)} {one.currency}, by{' '}
          {one.by} on {one.at.slice(0, 10)}
        </li>
      ))}
    </ul>
  );
}

/** A payout belongs to no order: what was seen is its request, in whatever unit that has. */
function PayoutSeen(props: { payout: AskedPayout | null; payee: Payee | null; words: Words }) {
  const { payout, payee, words } = props;
  if (payout === null) return <p>The ledger has no such request any more.</p>;
  const leaving = leavingWords(payout);
  return (
    <ul class="seen">
      <li>
        To {beneficiaryWords(payout) || 'nobody named'}: {asWritten(payout.amount, payout.currency)}
      </li>
      <AccountOf payout={payout} payee={payee} />
      {leaving === null ? null : <li>Leaves our account: {leaving}</li>}
      <li>
        Reference {payout.reference ?? 'none'}
        {payout.reason === null ? '' : `: ${words.free(payout.reason)}`}
      </li>
      <li>
        Digest of the whole request <code>{payout.sha256.slice(0, 12)}</code>
      </li>
    </ul>
  );
}

function AccountOf({ payout, payee }: { payout: AskedPayout; payee: Payee | null }) {
  const account = accountWords(payout, payee);
  const isNew = newPayeeWords(payee?.isKnown);
  if (account === '') return null;
  return (
    <li>
      Account: {account}
      {isNew === '' ? null : <strong>; {isNew}</strong>}
    </li>
  );
}

/** Payouts of one preview that are shown one by one. */
const PAYOUTS_SHOWN = 100;

/** Before many are decided at once: where each payout among them goes, and what leaves ours. */
export function PayoutsOf(props: { payouts: readonly DecidableInstruction[]; words: Words }) {
  const { payouts, words } = props;
  if (payouts.length === 0) return null;
  return (
    <>
      <h2>Where the payouts go</h2>
      {payouts.slice(0, PAYOUTS_SHOWN).map(({ instructionId, payee, seen }) => (
        <>
          <h3>
            <a href={`/instructions/${instructionId}`}>Instruction {String(instructionId)}</a>
          </h3>
          <PayoutSeen payout={seen.payout ?? null} payee={payee} words={words} />
        </>
      ))}
      {moreOf(payouts.length - PAYOUTS_SHOWN).map((more) => (
        <p>{more}, which are not shown: choose fewer to see where each goes.</p>
      ))}
    </>
  );
}

interface Amount {
  amount: string;
  currency: string;
  isInTotals: boolean;
  seen?: Seen;
}

/** In its column: of a payout in a unit that nobody has set what the ledger wrote, no money yet. */
export function amountOf({ amount, currency, isInTotals, seen }: Amount, words: Words) {
  if (isInTotals) return words.amount(amount, currency);
  const written = seen?.payout?.amount ?? writtenAmount(amount);
  if (written === null) return <span class="hint">{UNREADABLE_AMOUNT}</span>;
  return (
    <>
      {written}
      <span class="hint">as written</span>
    </>
  );
}
