// What is at stake in a break is one thing in a list, on its page and in its life: the money in it as
// both sides stand, in its own currency; not what it opened with.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { breakLife, findBreaks } from '../../src/breaks/breaksStore.js';
import type { House } from '../support/night.js';
import { buildHouse } from '../support/night.js';

let house: House;

beforeAll(async () => {
  house = await buildHouse({ orders: 200 });
  await house.run();
}, 120_000);

afterAll(() => house.end());

async function only(kind: string) {
  const page = { limit: 1, offset: 0 };
  const [found] = await findBreaks(house.db, { kinds: [kind], states: ['open'] }, page);
  if (found === undefined) throw new Error(`no open ${kind}`);
  return found;
}

test('a break that grew, or shrank, shows what it is now', async () => {
  const before = await only('amount_mismatch');
  const wanted = Number(before.expected.amount);
  for (const difference of [77.25, 0.5]) {
    const actual = { ...before.actual, amount: (wanted + difference).toFixed(2) };
    await house.db.transaction(async (tx) => {
      await tx.query('update tieout.breaks set actual = $2 where break_id = $1', [
        before.breakId,
        JSON.stringify(actual),
      ]);
      await tx.query(
        `insert into tieout.break_events (break_id, run_id, at, event, from_state, by, currency,
           amount, expected, actual)
         select break_id, last_run_id, now(), 'changed', state, 'tieout', currency, amount,
           expected, actual
         from tieout.breaks where break_id = $1`,
        [before.breakId],
      );
    });
    const found = await only('amount_mismatch');
    const life = await breakLife(house.db, before.breakId);
    expect(found.stake).toBe(difference.toFixed(2));
    expect(life.at(-1)?.amount).toBe(found.stake);
    expect(life[0]?.amount).toBe(before.stake);
  }
});

test('what the gateway took in another currency is at stake, in that currency', async () => {
  const found = await only('currency_mismatch');
  expect(found.currency).toBe(found.actual.currency);
  expect(found.expected.currency).not.toBe(found.currency);
  expect(found.stake).toBe(found.actual.amount);
  const change = { ...found.actual, amount: '987654.00' };
  await house.db.query('update tieout.breaks set actual = $2 where break_id = $1', [
    found.breakId,
    JSON.stringify(change),
  ]);
  expect((await only('currency_mismatch')).stake).toBe('987654.00');
  const life = await breakLife(house.db, found.breakId);
  expect(life[0]?.amount).toBe(found.stake);
  // found by the currency that its money is in, so that a list adds up to what leads to it
  const listed = async (currency: string | undefined) => {
    const filter = { currency: currency ?? null, kinds: ['currency_mismatch'] };
    const breaks = await findBreaks(house.db, filter, { limit: 10, offset: 0 });
    return breaks.map(({ breakId }) => breakId);
  };
  expect(await listed(found.actual.currency)).toContain(found.breakId);
  expect(await listed(found.expected.currency)).not.toContain(found.breakId);
  const { rows } = await house.db.query<{ money: string }>(
    `select stake_after ->> $2 as money from tieout.run_accounts
     where account_id = $1 and stake_after is not null`,
    [found.accountId, found.currency],
  );
  expect(Number(rows[0]?.money)).toBeGreaterThanOrEqual(Number(found.stake));
});
