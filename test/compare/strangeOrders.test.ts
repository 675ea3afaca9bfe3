// Orders of an account that the ledger has and the configuration does not: no night looks at them,
// and everybody who asks is told. Neighbour: editedLedger.test.ts, where requests of such accounts are.

import { afterEach, expect, test } from 'vitest';
import { runSentence } from '../../src/core/runs/summary.js';
import { tieoutHere } from '../support/cliHere.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf, kinds, openBreaksOf } from '../support/night.js';

const houses: House[] = [];
afterEach(async () => {
  for (const house of houses.splice(0)) await house.end();
});

test('are named with their count and account in summary, status and doctor, and break nothing', async () => {
  const house = await buildHouse({ orders: 300, daysAgo: 1, inLedger: kinds({ plain: 3 }) });
  houses.push(house);
  await house.db.query(
    `insert into ledger.orders
     select 'A9009', order_no, currency, amount, expected, null, null, null, placed_at, null
     from ledger.orders`,
  );
  const words = /^3 orders, such as \S+, of account A9009, which is not configured/;
  const { summary } = await house.run({ date: dateOf(1) });
  const told = (summary.notices ?? []).filter(({ kind }) => kind === 'strange_orders');
  expect(told).toEqual([expect.objectContaining({ accountId: 'A9009' })]);
  expect(told[0]?.text).toMatch(words);
  expect(summary.state).toBe('tied_out');
  expect(runSentence(summary)).toContain('; 3 orders of account A9009, which is not configured.');
  expect(await openBreaksOf(house.db)).toEqual([]);
  const status = await tieoutHere(['status', '--json'], { cwd: house.folder });
  expect(JSON.parse(status.stdout)).toMatchObject({
    strangeOrders: [{ accountId: 'A9009', text: expect.stringMatching(words) }],
  });
  const text = await tieoutHere(['status'], { cwd: house.folder });
  expect(text.stdout).toContain('A9009: 3 orders, such as');
  const doctor = await tieoutHere(['doctor'], { cwd: house.folder });
  expect(doctor.stdout).toMatch(/account A9009.*3 orders, such as/);
});

test('where the ledger has orders of others alone, nothing was compared: the night is incomplete', async () => {
  const house = await buildHouse({ orders: 300, daysAgo: 1, inLedger: kinds({ plain: 3 }) });
  houses.push(house);
  const to = (account: string) =>
    house.db.query(`update ledger.orders set account_id = ${account}`);
  await to('lower(account_id)');
  const { summary } = await house.run({ date: dateOf(1) });
  expect(summary.state).toBe('incomplete');
  expect(runSentence(summary)).toMatch(
    /is incomplete: it compared NOTHING; not a single order of .*orders? of account a\d+, which is not/,
  );
  await to('upper(account_id)');
  expect((await house.run({ date: dateOf(1) })).summary.state).toBe('tied_out');
});

test('an order whose number is too long to be looked for is named, too', async () => {
  const house = await buildHouse({ orders: 300, daysAgo: 1, inLedger: kinds({ plain: 3 }) });
  houses.push(house);
  // Random, so that nothing compresses it: an index row holds 2,700 bytes.
  await house.db.query(
    `insert into ledger.orders
     select account_id, (select string_agg(md5(n::text), '') from generate_series(1, 20) as n),
       currency, amount, expected, null, null, null, placed_at, null from ledger.orders limit 1`,
  );
  const { summary } = await house.run({ date: dateOf(1) });
  const told = (summary.notices ?? []).filter(({ kind }) => kind === 'unusable_rows');
  expect(told.map(({ text }) => text).join()).toMatch(
    /1 row of ledger\.orders .* c4ca4238\S*\.\.\./,
  );
  expect(summary.state).toBe('broken');
});
