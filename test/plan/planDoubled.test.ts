// What may be a movement that was made already waits for a person, whatever the policy: plan.sql with
// tieout.doubles on a real PostgreSQL. Neighbour: plan.test.ts.

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { isSamePerson } from '../../src/core/instructions/decider.js';
import type { Database } from '../../src/database/db.js';
import { writeDecisions } from '../../src/instructions/decisionsStore.js';
import { cutBatches } from '../../src/instructions/instructionsStore.js';
import type { FreshDatabase } from '../support/database.js';
import { freshDatabase } from '../support/database.js';
import type { OrderText } from '../support/orders.js';
import { orderOf, SNAPSHOT_AT } from '../support/orders.js';
import { instructionTexts, policies, snapshotAndPlan } from '../support/planning.js';
import { storeInstructions, storeRun, storeSnapshot } from '../support/snapshotStore.js';

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

const TO_CAPTURE = { ledger: 'captured 10.00 EUR', gateway: ['T1 authorised 10.00'] };
const TO_REFUND = {
  ledger: 'captured 10.00 EUR',
  gateway: ['T1 captured 10.00'],
  refunds: ['R1 4.00'],
};

test.each(['auto', 'approve'] as const)(
  'a second capture of an order that we captured by another transaction, with %s',
  async (policy) => {
    const before = { ...TO_CAPTURE, did: ['capture T0 confirmed'] };
    await plan([before, TO_CAPTURE], policies(policy));
    expect((await instructionTexts(db, accountId)).sort().slice(0, 2)).toEqual([
      'O1 capture 10.00 confirmed',
      'O1 capture 10.00 held: second_capture',
    ]);
  },
);

test('a capture of an order that the look before showed taken by another transaction', async () => {
  const taken = { ...TO_CAPTURE, gateway: ['T0 captured 10.00'] };
  await lookedAt([taken, { ...TO_CAPTURE, gateway: ['T2 authorised 10.00'] }]);
  const now = [TO_CAPTURE, { ...TO_CAPTURE, gateway: ['T2 authorised 10.00'] }];
  await lookedAt(now);
  const held = ['O1 capture 10.00 held: second_capture', 'O2 capture 10.00 planned'];
  expect((await instructionTexts(db, accountId)).sort()).toEqual(held);
  // A look later nothing shows the first transaction any more, and nobody has decided yet.
  await lookedAt(now);
  expect((await instructionTexts(db, accountId)).sort()).toEqual(held);
  // Nor does a third attempt go.
  await lookedAt([{ ...TO_CAPTURE, gateway: ['T3 authorised 10.00'] }]);
  expect((await instructionTexts(db, accountId)).sort()).toEqual(
    ['O1 capture 10.00 withdrawn: no longer asked for', ...held].sort(),
  );
});

test('a capture of an order that an earlier look of the same date showed taken', async () => {
  const runId = await lookedAt([{ ...TO_CAPTURE, gateway: ['T0 captured 10.00'] }]);
  await lookedAt([{ ...TO_CAPTURE, gateway: ['T1 authorised 10.00'] }], runId);
  expect(await instructionTexts(db, accountId)).toEqual(['O1 capture 10.00 held: second_capture']);
});

// Whatever the second attempt was in the nights between, shown alone.
test.each([
  ['awaited', ['T1 pending 10.00 age=1h']],
  ['in review', ['T1 in_review 10.00']],
  ['in review for days', ['T1 in_review 10.00', 'T1 in_review 10.00', 'T1 in_review 10.00']],
  ['of another amount', ['T1 authorised 9.00']],
  ['declined, and there is a third', ['T9 declined 10.00']],
])('a second attempt that is %s before it can be captured waits', async (_, between) => {
  const taken = { ...TO_CAPTURE, gateway: ['T0 captured 10.00'] };
  await lookedAt([taken, { ...TO_CAPTURE, gateway: ['T0 declined 10.00'] }]);
  for (const shown of between) {
    const other = shown.replace('T1', 'T2');
    await lookedAt([
      { ...TO_CAPTURE, gateway: [shown] },
      { ...TO_CAPTURE, gateway: [other] },
    ]);
  }
  await lookedAt([TO_CAPTURE, { ...TO_CAPTURE, gateway: ['T2 authorised 10.00'] }]);
  expect((await instructionTexts(db, accountId)).sort().slice(0, 2)).toEqual([
    'O1 capture 10.00 held: second_capture',
    'O2 capture 10.00 planned',
  ]);
});

test('a second attempt waits where the look before sending alone showed the first taken', async () => {
  const runId = await lookedAt([{ ...TO_CAPTURE, gateway: ['T0 authorised 10.00'] }]);
  expect(await cutBatches(db, [accountId], SNAPSHOT_AT)).toBe(1);
  const taken = orderOf('O1', { ...TO_CAPTURE, gateway: ['T0 captured 10.00'] });
  await storeSnapshot(db, runId, accountId, [taken], 'confirm');
  await lookedAt([TO_CAPTURE]);
  expect(await instructionTexts(db, accountId)).toEqual([
    'O1 capture 10.00 withdrawn: no longer asked for',
    'O1 capture 10.00 held: second_capture',
  ]);
});

test('a second attempt waits that a night held for another reason, and did not ask what was taken', async () => {
  await lookedAt([{ ...TO_CAPTURE, gateway: ['T0 captured 10.00'] }]);
  const observed = await storeRun(db, accountId);
  await db.query(`update tieout.run_accounts set send_block = 'observed' where run_id = $1`, [
    observed,
  ]);
  await lookedAt([TO_CAPTURE], observed);
  expect(await instructionTexts(db, accountId)).toEqual(['O1 capture 10.00 held: observed']);
  await lookedAt([TO_CAPTURE]);
  expect(await instructionTexts(db, accountId)).toEqual(['O1 capture 10.00 held: second_capture']);
});

test('that it began to wait as a second capture outlives the reason of a put-back', async () => {
  await plan([TO_CAPTURE], policies('approve'));
  const become = (reason: string) =>
    db.query(
      `update tieout.instructions set hold_reason = $2, changed_by = 'tieout' where account_id = $1`,
      [accountId, reason],
    );
  await become('second_capture');
  await become('restored');
  await lookedAt([TO_CAPTURE]);
  expect(await instructionTexts(db, accountId)).toEqual(['O1 capture 10.00 held: second_capture']);
});

test.each(['rejected', 'withdrawn'])('not so after one that was %s', async (state) => {
  await plan([{ ...TO_CAPTURE, did: [`capture T0 ${state} again=yes`] }]);
  expect((await instructionTexts(db, accountId))[1]).toBe('O1 capture 10.00 planned');
});

test('a request in place of one that a person found not to have been paid waits, whatever its amount', async () => {
  const before = { ...TO_REFUND, did: ['refund T1 R1 4.00 unknown'] };
  await plan([before, { ...TO_REFUND, refunds: [] }]);
  const { rows } = await db.query<{ id: bigint }>(
    'select instruction_id as id from tieout.instructions where account_id = $1',
    [accountId],
  );
  await db.transaction((tx) =>
    writeDecisions(
      tx,
      rows.map(({ id }) => id),
      {
        kind: 'resolve',
        who: { name: 'anna', isClaim: false },
        reason: 'not in the portal',
        reference: '17',
        finding: 'not_happened',
      },
    ),
  );
  await lookedAt([
    { ...TO_REFUND, refunds: ['R2 3.00'] },
    { ...TO_REFUND, refunds: ['R3 3.00'] },
  ]);
  expect((await instructionTexts(db, accountId)).sort().slice(1)).toEqual([
    'O1 refund R2 3.00 held: twin_request',
    'O2 refund R3 3.00 planned',
  ]);
});

test('a refund that a person refused waits under another id, too, until it is planned again', async () => {
  const runId = await lookedAt([TO_REFUND, TO_REFUND]);
  const no = { who: { name: 'anna', isClaim: false }, reference: null, finding: null };
  const decided = async (kind: 'reject' | 'replan') => {
    const { rows } = await db.query<{ id: bigint }>(
      'select instruction_id as id from tieout.instructions where account_id = $1 and run_id = $2',
      [accountId, runId],
    );
    const ids = rows.map(({ id }) => id);
    await db.transaction((tx) => writeDecisions(tx, ids, { ...no, kind, reason: 'a fraud' }));
  };
  await decided('reject');
  const anew = [
    { ...TO_REFUND, refunds: ['R2 4.00'] },
    { ...TO_REFUND, refunds: ['R2 3.00'] },
  ];
  await lookedAt(anew);
  const open = async () => (await instructionTexts(db, accountId)).sort();
  expect((await open()).filter((text) => text.includes(' R2 '))).toEqual([
    'O1 refund R2 4.00 held: twin_request',
    'O2 refund R2 3.00 planned',
  ]);
  await decided('replan');
  await lookedAt(anew);
  expect(await open()).toContain('O1 refund R2 4.00 planned');
});

// Which order a request or a transaction is of changes nothing about the no that it was given.
test.each([
  ['refund *T1 *R1 4.00 rejected', true],
  ['refund *T1 *R1 4.00 withdrawn by=person', true],
  ['refund *T9 *R1 4.00 withdrawn by=person', true],
  ['refund *T9 *R1 3.00 rejected', true],
  ['refund *T1 *R1 4.00 withdrawn by=person again=yes', false],
  ['refund *T1 *R1 4.00 withdrawn', false],
  ['capture *T2 withdrawn by=person', true],
  ['capture *T2 rejected', true],
  ['capture *T2 rejected again=yes', false],
  ['cancel *T2 rejected', false],
])('refused under another order: %s', async (did, waits) => {
  await plan([{ ledger: null, did: [ofTest(did)] }, ordered(did)]);
  expect((await instructionTexts(db, accountId))[1]).toBe(told('O2', did, waits));
});

test.each([
  ['refund *T1 *R1 3.00 rejected', 'O1', true],
  ['refund *T9 *R1 4.00 rejected', 'O2', true],
  // Another shop numbers its requests alike.
  ['refund *T9 *R1 3.00 rejected', 'O1', false],
  ['capture *T2 withdrawn by=person', 'O1', true],
])('refused under another account: %s of %s', async (did, orderNo, waits) => {
  const orders = [orderOf(orderNo, { ledger: null, did: [ofTest(did)] })];
  await storeInstructions(db, await storeRun(db, `${accountId}old`), `${accountId}old`, orders);
  // Both accounts are one at the gateway.
  await db.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica');
    await tx.query(
      `update tieout.instructions set transaction_id = replace(transaction_id, 'old.', '.')
       where account_id = $1`,
      [`${accountId}old`],
    );
  });
  await plan([ordered(did)]);
  expect(await instructionTexts(db, accountId)).toEqual([told('O1', did, waits)]);
});

/** An order that asks for what was refused. */
function ordered(did: string): OrderText {
  const gateway = (text: string) => [ofTest(text)];
  if (!did.startsWith('refund')) return { ...TO_CAPTURE, gateway: gateway('*T2 authorised 10.00') };
  const refunds = [ofTest('*R1 4.00')];
  return { ...TO_REFUND, gateway: gateway('*T1 captured 10.00'), refunds };
}

function told(orderNo: string, did: string, waits: boolean): string {
  const what = did.startsWith('refund') ? ofTest('refund R1 4.00') : 'capture 10.00';
  return `${orderNo} ${what} ${waits ? 'held: twin_request' : 'planned'}`;
}

/** With names of this test's own: accounts share them. */
const ofTest = (text: string): string => text.replace(/\b([RT]\d)\b/g, `$1-${accounts}`);

test('refunds of one transaction under two orders wait, both of them', async () => {
  const order = { ...TO_REFUND, gateway: ['*T1 captured 10.00'] };
  await plan([order, order, TO_REFUND]);
  expect((await instructionTexts(db, accountId)).sort()).toEqual([
    'O1 refund R1 4.00 held: shared_refund',
    'O2 refund R1 4.00 held: shared_refund',
    'O3 refund R1 4.00 planned',
  ]);
});

test('both approved, they leave in batches of their own: none may name a transaction twice', async () => {
  const order = { ...TO_REFUND, gateway: ['*T1 captured 10.00'] };
  await plan([order, order, TO_REFUND]);
  await db.query(
    `update tieout.instructions set state = 'planned', hold_reason = null where account_id = $1`,
    [accountId],
  );
  expect(await cutBatches(db, [accountId], SNAPSHOT_AT)).toBe(2);
  const { rows } = await db.query(
    `select count(*) as entries from tieout.instructions where account_id = $1
     group by batch_id order by 1`,
    [accountId],
  );
  expect(rows).toEqual([{ entries: 1n }, { entries: 2n }]);
});

test('a refund of a transaction that another order was refunded by waits', async () => {
  const before = { ledger: null, did: ['refund *T1 R1 4.00 confirmed'] };
  const order = { ...TO_REFUND, gateway: ['*T1 captured 10.00'] };
  await plan([before, order]);
  expect(await instructionTexts(db, accountId)).toEqual([
    'O1 refund R1 4.00 confirmed',
    'O2 refund R1 4.00 held: shared_refund',
  ]);
});

// What one order was sent for stands in the way of any other's instruction: without a word about it
// the other would wait every night for what never comes.
test.each([
  ['refund *T1 *R1 4.00 unknown', 'refund_mismatch'],
  ['refund *T1 *R1 4.00 accepted', 'refund_mismatch'],
  ['refund *T1 *R1 4.00 confirmed', 'refund_mismatch'],
  ['capture *T2 unknown', 'state_mismatch'],
  ['capture *T2 accepted', 'state_mismatch'],
])('sent for another order, the other is a break: %s', async (did, verdict) => {
  const before = { ledger: null, did: [did] };
  const order = did.startsWith('refund')
    ? { ...TO_REFUND, refunds: ['*R1 4.00'] }
    : { ...TO_CAPTURE, gateway: ['*T2 authorised 10.00'] };
  await plan([before, order]);
  expect(await instructionTexts(db, accountId)).toHaveLength(1);
  const { rows } = await db.query<{ kinds: string[]; need: string | null }>(
    `select kinds, need from tieout.verdicts where account_id = $1 and order_no = 'O2'`,
    [accountId],
  );
  expect(rows.map((row) => [row.kinds.join(' '), row.need])).toEqual([[verdict, null]]);
});

test.each([
  ['refund *T1 *R1 4.00 held', 'need refund'],
  ['refund *T1 *R1 4.00 rejected', 'need refund'],
])('what was not sent, or refused there, is asked for here: %s', async (did, verdict) => {
  await plan([
    { ledger: null, did: [did] },
    { ...TO_REFUND, refunds: ['*R1 4.00'] },
  ]);
  const { rows } = await db.query<{ need: string | null }>(
    `select need from tieout.verdicts where account_id = $1 and order_no = 'O2'`,
    [accountId],
  );
  expect(rows.map((row) => `need ${row.need}`)).toEqual([verdict]);
});

/** What was done before was done by an earlier run. */
async function plan(texts: readonly OrderText[], allowed = policies('auto')): Promise<void> {
  const orders = texts.map((text, index) => orderOf(`O${index + 1}`, text));
  await storeInstructions(db, await storeRun(db, accountId), accountId, orders);
  const runId = await storeRun(db, accountId);
  await snapshotAndPlan(db, { runId, accountId, policies: allowed }, orders);
}

/** A night that looks and plans, and is on record as one that did. */
async function lookedAt(texts: readonly OrderText[], again: bigint | null = null): Promise<bigint> {
  const orders = texts.map((text, index) => orderOf(`O${index + 1}`, text));
  const runId = again ?? (await storeRun(db, accountId));
  const { pullId } = await snapshotAndPlan(
    db,
    { runId, accountId, policies: policies('auto') },
    orders,
  );
  await db.query('update tieout.run_accounts set pull_id = $2 where run_id = $1', [runId, pullId]);
  return runId;
}

const BLANK = ['\u00a0', '\t', '\r', '\u0085', '\u1680', '\u2003', '\u2028'];
const INVISIBLE = [
  '\ufeff',
  '\u200b',
  '\u200f',
  '\u2060',
  '\u00ad',
  '\u0001',
  '\ufe0f',
  '\u{e0020}',
];

test('ids of refunds that differ in case, blanks, lookalikes or what nobody sees are one', async () => {
  const added = [...BLANK, ...INVISIBLE].flatMap((sign) => [`${sign}R-1`, `R${sign}-1`]);
  const { rows } = await db.query<{ plain: string }>(
    'select tieout.plain_id(id collate "C") as plain from unnest($1::text[]) as id',
    [['R-1', ' r-1', 'r -1\t', '\uff32-1', ...added]],
  );
  expect(new Set(rows.map(({ plain }) => plain))).toEqual(new Set(['r-1']));
});

test('nor do invisible characters make another person', async () => {
  const names = INVISIBLE.map((sign) => `${sign}An${sign}na Berg`);
  const { rows } = await db.query<{ same: boolean }>(
    `select tieout.is_same_person(name, 'anna berg') as same from unnest($1::text[]) as name`,
    [[...names, 'anna berk']],
  );
  expect(rows.map(({ same }) => same)).toEqual([...names.map(() => true), false]);
  expect(names.filter((name) => !isSamePerson(name, 'anna berg'))).toEqual([]);
});
