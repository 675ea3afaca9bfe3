// What was seen changed of an order in the ledger, and what a person called by hand, in words: the
// same on the command line and the console. Neighbour: orderMoneyWords.ts. Pure.

import { nameLabel } from '../core/instructions/decider.js';
import { holdLabel } from '../core/instructions/holdReasons.js';
import { asWritten, moneyIn } from '../core/text/amounts.js';
import { labelOf, labelStates } from '../core/text/labels.js';
import { maskCardNumbers } from '../core/text/masking.js';
import type { OrderHistory } from './historyStore.js';

type Part = Record<string, unknown>;

/** As it was said, where it is no amount. */
export function historyMoney(amount: unknown, currency: unknown): string {
  return (amount ?? null) === null
    ? 'no amount'
    : moneyIn(String(amount), currency ? String(currency) : null);
}

/** "amount 10.00 EUR → 12.00 EUR, capture amount none → 5.00 EUR" */
export function changeWords({ kind, ...change }: Part): string {
  if (kind === 'left') return 'left the ledger';
  const [before, after] = [change.before as Part, (change.after ?? {}) as Part];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names
    .filter((name) => before[name] !== after[name])
    .map((name) => `${labelOf(name)} ${fieldOf(before, name)} → ${fieldOf(after, name)}`)
    .join(', ');
}

function fieldOf(row: Part, name: string): string {
  const value = row[name] ?? null;
  if (value === null) return 'none';
  return /amount$/i.test(name) ? historyMoney(value, row.currency) : String(value);
}

/** One thing that a call by hand named. */
export interface Called {
  at: string;
  operation: string;
  money: string;
  transaction: string | null;
  by: string;
  /** what became of it, and why */
  end: string;
}

/** One for each thing that it named of the order. */
export function calledByHand(calls: OrderHistory['calls']): Called[] {
  return calls.flatMap((call) => {
    const why = call.reason ? ` (${labelStates(holdLabel(String(call.reason)))})` : '';
    const said = {
      at: String(call.at),
      operation: String(call.operation),
      by: maskCardNumbers(nameLabel(String(call.by), call.isClaim === true)),
    };
    const end = `${call.outcome ? labelOf(String(call.outcome)) : 'its end is not known'}${why}`;
    return ((call.entries as Record<string, string>[] | null) ?? []).map((entry) => ({
      ...said,
      money: calledMoney(entry),
      transaction: entry.transaction_id ?? null,
      end: maskCardNumbers(end, Object.values(entry)),
    }));
  });
}

/** A payout goes out in a unit that its document sets. */
function calledMoney(entry: Record<string, string>): string {
  const { payment_amount: paid } = entry;
  if (paid !== undefined) return asWritten(paid, entry.payment_currency ?? null);
  return historyMoney(entry.refund_amount ?? entry.amount, entry.currency);
}
