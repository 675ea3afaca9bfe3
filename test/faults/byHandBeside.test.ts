// What tieout is sending, or sent and heard nothing of, is not done by hand beside it: the second
// one would go out while nobody knows of the first. Neighbour: clockJumps.test.ts and
// secondSend.test.ts have what a person did by hand before.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { byHand } from '../support/byHand.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf, rewriteSettings } from '../support/night.js';

let house: House;

beforeAll(async () => {
  house = await buildHouse({
    orders: 120,
    daysAgo: 2,
    fault: ({ operation }) => (operation === 'refund' ? { kind: 'drop', when: 'after' } : null),
  });
  await house.run({ date: dateOf(2) });
});
afterAll(() => house.end());

interface Sent {
  instruction_id: bigint;
  account_id: string;
  order_no: string;
  transaction_id: string;
  currency: string;
  amount: string;
  refund_amount: string;
}

async function oneIn(state: string): Promise<Sent> {
  const { rows } = await house.db.query<Sent>(
    `select instruction_id, account_id, order_no, transaction_id, currency, amount, refund_amount
     from tieout.instructions where operation = 'refund' and state = $1
     order by instruction_id limit 1`,
    [state],
  );
  const [row] = rows;
  if (row === undefined) throw new Error(`no refund is ${state}`);
  return row;
}

function refundOf({ transaction_id, order_no, currency, amount, refund_amount }: Sent) {
  const entry = { transaction_id, order_no, currency, amount, refund_amount };
  return { refund_orders: [{ ...entry, refund_reason: 'by hand' }] };
}

describe('a refund of which nobody knows whether it happened', () => {
  it('is not made a second time by hand, and the person is told what to type', async () => {
    const unknown = await oneIn('unknown');
    const before = await house.effects();
    await expect(byHand(house, unknown.account_id, 'refund', refundOf(unknown))).rejects.toThrow(
      `tieout instructions resolve ${unknown.instruction_id} happened|not-happened`,
    );
    expect(await house.effects()).toEqual(before);
    const { rows } = await house.db.query(
      'select outcome from tieout.gateway_calls order by call_id desc limit 1',
    );
    expect(rows).toEqual([{ outcome: 'not_sent' }]);
  });
});

it('a payout that waits and is paid by hand meanwhile says who paid it', async () => {
  const [accountId, id] = ['A1001', '00000000-0000-4000-8000-0000000000b1'];
  const payload = { payment_amount: '120', payment_currency: 'EUR' };
  const held = async () => {
    const { rows } = await house.db.query<{ hold_reason: string; reason: string | null }>(
      `select hold_reason, reason from tieout.instructions where transaction_id = $1 and is_open`,
      [id],
    );
    return rows;
  };
  rewriteSettings(house, { operations: { payout: 'approve' } });
  await house.db.query(
    `insert into ledger.payout_requests (request_id, account_id, payload, requested_at)
     values ($1, $2, $3, now() - interval '1 hour')`,
    [id, accountId, JSON.stringify(payload)],
  );
  await house.run({ date: dateOf(2) });
  expect(await held()).toEqual([{ hold_reason: 'approval', reason: null }]);
  await byHand(house, accountId, 'payout', { ...payload, request_id: id });
  await house.run({ date: dateOf(1) });
  expect(await held()).toEqual([
    { hold_reason: 'invalid_payout', reason: expect.stringContaining('dora paid it by hand') },
  ]);
});
