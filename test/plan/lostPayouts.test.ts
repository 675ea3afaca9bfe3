// A payout that a journal names, and whose very request was lost with the database: what is asked
// for after that, of the same money, may be that one under another number. Plan and claim ask alike.
// Neighbours: planRestored.test.ts, faults/lostCalls.test.ts.

import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { lostLine } from '../../src/cli/instructions/instructionText.js';
import type { Policy } from '../../src/core/instructions/policy.js';
import type { Db } from '../../src/database/db.js';
import { lostPayout } from '../../src/instructions/gatewayCallsStore.js';
import { lostPermitsOfOrder } from '../../src/instructions/instructionListStore.js';
import type { Sheet } from '../../src/instructions/instructionSheet.js';
import { sheetOf } from '../../src/instructions/instructionSheet.js';
import { cutBatches } from '../../src/instructions/instructionsStore.js';
import { payoutFacts } from '../../src/instructions/payoutsStore.js';
import { planInstructions } from '../../src/plan/planStore.js';
import { enterLost } from '../../src/send/journal/putBacksStore.js';
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

async function plan(
  at: Date,
  db: Db = fresh.db,
  requests: readonly string[] = [request],
): Promise<string | undefined> {
  const runId = await storeRun(fresh.db, accountId);
  const rules = policies('auto').slice(0, 1) as Policy[];
  const payouts = requests.map((requestId) => ({
    ...{ accountId, requestId, currency: 'EUR', amount: '120.00', problem: null },
    ...{ requestedAt: after(HOUR_MS), source: null, isInTotals: true, doubled: null },
    payload: { payment_amount: '12000', payment_currency: 'EUR' },
  }));
  const payoutRules = rules.map((rule) => ({ ...rule, operation: 'payout' as const }));
  await planInstructions(db, runId, at, payoutRules, false, payouts);
  if (db === fresh.db) await cutBatches(fresh.db, [accountId], at);
  return (await instructionTexts(db, accountId)).at(-1)?.replace(/^.*120.00 /, '');
}

/** Of the instruction that was planned last, for who may see `accounts`. */
async function newestSheet(accounts?: readonly string[], db: Db = fresh.db): Promise<Sheet | null> {
  const { rows } = await db.query<{ id: bigint }>(
    'select max(instruction_id) as id from tieout.instructions where account_id = $1',
    [accountId],
  );
  const who = accounts === undefined ? {} : { accounts };
  return sheetOf({ db, refundReasonTag: true, ...who }, rows[0]?.id ?? 0n);
}

async function claimSees(at: Date, db: Db = fresh.db): Promise<boolean | undefined> {
  const { rows } = await db.query<{ id: bigint }>(
    'select max(batch_id) as id from tieout.batches where account_id = $1',
    [accountId],
  );
  const [fact] = await payoutFacts(db, rows[0]?.id ?? 0n, at);
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
  const sheet = await newestSheet();
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

test('what a person typed in the unit of the gateway is shown as money', async () => {
  await lose('12000 EUR');
  expect(await plan(after(2 * HOUR_MS))).toBe('held: twin_request');
  const [twin] = (await newestSheet())?.lostPermits ?? [];
  expect(twin).toMatchObject({ amount: '12000', money: '120.00' });
  expect(twin === undefined ? '' : lostLine(twin)).toContain('120.00 EUR (typed as 12000)');
  // Of the request itself its page and that of the order have the same.
  await lose('12000 EUR', request);
  const own = [{ transactionId: request, money: '120.00' }];
  expect(await lostPermitsOfOrder(fresh.db, accountId, request)).toMatchObject(own);
  // What a batch sent is money.
  await lose('120.00 EUR', request);
  expect(await lostPermitsOfOrder(fresh.db, accountId, request)).toMatchObject([
    { amount: '12000', money: '120.00' },
    { amount: '120.00', money: null },
  ]);
});

test('who may not see its account reads no id of it', async () => {
  const other = `${accountId}-old`;
  await lose('120.00 EUR', lostRequest, other);
  expect(await plan(after(2 * HOUR_MS))).toBe('held: twin_request');
  const hidden = { accountId: null, transactionId: null, refundId: null, amount: '120.00' };
  expect((await newestSheet([accountId]))?.lostPermits).toMatchObject([hidden]);
  const shown = { accountId: other, transactionId: lostRequest };
  expect((await newestSheet([accountId, other]))?.lostPermits).toMatchObject([shown]);
});

test('the requests of the ledger are read as often for many lost payouts as for one', async () => {
  await lose('120.00 EUR');
  const one = await ledgerReads(1);
  for (let more = 0; more < 5; more += 1) await lose('120.00 EUR', randomUUID());
  expect(await ledgerReads(5)).toEqual(one);
});

/** By the plan of so many payouts of that sum, and by the page of the newest one. */
async function ledgerReads(count: number): Promise<number[]> {
  const asked = Array.from({ length: count }, () => randomUUID());
  for (const id of asked) await ask(id);
  const planned = await reads((tx) => plan(after(2 * HOUR_MS), tx, asked));
  return [planned, await reads((tx) => newestSheet(undefined, tx))];
}

async function reads(work: (tx: Db) => Promise<unknown>): Promise<number> {
  return fresh.db.transaction(async (tx) => {
    const { rows: before } = await tx.query<{ n: bigint }>(SCANS);
    await work(tx);
    const { rows } = await tx.query<{ n: bigint }>(SCANS);
    return Number((rows[0]?.n ?? 0n) - (before[0]?.n ?? 0n));
  });
}

const SCANS = `select coalesce(sum(seq_scan + coalesce(idx_scan, 0)), 0)::bigint as n
  from pg_stat_xact_user_tables where schemaname = 'ledger' and relname = 'payout_requests'`;

test('one that its host knows by now to have moved nothing bars nothing', async () => {
  const permit = {
    ...{ attemptId: randomUUID(), batchId: '', accountId, operation: 'payout' as const },
    ...{ bodySha256: 'f'.repeat(64), at: NOW.toISOString() },
    entries: [
      { id: '1', order: lostRequest, transaction: lostRequest, amount: '12000', currency: 'EUR' },
    ],
  };
  const enter = (outcome: object) =>
    fresh.db.transaction((tx) => enterLost(tx, 'a', [{ ...permit, ...outcome }]));
  await enter({});
  const call = [{ request_id: lostRequest }];
  expect(await lostPayout(fresh.db, 'payout', call)).toMatchObject({ host: 'a' });
  await enter({ outcome: 'rejected' });
  expect(await lostPayout(fresh.db, 'payout', call)).toBeNull();
  expect(await plan(after(2 * HOUR_MS))).toBe('queued');
  expect((await newestSheet())?.lostPermits).toEqual([]);
  // Nor does it hold the very request.
  await ask(lostRequest);
  request = lostRequest;
  expect(await plan(after(2 * HOUR_MS))).toBe('queued');
});
