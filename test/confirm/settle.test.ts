// What a snapshot proves about instructions that were sent: settle.sql, for each row of PROOFS.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PROOFS } from '../../src/core/instructions/instruction.js';
import { GATEWAY_STATES } from '../../src/core/orders/order.js';
import type { Database } from '../../src/database/db.js';
import { settleBySnapshot } from '../../src/instructions/instructionsStore.js';
import type { FreshDatabase } from '../support/database.js';
import { freshDatabase } from '../support/database.js';
import type { OrderText } from '../support/orders.js';
import { orderOf, SNAPSHOT_AT } from '../support/orders.js';
import type { Snapshot } from '../support/snapshotStore.js';
import { storeInstructions, storeRun, storeSnapshot } from '../support/snapshotStore.js';

let fresh: FreshDatabase;
let db: Database;
let accounts = 0;
beforeAll(async () => {
  fresh = await freshDatabase();
  db = fresh.db;
});
afterAll(() => fresh.drop());
const LEDGER = 'captured 10.00 EUR';

describe.each(
  PROOFS.map((proof) => [`${proof.operation} ${proof.decision ?? ''}`.trim(), proof] as const),
)('%s', (_, proof) => {
  const what = `${proof.operation} T1 ${proof.decision === 'reject' ? 'reject ' : ''}`;
  for (const shown of GATEWAY_STATES) {
    const isDone = proof.after.includes(shown);
    const gateway = [`T1 ${shown} 10.00`];

    test(`accepted, and ${shown} shows`, async () => {
      const { state } = await settled({ ledger: LEDGER, gateway, did: [`${what} accepted`] });
      expect(state).toBe(isDone ? 'confirmed' : 'unknown');
    });

    test(`unknown, and ${shown} shows`, async () => {
      for (const money of ['10.00', '10.00 USD', '12.00']) {
        const gateway = [`T1 ${shown} ${money}`];
        const one = await settled({ ledger: LEDGER, gateway, did: [`${what} unknown`] });
        const isSame = money === '10.00' || proof.operation !== 'capture';
        expect(one.state).toBe(isDone && isSame ? 'confirmed' : 'unknown');
      }
    });

    test(`rejected, and ${shown} shows`, async () => {
      const one = await settled({ ledger: LEDGER, gateway, did: [`${what} rejected`] });
      expect(one).toMatchObject(
        isDone
          ? { state: 'unknown', is_disputed: true, settled_at: null }
          : { state: 'rejected', is_disputed: false },
      );
    });
  }
});

describe('refunds', () => {
  test.each([
    ['refund T1 R1 10.00 accepted', 'refunded', 'confirmed'],
    ['refund T1 R1 10.00 accepted', 'partially_refunded', 'unknown'],
    ['refund T1 R1 10.00 accepted', 'captured', 'unknown'],
    ['refund T1 R1 10.00 unknown', 'refunded', 'confirmed'],
    ['refund T1 R1 10.00 unknown', 'captured', 'unknown'],
    ['refund T1 R1 4.00 accepted', 'partially_refunded', 'confirmed'],
    ['refund T1 R1 4.00 accepted', 'refunded', 'confirmed'],
    ['refund T1 R1 4.00 accepted', 'captured', 'unknown'],
    // a partial refund is never settled by a machine
    ['refund T1 R1 4.00 unknown', 'partially_refunded', 'unknown'],
    ['refund T1 R1 4.00 unknown', 'refunded', 'unknown'],
    ['refund T1 R1 4.00 rejected', 'partially_refunded', 'unknown'],
    // the state from before it proves nothing against the refusal
    ['refund T1 R1 4.00 rejected from=partially_refunded', 'partially_refunded', 'rejected'],
    ['refund T1 R1 10.00 rejected', 'captured', 'rejected'],
  ])('%s, and %s shows: %s', async (did, shown, outcome) => {
    const { state } = await settled({ ledger: LEDGER, gateway: [`T1 ${shown} 10.00`], did: [did] });
    expect(state).toBe(outcome);
  });
});

test('a refused partial refund is not blamed for a later one that went through', async () => {
  const { snapshot, accountId } = await stored({
    ledger: LEDGER,
    gateway: ['T1 partially_refunded 10.00'],
    did: ['refund T1 R1 4.00 rejected', 'refund T1 R2 3.00 accepted'],
  });
  await settleBySnapshot(db, snapshot.runId, snapshot.pullId, SNAPSHOT_AT);
  const { rows } = await db.query(
    'select state from tieout.instructions where account_id = $1 order by instruction_id',
    [accountId],
  );
  expect(rows).toEqual([{ state: 'rejected' }, { state: 'confirmed' }]);
});

describe('looks that prove nothing', () => {
  const captured = ['T1 captured 10.00'];
  test.each<[string, OrderText, string]>([
    [
      'a page that failed',
      { ledger: LEDGER, page: 'failed', gateway: captured, did: ['capture T1 accepted'] },
      'accepted',
    ],
    [
      'a code without a meaning',
      { ledger: LEDGER, gateway: ['T1 what 10.00 code=7777'], did: ['capture T1 accepted'] },
      'accepted',
    ],
    [
      'an entry that is none',
      { ledger: LEDGER, gateway: ['T1 captured 10.00 found=0'], did: ['capture T1 accepted'] },
      'accepted',
    ],
    [
      'two answers about the transaction',
      {
        ledger: LEDGER,
        gateway: ['T1 captured 10.00', 'T1 authorised 10.00'],
        did: ['capture T1 accepted'],
      },
      'accepted',
    ],
    [
      'another transaction of the order',
      { ledger: LEDGER, gateway: ['T2 captured 10.00'], did: ['capture T1 unknown'] },
      'unknown',
    ],
    ['no transaction at all', { ledger: LEDGER, did: ['capture T1 unknown'] }, 'unknown'],
    [
      'a look at an instruction that was never sent',
      { ledger: LEDGER, gateway: captured, did: ['capture T1 planned'] },
      'planned',
    ],
  ])('%s', async (_, order, outcome) => {
    expect((await settled(order)).state).toBe(outcome);
  });

  test('a snapshot from before the send', async () => {
    const order = { ledger: LEDGER, gateway: captured, did: ['capture T1 unknown'] };
    expect((await settled(order, { sentSeconds: 1 })).state).toBe('unknown');
    expect((await settled(order, { sentSeconds: 0 })).state).toBe('unknown');
    expect((await settled(order, { sentSeconds: -1 })).state).toBe('confirmed');
  });
});

test('accepted, but the transaction is gone from the gateway: unknown, and said so', async () => {
  const one = await settled({ ledger: LEDGER, did: ['capture T1 accepted'] });
  expect(one).toMatchObject({
    state: 'unknown',
    reason: 'the gateway accepted it, but shows no such transaction',
  });
});

test('the same answer twice counts once', async () => {
  const gateway = ['T1 captured 10.00', 'T1 captured 10.00'];
  const one = await settled({ ledger: LEDGER, gateway, did: ['capture T1 unknown'] });
  expect(one).toMatchObject({ state: 'confirmed', reason: 'the gateway shows captured' });
});

test('disputed: not settled by any later snapshot, only by a person', async () => {
  const order = { ledger: LEDGER, gateway: ['T1 captured 10.00'], did: ['capture T1 rejected'] };
  const { snapshot, accountId } = await stored(order);
  for (let turn = 0; turn < 3; turn += 1) {
    await settleBySnapshot(db, snapshot.runId, snapshot.pullId, SNAPSHOT_AT);
    expect(await instructionOf(accountId)).toMatchObject({ state: 'unknown', is_disputed: true });
  }
});

test('a refusal that a later instruction of the same made good is left alone', async () => {
  const one = await settled({
    ledger: LEDGER,
    gateway: ['T1 captured 10.00'],
    did: ['capture T1 rejected', 'capture T1 confirmed'],
  });
  expect(one).toMatchObject({ state: 'rejected', is_disputed: false });
});

describe('a refusal that the snapshot contradicts waits, and the night goes on', () => {
  test.each([
    ['captured', ['capture T1 rejected', 'cancel T1 held'], 'rejected held'],
    ['captured', ['capture T1 rejected', 'cancel T1 unknown'], 'rejected unknown'],
    ['cancelled', ['cancel T1 rejected', 'capture T1 unknown'], 'rejected unknown'],
    [
      'partially_refunded',
      ['refund T1 R2 4.00 rejected', 'refund T1 R1 3.00 unknown'],
      'rejected unknown',
    ],
    // of two refusals the newer one is asked about first
    ['cancelled', ['review T1 reject rejected', 'cancel T1 rejected'], 'rejected unknown'],
    [
      'partially_refunded',
      ['refund T1 R1 4.00 rejected', 'refund T1 R2 3.00 rejected'],
      'rejected unknown',
    ],
  ])('%s shows of %j', async (shown, did, states) => {
    const { snapshot, accountId } = await stored({
      ledger: LEDGER,
      gateway: [`T1 ${shown} 10.00`],
      did,
    });
    await settleBySnapshot(db, snapshot.runId, snapshot.pullId, SNAPSHOT_AT);
    const { rows } = await db.query<{ states: string }>(
      `select string_agg(state, ' ' order by instruction_id) as states
       from tieout.instructions where account_id = $1`,
      [accountId],
    );
    expect(rows).toEqual([{ states }]);
  });

  test('where another order has the transaction, and what was done to it', async () => {
    const { snapshot, accountId } = await stored({
      ledger: LEDGER,
      gateway: ['T1 captured 10.00'],
      did: ['capture T1 rejected'],
    });
    const other = orderOf('O2', { ledger: LEDGER, did: ['capture T1 confirmed'] });
    await storeInstructions(db, snapshot.runId, accountId, [other]);
    await db.transaction(async (tx) => {
      await tx.query('set local session_replication_role = replica');
      await tx.query(
        `update tieout.instructions set transaction_id = account_id || '.O1/T1'
         where account_id = $1`,
        [accountId],
      );
    });
    await settleBySnapshot(db, snapshot.runId, snapshot.pullId, SNAPSHOT_AT);
    expect(await instructionOf(accountId)).toMatchObject({ state: 'rejected' });
  });
});

test('what settles is counted for the run that saw it, and told once', async () => {
  const order = { ledger: LEDGER, gateway: ['T1 captured 10.00'], did: ['capture T1 accepted'] };
  const { snapshot, accountId } = await stored(order);
  const moves = async () =>
    (await db.query('select to_state from tieout.instruction_events order by seq')).rows;
  await settleBySnapshot(db, snapshot.runId, snapshot.pullId, SNAPSHOT_AT);
  const first = await moves();
  expect(first.at(-1)).toEqual({ to_state: 'confirmed' });
  await settleBySnapshot(db, snapshot.runId, snapshot.pullId, SNAPSHOT_AT);
  expect(await moves()).toEqual(first);
  expect(await instructionOf(accountId)).toMatchObject({
    settled_run_id: snapshot.runId,
    settled_at: SNAPSHOT_AT,
  });
});

describe('an unknown one that two complete snapshots do not show', () => {
  const OLD: OrderText = {
    ledger: LEDGER,
    gateway: ['T1 authorised 10.00'],
    did: ['capture T1 unknown'],
  };
  const HOURS = 2;

  /** The order looked at so many times; the last snapshot settles. */
  async function lookedAt(
    order: OrderText,
    options: {
      snapshots?: OrderText[];
      hoursAgo?: number;
      isSenderGone?: boolean;
      isFirstCutShort?: boolean;
    } = {},
  ): Promise<SettledRow> {
    const { snapshot, accountId } = await stored(order);
    const { hoursAgo = HOURS, isSenderGone = true, isFirstCutShort = false } = options;
    if (isFirstCutShort) await cutShort(snapshot);
    await storeAttempt(accountId, -hoursAgo * 3_600, isSenderGone);
    let last = snapshot;
    for (const next of options.snapshots ?? [order]) {
      last = await storeSnapshot(db, snapshot.runId, accountId, [orderOf('O1', next)]);
    }
    await settleBySnapshot(db, snapshot.runId, last.pullId, SNAPSHOT_AT, HOURS);
    return instructionOf(accountId);
  }

  test('is planned again, once', async () => {
    const one = await lookedAt(OLD);
    expect(one).toMatchObject({
      state: 'planned',
      reason: 'two complete looks show authorised: it is sent again, once',
    });
    const { rows } = await db.query<{ resends: number }>(
      `update tieout.instructions set state = 'withdrawn', reason = 'done elsewhere',
         settled_at = now(), settled_run_id = run_id
       where account_id = $1 returning state, reason, resends`,
      [`A${accounts}`],
    );
    // What may have happened is not called withdrawn: a snapshot or a person says what it was.
    expect(rows).toEqual([
      { state: 'unknown', reason: 'it was to be sent again, but: done elsewhere', resends: 1 },
    ]);
  });

  test.each<[string, OrderText, Parameters<typeof lookedAt>[1]]>([
    ['one look is not enough', OLD, { snapshots: [] }],
    ['not before its time', OLD, { hoursAgo: HOURS - 0.1 }],
    ['its sender may still live', OLD, { isSenderGone: false }],
    [
      'an earlier look that showed the transaction twice, before and after',
      { ...OLD, gateway: [...(OLD.gateway ?? []), 'T1 captured 10.00'] },
      { snapshots: [OLD] },
    ],
    ['a look that failed', OLD, { snapshots: [{ ...OLD, page: 'failed' }] }],
    ['an earlier look that was cut short', OLD, { isFirstCutShort: true }],
    ['another state before', { ...OLD, gateway: ['T1 pending 10.00'] }, { snapshots: [OLD] }],
    ['no such transaction', OLD, { snapshots: [{ ...OLD, gateway: ['T2 authorised 10.00'] }] }],
    [
      'the ledger wants it cancelled now',
      OLD,
      { snapshots: [{ ...OLD, ledger: 'cancelled 10.00 EUR' }] },
    ],
    ['a refund never', { ...OLD, did: ['refund T1 R1 10.00 unknown from=authorised'] }, {}],
    [
      'a review never',
      {
        ledger: LEDGER,
        gateway: ['T1 in_review 10.00'],
        did: ['review T1 accept unknown'],
      },
      {},
    ],
  ])('%s', async (_, order, options) => {
    expect((await lookedAt(order, options)).state).toBe('unknown');
  });

  test('nothing is where no time is given', async () => {
    const { snapshot, accountId } = await stored(OLD);
    await storeAttempt(accountId, -100 * 3_600, true);
    const second = await storeSnapshot(db, snapshot.runId, accountId, [orderOf('O1', OLD)]);
    await settleBySnapshot(db, snapshot.runId, second.pullId, SNAPSHOT_AT);
    expect((await instructionOf(accountId)).state).toBe('unknown');
  });
});

interface SettledRow {
  state: string;
  is_disputed: boolean;
  settled_at: Date | null;
  settled_run_id: bigint | null;
  reason: string | null;
}

async function settled(
  order: OrderText,
  options: { sentSeconds?: number } = {},
): Promise<SettledRow> {
  const { snapshot, accountId } = await stored(order);
  if (options.sentSeconds !== undefined) await storeAttempt(accountId, options.sentSeconds);
  await settleBySnapshot(db, snapshot.runId, snapshot.pullId, SNAPSHOT_AT);
  return instructionOf(accountId);
}

/** The order and its instructions in an account of its own, looked at once. */
async function stored(text: OrderText): Promise<{ snapshot: Snapshot; accountId: string }> {
  accounts += 1;
  const accountId = `A${accounts}`;
  const runId = await storeRun(db, accountId);
  const order = orderOf('O1', text);
  await storeInstructions(db, runId, accountId, [order]);
  return { snapshot: await storeSnapshot(db, runId, accountId, [order]), accountId };
}

/** Its process died before everything was asked. */
async function cutShort({ pullId }: Snapshot): Promise<void> {
  await db.query('update tieout.pulls set finished_at = null where pull_id = $1', [pullId]);
}

/** The instruction was claimed so many seconds after the time of the snapshot. */
async function storeAttempt(
  accountId: string,
  seconds: number,
  isSenderGone: boolean | null = null,
): Promise<void> {
  await db.query(
    `with batch as (
       insert into tieout.batches (run_id, account_id, operation, state, created_at)
       select max(run_id), $1, 'capture', 'answered', now() from tieout.runs returning batch_id),
     moved as (
       update tieout.instructions set batch_id = batch.batch_id from batch where account_id = $1)
     insert into tieout.attempts (attempt_id, batch_id, attempt_no, account_id, entries,
       body_sha256, host, boot_id, pid, process_started, claimed_at, send_by, outcome, finished_at,
       is_sender_gone)
     select gen_random_uuid(), batch_id, 1, $1, '[]', '', '', '', 1, '',
       $2::timestamptz + make_interval(secs => $3), now(),
       case when $4::boolean is not null then 'unanswered' end,
       case when $4::boolean is not null then now() end, $4 from batch`,
    [accountId, SNAPSHOT_AT, seconds, isSenderGone],
  );
}

async function instructionOf(accountId: string): Promise<SettledRow> {
  const { rows } = await db.query<SettledRow>(
    `select state, is_disputed, settled_at, settled_run_id, reason from tieout.instructions
     where account_id = $1 order by instruction_id limit 1`,
    [accountId],
  );
  const row = rows[0];
  if (!row) throw new Error('the instruction is gone');
  return row;
}
