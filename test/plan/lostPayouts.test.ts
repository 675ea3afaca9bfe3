// A payout that a journal names, and whose very request was lost with the database: what is asked
// for after that, of the same money, may be that one under another number. Plan and claim ask alike.
// Neighbours: planRestored.test.ts, faults/lostCalls.test.ts.

import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Policy } from '../../src/core/instructions/policy.js';
import { sheetOf } from '../../src/instructions/instructionSheet.js';
import { cutBatches } from '../../src/instructions/instructionsStore.js';
import { payoutFacts } from '../../src/instructions/payoutsStore.js';
import { planInstructions } from '../../src/plan/planStore.js';
import type { FreshDatabase } from '../support/database.js';
import { freshDatabase } from '../support/database.js';
import { instructionTexts, policies } from '../support/planning.js';
import { storeRun } from '../support/snapshotStore.js';

const NOW = new Date('2026-11-20T02:30:00Z');
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const after = (ms: number): Date => new Date(NOW.getTime() + ms);

let fresh: FreshDatabase;
let accountId = '';
let request = '';
let lostRequest = '';
// What was lost is asked about whatever the account: each has a database of its own.
beforeEach(async () => {
  fresh = await freshDatabase();
  [accountId, request, lostRequest] = [`A${randomUUID().slice(0, 8)}`, randomUUID(), randomUUID()];
  await ask(request);
});
afterEach(() => fresh.drop());

function ask(id: string) {
  return fresh.db.query(
    `insert into ledger.payout_requests (request_id, account_id, payload, requested_at)
     values ($1, $2, '{"payment_amount": "12000", "payment_currency": "EUR"}', $3)`,
    [id, accountId, after(HOUR_MS)],
  );
}

/** As the journal of a host has it, found at the time of the plan. */
function lose(money: string, id = lostRequest, account = accountId) {
  const [amount, currency] = money.split(' ');
  return fresh.db.query(
    `insert into tieout.lost_permits (attempt_id, entry, account_id, operation, order_no,
       transaction_id, currency, amount, sent_at, host, found_at)
     values (gen_random_uuid(), 0, $1, 'payout', $2, $2, $3, $4, $5, 'b', $5)`,
    [account, id, currency, amount, NOW],
  );
}

async function plan(at: Date): Promise<string | undefined> {
  const { db } = fresh;
  const runId = await storeRun(db, accountId);
  const rules = policies('auto').slice(0, 1) as Policy[];
  const payout = {
    ...{ accountId, requestId: request, currency: 'EUR', amount: '120.00', problem: null },
    ...{ requestedAt: after(HOUR_MS), source: null, isInTotals: true, doubled: null },
    payload: { payment_amount: '12000', payment_currency: 'EUR' },
  };
  const payoutRules = rules.map((rule) => ({ ...rule, operation: 'payout' as const }));
  await planInstructions(db, runId, at, payoutRules, false, [payout]);
  await cutBatches(db, [accountId], at);
  return (await instructionTexts(db, accountId)).at(-1)?.replace(/^.*120.00 /, '');
}

async function claimSees(at: Date): Promise<boolean | undefined> {
  const { rows } = await fresh.db.query<{ id: bigint }>(
    'select max(batch_id) as id from tieout.batches where account_id = $1',
    [accountId],
  );
  const [fact] = await payoutFacts(fresh.db, rows[0]?.id ?? 0n, at);
  return fact?.isTwin;
}

test.each([
  ['of the same money', () => lose('120.00 EUR'), true],
  ['typed by hand, in the unit of the document', () => lose('12000 eur'), true],
  ['of another account', () => lose('120.00 EUR', lostRequest, `${accountId}-old`), true],
  ['of other money', () => lose('120.01 EUR'), false],
  ['in another currency', () => lose('120.00 USD'), false],
])('a lost payout %s', async (_, enter, bars) => {
  // Planned before the journal was read: the claim sees it.
  expect(await plan(after(2 * HOUR_MS))).toBe('queued');
  expect(await claimSees(after(2 * HOUR_MS))).toBe(false);
  await enter();
  expect(await claimSees(after(3 * HOUR_MS))).toBe(bars);
  request = randomUUID();
  await ask(request);
  expect(await plan(after(3 * HOUR_MS))).toBe(bars ? 'held: twin_request' : 'queued');
  // Whoever decides reads what was sent.
  const { rows } = await fresh.db.query<{ id: bigint }>(
    'select max(instruction_id) as id from tieout.instructions where account_id = $1',
    [accountId],
  );
  const sheet = await sheetOf({ db: fresh.db, refundReasonTag: true }, rows[0]?.id ?? 0n);
  expect(sheet?.lostPermits).toMatchObject(bars ? [{ transactionId: lostRequest }] : []);
});

test('one whose request is there bars nothing but that one', async () => {
  await ask(lostRequest);
  await lose('120.00 EUR');
  expect(await plan(after(2 * HOUR_MS))).toBe('queued');
  // It leaves the ledger before anybody weighed it.
  await fresh.db.query('delete from ledger.payout_requests where request_id = $1', [lostRequest]);
  expect(await claimSees(after(3 * HOUR_MS))).toBe(true);
});

test('what is first weighed more than a fortnight after the find is another one', async () => {
  await lose('120.00 EUR');
  expect(await plan(after(14 * DAY_MS + HOUR_MS))).toBe('queued');
  expect(await claimSees(after(15 * DAY_MS))).toBe(false);
});

test('what was weighed within it waits on for as long as it takes', async () => {
  await lose('120.00 EUR');
  expect(await plan(after(13 * DAY_MS))).toBe('held: twin_request');
  expect(await plan(after(40 * DAY_MS))).toBe('held: twin_request');
});
