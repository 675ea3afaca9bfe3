// The facts right before a send: batchFacts.sql and facts.ts. What compare.sql planned must be what
// core/orders/decideVerdict.ts says of the same order again, or nothing goes out.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { decideOrder } from '../../src/core/orders/decideVerdict.js';
import type { Database } from '../../src/database/db.js';
import { cutBatches } from '../../src/instructions/instructionsStore.js';
import type { FreshFacts } from '../../src/send/batches/batchFactsStore.js';
import { batchFacts } from '../../src/send/batches/batchFactsStore.js';
import type { FreshDatabase } from '../support/database.js';
import { freshDatabase } from '../support/database.js';
import type { OrderText } from '../support/orders.js';
import { orderOf, plainRules, SNAPSHOT_AT, verdictText } from '../support/orders.js';
import { snapshotAndPlan } from '../support/planning.js';
import {
  storeInstructions,
  storeLedger,
  storeRun,
  storeSnapshot,
} from '../support/snapshotStore.js';

const AGE_MINUTES = 30;

let fresh: FreshDatabase;
let db: Database;
let accountId = '';
let runId = 0n;
let accounts = 0;
beforeAll(async () => {
  fresh = await freshDatabase();
  db = fresh.db;
});
afterAll(() => fresh.drop());
beforeEach(async () => {
  accounts += 1;
  accountId = `A${accounts}`;
  runId = await storeRun(db, accountId);
});

const TO_CAPTURE = { ledger: 'captured 10.00 EUR', gateway: ['T1 authorised 10.00'] };
const TO_REFUND = {
  ledger: 'captured 10.00 EUR',
  gateway: ['T1 partially_refunded 10.00'],
  refunds: ['R1 4.00', 'R2 3.00', 'R3 1.00'],
  did: ['refund T1 R1 4.00 confirmed'],
};

describe('both roads agree', () => {
  test.each<[string, OrderText, string]>([
    ['a capture', TO_CAPTURE, 'need capture T1 10.00 EUR'],
    [
      'a capture of less',
      { ...TO_CAPTURE, ledger: 'captured 10.00 EUR take=8.00 names=T1' },
      'need capture T1 8.00 EUR',
    ],
    [
      'a cancel beside a dead attempt',
      {
        ledger: 'cancelled 10.00 EUR',
        gateway: ['T1 declined 10.00 age=1h', 'T2 authorised 10.00'],
      },
      'need cancel T2 10.00 EUR',
    ],
    [
      'a review',
      { ledger: 'captured 10.00 EUR decision=reject', gateway: ['T1 in_review 10.00'] },
      'need review T1 10.00 EUR reject',
    ],
    ['the next of several refunds', TO_REFUND, 'need refund T1 10.00 EUR R2 3.00'],
    [
      'the same entry twice',
      { ...TO_CAPTURE, gateway: ['T1 authorised 10.00', 'T1 authorised 10.00'] },
      'need capture T1 10.00 EUR',
    ],
  ])('%s', async (_, order, need) => {
    await queued(order);
    expect(await decidedAgain()).toBe(need);
  });
});

describe('what forbids it after all', () => {
  test.each<[string, OrderText, string]>([
    ['the ledger has changed', { ...TO_CAPTURE, ledger: 'authorised 10.00 EUR' }, 'matched'],
    ['the amount has changed', { ...TO_CAPTURE, ledger: 'captured 9.00 EUR' }, 'amount_mismatch'],
    ['the order is gone', { ledger: null }, 'missing_in_ledger'],
  ])('%s', async (_, now, verdict) => {
    await queued(TO_CAPTURE);
    await storeLedger(db, accountId, [orderOf('O1', now)]);
    expect(await decidedAgain()).toBe(verdict);
  });

  test.each<[string, string[]]>([
    ['is gone', ['R2 3.00', 'R3 1.00']],
    ['was lowered', ['R1 3.00', 'R2 3.00', 'R3 1.00']],
    ['was renamed', ['R9 4.00', 'R2 3.00', 'R3 1.00']],
  ])('a request that was paid %s', async (_, refunds) => {
    await queued(TO_REFUND);
    await storeLedger(db, accountId, [orderOf('O1', { ...TO_REFUND, refunds })]);
    expect(await decidedAgain()).toBe('refund_mismatch');
  });

  test('a request was paid for another order', async () => {
    await queued(TO_REFUND);
    const other = { ledger: null, did: ['refund T8 R8 1.00 confirmed'] };
    await storeInstructions(db, await storeRun(db, accountId), accountId, [orderOf('O2', other)]);
    await db.query(
      `insert into ledger.refund_requests (account_id, refund_id, order_no, refund_amount,
         requested_at) select account_id, 'O2/R8', order_no, 1, requested_at
       from ledger.refund_requests where account_id = $1 limit 1`,
      [accountId],
    );
    expect(await decidedAgain()).toBe('refund_mismatch');
  });

  test('the order was captured by another transaction, or another order refunded by this', async () => {
    await queued(TO_CAPTURE);
    expect(await doubled()).toBeNull();
    const did = ['capture T0 confirmed'];
    await storeInstructions(db, runId, accountId, [orderOf('O1', { ...TO_CAPTURE, did })]);
    expect(await doubled()).toBe('second_capture');
    accountId = `${accountId}b`;
    runId = await storeRun(db, accountId);
    const order = { ...TO_REFUND, did: [], refunds: ['R1 4.00'], gateway: ['*T1 captured 10.00'] };
    await queued(order);
    expect(await doubled()).toBeNull();
    const other = { ledger: null, did: ['refund *T1 R1 4.00 accepted'] };
    await storeInstructions(db, runId, accountId, [orderOf('O2', other)]);
    expect(await doubled()).toBe('shared_refund');
  });

  test('more than was captured of a transaction, or other money, whosever it is by now', async () => {
    const did = ['capture *T1 confirmed'];
    await storeInstructions(db, runId, accountId, [orderOf('O1', { ...TO_CAPTURE, did })]);
    const { rows } = await db.query<{ reasons: (string | null)[] }>(
      `select array_agg((select d.reason from tieout.doubles(asked.account, asked.order_no, 'refund',
           made.transaction_id, 'R1', asked.money, asked.currency) d) order by asked.n) as reasons
       from (values (1, $1, 'O1', 4.00, 'EUR'), (2, $1, 'O1', 4.00, 'USD'),
           (3, $1, 'O1', 12.00, 'EUR'), (4, $1, 'O7', 12.00, 'EUR'), (5, 'other', 'O7', 12.00, 'EUR'),
           (6, 'other', 'O7', 4.00, 'EUR')) as asked (n, account, order_no, money, currency),
         tieout.instructions made where made.account_id = $1`,
      [accountId],
    );
    const over = 'over_captured';
    expect(rows[0]?.reasons).toEqual([null, over, over, over, over, null]);
  });

  test('a later snapshot shows it done', async () => {
    await queued(TO_CAPTURE);
    const now = { ...TO_CAPTURE, gateway: ['T1 captured 10.00'] };
    await touch(await storeSnapshot(db, runId, accountId, [orderOf('O1', now)]));
    expect(await decidedAgain()).toBe('matched');
  });

  test('a later snapshot contradicts itself', async () => {
    await queued(TO_CAPTURE);
    const now = { ...TO_CAPTURE, gateway: ['T1 authorised 10.00', 'T1 authorised 11.00'] };
    await touch(await storeSnapshot(db, runId, accountId, [orderOf('O1', now)]));
    expect(await decidedAgain()).toBe('not compared: contradictory');
  });

  test('a later snapshot that failed leaves the one before it', async () => {
    await queued(TO_CAPTURE);
    const now = { ...TO_CAPTURE, page: 'failed' as const };
    await touch(await storeSnapshot(db, runId, accountId, [orderOf('O1', now)]));
    expect(await decidedAgain()).toBe('need capture T1 10.00 EUR');
  });

  test('the snapshot is too old', async () => {
    await queued(TO_CAPTURE);
    await db.query('update tieout.pulls set as_of = clock_timestamp() - $1::interval', [
      `${AGE_MINUTES} minutes`,
    ]);
    expect(await decidedAgain()).toBe('not compared: no_look');
  });
});

test('a merchant’s views serve as well', async () => {
  await queued(TO_REFUND);
  await db.query(`
    alter table ledger.orders rename to shop_orders;
    alter table ledger.refund_requests rename to shop_refund_requests;
    create view ledger.orders as select account_id collate "default" as account_id,
      order_no::varchar(40) collate "default" as order_no, currency::char(3) as currency,
      amount::numeric as amount, expected, ''::text as transaction_id,
      capture_amount::numeric as capture_amount, review_decision, placed_at, updated_at
      from ledger.shop_orders;
    create view ledger.refund_requests as select account_id collate "default" as account_id,
      refund_id::varchar(60) collate "default" as refund_id,
      order_no collate "default" as order_no, refund_amount::numeric as refund_amount,
      reason, requested_by, requested_at from ledger.shop_refund_requests`);
  expect(await decidedAgain()).toBe('need refund T1 10.00 EUR R2 3.00');
});

/** The order looked at just now, planned, and cut into a batch. */
async function queued(text: OrderText): Promise<void> {
  const order = orderOf('O1', text);
  const earlier = await storeRun(db, accountId);
  await storeInstructions(db, earlier, accountId, [order]);
  await touch(
    await snapshotAndPlan(db, { runId, accountId, rules: { partialCapture: true } }, [order]),
  );
  expect(await cutBatches(db, [accountId], SNAPSHOT_AT)).toBe(1);
}

async function touch(snapshot: { pullId: bigint }): Promise<void> {
  await db.query('update tieout.pulls set as_of = clock_timestamp() where pull_id = $1', [
    snapshot.pullId,
  ]);
}

/** What core/orders/decideVerdict.ts says of the one instruction of the newest batch. */
async function decidedAgain(): Promise<string> {
  const fact = await freshFact();
  expect(fact.snapshotAt === null).toBe(!fact.facts.hasSnapshot);
  const rules = plainRules({ partialCapture: true });
  return verdictText(decideOrder(fact.facts, rules)).replaceAll(/(\w+\.)?O1\//g, '');
}

async function doubled(): Promise<string | null> {
  return (await freshFact()).doubled;
}

async function freshFact(): Promise<FreshFacts> {
  const { rows } = await db.query<{ batch_id: bigint }>(
    'select max(batch_id) as batch_id from tieout.batches where account_id = $1',
    [accountId],
  );
  const facts = await batchFacts(db, rows[0]?.batch_id ?? 0n, AGE_MINUTES);
  expect(facts).toHaveLength(1);
  const [fact] = facts;
  if (!fact) throw new Error('no facts');
  return fact;
}
