// What is open in one book of an account and currency, by age, and one page of it. The items are
// read as they come, so that many need no memory; what an item is stays the matter of
// openItems.sql.

import type { BreakAge } from '../core/breaks/breakAge.js';
import { AGES, daysBetween, isOfAge } from '../core/breaks/breakAge.js';
import { addAmounts, parseSum } from '../core/money.js';
import { dateIn } from '../core/time.js';
import type { Database } from '../database/db.js';
import type { OpenItem, SettlementTimes } from './settlementStore.js';
import { openItems } from './settlementStore.js';

interface OpenAsked {
  readonly accountId: string;
  readonly currency: string;
  readonly book: OpenItem['book'];
  /** those of this age alone; null: all */
  readonly age: BreakAge | null;
  readonly at: Date;
  /** those alone of which nobody knows the amount */
  readonly isInSuspense?: boolean;
  /** largest first; else oldest first */
  readonly isLargestFirst?: boolean;
  readonly limit: number;
  readonly offset: number;
}

interface OpenPage {
  readonly ages: readonly { readonly age: BreakAge; found: number; total: string }[];
  /** of the asked age, in the asked order */
  readonly items: readonly OpenItem[];
  readonly found: number;
  readonly total: string;
}

export async function openPage(
  db: Database,
  asked: OpenAsked,
  times: SettlementTimes,
): Promise<OpenPage> {
  const ages = AGES.map((age) => ({ age, found: 0, total: '0.00' }));
  let items: OpenItem[] = [];
  const end = asked.offset + asked.limit;
  const all = { found: 0, total: '0.00' };
  // By dates of the schedule's zone, as the sheet counts them: the clock of UTC may be a day off.
  const today = dateIn(times.timezone, asked.at);
  for await (const chunk of openItems(db, [asked.accountId], times)) {
    for (const item of chunk.filter((one) => isAsked(one, asked))) {
      const days = daysBetween(item.since, today);
      const bucket = ages.find(({ age }) => isOfAge(days, age));
      if (bucket !== undefined) add(bucket, item);
      if (asked.age !== null && bucket?.age !== asked.age) continue;
      if (asked.isLargestFirst === true) {
        items.push(item);
        // No more is kept than the page needs, twice over.
        if (items.length > 2 * end) items = largestFirst(items).slice(0, end);
      } else if (all.found >= asked.offset && items.length < asked.limit) items.push(item);
      add(all, item);
    }
  }
  if (asked.isLargestFirst === true) items = largestFirst(items).slice(asked.offset, end);
  return { ages, items, ...all };
}

/** By size, whichever way the money goes; equal ones stay oldest first. */
function largestFirst(items: readonly OpenItem[]): OpenItem[] {
  const size = ({ amount }: OpenItem): bigint => {
    const cents = parseSum(amount) ?? 0n;
    return cents < 0n ? -cents : cents;
  };
  return items.toSorted((a, b) => (size(a) < size(b) ? 1 : size(a) > size(b) ? -1 : 0));
}

function isAsked({ book, currency, suspense }: OpenItem, asked: OpenAsked): boolean {
  if (asked.isInSuspense === true && !suspense) return false;
  return book === asked.book && currency === asked.currency;
}

function add(sum: { found: number; total: string }, { amount }: OpenItem): void {
  sum.found += 1;
  sum.total = addAmounts(sum.total, amount);
}
