// A request that is dated before liveFrom after the account went live, a refund whose date moves or
// a payout that comes so: it counts as done, which is the ledger's word, and is told by name. What a person gave back through `tieout gateway` tells the book more
// than a request for another amount. Neighbour: faults/people/newlyFreed.test.ts, where liveFrom
// itself moves.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findRun } from '../../src/runs/runsStore.js';
import { verifyRun } from '../../src/verify/verifyRun.js';
import { tieoutHere } from '../support/cliHere.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf, kinds } from '../support/night.js';

let house: House;
let first: House;

beforeAll(async () => {
  first = house = await buildHouse({
    orders: 300,
    daysAgo: 4,
    inLedger: kinds({ partial_refund_due: 1, plain: 2 }, 'A1002'),
    settings: { settlement: { from: dateOf(4) } },
  });
});
afterAll(() => first.end());

/** Of a payout; what was asked for by then is there from the beginning. */
async function askToPay(id: string, at: string): Promise<void> {
  await house.db.query(
    `insert into ledger.payout_requests (request_id, account_id, payload, requested_at)
     values ($1, 'A1002', '{"payment_currency": "EUR", "payment_amount": "120"}', $2)`,
    [id, at],
  );
}

async function night(daysAgo: number, isDry = false) {
  const at = new Date(`${dateOf(daysAgo - 1)}T04:15:00Z`);
  const { summary } = await house.run({ date: dateOf(daysAgo), isDry }, at);
  const told = (summary.notices ?? []).filter(({ kind }) => kind === 'now_history');
  return { account: summary.accounts.find((one) => one.accountId === 'A1002'), told };
}

async function giveBackByHand(cents: number): Promise<string> {
  const { rows } = await house.db.query<Record<string, string>>(
    `select o.order_no, o.transaction_id, o.currency, o.amount::text,
       (r.refund_amount - $1::numeric / 100)::numeric(20, 2)::text as refund_amount
     from ledger.orders o join ledger.refund_requests r using (account_id, order_no)`,
    [cents],
  );
  const body = join(house.folder, 'refund.json');
  writeFileSync(body, JSON.stringify({ refund_orders: [{ ...rows[0], refund_reason: 'called' }] }));
  const words = [
    'gateway',
    'refund',
    '--account',
    'A1002',
    '--body',
    body,
    '--as',
    'Dora',
    '--yes',
  ];
  const { code, stderr } = await tieoutHere(words, { cwd: house.folder });
  expect(code, stderr).toBe(0);
  return rows[0]?.order_no ?? '';
}

test('a request that is dated as history is told, and its amount is no knowledge', async () => {
  const orderNo = await giveBackByHand(100);
  const asked = await night(4);
  expect(asked.account?.breaks).toEqual({ refund_mismatch: 1 });
  expect(asked.told).toEqual([]);
  await house.db.query(`update ledger.refund_requests set requested_at = '2020-01-01Z'`);
  const second = await night(3);
  expect(second.account).toMatchObject({ state: 'tied_out', breaks: {} });
  expect(second.told).toMatchObject([{ accountId: 'A1002', names: [expect.any(String), orderNo] }]);
  expect(second.told[0]?.text).toMatch(
    /^1 request .* counts as done by now.* of order .* \(dated 2020-01-01T00:00:00.000Z, before /,
  );
  const { rows } = await house.db.query(
    `select made, amount from tieout.movements_now where kind = 'refunded' and order_no = $1`,
    [orderNo],
  );
  expect(rows).toEqual([{ made: 'elsewhere', amount: null }]);
  const { db, config, version } = await house.open();
  const run = await findRun(house.db, dateOf(3));
  if (run === null) throw new Error('no run');
  const verified = await verifyRun({ db, config, version, progress: () => {} }, run);
  expect(verified.differences).toEqual([]);
  expect((await night(2)).told).toEqual([]);
});

test('a payout that comes later, dated before liveFrom, is told by the night that finds it', async () => {
  const [old, late, redone] = ['1', '2', '3'].map(
    (at) => `00000000-0000-4000-8000-00000000000${at}`,
  );
  const settings = { operations: { payout: 'auto' } };
  house = await buildHouse({ orders: 60, daysAgo: 3, inLedger: kinds({}), settings });
  try {
    await askToPay(old ?? '', `${dateOf(5)}T10:00:00Z`);
    expect((await night(3)).told).toEqual([]);
    // An export of dates alone, of the day on which the account went live at some later hour.
    await askToPay(late ?? '', `${dateOf(4)}T00:00:00Z`);
    expect((await night(2, true)).told).toHaveLength(1);
    for (const again of [await night(2), await night(2)]) {
      expect(again.account?.state).toBe('tied_out');
      expect(again.told).toMatchObject([{ accountId: 'A1002', names: [late] }]);
      expect(again.told[0]?.text).toMatch(
        /^1 request .* since it came after the first night, .*: payout \S+2 \(dated .*requested_at/,
      );
    }
    // The date is run again with what has come since.
    await askToPay(redone ?? '', `${dateOf(6)}T00:00:00Z`);
    expect((await night(2)).told).toMatchObject([{ names: [redone, late] }]);
    expect((await night(1)).told).toEqual([]);
    expect(await house.effects()).toEqual([]);
    const { rows } = await house.db.query('select from tieout.instructions');
    expect(rows).toEqual([]);
    // Asked for anew as the notice says, it is planned as any other (no unit is set here).
    await askToPay('00000000-0000-4000-8000-000000000009', `${dateOf(3)}T00:00:00Z`);
    await night(1);
    const { rows: asked } = await house.db.query('select hold_reason from tieout.instructions');
    expect(asked).toEqual([{ hold_reason: 'approval' }]);
  } finally {
    await house.end();
  }
});
