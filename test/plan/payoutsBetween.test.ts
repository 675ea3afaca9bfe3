// What happens to payout requests between a plan and a claim, and to those that no plan came to:
// twins that appear only then, withdrawals that the next night tells, more than a night weighs.
// Neighbour: planPayouts.test.ts.

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Policy } from '../../src/core/instructions/policy.js';
import { payoutsLeftOutNotice } from '../../src/core/runs/pendingPayouts.js';
import type { Database } from '../../src/database/db.js';
import { writeDecisions } from '../../src/instructions/decisionsStore.js';
import { cutBatches } from '../../src/instructions/instructionsStore.js';
import {
  payoutFacts,
  waitingPayouts,
  withdrawOtherwiseRead,
  withdrawPayouts,
} from '../../src/instructions/payoutsStore.js';
import { notePayoutsLeft, planInstructions } from '../../src/plan/planStore.js';
import { withdrawnLate } from '../../src/total/anomaliesStore.js';
import type { FreshDatabase } from '../support/database.js';
import { freshDatabase } from '../support/database.js';
import { policies } from '../support/planning.js';
import { storeRun } from '../support/snapshotStore.js';

const HOUR_MS = 3_600_000;
const NOW = new Date('2026-11-20T02:30:00Z');
const later = (hours: number): Date => new Date(NOW.getTime() + hours * HOUR_MS);

let fresh: FreshDatabase;
let db: Database;
let accountId = '';
let runId = 0n;
let accounts = 0;
// Of each test its own: one that another account paid is paid.
let [ONE, TWO, THREE, FOUR] = ['', '', '', ''];
beforeAll(async () => {
  fresh = await freshDatabase();
  db = fresh.db;
});
afterAll(() => fresh.drop());
beforeEach(async () => {
  accounts += 1;
  accountId = `A${accounts}`;
  [ONE, TWO, THREE, FOUR] = ['1', '2', '3', '4'].map(
    (digit) => `00000000-0000-4000-9000-${String(accounts * 10 + Number(digit)).padStart(12, '0')}`,
  ) as [string, string, string, string];
  runId = await storeRun(db, accountId);
  await db.query('delete from ledger.payout_requests');
});

const asked = (id: string, at: Date, amount = '7') =>
  db.query(
    `insert into ledger.payout_requests (request_id, account_id, payload, requested_at)
     values ($1, $2, jsonb_build_object('payment_amount', $3::text, 'remark', $2::text), $4)`,
    [id, accountId, amount, at],
  );
/** Of the same content as the first one, as where the ledger is loaded anew. */
const same = (id: string) =>
  db.query(
    `insert into ledger.payout_requests (request_id, account_id, payload, requested_at)
     select $1, account_id, payload, requested_at from ledger.payout_requests
     where request_id = $2`,
    [id, ONE],
  );
const gone = (id: string) =>
  db.query('delete from ledger.payout_requests where request_id = $1', [id]);
const read = (now: Date, limit = 9) =>
  waitingPayouts(db, [{ account_id: accountId, live_from: null }], { limit, now });

/** Weighs what waits, as a night does, and puts what goes into batches. */
async function plan(now: Date, policy: Policy['policy'] = 'auto', limit = 9): Promise<void> {
  await withdrawPayouts(db, runId, [accountId], now);
  let { requests } = await read(now, limit);
  if ((await notePayoutsLeft(db, now)) > 0) ({ requests } = await read(now, limit));
  const payouts = requests.map(({ requestId, payload, requestedAt, isTwin }) => ({
    ...{ accountId, requestId, payload, requestedAt, currency: 'EUR', amount: '7.00' },
    ...{ problem: null, source: null, isInTotals: true },
    doubled: isTwin ? ('twin_request' as const) : null,
  }));
  const rules = policies(policy).slice(0, 1) as Policy[];
  const payoutRules = rules.map((rule) => ({ ...rule, operation: 'payout' as const }));
  await planInstructions(db, runId, now, payoutRules, false, payouts);
  await cutBatches(db, [accountId], now);
}

/** "1 queued", "2 held: twin_request", by the last digit of the request. */
async function states(): Promise<string[]> {
  const { rows } = await db.query<{ text: string }>(
    `select right(transaction_id, 1) || ' ' || state || coalesce(': ' || hold_reason, '') as text
     from tieout.instructions where account_id = $1 order by instruction_id`,
    [accountId],
  );
  return rows.map(({ text }) => text);
}

const change = async (id: string, what: string): Promise<void> => {
  await db.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica');
    await tx.query(
      `update tieout.instructions set ${what} where account_id = $1 and transaction_id = $2`,
      [accountId, id],
    );
  });
};

const isTwin = async (id: string, now: Date) => {
  const { rows } = await db.query<{ batch: bigint }>(
    `select batch_id as batch from tieout.instructions
     where account_id = $1 and transaction_id = $2 and state = 'queued'`,
    [accountId, id],
  );
  const facts = await payoutFacts(db, rows[0]?.batch ?? 0n, now);
  return facts.map((one) => [one.isAsked, one.isTwin]);
};

test('a claim holds what stands in for one that was paid and left the ledger since the plan', async () => {
  await asked(ONE, later(-9));
  await plan(later(-8));
  await change(ONE, `state = 'confirmed', settled_at = created_at`);
  // Loaded anew: first the new number, made as the old one was; the old one is deleted afterwards.
  await asked(TWO, later(-9));
  await plan(NOW);
  expect(await states()).toEqual(['1 confirmed', '2 queued']);
  expect(await isTwin(TWO, later(4))).toEqual([[true, false]]);
  await gone(ONE);
  expect(await isTwin(TWO, later(4))).toEqual([[true, true]]);
  // Another amount, or one asked for after that one was planned, is another payment.
  await asked(THREE, later(-1), '8');
  await plan(later(5));
  expect(await isTwin(THREE, later(6))).toEqual([[true, false]]);
  expect(await states()).toEqual(['1 confirmed', '2 held: twin_request', '3 queued']);
});

test('a ledger that is empty for a moment makes no twin of what it asks for each month', async () => {
  await asked(ONE, later(-721));
  await plan(later(-720));
  await change(ONE, `state = 'confirmed', settled_at = created_at`);
  await asked(TWO, later(-9));
  await plan(later(-8));
  expect(await states()).toEqual(['1 confirmed', '2 queued']);
  await db.query('delete from ledger.payout_requests');
  // gone, too, as it is to be sent: nothing is said of the others
  expect(await isTwin(TWO, later(-8))).toEqual([[false, false]]);
  await plan(later(-8));
  await asked(ONE, later(-721));
  await asked(TWO, later(-9));
  runId = await storeRun(db, accountId);
  await plan(NOW);
  expect(await states()).toEqual(['1 confirmed', '2 withdrawn', '2 queued']);
});

test('also where it bears the time at which it was loaded, and the next plan knows of it', async () => {
  await asked(ONE, later(-9));
  await plan(later(-8));
  await change(ONE, `state = 'confirmed', settled_at = created_at`);
  await asked(TWO, NOW);
  await plan(NOW);
  await gone(ONE);
  expect(await isTwin(TWO, later(3))).toEqual([[true, false]]);
  expect(await isTwin(TWO, later(0.1))).toEqual([[true, true]]);
  await plan(later(0.2));
  expect(await states()).toEqual(['1 confirmed', '2 held: twin_request']);
  // Approved as one that may be another, it goes.
  const { rows } = await db.query<{ id: bigint }>(
    `select instruction_id as id from tieout.instructions where transaction_id = $1
       and account_id = $2`,
    [TWO, accountId],
  );
  const ids = rows.map(({ id }) => id);
  const who = { name: 'anna', isClaim: false };
  const approve = { kind: 'approve' as const, who, reason: null, reference: null, finding: null };
  await db.transaction((tx) => writeDecisions(tx, ids, approve));
  await db.query('delete from tieout.payouts_left where account_id = $1', [accountId]);
  await cutBatches(db, [accountId], later(0.3));
  expect(await isTwin(TWO, later(0.3))).toEqual([[true, false]]);
});

test.each([
  ['while it was to be sent', 'queued', false, [[1, 0]]],
  ['after a person had approved it', 'held', true, [[1, 1]]],
  ['before anybody had approved it', 'held', false, []],
])('the ledger lacked a request %s: the next night tells', async (_, state, isApproved, told) => {
  await asked(ONE, later(-9));
  await plan(NOW, state === 'held' ? 'approve' : 'auto');
  if (isApproved) {
    await db.query(
      `insert into tieout.decisions (instruction_id, account_id, decision, decided_by, is_claim,
         seen, seen_sha256, row_before, expires_at)
       select instruction_id, account_id, 'approve', 'anna', false, '{}',
         tieout.seen_sha256('{}'), to_jsonb(i), now() + interval '1 day'
       from tieout.instructions i where account_id = $1`,
      [accountId],
    );
  }
  const approval = isApproved
    ? `, approval_id = (select max(decision_id) from tieout.decisions)`
    : '';
  await change(
    ONE,
    `state = 'withdrawn', hold_reason = null, reason = 'no longer asked for', settled_at = now(),
     settled_run_id = ${runId}, changed_by = 'tieout'${approval}`,
  );
  await gone(ONE);
  expect(await withdrawnLate(db, runId)).toEqual([]);
  // It is back the night after, and is planned anew.
  await asked(ONE, later(-9));
  runId = await storeRun(db, accountId);
  await plan(later(24));
  const counts = (await withdrawnLate(db, runId)).map((one) => [one.instructions, one.approved]);
  expect(counts).toEqual(told);
  runId = await storeRun(db, accountId);
  await plan(later(48));
  expect(await withdrawnLate(db, runId)).toEqual([]);
});

test('more requests than a night weighs: what is held stands back, and what is left is told', async () => {
  for (const id of [ONE, TWO]) await asked(id, later(-9), id.slice(-1));
  await plan(NOW, 'approve', 2);
  expect(await states()).toEqual(['1 held: approval', '2 held: approval']);
  await asked(THREE, later(-1), '3');
  const { requests, leftOut } = await read(later(24), 2);
  expect(requests.map(({ requestId }) => requestId).sort()).toEqual([ONE, THREE]);
  // Those that are held are listed as such.
  expect(leftOut).toEqual([]);
  await plan(later(24), 'auto', 2);
  expect(await states()).toEqual(['1 queued', '2 held: approval', '3 queued']);
  await asked(FOUR, later(20), '4');
  const over = await read(later(25), 2);
  expect(over.leftOut).toEqual([{ accountId, requests: 1, oldest: later(20) }]);
  expect(over.leftOut.map(payoutsLeftOutNotice)[0]?.text).toBe(
    `1 payout request(s) of ${accountId} not weighed yet, the oldest of 2026-11-20: more wait than ` +
      'one night weighs. The next one weighs more of them, and so does `tieout run` once those ' +
      'that were weighed have gone',
  );
});

test('what was refused waits on each night, whatever it asks for meanwhile', async () => {
  await asked(ONE, later(-9));
  await plan(later(-8));
  const refused = `state = 'withdrawn', is_refused = true, reason = 'no'`;
  await change(ONE, `${refused}, settled_at = created_at`);
  const night = async (hours: number, amount: string) => {
    await gone(ONE);
    await asked(ONE, later(-9), amount);
    runId = await storeRun(db, accountId);
    await plan(later(hours));
    return (await states()).at(-1);
  };
  expect(await night(24, '8')).toBe('1 held: twin_request');
  expect(await night(48, '8')).toBe('1 held: twin_request');
  expect(await night(72, '9')).toBe('1 held: twin_request');
});

test('numbers that go there and back are not paid a second time', async () => {
  await asked(ONE, later(-9));
  await plan(later(-8));
  await change(ONE, `state = 'confirmed', settled_at = created_at`);
  const night = async (hours: number, id: string) => {
    await db.query('delete from ledger.payout_requests');
    await asked(id, later(hours - 1));
    runId = await storeRun(db, accountId);
    await plan(later(hours));
  };
  await night(24, TWO);
  expect(await states()).toEqual(['1 confirmed', '2 held: twin_request']);
  await night(48, ONE);
  expect(await states()).toEqual(['1 confirmed', '2 withdrawn']);
  // It was weighed days ago, and the other one left tonight.
  await night(72 + 48, TWO);
  expect(await states()).toEqual(['1 confirmed', '2 withdrawn', '2 held: twin_request']);
});

test.each([
  { when: 'while payouts were off', leftAt: -440, off: true, isTwin: true },
  { when: 'as payouts became off', leftAt: -540, off: true, isTwin: true },
  { when: 'long before they were off', leftAt: -580, off: true, isTwin: false },
  { when: 'as long ago, and they were on', leftAt: -440, off: false, isTwin: false },
])('one that left $when', async ({ leftAt, off, isTwin }) => {
  await asked(ONE, later(-601));
  await plan(later(-600));
  await change(ONE, `state = 'confirmed', settled_at = created_at`);
  await plannedBy('auto', later(-600));
  if (off) for (const at of [-500, -24]) await plannedBy('off', later(at));
  await gone(ONE);
  await notePayoutsLeft(db, later(leftAt));
  await asked(TWO, later(-9)); // stamped as it is loaded
  await plan(NOW);
  expect((await states())[1]).toBe(isTwin ? '2 held: twin_request' : '2 queued');
});

/** A night by these settings that came to its plan. */
async function plannedBy(mode: string, at: Date): Promise<void> {
  runId = await storeRun(db, accountId);
  await db.query(
    `with kept as (
       insert into tieout.run_settings (run_id, at, settings, settings_sha256, version)
       values ($1, $2, $4, $3, '0') returning settings_id)
     update tieout.run_accounts set planned_by = (select settings_id from kept) where run_id = $1`,
    [runId, at, mode, JSON.stringify({ operations: { mode: { payout: mode } } })],
  );
}

test('what another account paid is not paid by its new one, once the old one is gone', async () => {
  await asked(ONE, later(-9));
  await plan(later(-8));
  await change(ONE, `state = 'confirmed', settled_at = created_at`);
  const old = accountId;
  accountId = `${old}new`;
  runId = await storeRun(db, accountId);
  await db.query('delete from ledger.payout_requests');
  // Loaded anew under the new account, days later and as if made at that moment.
  await db.query(
    `insert into ledger.payout_requests (request_id, account_id, payload, requested_at)
     select $1, $2, payload, $3 from tieout.instructions where account_id = $4`,
    [TWO, accountId, later(240), old],
  );
  // A run of the new account alone, as where each account has its own hour.
  await plan(later(241));
  expect(await states()).toEqual(['2 held: twin_request']);
});

test('of two that stand in for one each waits, though the claim of the first notes that', async () => {
  await asked(ONE, later(-9));
  await plan(later(-8));
  await change(ONE, `state = 'confirmed', settled_at = created_at`);
  await same(TWO);
  await same(THREE);
  await plan(NOW);
  await gone(ONE);
  expect(await states()).toEqual(['1 confirmed', '2 queued', '3 queued']);
  expect(await isTwin(TWO, later(0.1))).toEqual([[true, true]]);
  expect(await isTwin(THREE, later(0.2))).toEqual([[true, true]]);
});

test('one that is held for another reason first is asked about as a twin, too', async () => {
  await asked(ONE, later(-9));
  await plan(later(-8));
  await change(ONE, `state = 'confirmed', settled_at = created_at`);
  await same(TWO);
  await gone(ONE);
  await plan(NOW);
  expect(await states()).toEqual(['1 confirmed', '2 held: twin_request']);
  // The database came back: all that waits is held for that.
  await change(TWO, `hold_reason = 'restored'`);
  const approved = async () => {
    const { rows } = await db.query<{ id: bigint }>(
      'select instruction_id as id from tieout.instructions where transaction_id = $1',
      [TWO],
    );
    const who = { name: 'anna', isClaim: false };
    const approve = { kind: 'approve' as const, who, reason: null, reference: null, finding: null };
    const ids = rows.map(({ id }) => id);
    await db.transaction((tx) => writeDecisions(tx, ids, approve));
    await cutBatches(db, [accountId], later(0.3));
    return isTwin(TWO, later(0.3));
  };
  expect(await approved()).toEqual([[true, true]]);
  await change(TWO, `state = 'held', hold_reason = 'twin_request', batch_id = null`);
  expect(await approved()).toEqual([[true, false]]);
});

test('a payout of another amount that is planned again does not lift the no before it', async () => {
  await asked(ONE, later(-9), '8');
  await plan(later(-8));
  await change(
    ONE,
    `state = 'withdrawn', is_refused = true, reason = 'no', settled_at = created_at, batch_id = null`,
  );
  const night = async (hours: number, amount: string) => {
    await gone(ONE);
    await asked(ONE, later(-9), amount);
    runId = await storeRun(db, accountId);
    await plan(later(hours));
    return (await states()).at(-1);
  };
  expect(await night(24, '9')).toBe('1 held: twin_request');
  await gone(ONE);
  await plan(later(25));
  await db.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica');
    await tx.query(
      `update tieout.instructions set replan_id = 0 where account_id = $1 and not is_refused`,
      [accountId],
    );
  });
  expect(await night(48, '8')).toBe('1 held: twin_request');
});

test('a profile that reads the amount of a payout otherwise shows it anew', async () => {
  await asked(ONE, later(-9), '5000');
  await plan(NOW, 'approve');
  expect(await states()).toEqual(['1 held: approval']);
  const read = (amount: string) => ({
    ...{ accountId, requestId: ONE, amount, source: null, isInTotals: true },
    payload: { payment_amount: '5000', remark: accountId },
  });
  await withdrawOtherwiseRead(db, runId, [read('7.00')], NOW);
  expect(await states()).toEqual(['1 held: approval']);
  await withdrawOtherwiseRead(db, runId, [read('5000.00')], NOW);
  expect(await states()).toEqual(['1 withdrawn']);
});
