// An account that is called otherwise by now, or another one that is the same at the gateway: what
// is known of a transaction, or of a payout's request, under its name stands in the way here, too.
// Neighbours: planDoubled.test.ts, planDisputes.test.ts, planRestored.test.ts.

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { isUnseenDispute } from '../../src/core/instructions/policy.js';
import type { Database } from '../../src/database/db.js';
import { cutBatches } from '../../src/instructions/instructionsStore.js';
import { planInstructions } from '../../src/plan/planStore.js';
import { batchFacts } from '../../src/send/batches/batchFactsStore.js';
import { sayPutBack } from '../../src/send/journal/putBacksStore.js';
import type { FreshDatabase } from '../support/database.js';
import { freshDatabase } from '../support/database.js';
import { orderOf, SNAPSHOT_AT } from '../support/orders.js';
import { instructionTexts, policies, snapshotAndPlan } from '../support/planning.js';
import { storeRun } from '../support/snapshotStore.js';

let fresh: FreshDatabase;
let db: Database;
let before = '';
let now = '';
let accounts = 0;
beforeAll(async () => {
  fresh = await freshDatabase();
  db = fresh.db;
});
afterAll(() => fresh.drop());
beforeEach(() => {
  accounts += 1;
  [before, now] = [`A${accounts}`, `B${accounts}`];
});

const ORDER = orderOf('O1', {
  ledger: 'captured 10.00 EUR',
  gateway: ['T1 captured 10.00'],
  refunds: ['R1 4.00'],
});

async function plan(): Promise<string[]> {
  const runId = await storeRun(db, now);
  const { pullId } = await snapshotAndPlan(db, { runId, accountId: now }, [ORDER]);
  await db.query('update tieout.pulls set as_of = clock_timestamp() where pull_id = $1', [pullId]);
  return instructionTexts(db, now);
}

/** Its transaction has the same name under both. */
const TRANSACTION = () => `${now}.O1/T1`;

test('nothing is known of it', async () => {
  expect(await plan()).toEqual(['O1 refund R1 4.00 planned']);
});

test.each([
  ['names the transaction', null, true],
  ['names the order of a transaction that was captured under that name', 'O1', true],
  ['names an order that may be another shop’s', 'O1', false],
])('a chargeback was settled before, and %s', async (_, orderNo, isKnown) => {
  if (isKnown && orderNo !== null) {
    const runId = await storeRun(db, before);
    await db.query(
      `insert into tieout.movement_books (account_id, begins, history_before, run_id)
       values ($1, '2026-11-01', '2026-11-01', $2)`,
      [before, runId],
    );
    await db.query(
      `insert into tieout.movements (account_id, order_no, transaction_id, kind, currency, amount,
         made, business_date, run_id, is_history)
       values ($1, 'O1', $2, 'captured', 'EUR', 10, 'elsewhere', '2026-11-18', $3, false)`,
      [before, TRANSACTION(), runId],
    );
  }
  await db.query(
    `insert into tieout.settlement_lines (account_id, batch, line_id, line_no, type, booked_at,
       order_no, transaction_id, currency, amount, settle_currency, gross, fee, net)
     values ($1, '134', '1', 1, 'chargeback', '2026-11-19Z', $2, $3, 'EUR', -10, 'EUR', -10, 0,
       -10)`,
    [before, orderNo, orderNo === null ? TRANSACTION() : null],
  );
  const why = isKnown ? 'held: disputed' : 'planned';
  expect(await plan()).toEqual([`O1 refund R1 4.00 ${why}`]);
  expect(await claimSees(({ hasDispute }) => hasDispute)).toBe(isKnown);
});

test('a part of it was refunded by hand', async () => {
  await called();
  expect(await plan()).toEqual(['O1 refund R1 4.00 held: by_hand']);
  const { rows } = await db.query<{ seen: unknown[] }>(
    `select tieout.seen_of(i) -> 'byHand' as seen from tieout.instructions i where account_id = $1`,
    [now],
  );
  expect(rows[0]?.seen).toHaveLength(1);
});

test('a part of it is refunded by hand while ours waits in a batch', async () => {
  expect(await plan()).toEqual(['O1 refund R1 4.00 planned']);
  expect(await claimSees(({ snapshotAt }) => snapshotAt === null)).toBe(false);
  await called();
  expect(await claimSees(({ snapshotAt }) => snapshotAt === null)).toBe(true);
  expect(await claimSees(({ doubled }) => doubled)).toBe('by_hand');
});

test('a permit for it was lost with the database', async () => {
  await db.query(
    `insert into tieout.lost_permits (attempt_id, entry, account_id, operation, order_no, refund_id,
       transaction_id, currency, amount, sent_at, host)
     values (gen_random_uuid(), 0, $1, 'refund', 'O1', 'R0', $2, 'EUR', '4.00', now(), 'b')`,
    [before, TRANSACTION()],
  );
  expect(await plan()).toEqual(['O1 refund R1 4.00 held: restored']);
});

test('a payout of the request waited as sent before, and was withdrawn', async () => {
  const requestId = '00000000-0000-4000-8000-000000000001';
  const payout = { requestId, currency: 'EUR', amount: '120.00', problem: null, source: null };
  const night = async (accountId: string, requestedAt: Date) => {
    const rules = policies('auto')
      .slice(0, 1)
      .map((rule) => ({ ...rule, operation: 'payout' as const }));
    const asked = { ...payout, accountId, requestedAt, isInTotals: true, doubled: null };
    const all = [{ ...asked, payload: { payment_amount: '120' } }];
    await planInstructions(db, await storeRun(db, accountId), requestedAt, rules, false, all);
    return (await instructionTexts(db, accountId)).map((text) => text.split(' payout ')[1]);
  };
  await db.transaction((tx) => sayPutBack(tx, 'for a test'));
  expect(await night(before, SNAPSHOT_AT)).toEqual(['120.00 held: restored']);
  await db.query(
    `update tieout.instructions set state = 'withdrawn', hold_reason = null, settled_at = now(),
       reason = 'no longer asked for', changed_by = 'tieout' where account_id = $1`,
    [before],
  );
  // Dated as it is loaded: after the database came back.
  expect(await night(now, new Date(Date.now() + 24 * 3_600_000))).toEqual([
    '120.00 held: restored',
  ]);
});

function called() {
  return db.query(
    `insert into tieout.gateway_calls (account_id, operation, called_by, is_claim, host,
       body_sha256, entries, outcome, ended_at, looks_before)
     values ($1, 'refund', 'dora', true, 'h', '', jsonb_build_array(jsonb_build_object(
       'order_no', 'called otherwise', 'transaction_id', $2::text, 'refund_amount', '4.00',
       'currency', 'EUR')), 'accepted', now(), tieout.looks_drawn())`,
    [before, TRANSACTION()],
  );
}

type Fact = Awaited<ReturnType<typeof batchFacts>>[number];

/** What the claim would say of it, were it in a batch. */
async function claimSees<T>(of: (fact: Fact) => T): Promise<T> {
  await db.query(
    `update tieout.instructions set state = 'planned', hold_reason = null
     where account_id = $1 and state <> 'queued'`,
    [now],
  );
  await cutBatches(db, [now], SNAPSHOT_AT);
  const { rows } = await db.query<{ batch_id: bigint }>(
    'select max(batch_id) as batch_id from tieout.batches where account_id = $1',
    [now],
  );
  const [fact] = await batchFacts(db, rows[0]?.batch_id ?? 0n, 30);
  if (!fact) throw new Error('no facts');
  expect(isUnseenDispute(fact)).toBe(fact.hasDispute);
  return of(fact);
}
