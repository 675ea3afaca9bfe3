// Which looks prove that an unknown capture or cancel did not happen (settle.sql): each is weighed
// from its own time on, and the looks of before cost nothing.

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { statement } from '../../src/database/statements.js';
import { settleBySnapshot } from '../../src/instructions/instructionsStore.js';
import type { FreshDatabase } from '../support/database.js';
import { freshDatabase } from '../support/database.js';
import type { OrderText } from '../support/orders.js';
import { HOUR_MS, orderOf, SNAPSHOT_AT } from '../support/orders.js';
import type { Snapshot } from '../support/snapshotStore.js';
import { storeInstructions, storeRun, storeSnapshot } from '../support/snapshotStore.js';

const HOURS = 2;
const OLD: OrderText = {
  ledger: 'captured 10.00 EUR',
  gateway: ['T1 authorised 10.00'],
  did: ['capture T1 unknown'],
};
const PART: OrderText = {
  ledger: 'captured 10.00 EUR',
  gateway: ['T1 captured 10.00'],
  did: ['refund T1 R1 4.00 unknown'],
};

let fresh: FreshDatabase;
let runId: bigint;
let accountId: string;
let accounts = 0;

beforeAll(async () => {
  fresh = await freshDatabase();
});
beforeEach(async () => {
  accounts += 1;
  accountId = `A${accounts}`;
  runId = await storeRun(fresh.db, accountId);
});
afterAll(() => fresh.drop());

/** So many orders, each with its unknown instruction, claimed so long before the last look. */
async function unknownSince(texts: readonly (readonly [OrderText, number])[]) {
  const orders = texts.map(([text], at) => orderOf(`O${at}`, apart(text, at)));
  await storeInstructions(fresh.db, runId, accountId, orders);
  for (const [at, [, hours]] of texts.entries()) {
    await fresh.db.query(
      `with batch as (
         insert into tieout.batches (run_id, account_id, operation, state, created_at)
         values ($1, $2, 'capture', 'unanswered', now()) returning batch_id),
       moved as (
         update tieout.instructions set batch_id = batch.batch_id from batch
         where account_id = $2 and order_no = $3)
       insert into tieout.attempts (attempt_id, batch_id, attempt_no, account_id, entries,
         body_sha256, host, boot_id, pid, process_started, claimed_at, send_by, outcome,
         finished_at, is_sender_gone)
       select gen_random_uuid(), batch_id, 1, $2, '[]', '', '', '', 1, '', $4, $4, 'unanswered',
         $4, true from batch`,
      [runId, accountId, `O${at}`, new Date(SNAPSHOT_AT.getTime() - hours * HOUR_MS)],
    );
  }
  return orders;
}

/** No two orders share a transaction. */
function apart(text: OrderText, at: number): OrderText {
  const other = (words: string) => words.replaceAll('T1', `T${at}`).replaceAll('R1', `R${at}`);
  return { ...text, gateway: text.gateway?.map(other) ?? [], did: text.did?.map(other) ?? [] };
}

async function lookedAt(orders: Parameters<typeof storeSnapshot>[3], hoursBefore: number) {
  const look = await storeSnapshot(fresh.db, runId, accountId, orders);
  const asOf = new Date(SNAPSHOT_AT.getTime() - hoursBefore * HOUR_MS);
  await fresh.db.query('update tieout.pulls set as_of = $2 where pull_id = $1', [
    look.pullId,
    asOf,
  ]);
  return look;
}

test('each is weighed by the looks since its own claim, and a refund by none', async () => {
  const orders = await unknownSince([
    [OLD, 2 * HOURS],
    [OLD, HOURS],
    [PART, 1_000],
  ]);
  await lookedAt(orders, 1);
  const last = await lookedAt(orders, 0);
  await settleBySnapshot(fresh.db, runId, last.pullId, SNAPSHOT_AT, HOURS);
  const { rows } = await fresh.db.query<{ state: string }>(
    'select state from tieout.instructions where account_id = $1 order by order_no',
    [accountId],
  );
  expect(rows.map(({ state }) => state)).toEqual(['planned', 'unknown', 'unknown']);
});

interface Plan {
  'QUERY PLAN': readonly [{ Plan: { 'Shared Hit Blocks': number; 'Shared Read Blocks': number } }];
}

async function blocksRead({ pullId }: Snapshot): Promise<number> {
  const { rows } = await fresh.db.query<Plan>(
    `explain (analyze, buffers, format json) ${statement('instructions/settle')}`,
    [
      runId,
      pullId,
      SNAPSHOT_AT,
      HOURS,
      JSON.stringify([{ operation: 'capture', expected: 'captured' }]),
    ],
  );
  const plan = rows[0]?.['QUERY PLAN'][0].Plan;
  if (plan === undefined) throw new Error('no plan');
  return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
}

/** Nights of before, each with as many pages as 4,000 orders take. */
async function nightsBefore(nights: number): Promise<void> {
  await fresh.db.query(
    `with looks as (
       insert into tieout.pulls (run_id, kind, as_of, finished_at)
       select $1, 'night', at, at
       from generate_series(1, $2::int) n
       cross join lateral (select $4::timestamptz + make_interval(days => n - 1000) as at) d
       returning pull_id, as_of)
     insert into tieout.pages (pull_id, account_id, page_no, state, orders, entries, attempts,
       answered_at)
     select pull_id, $3, page_no, 'answered', 100, 100, 1, as_of
     from looks cross join generate_series(1, 40) page_no`,
    [runId, nights, accountId, SNAPSHOT_AT],
  );
  await fresh.db.query('analyze tieout.pulls, tieout.pages_before');
}

test('the pages of the nights before are not read', async () => {
  const orders = await unknownSince([
    [OLD, 2 * HOURS],
    [PART, 1_000],
  ]);
  await nightsBefore(5);
  const few = await blocksRead(await lookedAt(orders, 0));
  await nightsBefore(300);
  expect(await blocksRead(await lookedAt(orders, 0))).toBeLessThan(few * 2);
});
