// What of settlement no night looks at any more, in words: open breaks where tieout.yaml has the
// section no more, and money of an account that it has no more. Neither goes away by itself. Pure.

import type { Notice } from '../runs/notices.js';
import { countText, moneyIn } from '../text/amounts.js';
import { labelOf } from '../text/labels.js';

export interface UnkeptBreaksFacts {
  accountId: string;
  /** open ones by kind */
  breaks: Readonly<Record<string, number>>;
  /** the order or batch of the oldest */
  sample: string;
}

/** They count among the open breaks as before: what nobody looked at is not settled. */
export function unkeptBreaksNotice({ accountId, breaks, sample }: UnkeptBreaksFacts): Notice {
  const found = Object.values(breaks).reduce((sum, one) => sum + one, 0);
  const kinds = Object.entries(breaks).map(
    ([kind, count]) => `${countText(count)} ${labelOf(kind)}`,
  );
  const what = found === 1 ? '1 break of settlement is' : `${found} breaks of settlement are`;
  const about = `${what} open, which no night looks at any more`;
  const text =
    `${what} open (${kinds.join(', ')}; such as ${sample}), and tieout.yaml has no section ` +
    'settlement any more: no night looks at them, and they end each with 3. Put the section ' +
    'back, or waive them (`tieout breaks waive ID --reason TEXT`)';
  return { accountId, kind: 'settlement_not_kept', about, text, names: [sample] };
}

/** Captures and refunds without a settlement line. */
export interface LeftMoneyFacts {
  accountId: string;
  movements: number;
  /** of these, refunds of which nobody knows the amount */
  suspense: number;
  /** business date of the oldest of them */
  since: string;
  /** captured less refunded */
  money: readonly { currency: string; amount: string }[];
}

/** What the acquirer owes for an account goes on when the account has left. */
export function leftMoneyNotice(facts: LeftMoneyFacts): Notice {
  const { accountId, movements, suspense, since, money } = facts;
  const sums = money.map(({ amount, currency }) => moneyIn(amount, currency)).join(', ');
  const unknown = suspense === 0 ? '' : `, ${countText(suspense)} of them of an unknown amount`;
  const which =
    movements === 1 ? '1 capture or refund' : `${countText(movements)} captures and refunds`;
  const text =
    'the account is not in the configuration any more, and not all of its money is settled: ' +
    `${which} without a settlement line since ${since}${unknown}; captured less refunded: ` +
    `${sums}. No night looks for it, and a file with lines of the account is refused. Put it ` +
    'back under accounts (without liveFrom it is only observed) until that is settled; ' +
    '`tieout settlement` has its books';
  const about = `account ${accountId} left the configuration with money that is not settled`;
  return { accountId, kind: 'settlement_not_kept', about, text };
}
