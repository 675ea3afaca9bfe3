// A refund of disputed money waits for a person: plan.sql over the set, and the claim's facts with
// core/instructions/policy.ts over one order, case by case; both have to say the same. Neighbour:
// night/disputes.test.ts, whole nights.

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { isUnseenDispute } from '../../src/core/instructions/policy.js';
import { disputeText } from '../../src/core/text/labels.js';
import type { Database } from '../../src/database/db.js';
import type { SeenDispute } from '../../src/instructions/decisionsStore.js';
import { cutBatches } from '../../src/instructions/instructionsStore.js';
import { ClaimChanged, claimBatch } from '../../src/send/batches/attemptsStore.js';
import { batchFacts } from '../../src/send/batches/batchFactsStore.js';
import { sayPutBack } from '../../src/send/journal/putBacksStore.js';
import type { FreshDatabase } from '../support/database.js';
import { freshDatabase } from '../support/database.js';
import { orderOf, SNAPSHOT_AT } from '../support/orders.js';
import { instructionTexts, policies, snapshotAndPlan } from '../support/planning.js';
import { storeRun } from '../support/snapshotStore.js';

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

const ORDER = orderOf('O1', {
  ledger: 'captured 10.00 EUR',
  gateway: ['T1 captured 10.00'],
  refunds: ['R1 4.00'],
});

/** order, transaction, stage of each dispute; of another account where one is named */
type Dispute = [string, string | null, string, string?];

describe.each<[string, Dispute[], boolean]>([
  ['none', [], false],
  ['opened, by its order', [['O1', null, 'opened']], true],
  ['lost, by its order', [['O1', null, 'lost']], true],
  ['won', [['O1', null, 'won']], false],
  ['withdrawn', [['O1', 'O1/T1', 'withdrawn']], false],
  ['opened, by its transaction', [['as the acquirer says', 'O1/T1', 'opened']], true],
  ['of another order and transaction', [['O2', 'O2/T2', 'opened']], false],
  ['of another account', [['O1', null, 'opened', 'B']], false],
  ['of the same transaction by another account', [['O9', 'O1/T1', 'opened', 'C']], true],
  [
    'one of several is open',
    [
      ['O1', null, 'won'],
      ['O1', null, 'withdrawn'],
      ['O1', null, 'lost'],
    ],
    true,
  ],
])('disputes: %s', (_, disputes, isHeld) => {
  test('the plan and the claim agree', async () => {
    await store(disputes);
    await plan();
    expect(await instructionTexts(db, accountId)).toEqual([
      isHeld ? 'O1 refund R1 4.00 held: disputed' : 'O1 refund R1 4.00 planned',
    ]);
    await db.query('delete from ledger.disputes');
    await db.query(
      `update tieout.instructions set state = 'planned', hold_reason = null where account_id = $1`,
      [accountId],
    );
    expect(await cutBatches(db, [accountId], SNAPSHOT_AT)).toBe(1);
    await store(disputes);
    expect(await claimHolds()).toBe(isHeld);
    // what waits in a batch is weighed by the next plan as well
    await plan();
    expect(await instructionTexts(db, accountId)).toEqual([
      isHeld ? 'O1 refund R1 4.00 held: disputed' : 'O1 refund R1 4.00 queued',
    ]);
  });
});

/** type, order, transaction, amount where it is not all of it, currency */
type Charged = [string, string | null, string | null, string?, string?];

describe.each<[string, Charged[], boolean]>([
  ['one, by its order', [['chargeback', 'O1', null]], true],
  ['one, by its transaction', [['chargeback', null, 'O1/T1']], true],
  ['of another order', [['chargeback', 'O2', 'O2/T2']], false],
  ['another line of the order', [['captured', 'O1', 'O1/T1']], false],
  [
    'one that was reversed',
    [
      ['chargeback', 'O1', 'O1/T1'],
      ['chargeback_reversed', 'O1', 'O1/T1'],
    ],
    false,
  ],
  [
    'a second one, the first of which was reversed',
    [
      ['chargeback', 'O1', 'O1/T1'],
      ['chargeback_reversed', 'O1', 'O1/T1'],
      ['chargeback', 'O1', 'O1/T1'],
    ],
    true,
  ],
  [
    'one that was reversed in part',
    [
      ['chargeback', 'O1', 'O1/T1'],
      ['chargeback_reversed', 'O1', 'O1/T1', '9.99'],
    ],
    true,
  ],
  [
    'one that was reversed in parts, until all of it was',
    [
      ['chargeback', 'O1', 'O1/T1'],
      ['chargeback_reversed', 'O1', 'O1/T1', '9.99'],
      ['chargeback_reversed', 'O1', 'O1/T1', '0.01'],
    ],
    false,
  ],
  [
    'one that was reversed in another currency',
    [
      ['chargeback', 'O1', 'O1/T1'],
      ['chargeback_reversed', 'O1', 'O1/T1', '10.00', 'CHF'],
    ],
    true,
  ],
  [
    'by its order, reversed by its transaction',
    [
      ['chargeback', 'O1', null],
      ['chargeback_reversed', null, 'O1/T1'],
    ],
    false,
  ],
  [
    'by its transaction, reversed by its order',
    [
      ['chargeback', null, 'O1/T1'],
      ['chargeback_reversed', 'O1', null],
    ],
    false,
  ],
  [
    'called something else, reversed in part by its order',
    [
      ['chargeback', 'psp 1', 'O1/T1'],
      ['chargeback_reversed', 'O1', null, '1.00'],
    ],
    true,
  ],
  [
    'the reversal is of a transaction that nobody knows',
    [
      ['chargeback', null, 'O1/T1'],
      ['chargeback_reversed', null, 'O9/T9'],
    ],
    true,
  ],
])('chargebacks: %s', (_, lines, isHeld) => {
  test('hold a refund at plan and claim, and are what a person sees', async () => {
    await captured();
    await charge(lines);
    await plan();
    expect(await instructionTexts(db, accountId)).toEqual([
      isHeld ? 'O1 refund R1 4.00 held: disputed' : 'O1 refund R1 4.00 planned',
    ]);
    await db.query(
      `update tieout.instructions set state = 'planned', hold_reason = null where account_id = $1`,
      [accountId],
    );
    expect(await cutBatches(db, [accountId], SNAPSHOT_AT)).toBe(1);
    expect(await claimHolds()).toBe(isHeld);
    if (!isHeld) return;
    const { rows } = await db.query<{ seen: SeenDispute[] }>(
      `select tieout.seen_of(i) -> 'disputes' as seen from tieout.instructions i
       where account_id = $1`,
      [accountId],
    );
    const of = lines.filter(([, , transaction]) => transaction !== 'O9/T9');
    expect(rows[0]?.seen.map(disputeText).sort()).toEqual(
      of
        .map(([type, , , amount = '10.00', currency = 'EUR'], at) => {
          const sign = type === 'chargeback' ? '-' : '';
          return `${type.replace('_', ' ')} in batch 134, line ${at}: ${sign}${amount} ${currency}`;
        })
        .sort(),
    );
  });
});

test('a dispute that becomes known while a batch is claimed rolls the claim back', async () => {
  await plan();
  expect(await cutBatches(db, [accountId], SNAPSHOT_AT)).toBe(1);
  await store([['O1', null, 'opened']]);
  const { rows } = await db.query<{ batch_id: bigint; instruction_id: bigint }>(
    'select batch_id, instruction_id from tieout.instructions where account_id = $1',
    [accountId],
  );
  const claim = {
    attemptId: randomUUID(),
    instructionIds: rows.map((row) => row.instruction_id),
    bodySha256: '',
    requestGzip: Buffer.from(''),
    runId: null,
    journalId: null,
  };
  const runner = { id: randomUUID(), host: 'h', boot: 'b', pid: 1, started: 's' };
  const batchId = rows[0]?.batch_id ?? 0n;
  const claimed = db.transaction((tx) => claimBatch(tx, batchId, claim, runner));
  await expect(claimed).rejects.toThrow(ClaimChanged);
  expect(await instructionTexts(db, accountId)).toEqual(['O1 refund R1 4.00 queued']);
});

test('a dispute that leaves the ledger frees nothing; one that was won does', async () => {
  await store([['O1', null, 'opened']]);
  await plan();
  await db.query('delete from ledger.disputes');
  await plan();
  await plan();
  expect(await instructionTexts(db, accountId)).toEqual(['O1 refund R1 4.00 held: disputed']);
  await store([['O1', null, 'won']]);
  await plan();
  expect(await instructionTexts(db, accountId)).toEqual(['O1 refund R1 4.00 planned']);
});

test.each(['auto', 'approve'] as const)(
  'nor does a database that is put back meanwhile, where the refund waited for %s before',
  async (policy) => {
    if (policy === 'approve') await plan(policy);
    await store([['O1', null, 'opened']]);
    await plan();
    expect(await instructionTexts(db, accountId)).toEqual(['O1 refund R1 4.00 held: disputed']);
    await db.transaction((tx) => sayPutBack(tx, 'for a test'));
    expect(await instructionTexts(db, accountId)).toEqual(['O1 refund R1 4.00 held: restored']);
    await db.query('delete from ledger.disputes');
    await plan();
    expect(await instructionTexts(db, accountId)).toEqual(['O1 refund R1 4.00 held: disputed']);
    // Of one that was won meanwhile nothing is left, and what waits for nothing goes.
    await db.transaction((tx) => sayPutBack(tx, 'for a test'));
    await store([['O1', null, 'won']]);
    await plan();
    await db.query('delete from ledger.disputes');
    await db.transaction((tx) => sayPutBack(tx, 'for a test'));
    await plan();
    expect(await instructionTexts(db, accountId)).toEqual(['O1 refund R1 4.00 planned']);
  },
);

test('nor a night in which nobody asked for the refund, whatever was said of it', async () => {
  await plan('approve');
  await store([['O1', null, 'opened']]);
  await db.query(
    `update tieout.instructions set reason = 'the customer called' where account_id = $1`,
    [accountId],
  );
  await plan();
  await db.query('delete from ledger.disputes');
  await db.query(
    `update tieout.instructions set state = 'withdrawn', hold_reason = null, settled_at = now(),
       reason = 'no longer asked for', changed_by = 'tieout' where account_id = $1`,
    [accountId],
  );
  await plan();
  expect((await instructionTexts(db, accountId)).at(-1)).toBe('O1 refund R1 4.00 held: disputed');
});

test('a capture of a disputed order is not what is held', async () => {
  await store([['O1', 'O1/T1', 'opened']]);
  const order = { ledger: 'captured 10.00 EUR', gateway: ['T1 authorised 10.00'] };
  await snapshotAndPlan(
    db,
    { runId: await storeRun(db, accountId), accountId, policies: policies('auto') },
    [orderOf('O1', order)],
  );
  expect(await instructionTexts(db, accountId)).toEqual(['O1 capture 10.00 planned']);
});

test('a view of the merchant with rows that are none holds what each names, and harms no other', async () => {
  await db.query(`
    alter table ledger.disputes rename to shop_disputes;
    create view ledger.disputes as
      select account_id::varchar(20) as account_id, dispute_id::varchar(20) as dispute_id,
        order_no::varchar(40) as order_no, ''::text as transaction_id,
        currency::char(3) as currency, amount::float as amount, stage, at::text as at
      from ledger.shop_disputes
      union all select '${accountId}', 'odd', 'O1', '', 'EUR', 'NaN', 'arbitration', 'last week'
      union all select '${accountId}', null, null, null, null, null, null, null
      union all select null, null, null, null, null, 'Infinity', repeat('x', 100000), 'infinity'`);
  try {
    const other = orderOf('O2', {
      ledger: 'captured 10.00 EUR',
      gateway: ['T2 captured 10.00'],
      refunds: ['R2 4.00'],
    });
    await snapshotAndPlan(
      db,
      { runId: await storeRun(db, accountId), accountId, policies: policies('auto') },
      [ORDER, other],
    );
    expect((await instructionTexts(db, accountId)).sort()).toEqual([
      'O1 refund R1 4.00 held: disputed',
      'O2 refund R2 4.00 planned',
    ]);
    const { rows } = await db.query<{ seen: unknown }>(
      `select tieout.seen_of(i) -> 'disputes' as seen from tieout.instructions i
       where account_id = $1 order by order_no`,
      [accountId],
    );
    expect(rows).toEqual([
      { seen: [expect.objectContaining({ disputeId: 'odd', stage: 'arbitration', amount: null })] },
      { seen: null },
    ]);
  } finally {
    await db.query(`
      drop view ledger.disputes;
      alter table ledger.shop_disputes rename to disputes`);
  }
});

async function plan(policy: 'auto' | 'approve' = 'auto'): Promise<void> {
  const runId = await storeRun(db, accountId);
  const night = { runId, accountId, policies: policies(policy) };
  const { pullId } = await snapshotAndPlan(db, night, [ORDER]);
  await db.query('update tieout.pulls set as_of = clock_timestamp() where pull_id = $1', [pullId]);
}

/** The capture of the order, as the book of movements has it. */
async function captured(): Promise<void> {
  await db.query(
    `insert into tieout.movements (account_id, order_no, transaction_id, kind, currency, amount, made,
       business_date, run_id, is_history)
     values ($1, 'O1', $1 || '.O1/T1', 'captured', 'EUR', 10, 'elsewhere', '2026-11-18', $2, false)`,
    [accountId, await storeRun(db, accountId)],
  );
}

async function charge(lines: readonly Charged[]): Promise<void> {
  for (const [
    at,
    [type, orderNo, transactionId, amount = '10', currency = 'EUR'],
  ] of lines.entries()) {
    const by = transactionId === null ? null : `${accountId}.${transactionId}`;
    await db.query(
      `insert into tieout.settlement_lines (account_id, batch, line_id, line_no, type, booked_at,
         order_no, transaction_id, currency, amount, settle_currency, gross, fee, net)
       select $1, '134', $2, 1, $3, '2026-11-19Z', $4, $5, $7, a, $7, a, 0, a
       from (select case $3 when 'chargeback' then -$6::numeric else $6 end as a) as money`,
      [accountId, String(at), type, orderNo, by, amount, currency],
    );
  }
}

async function store(disputes: readonly Dispute[]): Promise<void> {
  for (const [at, [orderNo, transactionId, stage, of]] of disputes.entries()) {
    // Transactions of the cases are those of their account.
    const by = transactionId === null ? null : `${accountId}.${transactionId}`;
    await db.query(`insert into ledger.disputes values ($1, $2, $3, $4, 'EUR', 10.00, $5, $6)`, [
      of ?? accountId,
      `D${at}`,
      orderNo,
      by,
      stage,
      SNAPSHOT_AT,
    ]);
  }
}

/** What the claim would say of the newest batch. */
async function claimHolds(): Promise<boolean> {
  const { rows } = await db.query<{ batch_id: bigint }>(
    'select max(batch_id) as batch_id from tieout.batches where account_id = $1',
    [accountId],
  );
  const [fact] = await batchFacts(db, rows[0]?.batch_id ?? 0n, 30);
  if (!fact) throw new Error('no facts');
  return isUnseenDispute(fact);
}
