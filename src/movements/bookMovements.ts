// The book of movements: every capture and refund that the gateway shows, ours or made elsewhere,
// once, kept where `settlement` is configured. What we made is booked by the business day in which
// it stands, what was made elsewhere by the newest look of the run; doing it again adds nothing.
// Neighbours: core/movements/bookEntries.ts is the rule, movementsStore.ts reads and writes.

import { bookEntries } from '../core/movements/bookEntries.js';
import type { Database, Db } from '../database/db.js';
import { inTransaction } from '../database/db.js';
import { postMovements } from '../days/daysStore.js';
import type { Account } from '../gateway/account.js';
import type { Run, RunDeps } from '../runs/deps.js';
import { accountRules } from '../runs/deps.js';
import { newestRunId } from '../runs/runsStore.js';
import type { Booking } from './movementsStore.js';
import {
  addMovements,
  bookFirstCaptures,
  bookOurs,
  forgetShown,
  openBooks,
  shownBeside,
  showTransactions,
} from './movementsStore.js';

/**
 * Books what the run saw and did; an unchanged night adds no rows. One account after the other,
 * each in a transaction of its own: nobody who closes a day waits for the book of another account,
 * and a run that is cut short has whole books of some accounts and nothing of the others, which
 * whoever goes on with it books.
 */
export async function bookMovements(
  deps: Pick<RunDeps, 'config'> & Partial<Pick<RunDeps, 'progress'>>,
  run: Run,
): Promise<void> {
  const { settlement, schedule } = deps.config;
  if (settlement === null) return;
  const { runId, businessDate } = run;
  const accounts = [...run.accounts].sort(byId);
  for (const [at, account] of accounts.entries()) {
    deps.progress?.('books', at, accounts.length);
    const accountIds = [account.accountId];
    const booking = { runId, businessDate, accountIds, from: settlement.from, schedule };
    await inTransaction(run.db, (tx) => bookAccount(tx, booking, account));
  }
  deps.progress?.('books', accounts.length, accounts.length);
}

async function bookAccount(tx: Db, booking: Booking, account: Account): Promise<void> {
  // Holds the days of the account until the end.
  await postMovements(tx, account.accountId);
  await openBooks(tx, booking);
  await bookOurs(tx, booking);
  await showTransactions(tx, booking);
  await bookFirstCaptures(tx, booking);
  const shown = await shownBeside(tx, booking, accountRules([account]));
  await forgetShown(tx);
  const entries = shown.flatMap((one) =>
    bookEntries(one).map((entry) => ({ ...one.place, ...entry })),
  );
  if (entries.length > 0) await addMovements(tx, booking, entries);
}

/**
 * What was confirmed between two runs, by `tieout send` or by a person: it stands in its business
 * day, and in the book of the account, from then on and not only from the next night on. Booked
 * under the newest run.
 */
export async function bookConfirmed(
  { config, db }: { config: Pick<RunDeps['config'], 'settlement'>; db: Database },
  accountIds: readonly string[],
): Promise<void> {
  const { settlement } = config;
  const runId = await newestRunId(db);
  if (runId === null) return;
  for (const accountId of [...accountIds].sort()) {
    await inTransaction(db, async (tx) => {
      await postMovements(tx, accountId);
      if (settlement === null) return;
      await bookOurs(tx, { runId, accountIds: [accountId], from: settlement.from });
    });
  }
}

function byId(one: Account, other: Account): number {
  return one.accountId < other.accountId ? -1 : 1;
}
