// Clocks that are set while money waits. What came first is told by the count of snapshots, and a snapshot
// that is dated ahead of the database's own clock is none: the gateway's effects are the judge.

import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { callGateway } from '../../src/cli/gateway/gatewayCall.js';
import { DAY_MS } from '../../src/core/time.js';
import { withPayments } from '../../src/gateway/payments/paymentClient.js';
import { takeDue } from '../../src/outbox/outboxStore.js';
import { claimChunk, createPull, waitingChunks } from '../../src/pull/snapshot/snapshotsStore.js';
import { recoverAttempts } from '../../src/send/recoverAttempts.js';
import { sendBatch } from '../../src/send/sendBatch.js';
import { byHand } from '../support/byHand.js';
import { moveClock } from '../support/movedClock.js';
import type { House, HouseOptions } from '../support/night.js';
import { instructionCounts, kinds } from '../support/night.js';
import { houseBehind } from './houseBehind.js';
import { prepareRun } from './preparedRun.js';

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function houseOf(options: HouseOptions = {}): Promise<House> {
  const inLedger = kinds({ partial_refund_due: 1 });
  const { house } = await houseBehind({ orders: 900, inLedger, ...options });
  cleanups.push(() => house.end());
  return house;
}

/** What the one instruction asks for, as a person would type it. */
async function refundOf(house: House): Promise<{ accountId: string; fields: object }> {
  const { rows } = await house.db.query<Record<string, string>>(
    `select account_id, transaction_id, order_no, currency, amount::text as amount,
       refund_amount::text as refund_amount, 'by hand' as refund_reason from tieout.instructions`,
  );
  const { account_id: accountId = '', ...entry } = rows[0] ?? {};
  return { accountId, fields: { refund_orders: [entry] } };
}

/** Behind the back of tieout: nothing is on record of it here. */
async function atThePortal(house: House): Promise<void> {
  const { accountId, fields } = await refundOf(house);
  const app = await house.open();
  const { gateway } = await app.sendDeps();
  const account = app.config.accounts.find((one) => one.accountId === accountId);
  if (!account) throw new Error(`no account ${accountId}`);
  await callGateway(withPayments(gateway), account, 'refund', { ...fields });
  expect(await house.effects()).toHaveLength(1);
}

async function expectRefundedOnce(house: House): Promise<void> {
  expect(await house.effects()).toHaveLength(1);
  expect(await instructionCounts(house.db)).toEqual({ 'refund withdrawn': 1 });
}

describe('a snapshot that was made while the clock was a day ahead', () => {
  it('is none, once the clock is set right: what was done by hand is seen', async () => {
    const house = await houseOf();
    const { deps, batchIds } = await prepareRun(house);
    await house.db.query(`update tieout.pulls set as_of = as_of + interval '1 day'`);
    await atThePortal(house);
    await sendBatch(deps, batchIds[0] ?? 0n);
    await expectRefundedOnce(house);
  });

  it('is none on that day either, where a later snapshot bears an earlier time', async () => {
    const house = await houseOf();
    const { deps, batchIds } = await prepareRun(house);
    await atThePortal(house);
    // The day has come; in between the clock was set right, and another snapshot was made.
    await house.db.query(
      `insert into tieout.pulls (run_id, kind, as_of, finished_at)
       select run_id, 'fresh', as_of - interval '1 day', as_of - interval '1 day'
       from tieout.pulls order by pull_id limit 1`,
    );
    await sendBatch(deps, batchIds[0] ?? 0n);
    await expectRefundedOnce(house);
  });
});

describe('a call by hand while the clock was off', () => {
  it.each([
    ['a day behind', -DAY_MS],
    ['a day ahead', DAY_MS],
  ])('%s is looked at before its order goes out, and holds up nothing', async (_, off) => {
    const house = await houseOf();
    const clock = await moveClock(house.db);
    const { deps, batchIds } = await prepareRun(house);
    const { accountId, fields } = await refundOf(house);
    await clock.set(new Date(Date.now() + off));
    expect(await byHand(house, accountId, 'refund', { ...fields })).toBe('accepted');
    await clock.set(new Date());
    await sendBatch(deps, batchIds[0] ?? 0n);
    await expectRefundedOnce(house);
  });
});

describe('a batch that was claimed while the clock was a day ahead', () => {
  it('is settled by the snapshots that follow, not by those of the day after', async () => {
    const house = await houseOf({ inLedger: kinds({ capture_due: 3 }, 'A1001') });
    const clock = await moveClock(house.db);
    const app = await house.open(() => clock.now());
    const night = await app.sendDeps();
    await clock.set(new Date(Date.now() + DAY_MS));
    const prepared = await prepareRun(house);
    const deps = { ...prepared.deps, now: clock.now };
    // Each process would refuse to claim while its own clock and the database's differ.
    await night.journal.verify();
    const fine = async () => null;
    const journal = { ...night.journal, mayClaim: fine, verify: fine, journalId: () => null };
    await sendBatch({ ...deps, journal }, prepared.batchIds[0] ?? 0n);
    await clock.set(new Date());
    await house.db.query(`update tieout.runs set runner_boot = 'another boot'`);
    const { summary } = await house.run();
    expect(summary.state).toBe('tied_out');
    expect(await house.effects()).toHaveLength(3);
    expect(await instructionCounts(house.db)).toEqual({ 'capture confirmed': 3 });
  });
});

describe('what was given out while the clock was a day ahead', () => {
  it('a sender that nobody hears of is given up after its time, not a day later', async () => {
    const house = await houseOf({ inLedger: kinds({ capture_due: 3 }, 'A1001') });
    const { deps } = await prepareRun(house);
    await house.db.query(
      `with batch as (
         update tieout.batches set state = 'sending', attempts = 1 where state = 'queued'
         returning batch_id, account_id
       ), entries as (
         update tieout.instructions i set state = 'sending', changed_by = 'tieout'
         from batch where i.batch_id = batch.batch_id
         returning i.instruction_id, i.batch_id
       )
       insert into tieout.attempts (attempt_id, batch_id, attempt_no, account_id, entries,
         body_sha256, host, boot_id, pid, process_started, claimed_at, send_by, sending_run_id)
       select gen_random_uuid(), batch_id, 1, account_id,
         (select jsonb_agg(instruction_id::text) from entries), '', 'elsewhere', 'boot', 1, '1',
         clock_timestamp() + interval '1 day', clock_timestamp() + interval '1 day',
         (select max(run_id) from tieout.runs)
       from batch`,
    );
    let passed = 0;
    const later = { ...deps, monotonic: () => deps.monotonic() + passed };
    await recoverAttempts(later, ['A1001']);
    expect(await instructionCounts(house.db)).toEqual({ 'capture sending': 3 });
    passed = 60_000;
    await recoverAttempts(later, ['A1001']);
    expect(await instructionCounts(house.db)).toEqual({ 'capture unknown': 3 });
  });

  it('a chunk whose worker died is taken by the next one', async () => {
    const house = await houseOf();
    const { night } = await prepareRun(house);
    const pull = await createPull(house.db, night.runId, 'fresh');
    const { rows } = await house.db.query<{ chunk_id: bigint }>(
      `insert into tieout.chunks (pull_id, account_id, first_page, last_page, state, token,
         leased_until)
       values ($1, 'A1001', 0, 0, 'running', gen_random_uuid(), clock_timestamp() + interval '1 day')
       returning chunk_id`,
      [pull.pullId],
    );
    const chunkId = rows[0]?.chunk_id ?? 0n;
    expect(await waitingChunks(house.db, pull.pullId)).toEqual([chunkId]);
    expect(await claimChunk(house.db, chunkId, randomUUID(), 'w1')).toMatchObject({ chunkId });
    expect(await claimChunk(house.db, chunkId, randomUUID(), 'w1')).toBeNull();
  });

  it('a message that waits for its next try is told', async () => {
    const house = await houseOf();
    await house.db.query(
      `insert into tieout.outbox (channel, event, subject, fingerprint, body, next_try_at)
       select 'webhook', 'job_failed', at::text, at::text, '{}', clock_timestamp() + at
       from unnest(array[interval '1 day', interval '1 hour', interval '0']) as at`,
    );
    const due = await takeDue(house.db, 10, 60);
    expect(due.map(({ subject }) => subject).sort()).toEqual(['00:00:00', '1 day']);
  });
});
