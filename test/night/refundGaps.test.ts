// A part refunded at the portal between two of ours: the gateway's states say nothing of it, its
// numbers do, and the night that sees the gap tells it beside the story of the order.

import { expect, test } from 'vitest';
import { gapWords } from '../../src/core/instructions/refundOrdinals.js';
import { orderHistory } from '../../src/orders/historyStore.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf, kinds } from '../support/night.js';

async function refundAtThePortal(house: House, part: Record<string, string>): Promise<void> {
  const answer = await fetch(`${house.sandboxUrl}/_sandbox/portal/refund`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(part),
  });
  expect(answer.status).toBe(200);
}

test('a refund from before we were to act is known by its request', async () => {
  const house = await buildHouse({
    ...{ orders: 300, daysAgo: 2 },
    inLedger: kinds({ two_refunds_due: 1 }),
  });
  try {
    const [{ ledger, gateway } = {}] = house.seeded;
    const transaction_id = gateway?.transactions[0]?.transactionId ?? '';
    const { account_id = '', order_no = '' } = ledger ?? {};
    const { rows } = await house.db.query<{ refund_amount: string }>(
      `update ledger.refund_requests set requested_at = now() - interval '40 days'
       where refund_id = (select min(refund_id) from ledger.refund_requests where order_no = $1)
       returning refund_amount`,
      [order_no],
    );
    const refund_amount = String(rows[0]?.refund_amount);
    await refundAtThePortal(house, { account_id, order_no, transaction_id, refund_amount });
    const { notices = [], accounts } = (await house.run({ date: dateOf(2) })).summary;
    expect(accounts.flatMap(({ instructions }) => Object.values(instructions))).toMatchObject([
      { confirmed: 1 },
    ]);
    expect(notices.filter(({ kind }) => kind === 'odd_refund')).toEqual([]);
  } finally {
    await house.end();
  }
});

test('a refund that nobody recorded is told by the number that it took', async () => {
  const inLedger = kinds({ two_refunds_due: 1 });
  const house = await buildHouse({ orders: 300, inLedger, daysAgo: 2 });
  try {
    const [{ ledger, gateway } = {}] = house.seeded;
    const transaction = gateway?.transactions[0]?.transactionId ?? '';
    const { account_id = '', order_no = '' } = ledger ?? {};
    // As many are asked for as the gateway will have counted.
    await house.db.query(
      `insert into ledger.refund_requests (account_id, refund_id, order_no, refund_amount,
         requested_at)
       values ($1, 'RF-LATER', $2, 0.01, now())`,
      [account_id, order_no],
    );
    const odd = async (daysAgo: number) =>
      ((await house.run({ date: dateOf(daysAgo) })).summary.notices ?? []).filter(
        ({ kind }) => kind === 'odd_refund',
      );
    expect(await odd(2)).toEqual([]);
    const part = { account_id, order_no, transaction_id: transaction, refund_amount: '0.01' };
    await refundAtThePortal(house, part);
    expect(await odd(1)).toMatchObject([
      {
        text: expect.stringContaining(`called ${transaction}-03, though only 2 refunds are known`),
      },
    ]);
    const story = await orderHistory(house.db, account_id, order_no);
    expect(story?.refundGaps.map(gapWords)).toEqual([
      `the gateway counts 1 refund(s) of transaction ${transaction} that are none of ours: ` +
        `${transaction}-02`,
    ]);
  } finally {
    await house.end();
  }
});
