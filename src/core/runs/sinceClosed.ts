// What changed behind a business day since it was closed, in words: on its page, at the head of its
// statement, and which of it the figures of the newest revision have. Pure; days/sinceNight.sql
// counts.

import { countText } from '../text/amounts.js';
import type { LateName } from './closingChecklist.js';

/** What changed behind a day since it was closed, so many of one currency (days/sinceNight.sql). */
interface SinceChange {
  accountId: string;
  /** restated: the newest workbook of its night has other figures than the one it was closed on */
  what: 'adjustments' | 'reopened' | 'orders' | 'refunds' | 'batches' | 'restated';
  /** null: of what bears none */
  currency: string | null;
  count: number;
  /** whether the newest workbook of the night has it in its statement */
  isStated: boolean;
}

export interface SinceClosed {
  changes: readonly SinceChange[];
  /** whether the close kept what of the ledger was late already; else all of it is counted */
  isKept: boolean;
  /** the first of the orders and refund requests */
  named: readonly LateName[];
}

const SINCE_WORDS: readonly (readonly [key: SinceChange['what'], one: string, many: string])[] = [
  ['adjustments', 'adjustment of this day', 'adjustments of this day'],
  ['reopened', 'break was opened again', 'breaks were opened again'],
  ['orders', 'order of that day is new or different', 'orders of that day are new or different'],
  ['refunds', 'refund request of that day is new', 'refund requests of that day are new'],
  [
    'batches',
    'settlement batch of that day came later',
    'settlement batches of that day came later',
  ],
  ['restated', 'later revision of its workbook has other figures', ''],
];

const OF_LEDGER: readonly SinceChange['what'][] = ['orders', 'refunds'];

/** Where the ledger did not answer. */
export const SINCE_UNKNOWN = 'perhaps, since the ledger did not answer in time';

/** "1 adjustment of this day, 2 breaks were opened again"; null: nothing changed. */
export function sinceSignedWords({ changes, isKept }: Omit<SinceClosed, 'named'>): string | null {
  const parts = SINCE_WORDS.flatMap(([key, one, many]) => {
    const found = changes.filter(({ what }) => what === key);
    if (found.length === 0) return [];
    // One revision may restate the pages of several currencies.
    const sum = found.reduce((all, { count }) => all + count, 0);
    const count = key === 'restated' ? 1 : sum;
    const words = `${countText(count)} ${count === 1 ? one : many}`;
    const isOlder = OF_LEDGER.includes(key) && !isKept;
    return [isOlder ? `${words} (perhaps from before it was closed)` : words];
  });
  return parts.length === 0 ? null : parts.join(', ');
}

/** Which of it the figures of the newest revision have: it may be written before or after. */
export function statedWords(
  { changes, isKept }: Omit<SinceClosed, 'named'>,
  revision: number,
): string {
  const of = (isStated: boolean): string | null =>
    sinceSignedWords({ isKept, changes: changes.filter((one) => one.isStated === isStated) });
  const [has, lacks] = [of(true), of(false)];
  const figures = `the figures of revision ${revision}`;
  if (lacks === null) return `It is in ${figures}`;
  const next = 'a business day that is open takes what is new';
  if (has === null) return `It is not in ${figures}; ${next}`;
  return `In ${figures}: ${has}. Not in them: ${lacks}; ${next}`;
}
