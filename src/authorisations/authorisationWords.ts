// Reservations in sentences, one for each account and currency: what is reserved, what of it lapses
// before somebody takes it. Commands, console and status say the same. Pure.

import { toMinute } from '../core/runs/owed.js';
import { moneyIn } from '../core/text/amounts.js';
import type { AccountAuthorisations } from './authorisations.js';
import type { AuthorisationSum } from './authorisationsStore.js';

/** What has to be said where nobody said how long reservations hold. */
const NO_RULE =
  'when they lapse is not known: give authorisation.validHours to the account in tieout.yaml, ' +
  'as agreed with the acquirer';

export function accountSentences({ accountId, rule, sums }: AccountAuthorisations): string[] {
  if (sums.length === 0) return [`${accountId}: nothing is reserved.`];
  return sums.map((sum) => {
    const all = `${accountId}: ${counted(sum.orders)}, ${moneyOf(sum.amount, sum)}`;
    if (rule === null) return `${all}; ${NO_RULE}.`;
    const risk = riskParts(sum);
    return risk.length === 0 ? `${all}; all in time.` : `${all}; ${risk.join('; ')}.`;
  });
}

/** Of the accounts of which something is at risk; what needs nobody is left out. */
export function riskSentences(accounts: readonly AccountAuthorisations[]): {
  accountId: string;
  text: string;
}[] {
  return accounts.flatMap(({ accountId, rule, sums }) => {
    if (rule === null) return [];
    return sums
      .filter(({ atRisk, lapsed, undated }) => atRisk + lapsed + undated > 0)
      .map((sum) => {
        return { accountId, text: `reserved and not taken: ${riskParts(sum).join('; ')}` };
      });
  });
}

function riskParts(sum: AuthorisationSum): string[] {
  const next = sum.nextLapse === null ? '' : `, the next at ${toMinute(sum.nextLapse)}`;
  return [
    ...(sum.atRisk > 0
      ? [`${counted(sum.atRisk)} soon to lapse, ${moneyOf(sum.atRiskAmount, sum)}${next}`]
      : []),
    ...(sum.lapsed > 0 ? [`${sum.lapsed} lapsed, ${moneyOf(sum.lapsedAmount, sum)}`] : []),
    ...(sum.undated > 0 ? [`${sum.undated} of which nobody knows since when`] : []),
  ];
}

function moneyOf(amount: string, { currency }: AuthorisationSum): string {
  return currency === null ? 'no readable money' : moneyIn(amount, currency);
}

function counted(count: number): string {
  return `${count} reservation${count === 1 ? '' : 's'}`;
}
