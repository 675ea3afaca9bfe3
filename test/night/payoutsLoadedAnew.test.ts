// A shop that loads its payout requests anew each night, under other numbers and as if made at that
// moment: none is paid again without a person. Neighbour: payouts.test.ts.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROFILE_TEMPLATE } from '../../src/config/templates.js';
import { buildHouse, dateOf, kinds, rewriteSettings } from '../support/night.js';

const [ONE = '', TWO = '', THREE = '', FOUR = ''] = ['1', '2', '3', '4'].map(
  (digit) => `00000000-0000-4000-8000-00000000000${digit}`,
);

test('a payout of a ledger that is loaded anew night by night goes once', async () => {
  const settings = { operations: { payout: 'auto' } };
  const house = await buildHouse({ orders: 60, inLedger: kinds({}), settings, daysAgo: 2 });
  const profile = join(house.folder, 'gateway-profile.yaml');
  writeFileSync(profile, PROFILE_TEMPLATE.replace('unit: null', 'unit: major'));
  rewriteSettings(house, { gateway: { baseUrl: house.gatewayUrl, profile } });
  const paid = async () => (await house.effects()).map((effect) => effect.order_no);
  const ask = (id: string) =>
    house.db.query(
      `insert into ledger.payout_requests (request_id, account_id, payload, requested_at)
       values ($1, 'A1001', '{"payment_currency": "EUR", "payment_amount": "7"}', now())`,
      [id],
    );
  try {
    await ask(ONE);
    await house.run({ date: dateOf(2) });
    for (const id of [TWO, THREE]) {
      await house.db.query('delete from ledger.payout_requests');
      await ask(id);
      await house.run({ date: dateOf(1) });
      // Weighed once more, with nothing new: it waits as it did.
      await house.run({ date: dateOf(1) });
      const { rows } = await house.db.query(
        `select transaction_id, hold_reason from tieout.instructions where state = 'held'`,
      );
      expect(rows).toEqual([{ transaction_id: id, hold_reason: 'twin_request' }]);
    }
    expect(await paid()).toEqual([ONE]);
    // What comes long after the last one has left is another payment.
    await house.db.query('delete from ledger.payout_requests');
    await house.run({ date: dateOf(1) });
    await house.db.query(`update tieout.payouts_left set left_at = left_at - interval '4 days'`);
    await ask(FOUR);
    await house.run({ date: dateOf(1) });
    expect(await paid()).toEqual([ONE, FOUR]);
  } finally {
    await house.end();
  }
});
