// The book of movements worked out again: of each transaction that the run showed, what the rule
// makes of it and of what was booked before, beside what the run left. A run that was resumed
// booked more than once; what it comes to is compared, and not in how many rows. Neighbours:
// bookStore.ts, core/movements/bookEntries.ts.

import { formatAmount } from '../core/money.js';
import type { BookedMovement } from '../core/movements/bookEntries.js';
import { bookEntries } from '../core/movements/bookEntries.js';
import type { Db } from '../database/db.js';
import type { Run } from '../runs/deps.js';
import { accountIdsOf, accountRules } from '../runs/deps.js';
import type { ShownThen } from './bookStore.js';
import { accountsWithBook, shownThen } from './bookStore.js';
import type { Difference } from './scratchStore.js';
import { DIFFERENCES_MAX, differingOurs } from './scratchStore.js';

export async function verifyBook(tx: Db, run: Run): Promise<Difference[]> {
  const accountIds = await accountsWithBook(tx, run.runId, accountIdsOf(run));
  if (accountIds.length === 0) return [];
  const rules = accountRules(run.accounts).filter((one) => accountIds.includes(one.account_id));
  const found = await differing(tx, run, rules);
  const ours = await differingOurs(tx, run.runId, accountIds);
  return [...found.slice(0, DIFFERENCES_MAX), ...ours];
}

/**
 * A line of the acquirer tells an amount on a date: behind the booking of its night, or before it
 * where the day before was closed by then, or the file came while the night was under way. A book
 * that is right in one of these is right.
 */
async function differing(
  tx: Db,
  run: Run,
  rules: ReturnType<typeof accountRules>,
): Promise<Difference[]> {
  const work = async (areLinesFirst: boolean): Promise<Difference[]> =>
    (await shownThen(tx, run, rules, { areLinesFirst })).flatMap(differenceOf);
  const found = await work(false);
  if (found.length === 0) return found;
  const placeOf = ({ accountId, what }: Difference): string => `${accountId} ${what}`;
  const again = new Set((await work(true)).map(placeOf));
  return found.filter((one) => again.has(placeOf(one)));
}

function differenceOf(one: ShownThen): Difference[] {
  const [was, is] = [wordsOf(one.after), wordsOf(bookedAgain(one))];
  if (was === is) return [];
  const { accountId, orderNo, transactionId } = one;
  return [{ accountId, orderNo, what: `movements of ${transactionId}`, was, is }];
}

/** What was booked before, and what the rule adds to it. */
function bookedAgain({ shown, before }: ShownThen): BookedMovement[] {
  const entries = shown ? bookEntries(shown) : [];
  const corrected = before.map((movement) => {
    const known = entries.find(
      (entry) => entry.what === 'known' && entry.movementId === movement.movementId,
    );
    return known ? { ...movement, amount: known.amount } : movement;
  });
  const added = entries.flatMap((entry): BookedMovement[] => {
    if (entry.what === 'known' || shown === null) return [];
    const { kind, amount } = entry;
    return [{ movementId: '', kind, made: 'elsewhere', currency: shown.currency, amount }];
  });
  return [...corrected, ...added];
}

/** What movements come to, by kind, maker and currency; those that were taken back are left out. */
function wordsOf(movements: readonly BookedMovement[]): string {
  const sums = new Map<string, { amount: bigint; suspense: number }>();
  for (const { kind, made, currency, amount } of movements) {
    const key = `${kind} ${made} ${currency}`;
    const sum = sums.get(key) ?? { amount: 0n, suspense: 0 };
    sum.amount += amount ?? 0n;
    if (amount === null) sum.suspense += 1;
    sums.set(key, sum);
  }
  return [...sums]
    .filter(([, { amount, suspense }]) => amount !== 0n || suspense > 0)
    .map(([key, { amount, suspense }]) => {
      return `${key} ${formatAmount(amount)}${suspense > 0 ? ' and in suspense' : ''}`;
    })
    .sort()
    .join(', ');
}
