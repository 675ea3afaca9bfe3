// A refund request behind a difference that the tolerance or a waiver silences is not sent, and is
// told each night until both sides are equal.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { tieoutHere } from '../support/cliHere.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf, kinds, rewriteSettings } from '../support/night.js';

let house: House;
let request: { refund_id: string; order_no: string; amount: string; currency: string };
const tolerance = { below: '0.05', above: '0.05', percent: 0 };

beforeAll(async () => {
  house = await buildHouse({
    orders: 900,
    inLedger: kinds({ partial_refund_due: 1 }),
    daysAgo: 2,
    settings: { reconcile: { graceHours: 24, tolerance } },
  });
  const { rows } = await house.db.query<typeof request>(
    `update ledger.orders o set amount = o.amount + 0.01 from ledger.refund_requests r
     where r.account_id = o.account_id and r.order_no = o.order_no
     returning r.refund_id, r.order_no, r.refund_amount::text as amount, o.currency`,
  );
  expect(rows).toHaveLength(1);
  request = rows[0] ?? request;
});
afterAll(() => house.end());

async function told(daysAgo: number): Promise<string[]> {
  const { summary } = await house.run({ date: dateOf(daysAgo) });
  expect(summary.state).toBe('tied_out');
  return (summary.notices ?? [])
    .filter(({ kind }) => kind === 'refund_waits')
    .map(({ text }) => text);
}

it('within the tolerance: by the night, and in the list of what it swallowed', async () => {
  const { refund_id: refundId, order_no: orderNo, amount, currency } = request;
  const text =
    `1 refund request waits and is not sent, such as ${refundId} of order ${orderNo}, ` +
    `${amount} ${currency}: ledger and gateway differ in the money of the order, which the ` +
    'tolerance or a waiver silences and does not free. Correct the ledger: once they are equal ' +
    'to the cent, the next run sends it';
  expect(await told(2)).toEqual([text]);
  const { stdout } = await tieoutHere(['breaks', 'list', '--explained'], { cwd: house.folder });
  expect(stdout).toContain(
    `; refund request ${refundId} of ${amount} ${currency} waits: nothing is refunded while they`,
  );
  expect(await house.effects()).toEqual([]);
});

it('and by a waiver: as long as they differ', async () => {
  rewriteSettings(house, { reconcile: { graceHours: 24 } });
  await house.run({ date: dateOf(2) });
  const { rows } = await house.db.query<{ id: string }>(
    `select break_id::text as id from tieout.breaks where state = 'open'`,
  );
  expect(rows).toHaveLength(1);
  const waive = ['breaks', 'waive', rows[0]?.id ?? '', '--reason', 'a cent', '--as', 'ann'];
  await tieoutHere(waive, { cwd: house.folder });
  expect(await told(1)).toHaveLength(1);
  await house.db.query(`update ledger.orders set amount = amount - 0.01`);
  expect(await told(1)).toEqual([]);
  expect(await house.effects()).toMatchObject([{ operation: 'refund' }]);
});
