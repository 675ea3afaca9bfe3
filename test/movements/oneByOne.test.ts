// The book is kept one account at a time: whose day somebody closes, or who dies between two
// accounts, harms no other. Real PostgreSQL, two accounts, and somebody who holds the second one's
// days.

import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, expect, test } from 'vitest';
import type { Database } from '../../src/database/db.js';
import { closeDay } from '../../src/days/days.js';
import { holdDays } from '../../src/days/daysStore.js';
import { bookMovements } from '../../src/movements/bookMovements.js';
import type { Run } from '../../src/runs/deps.js';
import { fenced } from '../../src/runs/lease.js';
import { takeRun } from '../../src/runs/leaseStore.js';
import { checkChain } from '../../src/verify/verifyChainStore.js';
import { freshDatabase } from '../support/database.js';
import { storeRun } from '../support/snapshotStore.js';

const ACCOUNTS = ['A1', 'A2'] as const;
const ORDERS = 3;
const monotonic = () => performance.now();
const config = {
  settlement: { from: '2026-11-10' },
  schedule: { timezone: 'UTC', cutOff: '00:00' },
} as never;

const fresh = await freshDatabase();
const { db } = fresh;
afterAll(() => fresh.drop());

let run: Run;
let holder: string;
beforeEach(async () => {
  await db.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica');
    await tx.query(`truncate tieout.movement_books, tieout.movements, tieout.movement_amounts,
      tieout.day_sums, tieout.day_events cascade`);
  });
  const runId = await storeRun(db, 'A1');
  await db.query(
    `insert into tieout.run_accounts (run_id, account_id, business_date, merchant_id, state)
     select run_id, 'A2', business_date, 'M1', 'running' from tieout.runs where run_id = $1`,
    [runId],
  );
  const { rows } = await db.query<{ pull_id: bigint; holder: string; date: string }>(
    `insert into tieout.pulls (run_id, kind, as_of, finished_at)
     select run_id, 'night', now(), now() from tieout.runs where run_id = $1
     returning pull_id, (select runner_id::text from tieout.runs where run_id = $1) as holder,
       (select business_date::text from tieout.runs where run_id = $1) as date`,
    [runId],
  );
  const [row] = rows;
  await db.query('update tieout.run_accounts set pull_id = $2 where run_id = $1', [
    ...[runId, row?.pull_id],
  ]);
  await db.query(
    `insert into tieout.look_entries (pull_id, account_id, page_no, position, order_no, is_extra,
       is_asked, transaction_id, currency, amount, state, payment_status, found, fraud_rejected)
     select $1::bigint, account_id, 0, n, 'O' || n, false, true, 'T' || n || '-' || $1::bigint, 'EUR', 10, 'captured', '1',
       true, false
     from unnest($2::text[]) as a (account_id), generate_series(1, $3::int) as n`,
    [row?.pull_id, ACCOUNTS, ORDERS],
  );
  holder = row?.holder ?? '';
  run = {
    db,
    runId,
    businessDate: row?.date ?? '',
    accounts: ACCOUNTS.map((accountId) => ({ accountId, liveFrom: new Date(0) })),
  } as never;
});

async function booked(): Promise<string[]> {
  const { rows } = await db.query<{ line: string }>(
    `select concat_ws(' ', account_id, count(*), sum(amount)) as line from tieout.movements
     group by account_id order by account_id`,
  );
  return rows.map(({ line }) => line);
}

const BOTH = ['A1 3 30.00', 'A2 3 30.00'];

/** Somebody closes a day of the account, and takes long over it. */
function daysHeld(accountId: string): { letGo: () => void; over: Promise<void> } {
  let letGo = (): void => {};
  const free = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const over = db.transaction(async (tx) => {
    await holdDays(tx, accountId);
    await free;
  });
  return { letGo, over };
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  await expect.poll(isSo, { timeout: 10_000, interval: 20 }).toBe(true);
}

test('an account whose days somebody holds keeps neither the book nor the days of another', async () => {
  const held = daysHeld('A2');
  await until(() => isHeld('A2'));
  const booking = bookMovements({ config }, run);
  await until(async () => (await booked()).length === 1);
  expect(await booked()).toEqual(BOTH.slice(0, 1));
  // Its days are free for whoever closes one, although the booking is not over.
  await db.query(
    `update tieout.runs set state = 'tied_out', finished_at = now(), runner_id = null, summary = '{}'
     where run_id = $1`,
    [run.runId],
  );
  const who = { name: 'anna', isClaim: true };
  const order = { accountId: 'A1', date: run.businessDate, who, reason: 'month end' };
  expect(await closeDay(db, order)).toMatchObject({ kind: 'done' });
  held.letGo();
  await Promise.all([held.over, booking]);
  expect(await booked()).toEqual(BOTH);
});

test('cut short between two accounts, the book is whole after the next try, and nothing is twice', async () => {
  const dying: Database = { ...db, transaction: (work, limits) => dieAtSecond(work, limits) };
  let begun = 0;
  const dieAtSecond: Database['transaction'] = (work, limits) => {
    begun += 1;
    if (begun === 2) return Promise.reject(new Error('killed'));
    return db.transaction(work, limits);
  };
  await expect(bookMovements({ config }, { ...run, db: dying })).rejects.toThrow('killed');
  expect(await booked()).toEqual(BOTH.slice(0, 1));
  const said: string[] = [];
  const progress = (step: string, done: number, total: number) =>
    void said.push(`${step} ${done} of ${total}`);
  await bookMovements({ config, progress }, run);
  expect(said).toEqual(['books 0 of 2', 'books 1 of 2', 'books 2 of 2']);
  await bookMovements({ config }, run);
  expect(await booked()).toEqual(BOTH);
  const { rows } = await db.query(
    `select account_id, amount::text as amount, movements::int as movements from tieout.day_sums
     where operation = 'captured_elsewhere' order by 1`,
  );
  expect(rows).toEqual(
    ACCOUNTS.map((account_id) => ({ account_id, amount: '30.00', movements: 3 })),
  );
  expect((await checkChain(db, () => {})).disagreements).toEqual([]);
});

test('a run that is taken over between two accounts books nothing more', async () => {
  const held = daysHeld('A2');
  await until(() => isHeld('A2'));
  const mine = fenced({ db, monotonic, runner: { id: holder } as never }, run);
  const booking = bookMovements({ config }, mine.run).then(
    () => 'booked',
    (error: unknown) => error,
  );
  await until(async () => (await booked()).length === 1);
  const next = randomUUID();
  const isTaken = await takeRun(db, run.runId, holder, {
    runner: { id: next, host: 'h', boot: 'b', pid: 1, started: 's' },
    accountIds: ACCOUNTS,
    settings: {},
    ...{ settingsSha256: '', version: '1', environment: 'test', waitsForGateway: false },
  } as never);
  expect(isTaken).toBe(true);
  expect(await booking).toBeInstanceOf(Error);
  held.letGo();
  await held.over;
  expect(await booked()).toEqual(BOTH.slice(0, 1));
  await expect(bookMovements({ config }, mine.run)).rejects.toThrow();
  expect(await booked()).toEqual(BOTH.slice(0, 1));
  await bookMovements(
    { config },
    fenced({ db, monotonic, runner: { id: next } as never }, run).run,
  );
  expect(await booked()).toEqual(BOTH);
});

async function isHeld(accountId: string): Promise<boolean> {
  const { rows } = await db.query<{ mine: boolean }>(
    `select pg_try_advisory_xact_lock(hashtext('tieout.days'), hashtext($1)) as mine`,
    [accountId],
  );
  return rows[0]?.mine === false;
}
