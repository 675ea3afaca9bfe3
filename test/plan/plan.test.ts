// From needs to instructions and batches: plan.sql, withdraw.sql and cutBatches.sql on a real
// PostgreSQL. What may be sent without a person, what waits and why, and that planning twice adds
// nothing.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Database } from '../../src/database/db.js';
import { cutBatches } from '../../src/instructions/instructionsStore.js';
import type { FreshDatabase } from '../support/database.js';
import { freshDatabase } from '../support/database.js';
import type { OrderText, StoredOrder } from '../support/orders.js';
import { orderOf, SNAPSHOT_AT } from '../support/orders.js';
import { claimQueued, instructionTexts, policies, snapshotAndPlan } from '../support/planning.js';
import { storeInstructions, storeRun } from '../support/snapshotStore.js';

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
const TO_CANCEL = { ledger: 'cancelled 10.00 EUR', gateway: ['T1 authorised 10.00'] };
const TO_REVIEW = {
  ledger: 'captured 10.00 EUR decision=reject',
  gateway: ['T1 in_review 10.00'],
};
const TO_REFUND = {
  ledger: 'captured 10.00 EUR',
  gateway: ['T1 captured 10.00'],
  refunds: ['R1 4.00'],
};

describe('needs become instructions', () => {
  test('each operation, with what it moves and what will show it done', async () => {
    await plan([TO_CAPTURE, TO_CANCEL, TO_REFUND, TO_REVIEW]);
    expect(await instructionTexts(db, accountId)).toEqual([
      'O2 cancel 10.00 planned',
      'O1 capture 10.00 planned',
      'O3 refund R1 4.00 planned',
      'O4 review reject 10.00 planned',
    ]);
    const { rows } = await db.query(
      `select operation, from_state, done_states from tieout.instructions
       where account_id = $1 order by operation`,
      [accountId],
    );
    expect(rows).toEqual([
      { operation: 'cancel', from_state: 'authorised', done_states: ['cancelled'] },
      {
        operation: 'capture',
        from_state: 'authorised',
        done_states: ['captured', 'partially_refunded', 'refunded'],
      },
      {
        operation: 'refund',
        from_state: 'captured',
        done_states: ['partially_refunded', 'refunded'],
      },
      { operation: 'review', from_state: 'in_review', done_states: ['cancelled', 'declined'] },
    ]);
  });

  test('the refund that completes the amount must show as refunded', async () => {
    await plan([{ ...TO_REFUND, refunds: ['R1 4.00 age=12d', 'R2 6.00'], gateway: PARTLY }]);
    expect(await instructionTexts(db, accountId)).toEqual(['O1 refund R2 6.00 planned']);
    expect(await only('done_states')).toEqual(['refunded']);
  });

  test('what differs, waits or matches becomes none', async () => {
    await plan([
      { ledger: 'captured 10.00 EUR', gateway: ['T1 authorised 9.00'] },
      { ledger: 'captured 10.00 EUR age=1h' },
      { ledger: 'captured 10.00 EUR', gateway: ['T1 captured 10.00'] },
      { ...TO_CAPTURE, page: 'failed' },
    ]);
    expect(await instructionTexts(db, accountId)).toEqual([]);
  });

  test('planning twice adds nothing', async () => {
    await plan([TO_CAPTURE, TO_REFUND]);
    const first = await instructionTexts(db, accountId);
    await plan([TO_CAPTURE, TO_REFUND]);
    expect(await instructionTexts(db, accountId)).toEqual(first);
  });

  test('what a confirmation makes possible is the next run’s', async () => {
    await plan([{ ...TO_REFUND, did: ['capture T1 confirmed'] }], { stored: true });
    expect(await instructionTexts(db, accountId)).toEqual(['O1 capture 10.00 confirmed']);
    runId = await storeRun(db, accountId);
    await plan([TO_REFUND]);
    expect((await instructionTexts(db, accountId)).at(1)).toBe('O1 refund R1 4.00 planned');
  });

  test.each(['queued', 'sending', 'accepted', 'unknown'])(
    'none beside one that is %s',
    async (s) => {
      await plan([{ ...TO_CAPTURE, did: [`capture T1 ${s}`] }], { stored: true });
      expect(await instructionTexts(db, accountId)).toHaveLength(1);
    },
  );
});

const PARTLY = ['T1 partially_refunded 10.00'];

describe('what waits for a person, and why', () => {
  test.each([
    ['approve', {}, 'held: approval'],
    ['auto', {}, 'planned'],
    ['auto', { above: { EUR: '10.00' } }, 'planned'],
    ['auto', { above: { EUR: '9.99' } }, 'held: above_limit'],
    ['auto', { above: { USD: '99.00' } }, 'held: above_limit'],
    ['auto', { above: {} }, 'held: above_limit'],
  ] as const)('%s with %j', async (policy, changes, outcome) => {
    await plan([TO_CAPTURE], { policies: policies(policy, changes) });
    expect(await instructionTexts(db, accountId)).toEqual([`O1 capture 10.00 ${outcome}`]);
  });

  test('the limit of a refund is on what is refunded', async () => {
    await plan([TO_REFUND], { policies: policies('auto', { above: { EUR: '4.00' } }) });
    expect(await instructionTexts(db, accountId)).toEqual(['O1 refund R1 4.00 planned']);
  });

  test.each(['observed', 'no_history'])('an account that is %s', async (block) => {
    await db.query('update tieout.run_accounts set send_block = $2 where run_id = $1', [
      runId,
      block,
    ]);
    await plan([TO_CAPTURE]);
    expect(await instructionTexts(db, accountId)).toEqual([`O1 capture 10.00 held: ${block}`]);
  });

  test.each([
    [false, 'O1 capture 8.00 held: partial_capture'],
    [true, 'O1 capture 8.00 planned'],
  ])('less than was authorised, with partialCapture %s', async (partialCapture, outcome) => {
    const order = { ...TO_CAPTURE, ledger: 'captured 10.00 EUR take=8.00' };
    await plan([order], { rules: { partialCapture } });
    expect(await instructionTexts(db, accountId)).toEqual([outcome]);
  });

  test.each(['auto', 'approve'] as const)(
    'whatever the fraud check rejects, with %s',
    async (policy) => {
      const order = { ...TO_CAPTURE, gateway: ['T1 authorised 10.00 fraud=1'] };
      await plan([order, TO_CAPTURE], { policies: policies(policy) });
      expect((await instructionTexts(db, accountId)).sort()[0]).toBe(
        'O1 capture 10.00 held: fraud_rejected',
      );
    },
  );

  test('a review answers the fraud check, so that the check does not hold it', async () => {
    const order = {
      ledger: 'captured 10.00 EUR decision=accept',
      gateway: ['T1 in_review 10.00 fraud=1'],
    };
    await plan([order]);
    expect(await instructionTexts(db, accountId)).toEqual(['O1 review accept 10.00 planned']);
  });

  test('a fraud check of a dead attempt holds nothing', async () => {
    const order = { ...TO_CAPTURE, gateway: ['T0 declined 10.00 fraud=1', 'T1 authorised 10.00'] };
    await plan([order]);
    expect(await instructionTexts(db, accountId)).toEqual(['O1 capture 10.00 planned']);
  });

  test('past the count of a run the rest waits, oldest first', async () => {
    await plan([withAge('2d'), withAge('4d'), withAge('3d')], {
      policies: policies('auto', { maxCount: 2 }),
    });
    expect((await instructionTexts(db, accountId)).sort()).toEqual([
      'O1 capture 10.00 held: over_limit_of_run',
      'O2 capture 10.00 planned',
      'O3 capture 10.00 planned',
    ]);
  });

  test('past the amount of a run the rest waits, a small one too', async () => {
    const small = { ledger: 'captured 1.00 EUR age=2d', gateway: ['T1 authorised 1.00'] };
    const dollars = { ledger: 'captured 50.00 USD', gateway: ['T1 authorised 50.00 USD'] };
    await plan([withAge('4d'), withAge('3d'), small, dollars], {
      policies: policies('auto', { maxAmount: { EUR: '15.00' } }),
    });
    expect((await instructionTexts(db, accountId)).sort()).toEqual([
      'O1 capture 10.00 planned',
      'O2 capture 10.00 held: over_limit_of_run',
      'O3 capture 1.00 held: over_limit_of_run',
      'O4 capture 50.00 planned',
    ]);
  });

  test('what waits for another reason does not use up the limits', async () => {
    const big = { ledger: 'captured 20.00 EUR age=4d', gateway: ['T1 authorised 20.00'] };
    await plan([big, withAge('3d')], {
      policies: policies('auto', { above: { EUR: '15.00' }, maxCount: 1 }),
    });
    expect((await instructionTexts(db, accountId)).sort()).toEqual([
      'O1 capture 20.00 held: above_limit',
      'O2 capture 10.00 planned',
    ]);
  });

  test('a resumed run counts what it has queued already', async () => {
    const limit = { policies: policies('auto', { maxCount: 1 }) };
    await plan([withAge('3d')], limit);
    await cutBatches(db, [accountId], SNAPSHOT_AT);
    await plan([withAge('3d'), withAge('2d')], limit);
    expect((await instructionTexts(db, accountId)).sort()).toEqual([
      'O1 capture 10.00 queued',
      'O2 capture 10.00 held: over_limit_of_run',
    ]);
  });

  test('it counts what it has sent of earlier runs, too', async () => {
    await plan([withAge('3d'), withAge('2d')], { policies: policies('auto', { maxCount: 0 }) });
    runId = await storeRun(db, accountId);
    const limit = { policies: policies('auto', { maxCount: 1 }) };
    await plan([withAge('3d'), withAge('2d')], limit);
    await cutBatches(db, [accountId], SNAPSHOT_AT);
    await claimQueued(db, runId, accountId);
    await plan([withAge('3d'), withAge('2d')], limit);
    expect((await instructionTexts(db, accountId)).sort()).toEqual([
      'O1 capture 10.00 sending',
      'O2 capture 10.00 held: over_limit_of_run',
    ]);
  });

  test('what waited is weighed again by the next run', async () => {
    await plan([TO_CAPTURE], { policies: policies('approve') });
    runId = await storeRun(db, accountId);
    await plan([TO_CAPTURE], { policies: policies('auto') });
    expect(await instructionTexts(db, accountId)).toEqual(['O1 capture 10.00 planned']);
    await plan([TO_CAPTURE], { policies: policies('approve') });
    expect(await instructionTexts(db, accountId)).toEqual(['O1 capture 10.00 held: approval']);
  });
});

describe('what waits needlessly is withdrawn', () => {
  test.each([
    ['done elsewhere', { ...TO_CAPTURE, gateway: ['T1 captured 10.00'] }, 'done elsewhere'],
    ['its cause is gone', { ...TO_CAPTURE, ledger: 'authorised 10.00 EUR' }, 'no longer asked for'],
    ['another amount', { ...TO_CAPTURE, ledger: 'captured 9.00 EUR' }, 'no longer asked for'],
    ['the order is gone', { ledger: null, gateway: TO_CAPTURE.gateway }, 'no longer asked for'],
    ['another operation', TO_CANCEL, 'no longer asked for'],
    [
      'another transaction',
      { ...TO_CAPTURE, gateway: ['T1 declined 10.00', 'T2 authorised 10.00'] },
      'no longer asked for',
    ],
  ])('%s', async (_, now, reason) => {
    await plan([TO_CAPTURE]);
    await plan([now]);
    expect(await instructionTexts(db, accountId)).toEqual([
      `O1 capture 10.00 withdrawn: ${reason}`,
    ]);
  });

  test('a refund that somebody else made', async () => {
    await plan([{ ...TO_REFUND, refunds: ['R1 10.00'] }]);
    await plan([{ ...TO_REFUND, refunds: ['R1 10.00'], gateway: ['T1 refunded 10.00'] }]);
    expect(await instructionTexts(db, accountId)).toEqual([
      'O1 refund R1 10.00 withdrawn: done elsewhere',
    ]);
  });

  test('an order nobody could look at keeps its own', async () => {
    await plan([TO_CAPTURE]);
    await plan([{ ...TO_CAPTURE, page: 'failed' }]);
    expect(await instructionTexts(db, accountId)).toEqual(['O1 capture 10.00 planned']);
  });

  test.each(['sending', 'accepted', 'unknown'])('never what is %s', async (state) => {
    const order = { ledger: 'authorised 10.00 EUR', gateway: ['T1 authorised 10.00'] };
    await plan([{ ...order, did: [`capture T1 ${state}`] }], { stored: true });
    expect(await instructionTexts(db, accountId)).toEqual([
      expect.stringMatching(`O1 capture 10.00 ${state}`),
    ]);
  });

  test('what is withdrawn in a run is not planned again in it', async () => {
    await plan([TO_CAPTURE]);
    await plan([{ ...TO_CAPTURE, ledger: 'authorised 10.00 EUR' }]);
    await plan([TO_CAPTURE]);
    expect(await instructionTexts(db, accountId)).toHaveLength(1);
    runId = await storeRun(db, accountId);
    await plan([TO_CAPTURE]);
    expect((await instructionTexts(db, accountId)).at(1)).toBe('O1 capture 10.00 planned');
  });
});

describe('what a person said no to', () => {
  test('is not planned again while just the same is needed', async () => {
    await plan([{ ...TO_CAPTURE, did: ['capture T1 withdrawn by=person'] }], { stored: true });
    runId = await storeRun(db, accountId);
    await plan([TO_CAPTURE]);
    expect(await instructionTexts(db, accountId)).toHaveLength(1);
  });

  test('is planned again in the next run once somebody wants it', async () => {
    const again = { ...TO_CAPTURE, did: ['capture T1 withdrawn by=person again=yes'] };
    await plan([again], { stored: true });
    expect(await instructionTexts(db, accountId)).toHaveLength(1);
    runId = await storeRun(db, accountId);
    await plan([TO_CAPTURE]);
    expect((await instructionTexts(db, accountId)).at(1)).toBe('O1 capture 10.00 planned');
  });
});

describe('batches', () => {
  test('at most 50 captures, cancels or refunds and 100 reviews; partial refunds apart, 10', async () => {
    const whole = { ...TO_REFUND, refunds: ['R1 10.00'] };
    await plan([
      ...Array.from({ length: 51 }, () => TO_CAPTURE),
      ...Array.from({ length: 50 }, () => TO_CANCEL),
      ...Array.from({ length: 52 }, () => whole),
      ...Array.from({ length: 12 }, () => TO_REFUND),
      ...Array.from({ length: 101 }, () => TO_REVIEW),
    ]);
    expect(await cutBatches(db, [accountId], SNAPSHOT_AT)).toBe(9);
    expect(await batches()).toEqual([
      'cancel 50',
      'capture 1',
      'capture 50',
      'refund 2',
      'refund 2',
      'refund 10',
      'refund 50',
      'review 1',
      'review 100',
    ]);
  });

  test('held ones stay where they are', async () => {
    await plan([TO_CAPTURE, TO_CAPTURE], { policies: policies('auto', { maxCount: 1 }) });
    expect(await cutBatches(db, [accountId], SNAPSHOT_AT)).toBe(1);
    expect(await cutBatches(db, [accountId], SNAPSHOT_AT)).toBe(0);
    expect(await batches()).toEqual(['capture 1']);
  });

  test('one account a batch, and other accounts are left alone', async () => {
    await plan([TO_CAPTURE]);
    const first = accountId;
    accountId = `${first}b`;
    runId = await storeRun(db, accountId);
    await plan([TO_CAPTURE]);
    await cutBatches(db, [first], SNAPSHOT_AT);
    expect(await instructionTexts(db, accountId)).toEqual(['O1 capture 10.00 planned']);
    await cutBatches(db, [first, accountId], SNAPSHOT_AT);
    const { rows } = await db.query(
      `select count(*) as different from tieout.instructions i join tieout.batches b
       using (batch_id) where i.account_id <> b.account_id or i.operation <> b.operation`,
    );
    expect(rows).toEqual([{ different: 0n }]);
  });
});

async function plan(
  texts: readonly OrderText[],
  options: Partial<Parameters<typeof snapshotAndPlan>[1]> & { stored?: boolean } = {},
): Promise<void> {
  const orders = texts.map((text, index): StoredOrder => orderOf(`O${index + 1}`, text));
  if (options.stored) await storeInstructions(db, runId, accountId, orders);
  await snapshotAndPlan(db, { runId, accountId, ...options }, orders);
}

function withAge(age: string): OrderText {
  return { ...TO_CAPTURE, ledger: `captured 10.00 EUR age=${age}` };
}

async function only(column: string): Promise<unknown> {
  const { rows } = await db.query(
    `select ${column} from tieout.instructions where account_id = $1`,
    [accountId],
  );
  return rows[0]?.[column];
}

/** "capture 50" for every batch of the account. */
async function batches(): Promise<string[]> {
  const { rows } = await db.query<{ text: string }>(
    `select b.operation || ' ' || count(*) as text from tieout.batches b
     join tieout.instructions i using (batch_id)
     where b.account_id = $1 and b.state = 'queued' and i.state = 'queued'
     group by b.batch_id, b.operation order by b.operation, count(*)`,
    [accountId],
  );
  return rows.map((row) => row.text);
}
