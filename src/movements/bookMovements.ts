// The book of movements: every capture and refund that the gateway shows, ours or made elsewhere,
// once, kept where `settlement` is configured. What we made is booked by the business day in which
// it stands, what was made elsewhere by the newest look of the run; doing it again adds nothing.
// Neighbours: core/movements/bookEntries.ts is the rule, movementsStore.ts reads and writes.

import { bookEntries } from '../core/movements/bookEntries.js';
import { inTransaction } from '../database/db.js';
import { holdDays, postAllMovements } from '../days/daysStore.js';
import type { Run, RunDeps } from '../runs/deps.js';
import { accountIdsOf, accountRules } from '../runs/deps.js';
import {
  addMovements,
  bookFirstCaptures,
  bookOurs,
  forgetShown,
  openBooks,
  shownBeside,
  showTransactions,
} from './movementsStore.js';

/** Books what the run saw and did; an unchanged night adds no rows. */
export async function bookMovements(deps: Pick<RunDeps, 'config'>, run: Run): Promise<void> {
  const { settlement, schedule } = deps.config;
  if (settlement === null) return;
  const accountIds = accountIdsOf(run).sort();
  await postAllMovements(run.db, accountIds);
  await inTransaction(run.db, async (tx) => {
    for (const accountId of accountIds) await holdDays(tx, accountId);
    const booking = {
      runId: run.runId,
      businessDate: run.businessDate,
      accountIds,
      from: settlement.from,
      schedule,
    };
    await openBooks(tx, booking);
    await bookOurs(tx, booking);
    await showTransactions(tx, booking);
    await bookFirstCaptures(tx, booking);
    const shown = await shownBeside(tx, booking, accountRules(run.accounts));
    await forgetShown(tx);
    const entries = shown.flatMap((one) =>
      bookEntries(one).map((entry) => ({ ...one.place, ...entry })),
    );
    if (entries.length > 0) await addMovements(tx, booking, entries);
  });
}
