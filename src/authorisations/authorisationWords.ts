// Reservations in sentences: what is reserved, and what of it lapses before somebody takes it.
// Commands, console and status say the same. Pure.

import { toMinute } from '../core/runs/owed.js';
import { counted, countText, moneyIn } from '../core/text/amounts.js';
import type { AccountAuthorisations } from './authorisations.js';
import type { AuthorisationSum } from './authorisationsStore.js';

/** What has to be said where nobody said how long reservations hold. */
export const NO_RULE =
  'when they lapse is not known: give authorisation.validHours to the account in tieout.yaml, ' +
  'as agreed with the acquirer';

/** A sentence a currency. */
export function accountSentences({ accountId, rule, sums }: AccountAuthorisations): string[] {
  if (sums.length === 0) return [`${accountId}: nothing is reserved.`];
  return sums.map((sum) => {
    const of = ordersOf(sum.orders, sum.amount, sum.unread);
    const all = `${accountId}: ${moneyOf(sum.amount, sum)} is reserved for ${of}`;
    if (rule === null) return `${all}; ${NO_RULE}.`;
    const risk = [...riskParts(sum), ...nextPart([sum], toMinute)];
    return risk.length === 0 ? `${all}; all of it is in time.` : `${all}; ${risk.join('; ')}.`;
  });
}

/**
 * A sentence for each account of which something is at risk; what needs nobody is left out. `at`:
 * how a time is said.
 */
export function riskSentences(
  accounts: readonly AccountAuthorisations[],
  at: (time: Date) => string = toMinute,
): { accountId: string; text: string }[] {
  return accounts.flatMap(({ accountId, rule, sums }) => {
    const parts = rule === null ? [] : sums.flatMap(riskParts);
    if (parts.length === 0) return [];
    const all = [...parts, ...nextPart(sums, at)];
    return [{ accountId, text: `money is reserved and not taken: ${all.join('; ')}` }];
  });
}

function riskParts(sum: AuthorisationSum): string[] {
  const soon = ordersOf(sum.atRisk, sum.atRiskAmount, sum.atRiskUnread);
  const over = ordersOf(sum.lapsed, sum.lapsedAmount, sum.lapsedUnread);
  const have = sum.lapsed === 1 ? 'has' : 'have';
  return [
    ...(sum.atRisk > 0 ? [`${moneyOf(sum.atRiskAmount, sum)} of ${soon} will soon lapse`] : []),
    ...(sum.lapsed > 0 ? [`${moneyOf(sum.lapsedAmount, sum)} of ${over} ${have} lapsed`] : []),
    ...(sum.undated > 0 ? [`of ${counted(sum.undated, 'order')} nobody knows since when`] : []),
  ];
}

/** When the first of those lapses that are soon to lapse. */
function nextPart(sums: readonly AuthorisationSum[], at: (time: Date) => string): string[] {
  const times = sums
    .filter(({ atRisk }) => atRisk > 0)
    .flatMap(({ nextLapse }) => (nextLapse === null ? [] : [nextLapse.getTime()]));
  return times.length === 0 ? [] : [`the next lapses at ${at(new Date(Math.min(...times)))}`];
}

function moneyOf(amount: string | null, { currency }: AuthorisationSum): string {
  if (currency === null) return 'no readable money';
  return amount === null ? `money in ${currency}` : moneyIn(amount, currency);
}

/** A sum never shows as nothing what cannot be read. */
function ordersOf(count: number, amount: string | null, unread: number): string {
  const all = counted(count, 'order');
  if (amount === null) return `${all} whose amount cannot be read`;
  return unread === 0 ? all : `${all} (the amount of ${countText(unread)} cannot be read)`;
}
