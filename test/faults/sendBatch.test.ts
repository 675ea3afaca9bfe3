// The sending of one batch from close by: who may claim it, what forbids it at the last moment, and
// what counts as not sent. Each test ends with what really moved.

import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { createGatewayClient } from '../../src/gateway/client.js';
import { openSlots } from '../../src/gateway/transport/slots.js';
import { dissolveWaiting } from '../../src/send/batches/batchesStore.js';
import { sayBrake, splitBatch } from '../../src/send/batches/sendingStatusStore.js';
import { recoverAttempts } from '../../src/send/recoverAttempts.js';
import { sendBatch } from '../../src/send/sendBatch.js';
import type { House, HouseOptions } from '../support/night.js';
import { instructionCounts, kinds } from '../support/night.js';
import type { Front } from './front.js';
import { houseBehind } from './houseBehind.js';
import { forgetRunner, prepareRun } from './preparedRun.js';

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function houseOf(options: HouseOptions = {}): Promise<{ house: House; front: Front }> {
  const { house, front } = await houseBehind({
    orders: 900,
    inLedger: kinds({ capture_due: 2 }, 'A1001'),
    ...options,
  });
  cleanups.push(() => house.end());
  return { house, front };
}

async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function outcomes(house: House): Promise<(string | null)[]> {
  const { rows } = await house.db.query<{ outcome: string | null }>(
    'select outcome from tieout.attempts order by attempt_no',
  );
  return rows.map((row) => row.outcome);
}

async function tries(house: House): Promise<number[]> {
  const { rows } = await house.db.query<{ tries: number }>(
    'select tries from tieout.batches order by batch_id',
  );
  return rows.map((row) => row.tries);
}

describe('a batch that several senders want', () => {
  it('is posted once by twenty of them at once', async () => {
    const { house, front } = await houseOf();
    const { deps, batchIds } = await prepareRun(house);
    const [batchId = 0n] = batchIds;
    await Promise.all(Array.from({ length: 20 }, () => sendBatch(deps, batchId)));
    expect(front.asked.get('capture')).toBe(1);
    expect((await house.effects()).length).toBe(2);
    expect(await outcomes(house)).toEqual(['answered']);
    await sendBatch(deps, batchId);
    expect(front.asked.get('capture')).toBe(1);
  });

  it('is cut anew by the next run, and the old one sends nothing any more', async () => {
    const { house, front } = await houseOf();
    const { deps, batchIds, night } = await prepareRun(house);
    const accountIds = night.accounts.map((account) => account.accountId);
    await Promise.all([
      dissolveWaiting(house.db, accountIds),
      ...batchIds.map((batchId) => sendBatch(deps, batchId)),
    ]);
    await forgetRunner(house);
    const { summary } = await house.run();
    expect(summary.state).toBe('tied_out');
    expect((await house.effects()).length).toBe(2);
    expect(front.asked.get('capture')).toBe(1);
  });
});

describe('a batch that must not go out any more', () => {
  it('leaves out what the ledger has ceased to ask for', async () => {
    const { house } = await houseOf();
    const { deps, batchIds } = await prepareRun(house);
    const [gone, kept] = house.seeded.map(({ ledger }) => ledger.order_no);
    await house.db.query(`update ledger.orders set expected = 'cancelled' where order_no = $1`, [
      gone,
    ]);
    await sendBatch(deps, batchIds[0] ?? 0n);
    expect((await house.effects()).map((effect) => effect.order_no)).toEqual([kept]);
    expect(await instructionCounts(house.db)).toEqual({
      'capture accepted': 1,
      'capture withdrawn': 1,
    });
  });

  it('is dropped when nothing in it is needed', async () => {
    const { house, front } = await houseOf();
    const { deps, batchIds } = await prepareRun(house);
    await house.db.query('update ledger.orders set amount = amount + 1');
    await sendBatch(deps, batchIds[0] ?? 0n);
    expect(front.asked.has('capture')).toBe(false);
    expect(await instructionCounts(house.db)).toEqual({ 'capture withdrawn': 2 });
  });

  it('is sent after a fresh snapshot where the last one is too old', async () => {
    const { house, front } = await houseOf();
    const { deps, batchIds } = await prepareRun(house);
    await house.db.query(`update tieout.pulls set as_of = as_of - interval '31 minutes'`);
    const looks = front.asked.get('retrievalTrans') ?? 0;
    await sendBatch(deps, batchIds[0] ?? 0n);
    expect(front.asked.get('retrievalTrans')).toBe(looks + 1);
    expect((await house.effects()).length).toBe(2);
  });

  it('waits where that fresh snapshot fails', async () => {
    const { house, front } = await houseOf();
    const { deps, batchIds } = await prepareRun(house);
    await house.db.query(`update tieout.pulls set as_of = as_of - interval '31 minutes'`);
    front.trouble = ({ operation, response }) => {
      if (operation !== 'retrievalTrans') return false;
      response.writeHead(500).end();
      return true;
    };
    await sendBatch(deps, batchIds[0] ?? 0n);
    expect(front.asked.has('capture')).toBe(false);
    expect(await instructionCounts(house.db)).toEqual({ 'capture queued': 2 });
  });

  it('withdraws what somebody did by hand since', async () => {
    const { house, front } = await houseOf({ inLedger: kinds({ capture_due: 1 }, 'A1001') });
    const { deps, batchIds } = await prepareRun(house);
    // A snapshot right before the send shows it captured.
    await house.db.query(`update tieout.pulls set as_of = as_of - interval '31 minutes'`);
    front.trouble = async (call) => {
      if (call.operation !== 'retrievalTrans') return false;
      const answer = await call.pass();
      const body = answer.body.replaceAll('"payment_status":"2000"', '"payment_status":"3000"');
      call.response.setHeader('content-type', 'application/json');
      call.response.end(body);
      return true;
    };
    await sendBatch(deps, batchIds[0] ?? 0n);
    expect(front.asked.has('capture')).toBe(false);
    expect(await instructionCounts(house.db)).toEqual({ 'capture withdrawn': 1 });
  });
});

describe('a batch of which no byte left', () => {
  it('waits again when the connection is refused', async () => {
    const { house } = await houseOf();
    const { deps, batchIds } = await prepareRun(house);
    const { profile } = deps.gateway;
    const baseUrl = `http://127.0.0.1:${await closedPort()}`;
    const nowhere = createGatewayClient({ profile, baseUrl });
    const refused = { ...deps, gateway: { ...deps.gateway, connectMoney: nowhere.connectMoney } };
    await sendBatch(refused, batchIds[0] ?? 0n);
    await nowhere.close();
    expect(await outcomes(house)).toEqual([]);
    expect(await instructionCounts(house.db)).toEqual({ 'capture queued': 2 });
    await sendBatch(deps, batchIds[0] ?? 0n);
    expect((await house.effects()).length).toBe(2);
    expect(await outcomes(house)).toEqual(['answered']);
  });

  it('waits again when the sender slept between claim and write', async () => {
    const { house, front } = await houseOf();
    const { deps, batchIds } = await prepareRun(house);
    let asked = 0;
    const leaping = (): number => {
      asked += 1;
      return asked * 2_000;
    };
    await sendBatch({ ...deps, monotonic: leaping }, batchIds[0] ?? 0n);
    // While the whole machine sleeps the clock that never goes back stands still.
    await sendBatch({ ...deps, now: () => new Date(leaping()) }, batchIds[0] ?? 0n);
    expect(await outcomes(house)).toEqual(['not_sent', 'not_sent']);
    expect(front.asked.has('capture')).toBe(false);
    expect(await instructionCounts(house.db)).toEqual({ 'capture queued': 2 });
    await sendBatch(deps, batchIds[0] ?? 0n);
    expect((await house.effects()).length).toBe(2);
    expect(await outcomes(house)).toEqual(['not_sent', 'not_sent', 'answered']);
  });
});

describe('an answer with an unknown entry', () => {
  it('keeps the turn of its batch until the breaker has counted it', async () => {
    const { house, front } = await houseOf({ inLedger: kinds({ capture_due: 3 }, 'A1001') });
    const { deps } = await prepareRun(house);
    const apart = await eachInItsBatch(house);
    front.trouble = async (call) => {
      await call.pass();
      call.response.writeHead(502).end();
      return true;
    };
    const query: typeof deps.db.query = async (text, ...more) => {
      if (text.includes('update tieout.attempts')) await sleep(150);
      return deps.db.query(text, ...more);
    };
    const turns = openSlots(1);
    const slow = { ...deps, db: { ...deps.db, query }, turns };
    await Promise.all(apart.map((batchId) => sendBatch(slow, batchId)));
    expect(front.asked.get('capture')).toBe(2);
    expect(await instructionCounts(house.db)).toEqual({
      'capture unknown': 2,
      'capture queued': 1,
    });
  });
});

async function eachInItsBatch(house: House): Promise<bigint[]> {
  for (;;) {
    const { rows } = await house.db.query<{ batch_id: bigint; first: bigint; count: bigint }>(
      `select batch_id, min(instruction_id) as first, count(*) as count
       from tieout.instructions group by batch_id order by batch_id`,
    );
    const last = rows.at(-1);
    if (last === undefined || last.count === 1n) return rows.map((row) => row.batch_id);
    await splitBatch(house.db, last.batch_id, [last.first]);
  }
}

describe('a batch that waits for its turn', () => {
  it('is not claimed before, and does not go when the brake was pulled meanwhile', async () => {
    const { house, front } = await houseOf({ inLedger: kinds({ capture_due: 3 }, 'A1001') });
    const { deps } = await prepareRun(house);
    const [first = 0n, ...others] = await eachInItsBatch(house);
    const own = { ...deps, turns: openSlots(1) };
    await sendBatch(own, first);
    let letGo = (): void => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    front.trouble = async () => {
      await held;
      return false;
    };
    const sending = Promise.all(others.map((batchId) => sendBatch(own, batchId)));
    await expect.poll(() => front.asked.get('capture')).toBe(2);
    expect(await outcomes(house)).toHaveLength(2);
    const word = { kind: 'brake' as const, accountId: null, isOn: true, reason: 'stop' };
    await sayBrake(house.db, { ...word, who: { name: 'Ada', isClaim: true } });
    letGo();
    await sending;
    expect(front.asked.get('capture')).toBe(2);
    expect(await outcomes(house)).toEqual(['answered', 'answered']);
    expect((await house.effects()).length).toBe(2);
    expect(await instructionCounts(house.db)).toEqual({
      'capture accepted': 2,
      'capture queued': 1,
    });
    expect(await tries(house)).toEqual([0, 0, 0]);
  });
});

describe('a batch whose sender died', () => {
  /** Sends it, and then makes the database forget everything after the claim or the answer. */
  async function diedAfter(what: 'claim' | 'answer') {
    const { house, front } = await houseOf();
    const { deps, batchIds } = await prepareRun(house);
    const died = new Error('the process died here');
    const dying = {
      ...deps,
      runner: { ...deps.runner, boot: 'another boot' },
      gateway: {
        ...deps.gateway,
        ...(what === 'answer'
          ? {
              readBatchAnswer: () => {
                throw died;
              },
            }
          : {
              connectMoney: async () => ({
                kind: 'connected' as const,
                connection: { post: () => Promise.reject(died), close: () => {} },
              }),
            }),
      },
    };
    await expect(sendBatch(dying, batchIds[0] ?? 0n)).rejects.toThrow(died);
    return { house, front, deps };
  }

  it('is unknown when nobody can say whether it wrote', async () => {
    const { house, front, deps } = await diedAfter('claim');
    expect(await outcomes(house)).toEqual([null]);
    await recoverAttempts(deps, ['A1001']);
    expect(await outcomes(house)).toEqual(['unanswered']);
    expect(await instructionCounts(house.db)).toEqual({ 'capture unknown': 2 });
    await forgetRunner(house);
    const { summary } = await house.run();
    expect(summary.state).toBe('incomplete');
    expect(front.asked.has('capture')).toBe(false);
  });

  it('is read from the answer that was stored', async () => {
    const { house, front, deps } = await diedAfter('answer');
    await recoverAttempts(deps, ['A1001']);
    expect(await outcomes(house)).toEqual(['answered']);
    expect(await instructionCounts(house.db)).toEqual({ 'capture accepted': 2 });
    expect(front.asked.get('capture')).toBe(1);
    await forgetRunner(house);
    const { summary } = await house.run();
    expect(summary.state).toBe('tied_out');
    expect((await house.effects()).length).toBe(2);
  });

  it('is left alone while its sender lives', async () => {
    const { house } = await houseOf();
    const { deps, batchIds } = await prepareRun(house);
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow = {
      ...deps,
      gateway: {
        ...deps.gateway,
        connectMoney: async (...given: Parameters<typeof deps.gateway.connectMoney>) => {
          const opened = await deps.gateway.connectMoney(...given);
          if (opened.kind === 'not_sent') return opened;
          const { connection } = opened;
          const post = async (request: Parameters<typeof connection.post>[0]) => {
            const posted = await connection.post(request);
            await held;
            return posted;
          };
          return { ...opened, connection: { ...connection, post } };
        },
      },
    };
    const sending = sendBatch(slow, batchIds[0] ?? 0n);
    await expect.poll(() => outcomes(house)).toEqual([null]);
    await recoverAttempts(deps, ['A1001']);
    expect(await outcomes(house)).toEqual([null]);
    release();
    await sending;
    expect(await instructionCounts(house.db)).toEqual({ 'capture accepted': 2 });
  });
});
