// The totals of a run beside what it confirmed: two roads to the same money. Pure; the figures come
// from the store. Neighbour: total/total.ts, which fails a run whose money is not all told.

import type { AccountSummary } from '../runs/summary.js';
import { amountIn, moneyIn } from '../text/amounts.js';

export interface ConfirmedMoney {
  accountId: string;
  currency: string;
  operation: string;
  amount: string;
}

const COLUMNS = [
  ['capture', 'captured'],
  ['cancel', 'cancelled'],
  ['refund', 'refunded'],
  ['payout', 'paidOut'],
] as const;

/** The first figure of the totals that is not what was confirmed, in words; null: all are. */
export function untoldMoney(
  confirmed: readonly ConfirmedMoney[],
  accounts: readonly Pick<AccountSummary, 'accountId' | 'totals'>[],
): string | null {
  const left = new Map(confirmed.map((row) => [keyOf(row), row]));
  for (const { accountId, totals } of accounts) {
    for (const { currency, ...row } of totals) {
      for (const [operation, column] of COLUMNS) {
        const told = { accountId, currency, operation, amount: row[column] ?? NOTHING };
        const was = left.get(keyOf(told))?.amount ?? NOTHING;
        if (told.amount !== was) return words(told, was);
        left.delete(keyOf(told));
      }
    }
  }
  // What is left is of an account or a currency that no total names.
  for (const row of left.values()) return words({ ...row, amount: NOTHING }, row.amount);
  return null;
}

const NOTHING = '0.00';

function keyOf({ accountId, currency, operation }: Omit<ConfirmedMoney, 'amount'>): string {
  return JSON.stringify([accountId, currency, operation]);
}

function words({ accountId, currency, operation, amount }: ConfirmedMoney, was: string): string {
  return (
    `account ${accountId} does not tie: its totals tell of ` +
    `${moneyIn(amount, currency)} by ${operation}, confirmed were ${amountIn(was, currency)}`
  );
}
