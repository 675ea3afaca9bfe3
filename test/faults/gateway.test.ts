// The gateway, or something on the way to it, does what nobody asked for: half of a batch, or a
// request twice. What tieout can see it says; what it cannot see is said here, too.

import { afterEach, describe, expect, it } from 'vitest';
import type { House, HouseOptions } from '../support/night.js';
import { dateOf, instructionCounts, kinds, openBreaksOf } from '../support/night.js';
import { noticesOf } from '../support/notices.js';
import { answerWith } from './front.js';
import { houseBehind } from './houseBehind.js';
import { signatures } from './impatient.js';

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function houseOf(options: HouseOptions) {
  const { house, front } = await houseBehind({
    orders: 9_000,
    daysAgo: 2,
    ...options,
  });
  cleanups.push(() => house.end());
  return { house, front };
}

const at = (daysAgo: number): Date => new Date(`${dateOf(daysAgo - 1)}T04:15:00Z`);

describe('a middlebox that sends a request twice', () => {
  it('fault A18: a capture is refused the second time and counts once', async () => {
    const { house, front } = await houseOf({ inLedger: kinds({ capture_due: 1 }, 'A1001') });
    front.trouble = async (call) => {
      if (call.operation !== 'capture') return false;
      const first = await call.pass();
      await call.pass();
      answerWith(call.response, first);
      return true;
    };
    const { summary } = await house.run({ date: dateOf(2) }, at(2));
    expect(summary.state).toBe('tied_out');
    expect(await instructionCounts(house.db)).toEqual({ 'capture confirmed': 1 });
    expect((await house.effects()).length).toBe(1);
  });

  it('fault B43: a refund done twice shows as a break where the state tells it', async () => {
    let taken = 0;
    const { house, front } = await houseOf({
      // An amount that has halves.
      inLedger: ({ kind, ledger }) =>
        kind === 'partial_refund_due' && /[02468]$/.test(ledger.amount) && taken++ === 0,
    });
    // Twice this refund is the whole amount, so that the query shows another state than it should.
    await house.db.query(
      `update ledger.refund_requests r set refund_amount = o.amount / 2
       from ledger.orders o where o.account_id = r.account_id and o.order_no = r.order_no`,
    );
    front.trouble = async (call) => {
      if (call.operation !== 'refund') return false;
      const first = await call.pass();
      await call.pass();
      answerWith(call.response, first);
      return true;
    };
    await house.run({ date: dateOf(2) }, at(2));
    await house.run({ date: dateOf(1) }, at(1));
    expect((await house.effects()).length).toBe(2);
    const orderNo = house.seeded[0]?.ledger.order_no;
    expect(await openBreaksOf(house.db)).toEqual([`${orderNo} refund_mismatch`]);
  });
});

describe('a gateway that counts refunds otherwise than the ledger', () => {
  it('fault B38: a reference that jumps, or comes twice, is told to a person', async () => {
    const { house, front } = await houseOf({ inLedger: kinds({ two_refunds_due: 1 }) });
    const called: string[] = [];
    front.trouble = async (call) => {
      if (call.operation !== 'refund') return false;
      const answer = await call.pass();
      // The first refund is called the seventh, and so is the second.
      const body = answer.body.replace(/"([^"]+)-\d\d"/g, (_, transaction: string) => {
        called.push(`${transaction}-07`);
        return `"${transaction}-07"`;
      });
      answerWith(call.response, { ...answer, body });
      return true;
    };
    signatures(house, 'off');
    const first = await house.run({ date: dateOf(2) }, at(2));
    expect(textsOf(first)).toEqual([expect.stringMatching(/-07, though only 1 refund is known/)]);
    const second = await house.run({ date: dateOf(1) }, at(1));
    expect(textsOf(second)).toEqual([expect.stringMatching(/-07, as it called another one/)]);
    expect(new Set(called).size).toBe(1);
    expect((await house.effects()).length).toBe(2);
  });
});

function textsOf({ summary }: Awaited<ReturnType<House['run']>>): string[] {
  return noticesOf(summary).map(({ text }) => text);
}

describe('a gateway that shows one transaction under two orders', () => {
  it('moves it once, and says which order waits for ever', async () => {
    const { house, front } = await houseOf({ inLedger: kinds({ capture_due: 2 }, 'A1001') });
    await house.db.query('update ledger.orders set transaction_id = null');
    const [one = '', other = ''] = house.seeded.map(
      ({ gateway }) => gateway?.transactions[0]?.transactionId,
    );
    front.trouble = async (call) => {
      if (call.operation !== 'retrievalTrans') return false;
      const answer = await call.pass();
      answerWith(call.response, { ...answer, body: answer.body.replaceAll(other, one) });
      return true;
    };
    const night = await house.run({ date: dateOf(2) }, at(2));
    expect(textsOf(night)).toEqual([
      expect.stringMatching(/^order .* waits for ever: the gateway shows its transaction .* under/),
    ]);
    expect((await house.effects()).length).toBe(1);
    expect(front.asked.get('capture')).toBe(1);
  });
});

describe('a gateway that dies in the middle of a batch', () => {
  it('fault B42: settles each entry by itself: done is confirmed, not done is asked about', async () => {
    const { house } = await houseOf({
      inLedger: kinds({ capture_due: 3 }, 'A1001'),
      // The canary goes through; the batch of the other two is done by half.
      fault: ({ operation, number }) =>
        operation === 'capture' && number === 2 ? { kind: 'half' } : null,
    });
    const { summary } = await house.run({ date: dateOf(2) }, at(2));
    expect(summary.state).toBe('incomplete');
    expect(await instructionCounts(house.db)).toEqual({
      'capture confirmed': 2,
      'capture unknown': 1,
    });
    expect((await house.effects()).length).toBe(2);
    expect((await openBreaksOf(house.db)).map((one) => one.split(' ')[1])).toEqual([
      'outcome_unknown',
    ]);
  });
});
