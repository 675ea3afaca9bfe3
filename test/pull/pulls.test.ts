// Which orders a night looks at (docs/CONTRACT.md section 5, step 1): askLive.sql and
// rememberFinal.sql on a real PostgreSQL, with tables and with a merchant's views in their place.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  assignClasses,
  clearVerdicts,
  judgeOrders,
  rememberFinal,
  updateBreaks,
} from '../../src/compare/verdictsStore.js';
import type { Database } from '../../src/database/db.js';
import { addGatewayOnly } from '../../src/pull/snapshot/gatewayOnlyStore.js';
import { askAgain, askLive, createPull } from '../../src/pull/snapshot/snapshotsStore.js';
import type { FreshDatabase } from '../support/database.js';
import { freshDatabase } from '../support/database.js';
import type { OrderText } from '../support/orders.js';
import {
  DATE_END,
  HOUR_MS,
  LIVE_FROM,
  orderOf,
  plainRules,
  SNAPSHOT_AT,
} from '../support/orders.js';
import {
  compareRulesOf,
  storeInstructions,
  storeLedger,
  storeRun,
  storeSnapshot,
} from '../support/snapshotStore.js';

const LOOKBACK_FROM = new Date(DATE_END.getTime() - 35 * 24 * HOUR_MS);
const OLD = 'age=40d';

let fresh: FreshDatabase;
let db: Database;
let accountId = '';
let accounts = 0;
let tables = 'ledger.';
beforeAll(async () => {
  fresh = await freshDatabase();
  db = fresh.db;
});
afterAll(() => fresh.drop());
beforeEach(() => {
  accounts += 1;
  accountId = `A${accounts}`;
});

interface LiveCase {
  name: string;
  /** the order as the last night saw it; what it then remembers is as it is */
  before?: OrderText;
  /** the order before this night */
  now: OrderText;
  isAsked: boolean;
}

const matched = { ledger: `captured 10.00 EUR ${OLD}`, gateway: ['T1 captured 10.00'] };
const cases: LiveCase[] = [
  { name: 'young', now: { ledger: 'captured 10.00 EUR age=2d' }, isAsked: true },
  {
    name: 'placed just before the end',
    now: { ledger: 'captured 1.00 EUR age=3h+1s' },
    isAsked: true,
  },
  { name: 'placed at the end', now: { ledger: 'captured 1.00 EUR age=3h' }, isAsked: false },
  { name: 'old and never seen', now: { ledger: `captured 10.00 EUR ${OLD}` }, isAsked: true },
  { name: 'old and final', before: matched, now: matched, isAsked: false },
  {
    name: 'final, but younger than the look-back',
    before: { ...matched, ledger: 'captured 10.00 EUR age=5d' },
    now: { ...matched, ledger: 'captured 10.00 EUR age=5d' },
    isAsked: true,
  },
  {
    name: 'old, final, and changed in the ledger',
    before: matched,
    now: { ...matched, ledger: `captured 12.00 EUR ${OLD}` },
    isAsked: true,
  },
  {
    name: 'old, final, and expected otherwise now',
    before: matched,
    now: { ...matched, ledger: `cancelled 10.00 EUR ${OLD}` },
    isAsked: true,
  },
  {
    name: 'old and refunded in part: not final',
    before: { ...matched, gateway: ['T1 partially_refunded 10.00'], refunds: ['R1 4.00 age=20d'] },
    now: { ...matched, refunds: ['R1 4.00 age=20d'] },
    isAsked: true,
  },
  {
    name: 'old and still authorised',
    before: { ledger: `authorised 10.00 EUR ${OLD}`, gateway: ['T1 authorised 10.00 age=1d'] },
    now: { ledger: `authorised 10.00 EUR ${OLD}` },
    isAsked: true,
  },
  {
    name: 'old, cancelled, and never at the gateway: not final',
    before: { ledger: `cancelled 10.00 EUR ${OLD}` },
    now: { ledger: `cancelled 10.00 EUR ${OLD}` },
    isAsked: true,
  },
  {
    name: 'old, cancelled at the gateway after a declined attempt',
    before: {
      ledger: `cancelled 10.00 EUR ${OLD}`,
      gateway: ['T1 declined 10.00 age=40d', 'T2 cancelled 10.00 age=39d'],
    },
    now: { ledger: `cancelled 10.00 EUR ${OLD}` },
    isAsked: false,
  },
  {
    name: 'old, with an open break',
    before: { ...matched, gateway: ['T1 captured 9.00'] },
    now: matched,
    isAsked: true,
  },
  {
    name: 'old, and nobody could look',
    before: { ...matched, page: 'failed' },
    now: matched,
    isAsked: true,
  },
  {
    name: 'old, final, with a new refund request',
    before: matched,
    now: { ...matched, refunds: ['R1 4.00'] },
    isAsked: true,
  },
  {
    name: 'old, final, with a historic refund request',
    before: matched,
    now: { ...matched, refunds: ['R1 4.00 age=20d'] },
    isAsked: false,
  },
  {
    name: 'old, final, its refund confirmed',
    before: matched,
    now: { ...matched, refunds: ['R1 4.00'], did: ['refund T1 R1 4.00 confirmed'] },
    isAsked: false,
  },
  {
    name: 'old, final, the request that was paid has left',
    before: matched,
    now: { ...matched, did: ['refund T1 R1 4.00 confirmed'] },
    isAsked: true,
  },
  {
    name: 'old, final, the request that was paid was lowered',
    before: matched,
    now: { ...matched, refunds: ['R1 3.00'], did: ['refund T1 R1 4.00 confirmed'] },
    isAsked: true,
  },
  {
    name: 'left with all of its paid requests',
    before: matched,
    now: { ledger: null, did: ['refund T1 R1 4.00 confirmed'] },
    isAsked: false,
  },
  ...['planned', 'held', 'queued', 'sending', 'accepted', 'unknown'].map((state) => ({
    name: `old, final, with an instruction that is ${state}`,
    before: matched,
    now: { ...matched, did: [`capture T1 ${state}`] },
    isAsked: true,
  })),
  ...['confirmed', 'rejected', 'withdrawn'].map((state) => ({
    name: `old, final, with an instruction that is ${state}`,
    before: matched,
    now: { ...matched, did: [`capture T1 ${state}`] },
    isAsked: false,
  })),
  {
    name: 'placed after the end, with a refund request',
    now: { ledger: 'captured 10.00 EUR age=1h', refunds: ['R1 10.00 age=1h'] },
    isAsked: true,
  },
  {
    name: 'no longer in the ledger, with an open break',
    before: { ...matched, gateway: ['T1 captured 9.00'] },
    now: { ledger: null },
    isAsked: true,
  },
  {
    name: 'no longer in the ledger, and settled',
    before: matched,
    now: { ledger: null },
    isAsked: false,
  },
];

test.each(cases.map((one) => [one.isAsked ? 'asked' : 'left alone', one.name, one] as const))(
  '%s: %s',
  async (_, __, one) => {
    if (one.before) await nightBefore(one.before);
    expect((await askedTonight(one.now)).length > 0).toBe(one.isAsked);
  },
);

test('what is final is remembered once, and a change is remembered anew', async () => {
  await nightBefore(matched);
  const changed = { ledger: `captured 12.00 EUR ${OLD}`, gateway: ['T1 captured 12.00'] };
  await nightBefore(changed);
  expect(await askedTonight(changed)).toEqual([]);
  expect((await askedTonight(matched)).length).toBe(1);
});

describe('pages', () => {
  test('a hundred orders each, by account, in the order of their numbers', async () => {
    const numbers = Array.from({ length: 205 }, (_, index) => `O${index}`);
    const orders = numbers.map((no) => orderOf(no, { ledger: 'captured 10.00 EUR' }));
    await storeLedger(db, accountId, orders);
    await storeLedger(db, `${accountId}b`, orders.slice(0, 3));
    const pullId = await ask([accountId, `${accountId}b`]);
    const { rows } = await db.query(
      `select account_id = $2 as is_first, page_no, count(*) as orders
       from tieout.asked_orders where pull_id = $1 group by 1, 2 order by 1 desc, 2`,
      [pullId, accountId],
    );
    expect(rows).toEqual([
      { is_first: true, page_no: 0, orders: 100n },
      { is_first: true, page_no: 1, orders: 100n },
      { is_first: true, page_no: 2, orders: 5n },
      { is_first: false, page_no: 0, orders: 3n },
    ]);
  });

  test('a number that contains the separator is in no page', async () => {
    const orders = ['1,2', '1', '2'].map((no) => orderOf(no, { ledger: 'captured 10.00 EUR' }));
    await storeLedger(db, accountId, orders);
    const pullId = await ask([accountId]);
    const { rows } = await db.query(
      `select order_no, page_no from tieout.asked_orders where pull_id = $1 order by order_no`,
      [pullId],
    );
    expect(rows).toEqual([
      { order_no: '1', page_no: 0 },
      { order_no: '1,2', page_no: null },
      { order_no: '2', page_no: 0 },
    ]);
  });

  test('accounts that are not asked for are left alone', async () => {
    await storeLedger(db, accountId, [orderOf('O1', { ledger: 'captured 10.00 EUR' })]);
    expect(await askedIn(await ask([`${accountId}b`]))).toEqual([]);
  });
});

test('a second snapshot asks for the orders of the instructions, with the ledger as it is now', async () => {
  const runId = await storeRun(db, accountId);
  const orders = ['O1', 'O2', 'O3'].map((no) =>
    orderOf(no, { ledger: 'captured 10.00 EUR', did: ['capture T1 accepted'] }),
  );
  await storeInstructions(db, runId, accountId, orders);
  await storeLedger(db, accountId, orders.slice(0, 2));
  const { rows } = await db.query<{ instruction_id: bigint }>(
    `select instruction_id from tieout.instructions where account_id = $1 and order_no <> 'O2'`,
    [accountId],
  );
  const { pullId } = await createPull(db, runId, 'confirm');
  const ids = rows.map((row) => row.instruction_id);
  await askAgain(db, pullId, ids, { separator: ',', pageOrders: 100 });
  expect(await askedIn(pullId)).toEqual(['O1 captured 10.00', 'O3 - -']);
});

test('entries that nobody asked for become orders of the pull, save those of the ledger', async () => {
  const runId = await storeRun(db, accountId);
  const unasked = { page: 'unasked' as const, gateway: ['T1 captured 10.00'] };
  const gatewayOnly = orderOf('S1', { ledger: null, ...unasked });
  const known = orderOf('O1', { ledger: 'captured 10.00 EUR', ...unasked });
  await storeLedger(db, accountId, [known]);
  const snapshot = await storeSnapshot(db, runId, accountId, [gatewayOnly, known]);
  await db.query('delete from tieout.asked_orders where pull_id = $1', [snapshot.pullId]);
  await addGatewayOnly(db, snapshot.pullId, null);
  await addGatewayOnly(db, snapshot.pullId, null);
  expect(await askedIn(snapshot.pullId)).toEqual(['S1 - -']);
});

describe('a merchant’s views in place of the tables', () => {
  beforeAll(async () => {
    tables = 'ledger.shop_';
    // A merchant's own columns: the default collation, other lengths, an amount without a scale.
    await db.query(`
      alter table ledger.orders rename to shop_orders;
      alter table ledger.refund_requests rename to shop_refund_requests;
      create view ledger.orders as select account_id::varchar(40) collate "default" as account_id,
        order_no::varchar(40) collate "default" as order_no, currency::char(3) as currency,
        amount::numeric as amount, expected::varchar(12) as expected,
        coalesce(transaction_id, '')::varchar(60) collate "default" as transaction_id,
        capture_amount::numeric as capture_amount, review_decision::varchar(8) as review_decision,
        placed_at, updated_at from ledger.shop_orders;
      create view ledger.refund_requests as select account_id::text collate "default" as account_id,
        refund_id::text collate "default" as refund_id,
        order_no::text collate "default" as order_no, refund_amount::numeric as refund_amount,
        reason, requested_by, requested_at from ledger.shop_refund_requests`);
  });
  afterAll(async () => {
    tables = 'ledger.';
    await db.query(`drop view ledger.orders, ledger.refund_requests;
      alter table ledger.shop_orders rename to orders;
      alter table ledger.shop_refund_requests rename to refund_requests`);
  });

  test.each(cases.map((one) => [one.isAsked ? 'asked' : 'left alone', one.name, one] as const))(
    '%s: %s',
    async (_, __, one) => {
      if (one.before) await nightBefore(one.before);
      expect((await askedTonight(one.now)).length > 0).toBe(one.isAsked);
    },
  );
});

/** A whole night over one order: looked at, compared, classified, and what is final remembered. */
async function nightBefore(text: OrderText): Promise<void> {
  const runId = await storeRun(db, accountId);
  const order = orderOf('O1', text);
  await storeLedger(db, accountId, [order], tables);
  const snapshot = await storeSnapshot(db, runId, accountId, [order]);
  await clearVerdicts(db, runId, [accountId]);
  await judgeOrders(db, snapshot, compareRulesOf(plainRules(), [accountId]));
  await updateBreaks(db, snapshot, SNAPSHOT_AT);
  await assignClasses(db, runId);
  await rememberFinal(db, runId, snapshot.pullId, LOOKBACK_FROM);
}

async function askedTonight(text: OrderText): Promise<string[]> {
  const order = orderOf('O1', text);
  await storeLedger(db, accountId, [order], tables);
  await storeInstructions(db, await storeRun(db, accountId), accountId, [order]);
  return askedIn(await ask([accountId]));
}

async function ask(accountIds: readonly string[]): Promise<bigint> {
  const runId = await storeRun(db, accountId);
  const { pullId } = await createPull(db, runId, 'night');
  await askLive(
    db,
    pullId,
    accountIds.map((one) => ({ account_id: one, live_from: LIVE_FROM })),
    { endsAt: DATE_END, lookbackFrom: LOOKBACK_FROM },
    { separator: ',', pageOrders: 100 },
  );
  return pullId;
}

async function askedIn(pullId: bigint): Promise<string[]> {
  const { rows } = await db.query<{ text: string }>(
    `select concat_ws(' ', order_no, coalesce(expected, '-'), coalesce(amount::text, '-')) as text
     from tieout.asked_orders where pull_id = $1 order by order_no`,
    [pullId],
  );
  return rows.map((row) => row.text);
}

test('the numbers of runs and looks go up with time, whatever the date and the clock', async () => {
  const runOf = async (date: string, began: string): Promise<bigint> => {
    const { rows } = await db.query<{ run_id: bigint }>(
      `insert into tieout.runs (business_date, covers, starts_at, ends_at, state, environment,
         settings, settings_sha256, version, created_at)
       values ($1::date, array[$1::date], $2::timestamptz - interval '1 day', $2, 'failed',
         'test', '{}', '', '0', $2) returning run_id`,
      [date, began],
    );
    return rows[0]?.run_id ?? 0n;
  };
  const snapshotOf = async (runId: bigint) => (await createPull(db, runId, 'fresh')).pullId;
  const november = await runOf('2027-11-02', '2027-11-03T02:30:00Z');
  const decemberSnapshot = await snapshotOf(await runOf('2027-12-01', '2027-12-02T02:30:00Z'));
  // A date of long ago, worked on today; a clock that was set back; a night that goes on late.
  const october = await runOf('2027-10-05', '2027-12-02T09:00:00Z');
  const setBack = await runOf('2027-12-02', '2027-06-01T00:00:00Z');
  const late = await snapshotOf(november);
  expect(october).toBeGreaterThan(november);
  expect(setBack).toBeGreaterThan(october);
  expect(late).toBeGreaterThan(decemberSnapshot);
  expect(await snapshotOf(october)).toBeGreaterThan(late);
  expect(String(november)).toMatch(/^202711/);
  expect(String(setBack)).toMatch(/^202712/);
});
