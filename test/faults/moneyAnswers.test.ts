// What may come back when money was sent, on whole nights through a server that breaks things: an
// answer that is not fully right leaves its entries unknown; what the gateway then shows settles
// them where it can; nothing is ever sent again by itself. The gateway's journal is the judge.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { statusCodesSeen } from '../../src/pull/snapshot/statusCodesStore.js';
import { batch } from '../sandbox/wireClient.js';
import { expectIdentities, expectMoney } from '../support/identities.js';
import type { House, HouseOptions } from '../support/night.js';
import {
  dateOf,
  instructionCounts,
  kinds,
  openBreaksOf,
  rewriteSettings,
  sumOrders,
  trails,
} from '../support/night.js';
import { noticesOf } from '../support/notices.js';
import type { Answered } from './answersAfterTheEffect.js';
import { AFTER_THE_EFFECT } from './answersAfterTheEffect.js';
import type { Call, Front } from './front.js';
import { answerJson, answerWith, drop, retell } from './front.js';
import { houseBehind } from './houseBehind.js';
import { impatient, signatures } from './impatient.js';

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function houseOf(options: HouseOptions): Promise<{ house: House; front: Front }> {
  const { house, front } = await houseBehind({ orders: 900, ...options });
  cleanups.push(() => house.end());
  return { house, front };
}

describe('a capture that happened, answered with', () => {
  for (const { name, trouble, unknown } of AFTER_THE_EFFECT) {
    it(`${name}, is unknown until the look shows it`, async () => {
      const { house, front } = await houseOf({
        inLedger: kinds({ capture_due: 3 }, 'A1001'),
      });
      // The canary comes back well; then the other two travel together.
      front.trouble = (call) => isBatchOfTwo(call) && trouble(call);
      const { summary } = await house.run();
      expect(front.asked.get('capture')).toBe(2);
      const all = Object.values(await trails(house.db)).flat();
      const settled = 'capture: planned queued sending unknown confirmed';
      expect(all.filter((trail) => trail === settled).length).toBe(unknown);
      expect(all.filter((trail) => trail.endsWith('confirmed')).length).toBe(3);
      expect(summary.state).toBe('tied_out');
      // What the snapshot shows gives the code of an answer no meaning.
      const words = await statusCodesSeen(house.db, null);
      const known = words.filter(({ field, meaning }) => field === 'capture_status' && meaning);
      expect(known.map(({ word }) => word)).toEqual(['1']);
      await expectIdentities(house.db, summary);
      await expectMoney(house.db, [summary], await house.effects());
    });
  }
});

describe('where signatures are enforced', () => {
  it('a wrong one, or none, leaves all unknown until the snapshot shows it', async () => {
    const { house, front } = await houseOf({ inLedger: kinds({ capture_due: 2 }, 'A1001') });
    signatures(house, 'enforce');
    const changes = [
      (told: Record<string, unknown>) => ({ ...told, encryption_data: 'f'.repeat(64) }),
      ({ encryption_data: _, ...told }: Record<string, unknown>) => told,
    ];
    front.trouble = (call) => {
      const change = call.operation === 'capture' ? changes.shift() : undefined;
      return change !== undefined && retell(call, change);
    };
    const { summary } = await house.run();
    // Two canaries; neither answer was believed, and both had happened.
    expect(front.asked.get('capture')).toBe(2);
    const settled = 'capture: planned queued sending unknown confirmed';
    expect(Object.values(await trails(house.db)).flat()).toEqual([settled, settled]);
    expect(summary.state).toBe('tied_out');
    // Both are shown to have happened: the account has begun again by itself.
    expect(noticesOf(summary)).toEqual([]);
  });
});

function isBatchOfTwo(call: Call): boolean {
  if (call.operation !== 'capture') return false;
  return (JSON.parse(call.body) as Answered).capture_orders.length === 2;
}

describe('a capture that did not happen', () => {
  for (const [name, trouble] of Object.entries({
    'is lost on the way': drop,
    'is answered 502': ({ response }: Call): boolean => {
      answerWith(response, { status: 502, contentType: 'text/html', body: '' });
      return true;
    },
    'is answered with nothing': ({ response }: Call): boolean => {
      response.writeHead(204).end();
      return true;
    },
    'is answered 429': ({ response }: Call): boolean => {
      response.writeHead(429, { 'retry-after': '0' }).end('slow down');
      return true;
    },
  })) {
    it(`${name}: it is never sent again, and a person is asked`, async () => {
      const { house, front } = await houseOf({
        daysAgo: 2,
        inLedger: kinds({ capture_due: 1 }, 'A1001'),
      });
      front.trouble = (call) => call.operation === 'capture' && trouble(call);
      const orderNo = house.seeded[0]?.ledger.order_no;
      const at = (daysAgo: number): Date => new Date(`${dateOf(daysAgo - 1)}T04:15:00Z`);
      const first = await house.run({ date: dateOf(2) }, at(2));
      expect(first.summary.state).toBe('incomplete');
      expect(await openBreaksOf(house.db)).toEqual([`${orderNo} outcome_unknown`]);
      expect(first.summary.accounts[0]?.totals[0]).toMatchObject({
        captured: '0.00',
        unknown: house.seeded[0]?.ledger.amount,
      });
      front.trouble = () => false;
      const again = await house.run({ date: dateOf(2) }, at(2));
      expect(again.summary.state).toBe('incomplete');
      // For the next date it is an old unknown: a break.
      const next = await house.run({ date: dateOf(1) }, at(1));
      expect(next.summary.state).toBe('broken');
      expect(sumOrders(next.summary, 'broken')).toBe(1);
      expect(front.asked.get('capture')).toBe(1);
      expect(await house.effects()).toEqual([]);
      expect(await instructionCounts(house.db)).toEqual({ 'capture unknown': 1 });
      for (const { summary } of [first, again, next]) await expectIdentities(house.db, summary);
    });
  }

  it('is planned a second time and then held back: a person is told in that very night', async () => {
    const operations = { capture: 'auto', resendAfterHours: 0 };
    const { house, front } = await houseOf({
      inLedger: kinds({ capture_due: 1 }, 'A1001'),
      settings: { operations },
    });
    front.trouble = (call) => call.operation === 'capture' && drop(call);
    await house.run();
    front.trouble = () => false;
    rewriteSettings(house, { operations: { ...operations, capture: 'approve' } });
    await house.run();
    const third = await house.run();
    const orderNo = house.seeded[0]?.ledger.order_no ?? '';
    expect(await openBreaksOf(house.db)).toEqual([`${orderNo} outcome_unknown`]);
    expect(sumOrders(third.summary, 'broken')).toBe(1);
    // It had its chance: it does not come and go night after night.
    const fourth = await house.run();
    expect(Object.values(await trails(house.db)).flat()).toEqual([
      'capture: planned queued sending unknown planned unknown',
    ]);
    expect(await house.effects()).toEqual([]);
    for (const { summary } of [third, fourth]) await expectIdentities(house.db, summary);
  });

  it('is not sent a second time when it shows at last, right before that', async () => {
    const { house, front } = await houseOf({
      inLedger: kinds({ capture_due: 1 }, 'A1001'),
      settings: { operations: { capture: 'auto', resendAfterHours: 0 } },
    });
    front.trouble = (call) => call.operation === 'capture' && drop(call);
    await house.run();
    await house.run();
    // The second snapshot that shows the old state is the last one that does.
    front.trouble = async (call) => {
      const shown = await call.pass();
      if ((await house.effects()).length === 0) await captureByHand(house);
      answerWith(call.response, shown);
      return true;
    };
    const { summary } = await house.run();
    expect(front.asked.get('capture')).toBe(1);
    expect((await house.effects()).map(({ operation }) => operation)).toEqual(['capture']);
    expect(await instructionCounts(house.db)).toEqual({ 'capture confirmed': 1 });
    expect(summary.state).toBe('tied_out');
    await expectIdentities(house.db, summary);
  });

  it('is unknown too when the gateway says that it did and shows that it did not', async () => {
    const { house, front } = await houseOf({ inLedger: kinds({ capture_due: 1 }, 'A1001') });
    front.trouble = (call) => {
      if (call.operation !== 'capture') return false;
      const asked = JSON.parse(call.body) as Answered;
      const capture_orders = asked.capture_orders.map((entry) => ({
        ...entry,
        capture_status: '1',
        error_message: '',
      }));
      const { merchant_id, account_id } = asked;
      return answerJson(call, { merchant_id, account_id, return_status: '1', capture_orders });
    };
    const { summary } = await house.run();
    expect(Object.values(await trails(house.db))).toEqual([
      ['capture: planned queued sending accepted unknown'],
    ]);
    expect(summary.state).toBe('incomplete');
    expect((await openBreaksOf(house.db)).length).toBe(1);
  });

  it('is not sent to where a redirect points', async () => {
    const elsewhere = createServer((_, response) => {
      seen += 1;
      response.end('{}');
    });
    let seen = 0;
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
    cleanups.push(async () => void elsewhere.close());
    const { port } = elsewhere.address() as AddressInfo;
    const { house, front } = await houseOf({ inLedger: kinds({ capture_due: 1 }, 'A1001') });
    front.trouble = ({ operation, response }) => {
      if (operation !== 'capture') return false;
      response.writeHead(307, { location: `http://127.0.0.1:${port}/v1/capture` }).end();
      return true;
    };
    const { summary } = await house.run();
    expect(seen).toBe(0);
    expect(await house.effects()).toEqual([]);
    expect(await instructionCounts(house.db)).toEqual({ 'capture unknown': 1 });
    expect(summary.state).toBe('incomplete');
  });

  it('is unknown when no answer comes in time, however late the effect', async () => {
    const { house, front } = await houseOf({
      inLedger: kinds({ capture_due: 1 }, 'A1001'),
    });
    impatient(house, { timeoutMs: 1_500 });
    front.trouble = ({ operation }) => operation === 'capture';
    const { summary } = await house.run();
    expect(await instructionCounts(house.db)).toEqual({ 'capture unknown': 1 });
    expect(summary.state).toBe('incomplete');
  });
});

describe('a refund whose answer is lost, or names another amount', () => {
  it.each([
    ['lost', loseAnswer],
    ['of another amount', (call: Call) => retell(call, inOtherAmount)],
  ])("is a person's to settle if partial and %s, though one is shown", async (how, trouble) => {
    const { house, front } = await houseOf({
      daysAgo: 2,
      inLedger: kinds({ partial_refund_due: 1 }),
    });
    front.trouble = (call) => call.operation === 'refund' && trouble(call);
    const night = (daysAgo: number) =>
      house.run({ date: dateOf(daysAgo) }, new Date(`${dateOf(daysAgo - 1)}T04:15:00Z`));
    const first = await night(2);
    const orderNo = house.seeded[0]?.ledger.order_no;
    expect(first.summary.state).toBe('incomplete');
    expect(await openBreaksOf(house.db)).toEqual([`${orderNo} outcome_unknown`]);
    // The code of success has its meaning, whatever else the answer says.
    const words = (await statusCodesSeen(house.db, null)).map(({ word, meaning }) => [
      word,
      meaning,
    ]);
    if (how !== 'lost') expect(words).toContainEqual(['V0000', 'accepted']);
    expect(noticesOf(first.summary)).toEqual([]);
    front.trouble = () => false;
    expect((await night(1)).summary.state).toBe('broken');
    expect(await instructionCounts(house.db)).toEqual({ 'refund unknown': 1 });
    expect((await house.effects()).length).toBe(1);
  });

  it('is confirmed when it is whole and the gateway shows it', async () => {
    const { house, front } = await houseOf({
      inLedger: kinds({ full_refund_due: 1 }),
    });
    front.trouble = (call) => call.operation === 'refund' && loseAnswer(call);
    const { summary } = await house.run();
    expect(summary.state).toBe('tied_out');
    expect(await instructionCounts(house.db)).toEqual({ 'refund confirmed': 1 });
    await expectMoney(house.db, [summary], await house.effects());
  });
});

async function loseAnswer(call: Call): Promise<true> {
  await call.pass();
  return drop(call);
}

function inOtherAmount(told: Record<string, unknown>): Record<string, unknown> {
  const entries = told.refund_orders as Record<string, unknown>[];
  return { ...told, refund_orders: entries.map((one) => ({ ...one, refund_amount: '0.01' })) };
}

describe('a cancel whose answer is lost', () => {
  it('goes to a person when the gateway shows the order captured', async () => {
    const { house, front } = await houseOf({ inLedger: kinds({ cancel_due: 1 }, 'A1001') });
    front.trouble = async (call) => {
      if (call.operation !== 'cancel') return false;
      await captureByHand(house);
      return drop(call);
    };
    const { summary } = await house.run();
    expect(summary.state).toBe('incomplete');
    expect(await instructionCounts(house.db)).toEqual({ 'cancel unknown': 1 });
    expect((await house.effects()).map((effect) => effect.operation)).toEqual(['capture']);
  });
});

describe('an instruction that the gateway refuses', () => {
  it('is rejected, breaks the order, and is not tried again', async () => {
    const { house, front } = await houseOf({
      daysAgo: 2,
      inLedger: kinds({ capture_due: 1, cancel_due: 1 }, 'A1001'),
    });
    const orderNo = house.seeded.find(({ kind }) => kind === 'capture_due')?.ledger.order_no;
    front.trouble = (call) => {
      if (call.operation !== 'capture') return false;
      return retellRefused(call);
    };
    const night = (daysAgo: number) =>
      house.run({ date: dateOf(daysAgo) }, new Date(`${dateOf(daysAgo - 1)}T04:15:00Z`));
    const first = await night(2);
    expect(first.summary.state).toBe('broken');
    expect(await openBreaksOf(house.db)).toEqual([`${orderNo} instruction_rejected`]);
    front.trouble = () => false;
    const next = await night(1);
    expect(next.summary.state).toBe('broken');
    expect(await instructionCounts(house.db)).toEqual({
      'cancel confirmed': 1,
      'capture rejected': 1,
    });
    expect(front.asked.get('capture')).toBe(1);
    for (const { summary } of [first, next]) await expectIdentities(house.db, summary);
  });

  it('is unknown once its new state shows after all', async () => {
    const { house, front } = await houseOf({ inLedger: kinds({ capture_due: 1 }, 'A1001') });
    front.trouble = async (call) => {
      if (call.operation !== 'capture') return false;
      await call.pass();
      return retellRefused(call);
    };
    const { summary } = await house.run();
    expect(await instructionCounts(house.db)).toEqual({ 'capture unknown': 1 });
    expect(summary.state).toBe('incomplete');
    expect((await openBreaksOf(house.db))[0]).toContain('outcome_unknown');
    await expectIdentities(house.db, summary);
  });
});

describe('a gateway that refuses connections for money', () => {
  it('gets nothing, and everything on the next run: not sent is not unknown', async () => {
    const { house, front } = await houseOf({
      inLedger: kinds({ capture_due: 2 }, 'A1001'),
    });
    // The snapshot goes over a connection that stands; each batch opens one of its own.
    front.trouble = (call) => {
      if (call.operation === 'retrievalTrans') front.refuse();
      return false;
    };
    const first = await house.run();
    expect(first.summary.state).toBe('incomplete');
    expect(await instructionCounts(house.db)).toEqual({ 'capture queued': 2 });
    expect(await openBreaksOf(house.db)).toEqual([]);
    expect(sumOrders(first.summary, 'due')).toBe(2);
    front.trouble = () => false;
    await front.accept();
    const second = await house.run();
    expect(second.summary.state).toBe('tied_out');
    await expectMoney(house.db, [second.summary], await house.effects());
  });
});

/** Every entry of a capture answered as refused. */
function retellRefused(call: Call): true {
  const asked = JSON.parse(call.body) as Answered;
  const { merchant_id, account_id } = asked;
  const capture_orders = asked.capture_orders.map((entry) => ({
    ...entry,
    capture_status: '0',
    error_message: 'E1004:not possible',
  }));
  return answerJson(call, { merchant_id, account_id, return_status: '1', capture_orders });
}

/** Somebody captures every cancel-due order in the portal. */
async function captureByHand(house: House): Promise<void> {
  for (const { ledger, gateway } of house.seeded) {
    const account = house.accounts.find((one) => one.accountId === ledger.account_id);
    const [transaction] = gateway?.transactions ?? [];
    if (!account || !transaction) throw new Error('nothing to capture');
    await batch(house.sandboxUrl, account, 'capture', [
      {
        transaction_id: transaction.transactionId,
        order_no: ledger.order_no,
        currency: transaction.currency,
        amount: transaction.amount,
      },
    ]);
  }
}
