// What plan.sql makes of a database that came back from a backup: where a snapshot tells whether it was
// done since, it goes on as ever; where none can tell, it waits for a person.

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sheetLines } from '../../src/cli/instructions/instructionText.js';
import { writeDecisions } from '../../src/instructions/decisionsStore.js';
import { sheetOf } from '../../src/instructions/instructionSheet.js';
import { orderHistory } from '../../src/orders/historyStore.js';
import { planInstructions } from '../../src/plan/planStore.js';
import { freezePutBack, sayPutBack } from '../../src/send/journal/putBacksStore.js';
import type { FreshDatabase } from '../support/database.js';
import { freshDatabase } from '../support/database.js';
import type { StoredOrder } from '../support/orders.js';
import { LIVE_FROM, orderOf, SNAPSHOT_AT } from '../support/orders.js';
import { instructionTexts, policies, snapshotAndPlan } from '../support/planning.js';
import { storeRun } from '../support/snapshotStore.js';

let fresh: FreshDatabase;
beforeAll(async () => {
  fresh = await freshDatabase();
});
afterAll(() => fresh.drop());

const ORDERS = [
  { ledger: 'captured 10.00 EUR', gateway: ['T1 authorised 10.00'] },
  { ledger: 'captured 10.00 EUR', gateway: ['T1 captured 10.00'], refunds: ['R1 4.00'] },
  {
    ledger: 'captured 10.00 EUR',
    gateway: ['T1 partially_refunded 10.00'],
    refunds: ['R1 4.00 age=12d', 'R2 3.00'],
  },
].map((text, index) => orderOf(`O${index + 1}`, text));

const PAYOUT = {
  requestId: '00000000-0000-4000-8000-000000000001',
  currency: 'EUR',
  amount: '120.00',
  requestedAt: SNAPSHOT_AT,
  problem: null,
  source: null,
  payload: { payment_amount: '120' },
  isInTotals: true,
  doubled: null,
};

test.each([
  ['as ever where nothing was restored', '{}', 'planned'],
  ['held where no look can tell', '{"restoredFrom": {}}', 'held: restored'],
])('%s', async (_, found, outcome) => {
  const { db } = fresh;
  const accountId = outcome.slice(0, 4);
  const runId = await storeRun(db, accountId);
  await db.query(
    `insert into tieout.brakes (kind, is_on, reason, by, is_claim, found)
     values ('freeze', true, 'for a test', 'anna', true, $1)`,
    [found],
  );
  await snapshotAndPlan(db, { runId, accountId }, ORDERS);
  const payouts = policies('auto').map((rule) => ({ ...rule, operation: 'payout' as const }));
  const all = [...policies('auto'), ...payouts.slice(0, 1)];
  await planInstructions(db, runId, SNAPSHOT_AT, all, false, [{ ...PAYOUT, accountId }]);
  expect(await instructionTexts(db, accountId)).toEqual([
    'O1 capture 10.00 planned',
    'O2 refund R1 4.00 planned',
    `O3 refund R2 3.00 ${outcome}`,
    expect.stringMatching(new RegExp(`payout .*${outcome}$`)),
  ]);
});

/** After all that happened here. */
function later(): Date {
  return new Date(Date.now() + 24 * 3_600_000);
}

/** The same requests, of a ledger that dates each as it is loaded; what is history stays. */
function loadedAnew(orders: readonly StoredOrder[]): StoredOrder[] {
  const anew = ({ requestedAt, ...request }: StoredOrder['refunds'][number]) => ({
    ...request,
    requestedAt: requestedAt < LIVE_FROM ? requestedAt : later(),
  });
  return orders.map((order) => ({ ...order, refunds: order.refunds.map(anew) }));
}

/** A night of these orders and the payout, where all goes by itself. */
async function nightOf(
  accountId: string,
  orders: readonly StoredOrder[],
  requestedAt: Date,
): Promise<void> {
  const { db } = fresh;
  const runId = await storeRun(db, accountId);
  await snapshotAndPlan(db, { runId, accountId }, orders);
  const payouts = policies('auto').map((rule) => ({ ...rule, operation: 'payout' as const }));
  const all = [...policies('auto'), ...payouts.slice(0, 1)];
  await planInstructions(db, runId, later(), all, false, [{ ...PAYOUT, accountId, requestedAt }]);
}

const LOST = 'insert into tieout.lost_permits (attempt_id, entry, account_id, operation, order_no,';

/** As a journal that knows more than the database has it entered. */
function lose(accountId: string, operation: string, of: string | null, amount: string) {
  const [order = null, refund = null, transaction = null] = of?.split(' ') ?? [];
  return fresh.db.query(
    `${LOST} refund_id, transaction_id, currency, amount, sent_at, host, found_at)
     values (gen_random_uuid(), 0, $1, $2, $3, nullif($4, '-'), $5, 'EUR', $6, now(), 'b', $7)`,
    [
      accountId,
      operation,
      order,
      refund,
      transaction && `${accountId}.${transaction}`,
      amount,
      SNAPSHOT_AT,
    ],
  );
}

test.each([
  ['the capture that was lost', 'capture', 'O1', '10.00', 'capture'],
  ['its cancel', 'cancel', 'O1', '10.00', 'capture'],
  ['any refund of its order', 'refund', 'O2', '9.00', 'refund'],
  ['its request, which has moved to another order since', 'refund', 'O7 O2/R1', '4.00', 'refund'],
  ['its transaction, by whatever order number', 'capture', 'O1-old - O1/T1', '10.00', 'capture'],
  ['an older line names no order: the same money', 'capture', null, '10.00', 'capture'],
  ['nothing of another order', 'capture', 'O7', '10.00', null],
  ['nothing of another order and request', 'refund', 'O7 O7/R7', '4.00', null],
  ['nothing that the look shows done', 'capture', 'O2', '10.00', null],
  ['nothing for other money', 'capture', null, '11.00', null],
])('what is held by a lost permit: %s', async (_, operation, order, amount, held) => {
  const { db } = fresh;
  const accountId = `L${randomUUID().slice(0, 8)}`;
  const runId = await storeRun(db, accountId);
  await lose(accountId, operation, order, amount);
  await snapshotAndPlan(db, { runId, accountId }, ORDERS.slice(0, 2));
  const reason = (what: string): string => (what === held ? 'held: restored' : 'planned');
  expect(await instructionTexts(db, accountId)).toEqual([
    `O1 capture 10.00 ${reason('capture')}`,
    `O2 refund R1 4.00 ${reason('refund')}`,
  ]);
  // Who decides about it reads what may have been sent, and how much that was.
  const { rows } = await db.query<{ id: bigint; waits: boolean }>(
    `select instruction_id as id, hold_reason is not null as waits from tieout.instructions
     where account_id = $1`,
    [accountId],
  );
  for (const { id, waits } of rows) {
    const sheet = await sheetOf({ db, refundReasonTag: true }, id);
    const lines = (sheet ? sheetLines(sheet) : []).filter((line) => /perhaps sent/.test(`${line}`));
    const words = [operation, sheet?.lostPermits[0]?.refundId, amount].filter(Boolean).join(' ');
    expect(lines).toEqual(waits ? [expect.stringContaining(`  perhaps sent  ${words} EUR`)] : []);
  }
  // So does who looks at the order, also at one that the ledger does not have yet.
  const [named = ''] = order?.split(' ') ?? [];
  const lost = (await orderHistory(db, accountId, named))?.lostPermits ?? [];
  expect(lost).toEqual(named === '' ? [] : [expect.objectContaining({ operation, amount })]);
});

const ASKED = ORDERS.slice(1);
const HELD = [
  'O2 refund R1 4.00 held: restored',
  `${PAYOUT.requestId} payout 120.00 held: restored`,
];

test('what a journal names waits on where its request becomes younger', async () => {
  const accountId = `Y${randomUUID().slice(0, 8)}`;
  await lose(accountId, 'refund', 'O2 O2/R1', '4.00');
  await lose(accountId, 'payout', PAYOUT.requestId, '120.00');
  await nightOf(accountId, ASKED.slice(0, 1), SNAPSHOT_AT);
  expect(await instructionTexts(fresh.db, accountId)).toEqual(HELD);
  await nightOf(accountId, loadedAnew(ASKED.slice(0, 1)), later());
  expect(await instructionTexts(fresh.db, accountId)).toEqual(HELD);
  // So does what is told for the first time, with such a date, by a ledger that went back too.
  const other = `${accountId}b`;
  await lose(other, 'refund', 'O2 O2/R1', '4.00');
  await lose(other, 'payout', PAYOUT.requestId, '120.00');
  await nightOf(other, loadedAnew(ASKED.slice(0, 1)), later());
  expect(await instructionTexts(fresh.db, other)).toEqual(HELD);
});

test('another refund that came after the find goes; one that waited for it waits on', async () => {
  const accountId = `Y${randomUUID().slice(0, 8)}`;
  await lose(accountId, 'refund', 'O2 O2/R0', '4.00');
  await nightOf(accountId, loadedAnew(ASKED.slice(0, 1)), later());
  expect(await instructionTexts(fresh.db, accountId)).toEqual([
    'O2 refund R1 4.00 planned',
    `${PAYOUT.requestId} payout 120.00 planned`,
  ]);
  const other = `${accountId}b`;
  await lose(other, 'refund', 'O2 O2/R0', '4.00');
  await nightOf(other, ASKED.slice(0, 1), later());
  await nightOf(other, loadedAnew(ASKED.slice(0, 1)), later());
  expect((await instructionTexts(fresh.db, other))[0]).toBe(HELD[0]);
});

test('what no look can tell waits on where its request becomes younger', async () => {
  const { db } = fresh;
  const accountId = `Y${randomUUID().slice(0, 8)}`;
  await db.transaction((tx) => sayPutBack(tx, 'for a test'));
  const seen = ['O2 refund R1 4.00 planned', 'O3 refund R2 3.00 held: restored', HELD[1]];
  await nightOf(accountId, ASKED, SNAPSHOT_AT);
  expect(await instructionTexts(db, accountId)).toEqual(seen);
  await nightOf(accountId, loadedAnew(ASKED), later());
  expect(await instructionTexts(db, accountId)).toEqual(seen);
  // What is first asked for after that is another one.
  const other = `${accountId}b`;
  await nightOf(other, loadedAnew(ASKED), later());
  expect((await instructionTexts(db, other)).at(-1)).toBe(
    `${PAYOUT.requestId} payout 120.00 planned`,
  );
});

test('what waits as sent before waits on where its request was gone for a night', async () => {
  const { db } = fresh;
  const accountId = `Y${randomUUID().slice(0, 8)}`;
  await db.transaction((tx) => sayPutBack(tx, 'for a test'));
  await nightOf(accountId, ASKED, SNAPSHOT_AT);
  await db.query(
    `update tieout.instructions set state = 'withdrawn', hold_reason = null, settled_at = now(),
       reason = 'no longer asked for', changed_by = 'tieout' where account_id = $1`,
    [accountId],
  );
  await nightOf(accountId, loadedAnew(ASKED), later());
  expect((await instructionTexts(db, accountId)).slice(3)).toEqual([
    'O2 refund R1 4.00 planned',
    'O3 refund R2 3.00 held: restored',
    HELD[1],
  ]);
});

test.each([
  ['planned before the put-back', SNAPSHOT_AT],
  ['whose row was lost, and which was planned anew', later()],
])('what comes in the place of a refund that waits as sent before, %s', async (_, plannedAt) => {
  const { db } = fresh;
  const accountId = `Y${randomUUID().slice(0, 8)}`;
  await db.transaction((tx) => sayPutBack(tx, 'for a test'));
  await nightOf(accountId, ASKED, SNAPSHOT_AT);
  await db.query(
    `update tieout.instructions set state = 'withdrawn', hold_reason = null, settled_at = now(),
       reason = 'no longer asked for', changed_by = 'tieout' where account_id = $1`,
    [accountId],
  );
  await db.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica');
    await tx.query('update tieout.instructions set created_at = $2 where account_id = $1', [
      accountId,
      plannedAt,
    ]);
  });
  const renamed = loadedAnew(ASKED).map((order) => ({
    ...order,
    refunds: order.refunds.map((one) =>
      one.refundId.endsWith('R2') ? { ...one, refundId: `${one.refundId}-anew` } : one,
    ),
  }));
  await nightOf(accountId, renamed, later());
  const { rows } = await db.query(
    `select i.doubled, still.doubled as at_the_claim
     from tieout.instructions i cross join lateral tieout.waits_still(i) still
     where account_id = $1 and refund_id = 'O3/R2-anew'`,
    [accountId],
  );
  expect(rows).toEqual([{ doubled: 'twin_request', at_the_claim: 'twin_request' }]);
});

test('an approval from before the database came back is for something else', async () => {
  const { db } = fresh;
  const accountId = `V${randomUUID().slice(0, 8)}`;
  const runId = await storeRun(db, accountId);
  const waits = { runId, accountId, policies: policies('approve') };
  await snapshotAndPlan(db, waits, ORDERS.slice(0, 1));
  await db.transaction(async (tx) => {
    const { rows } = await tx.query<{ id: bigint }>(
      'select instruction_id as id from tieout.instructions where account_id = $1',
      [accountId],
    );
    const who = { name: 'anna', isClaim: true };
    const approval = {
      kind: 'approve',
      who,
      reason: null,
      reference: null,
      finding: null,
    } as const;
    await writeDecisions(tx, [rows[0]?.id ?? 0n], approval);
    await freezePutBack(tx, 'for a test', { journals: [], lost: [] });
  });
  expect(await instructionTexts(db, accountId)).toEqual(['O1 capture 10.00 held: restored']);
  await snapshotAndPlan(db, waits, ORDERS.slice(0, 1));
  expect(await instructionTexts(db, accountId)).toEqual(['O1 capture 10.00 held: approval_void']);
});
