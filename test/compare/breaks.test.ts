// The life of breaks over several looks, through compare.sql and updateBreaks.sql: one row an order
// and kind for life. That they tie is held by test/night/nights.test.ts.

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  assignClasses,
  clearVerdicts,
  judgeOrders,
  updateBreaks,
} from '../../src/compare/verdictsStore.js';
import type { Database } from '../../src/database/db.js';
import type { FreshDatabase } from '../support/database.js';
import { freshDatabase } from '../support/database.js';
import type { OrderText, StoredOrder } from '../support/orders.js';
import { orderOf, plainRules, SNAPSHOT_AT } from '../support/orders.js';
import {
  compareRulesOf,
  storeInstructions,
  storeLedger,
  storeRun,
  storeSnapshot,
  waiveAll,
} from '../support/snapshotStore.js';

let fresh: FreshDatabase;
let db: Database;
let accountId = '';
let accounts = 0;
beforeAll(async () => {
  fresh = await freshDatabase();
  db = fresh.db;
});
afterAll(() => fresh.drop());
beforeEach(() => {
  accounts += 1;
  accountId = `A${accounts}`;
});

const CAPTURED = { ledger: 'captured 10.00 EUR', gateway: ['T1 captured 10.00'] };
const CHEAPER = { ledger: 'captured 10.00 EUR', gateway: ['T1 captured 9.00'] };
const CHEAPER_STILL = { ledger: 'captured 10.00 EUR', gateway: ['T1 captured 8.00'] };
const UNANSWERED = { ledger: 'captured 10.00 EUR', page: 'failed' as const };

test('a break opens once, is kept, and resolves by itself', async () => {
  expect(await nights([CHEAPER, CHEAPER, CAPTURED])).toEqual([
    'amount_mismatch open: opened',
    'amount_mismatch open: -',
    'amount_mismatch resolved: resolved from open',
  ]);
});

test('a break keeps its row and first_seen when it comes back', async () => {
  expect(await nights([CHEAPER, CAPTURED, CHEAPER])).toEqual([
    'amount_mismatch open: opened',
    'amount_mismatch resolved: resolved from open',
    'amount_mismatch open: reopened from resolved',
  ]);
  const { rows } = await db.query(
    `select count(*) as rows, min(first_run_id) < min(last_run_id) as is_older
     from tieout.breaks where account_id = $1`,
    [accountId],
  );
  expect(rows).toEqual([{ rows: 1n, is_older: true }]);
});

test('an open break that says something else is changed, not opened anew', async () => {
  expect(await nights([CHEAPER, CHEAPER_STILL])).toEqual([
    'amount_mismatch open: opened',
    'amount_mismatch open: changed from open',
  ]);
  const { rows } = await db.query(
    `select expected, actual, currency, amount from tieout.breaks where account_id = $1`,
    [accountId],
  );
  expect(rows[0]).toMatchObject({
    expected: { state: 'captured', amount: '10.00', currency: 'EUR' },
    actual: { state: 'captured', amount: '8.00', currency: 'EUR', code: '3000' },
    currency: 'EUR',
    // What it opened with stays at stake, so that the open breaks tie in money.
    amount: '1.00',
  });
});

test('what was not looked at neither opens nor resolves nor changes', async () => {
  expect(await nights([UNANSWERED, CHEAPER, UNANSWERED, CAPTURED])).toEqual([
    ': -',
    'amount_mismatch open: opened',
    'amount_mismatch open: -',
    'amount_mismatch resolved: resolved from open',
  ]);
});

test('contradictory answers count as not looked at', async () => {
  const contradictory = { ...CAPTURED, gateway: ['T1 captured 10.00', 'T1 refunded 10.00'] };
  expect(await nights([CHEAPER, contradictory])).toEqual([
    'amount_mismatch open: opened',
    'amount_mismatch open: -',
  ]);
});

test('a waived break is silent until it changes', async () => {
  expect(await nights([CHEAPER, 'waive', CHEAPER, CHEAPER_STILL])).toEqual([
    'amount_mismatch open: opened',
    'amount_mismatch waived: waived from open',
    'amount_mismatch waived: -',
    'amount_mismatch open: reopened from waived',
  ]);
});

test('a waived break of refunds reopens when a request is added, or takes another’s place', async () => {
  const refunded = { ledger: 'captured 10.00 EUR', gateway: ['T1 refunded 10.00'] };
  const one = { ...refunded, refunds: ['R1 4.00'] };
  const other = { ...refunded, refunds: ['R2 4.00'] };
  expect(await nights([refunded, 'waive', refunded, one, 'waive', one, other])).toEqual([
    'refund_mismatch open: opened',
    'refund_mismatch waived: waived from open',
    'refund_mismatch waived: -',
    'refund_mismatch open: reopened from waived',
    'refund_mismatch waived: waived from open',
    'refund_mismatch waived: -',
    'refund_mismatch open: reopened from waived',
  ]);
});

test('a waived break whose difference is gone resolves, and reopens like any other', async () => {
  expect(await nights([CHEAPER, 'waive', CAPTURED, CHEAPER])).toEqual([
    'amount_mismatch open: opened',
    'amount_mismatch waived: waived from open',
    'amount_mismatch resolved: resolved from waived',
    'amount_mismatch open: reopened from resolved',
  ]);
});

test('one kind takes the place of another', async () => {
  const refunded = { ledger: 'captured 10.00 EUR', gateway: ['T1 refunded 10.00'] };
  expect(await nights([CHEAPER, refunded])).toEqual([
    'amount_mismatch open: opened',
    'amount_mismatch resolved, refund_mismatch open: resolved from open, opened',
  ]);
});

test('the break of a gateway-only entry resolves when the gateway has it no more, or the ledger has it', async () => {
  const gatewayOnly = { ledger: null, page: 'unasked' as const, gateway: ['T1 captured 10.00'] };
  expect(await nights([gatewayOnly, { ledger: null }])).toEqual([
    'missing_in_ledger open: opened',
    'missing_in_ledger resolved: resolved from open',
  ]);
  expect(await nights([gatewayOnly, CAPTURED])).toEqual([
    'missing_in_ledger open: reopened from resolved',
    'missing_in_ledger resolved: resolved from open',
  ]);
});

test('the same night judged again changes nothing', async () => {
  const runId = await storeRun(db, accountId);
  const order = orderOf('O1', CHEAPER);
  await snapshot(runId, [order]);
  await snapshot(runId, [order]);
  expect(await eventsOf(runId)).toBe('opened');
});

test('an order is in the first class that fits its breaks', async () => {
  const runId = await storeRun(db, accountId);
  await snapshot(runId, [
    orderOf('O1', CHEAPER),
    orderOf('O2', CHEAPER),
    orderOf('O3', UNANSWERED),
  ]);
  await waiveAll(db, accountId, runId, 'O2');
  await assignClasses(db, runId);
  expect(await classesOf(runId)).toEqual(['O1 broken', 'O2 explained', 'O3 notCompared']);
});

test('what was sent after its look and is unknown is not due, though no break says so yet', async () => {
  const runId = await storeRun(db, accountId);
  const authorised = { ledger: 'captured 10.00 EUR', gateway: ['T1 authorised 10.00'] };
  await snapshot(runId, [orderOf('O1', authorised), orderOf('O2', authorised)]);
  const sent = orderOf('O1', { ...authorised, did: ['capture T1 unknown'] });
  await storeInstructions(db, runId, accountId, [sent]);
  await assignClasses(db, runId);
  expect(await classesOf(runId)).toEqual(['O1 notCompared', 'O2 due']);
});

async function classesOf(runId: bigint): Promise<string[]> {
  const { rows } = await db.query<{ told: string }>(
    `select order_no || ' ' || class as told from tieout.verdicts where run_id = $1
     order by order_no`,
    [runId],
  );
  return rows.map(({ told }) => told);
}

/** Runs one order through nights; after each, its breaks and what happened to them. */
async function nights(steps: readonly (OrderText | 'waive')[]): Promise<string[]> {
  const told: string[] = [];
  for (const step of steps) {
    const runId = await storeRun(db, accountId);
    if (step === 'waive') await waiveAll(db, accountId, runId, 'O1');
    else await snapshot(runId, [orderOf('O1', step)]);
    const { rows } = await db.query<{ kind: string; state: string }>(
      'select kind, state from tieout.breaks where account_id = $1 order by break_id',
      [accountId],
    );
    const state = rows.map((row) => `${row.kind} ${row.state}`).join(', ');
    told.push(`${state}: ${await eventsOf(runId)}`);
  }
  return told;
}

async function snapshot(runId: bigint, orders: readonly StoredOrder[]): Promise<void> {
  await storeLedger(db, accountId, orders);
  const scope = await storeSnapshot(db, runId, accountId, orders);
  await clearVerdicts(db, runId, [accountId]);
  await judgeOrders(db, scope, compareRulesOf(plainRules(), [accountId]));
  await updateBreaks(db, scope, SNAPSHOT_AT);
}

async function eventsOf(runId: bigint): Promise<string> {
  const { rows } = await db.query<{ event: string; from_state: string | null }>(
    `select event, from_state from tieout.break_events join tieout.breaks b using (break_id)
     where run_id = $1 and b.account_id = $2 order by break_id, event_id`,
    [runId, accountId],
  );
  if (rows.length === 0) return '-';
  return rows
    .map((row) => (row.from_state === null ? row.event : `${row.event} from ${row.from_state}`))
    .join(', ');
}
