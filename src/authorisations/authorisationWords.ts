// Reservations in sentences: what is reserved, and what of it lapses before somebody takes it.
// Commands, console and status say the same. Pure.

import { toMinute } from '../core/runs/owed.js';
import { counted, moneyIn } from '../core/text/amounts.js';
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
    const all = `${accountId}: ${moneyOf(sum.amount, sum)} is reserved for ${orders(sum.orders)}`;
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
  return [
    ...(sum.atRisk > 0
      ? [`${moneyOf(sum.atRiskAmount, sum)} of ${orders(sum.atRisk)} will soon lapse`]
      : []),
    ...(sum.lapsed > 0 ? [`${moneyOf(sum.lapsedAmount, sum)} of ${lapsed(sum.lapsed)}`] : []),
    ...(sum.undated > 0 ? [`of ${orders(sum.undated)} nobody knows since when`] : []),
  ];
}

/** When the first of those lapses that are soon to lapse. */
function nextPart(sums: readonly AuthorisationSum[], at: (time: Date) => string): string[] {
  const times = sums
    .filter(({ atRisk }) => atRisk > 0)
    .flatMap(({ nextLapse }) => (nextLapse === null ? [] : [nextLapse.getTime()]));
  return times.length === 0 ? [] : [`the next lapses at ${at(new Date(Math.min(...times)))}`];
}

function moneyOf(amount: string, { currency }: AuthorisationSum): string {
  return currency === null ? 'no readable money' : moneyIn(amount, currency);
}

function orders(count: number): string {
  return counted(count, 'order');
}

function lapsed(count: number): string {
  return `${orders(count)} ${count === 1 ? 'has' : 'have'} lapsed`;
}
