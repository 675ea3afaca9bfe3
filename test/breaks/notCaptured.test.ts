// An amount that differs keeps the capture from being made: until both agree all of the money is at
// stake, in the run's figures, in the list, by cause and for who waives it alone.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { countBreaks, findBreaks } from '../../src/breaks/breaksStore.js';
import { breakSentence } from '../../src/core/breaks/sentence.js';
import { EXPECTED_STATES, GATEWAY_STATES } from '../../src/core/orders/order.js';
import { factsOfClose } from '../support/closing.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf } from '../support/night.js';

let house: House;

beforeAll(async () => {
  house = await buildHouse({ orders: 200 });
  await house.db.query(
    `update ledger.orders set amount = amount + 1 where expected = 'captured' and currency <> 'JPY'
       and capture_amount is null`,
  );
  // What the gateway alone took, though the ledger wants it called off, and a cent off.
  await house.db.query(
    `update ledger.orders set expected = 'cancelled', amount = amount + 2 where order_no in (
       select order_no from ledger.orders where expected = 'captured' and currency = 'EUR'
         and capture_amount is null and transaction_id is not null order by placed_at limit 12)`,
  );
  await house.run();
}, 120_000);

afterAll(() => house.end());

test('all of the money is at stake where nothing is captured, else what differs', async () => {
  const page = { limit: 1_000, offset: 0 };
  const filter = { kinds: ['amount_mismatch'], states: ['open' as const] };
  const all = await findBreaks(house.db, filter, page);
  const found = all.filter(({ cause }) => / -1\.00 /.test(cause));
  const { rows } = await house.db.query<{ id: string; amount: string }>(
    `select break_id::text as id, amount::text from tieout.breaks where kind = 'amount_mismatch'`,
  );
  const opened = new Map(rows.map(({ id, amount }) => [id, amount]));
  const reserved = found.filter(({ actual }) => actual.state === 'authorised');
  const taken = found.filter(({ actual }) => actual.state === 'captured');
  expect(reserved.length).toBeGreaterThan(0);
  expect(taken.length).toBeGreaterThan(0);
  for (const one of reserved) {
    expect([one.stake, opened.get(one.breakId)]).toEqual([
      one.expected.amount,
      one.expected.amount,
    ]);
    expect(one.cause).toMatch(/^amount_mismatch, delta -1\.00 [A-Z]{3}, not captured$/);
    expect(breakSentence('amount_mismatch', one.expected, one.actual)).toMatch(
      /^the gateway authorised .+, the ledger expects .+: nothing is captured while they differ$/,
    );
  }
  const reviewed = found.filter(({ actual }) => actual.state === 'in_review');
  expect(reviewed.length).toBeGreaterThan(0);
  for (const one of reviewed) {
    expect([one.stake, opened.get(one.breakId)]).toEqual([
      one.expected.amount,
      one.expected.amount,
    ]);
    expect(one.cause).toMatch(/, not captured$/);
    expect(breakSentence('amount_mismatch', one.expected, one.actual)).toMatch(
      / EUR: it is in review there, and nothing is captured while they differ$/,
    );
  }
  const unwanted = all.filter(({ expected }) => expected.state === 'cancelled');
  const there = unwanted.filter(({ actual }) => actual.state === 'captured');
  expect(there.length).toBeGreaterThan(0);
  for (const one of there) {
    expect([one.stake, one.cause]).toEqual([
      one.expected.amount,
      'amount_mismatch, delta -3.00 EUR, captured at the gateway alone',
    ]);
    expect(breakSentence('amount_mismatch', one.expected, one.actual)).toMatch(
      /: it is captured there, and cancelled in the ledger$/,
    );
  }
  for (const one of taken) {
    expect([one.stake, opened.get(one.breakId), one.cause]).toEqual([
      '1.00',
      '1.00',
      `amount_mismatch, delta -1.00 ${one.currency}`,
    ]);
    expect(breakSentence('amount_mismatch', one.expected, one.actual)).not.toContain(
      'captured while',
    );
  }
});

test('the sentence says of every pair of states what the database says', async () => {
  for (const wanted of EXPECTED_STATES) {
    for (const shown of GATEWAY_STATES) {
      const { rows } = await house.db.query<{ by: string | null }>(
        'select tieout.taken_by($1, $2) as by',
        [wanted, shown],
      );
      const side = (state: string, amount: string) => ({ state, amount, currency: 'EUR' });
      const said = breakSentence('amount_mismatch', side(wanted, '2.00'), side(shown, '1.00'));
      const told = said.includes('nothing is captured while')
        ? 'ledger'
        : said.includes('it is captured there')
          ? 'gateway'
          : null;
      expect([wanted, shown, told]).toEqual([wanted, shown, rows[0]?.by]);
    }
  }
});

test('they are a cause of their own, and weigh as much for who waives them', async () => {
  const at = { at: new Date(), timezone: 'UTC' };
  const groups = await countBreaks(house.db, { states: ['open'] }, 'cause', at, 100);
  const group = groups.find(({ key }) => /delta -1\.00 [A-Z]{3}, not captured$/.test(key ?? ''));
  const filter = { cause: group?.key ?? '', states: ['open' as const] };
  const breaks = await findBreaks(house.db, filter, { limit: 100, offset: 0 });
  const [currency = ''] = Object.keys(group?.money ?? {});
  const sum = breaks.reduce((all, { expected }) => all + Number(expected.amount), 0);
  expect(group?.breaks).toBe(breaks.length);
  expect(group?.money[currency]).toBe(sum.toFixed(2));
  const { rows } = await house.db.query<{ weighed: string }>(
    `select sum(tieout.waiver_stake(kind, currency, amount, expected, actual))::text as weighed
     from tieout.breaks where break_id = any ($1)`,
    [breaks.map(({ breakId }) => breakId)],
  );
  expect(rows[0]?.weighed).toBe(sum.toFixed(2));
});

test('what is waived is counted apart from what is open, with its money', async () => {
  const { rows } = await house.db.query<{ id: string; account: string; amount: string }>(
    `select break_id::text as id, account_id as account, amount::text from tieout.breaks
     where state = 'open' and kind = 'amount_mismatch' and currency = 'EUR' order by break_id limit 1`,
  );
  const { id = '', account = '', amount = '' } = rows[0] ?? {};
  const before = await factsOfClose(house.db, account, dateOf(1));
  await house.db.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica');
    await tx.query(
      `update tieout.breaks set state = 'waived', waived_by = 'a',
       waived_reason = 'r' where break_id = $1`,
      [id],
    );
  });
  const after = await factsOfClose(house.db, account, dateOf(1));
  expect([before.waivedBreaks, before.waivedMoney, before.waivedWithoutAmount]).toEqual([0, [], 0]);
  expect(after.openBreaks).toBe(before.openBreaks - 1);
  expect([after.waivedBreaks, after.waivedMoney]).toEqual([1, [{ currency: 'EUR', amount }]]);
  const eur = ({ openMoney }: typeof before): number =>
    Number(openMoney.find(({ currency }) => currency === 'EUR')?.amount);
  expect(eur(before) - eur(after)).toBeCloseTo(Number(amount), 2);
});
