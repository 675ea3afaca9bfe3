// A shop that loads its payout requests anew each night, under other numbers and as if made at that
// moment: none is paid again without a person. Neighbour: payouts.test.ts.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROFILE_TEMPLATE } from '../../src/config/templates.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf, kinds, rewriteSettings } from '../support/night.js';

const [ONE = '', TWO = '', THREE = '', FOUR = '', FIVE = ''] = ['1', '2', '3', '4', '5'].map(
  (digit) => `00000000-0000-4000-8000-00000000000${digit}`,
);

test('a payout of a ledger that is loaded anew night by night goes once', async () => {
  const settings = { operations: { payout: 'auto' } };
  const house = await buildHouse({ orders: 60, inLedger: kinds({}), settings, daysAgo: 2 });
  const profile = join(house.folder, 'gateway-profile.yaml');
  writeFileSync(profile, PROFILE_TEMPLATE.replace('unit: null', 'unit: major'));
  rewriteSettings(house, { gateway: { baseUrl: house.gatewayUrl, profile } });
  const paid = async () => (await house.effects()).map((effect) => effect.order_no);
  const waiting = async () => {
    const { rows } = await house.db.query<{ id: string }>(
      `select transaction_id as id from tieout.instructions
       where state = 'held' and hold_reason = 'twin_request' order by id`,
    );
    return rows.map(({ id }) => id);
  };
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
      expect(await waiting()).toEqual([id]);
    }
    expect(await paid()).toEqual([ONE]);
    // What comes long after the last one has left is another payment, also where a twin still waits.
    await older(house);
    await ask(FOUR);
    await house.run({ date: dateOf(1) });
    expect(await paid()).toEqual([ONE, FOUR]);
    // That one stands in for none: loaded anew, this one waits as well.
    await house.db.query('delete from ledger.payout_requests where request_id = $1', [FOUR]);
    await ask(FIVE);
    await house.run({ date: dateOf(1) });
    expect(await paid()).toEqual([ONE, FOUR]);
    expect(await waiting()).toEqual([THREE, FIVE]);
  } finally {
    await house.end();
  }
});

/** Four days pass: all that is on record of payouts is so much older. */
async function older({ db }: House): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.query(`update tieout.payouts_left set left_at = left_at - interval '4 days'`);
    await tx.query('alter table tieout.instructions disable trigger user');
    await tx.query(
      `update tieout.instructions set created_at = created_at - interval '4 days'
       where operation = 'payout'`,
    );
    await tx.query('alter table tieout.instructions enable trigger user');
  });
}
