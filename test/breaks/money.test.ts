// What is at stake in a break is one thing in a list, on its page and in its life: the money in it as
// both sides stand, in its own currency; not what it opened with.

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { breakLife, findBreaks } from '../../src/breaks/breaksStore.js';
import { decideBreaks } from '../../src/breaks/decideBreaks.js';
import { previewSet } from '../../src/breaks/decideSet.js';
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

/** The waiver of one person, held against 500.00, by the preview, the verdict and the guard. */
test.each<[what: string, opened: string | null, there: string, kind: 'waived' | 'waiver_asked']>([
  ['the limit itself', '0.10', '1500.00', 'waived'],
  ['a hundredth above it', '0.10', '1500.01', 'waiver_asked'],
  ['as much too little', '0.10', '499.99', 'waiver_asked'],
  ['what it opened with, where that is more', '500.01', '1000.10', 'waiver_asked'],
  ['nothing that it opened with', null, '1500.00', 'waived'],
  ['an amount that cannot be read', '0.10', '862,9', 'waived'],
  ['no amount at all', null, '862,9', 'waiver_asked'],
])('a waiver of %s is weighed alike everywhere', async (_what, opened, there, kind) => {
  const { breakId } = await only('amount_mismatch');
  const sides = { expected: { currency: 'EUR', amount: '1000.00' }, actual: { amount: there } };
  await house.db.query(
    `update tieout.breaks set amount = $2, currency = 'EUR', expected = $3, actual = $4
     where break_id = $1`,
    [breakId, opened, sides.expected, { currency: 'EUR', ...sides.actual }],
  );
  const approveAbove = { capture: null, cancel: null, refund: null, review: null, payout: null };
  const config = { operations: { approveAbove } };
  const deps = { db: house.db, now: () => new Date(), newId: randomUUID, config };
  const action = { kind: 'waive', reason: 'rounding' } as const;
  const who = { name: 'anna', isClaim: false };
  const { becomes } = await previewSet(deps, { filter: { ids: [breakId] }, action, who });
  const about = { ids: [breakId], action, who, over: null, check: true };
  const [verdict] = await decideBreaks(deps, about);
  const alone = house.db.transaction(async (tx) => {
    await tx.query(
      `update tieout.breaks set state = 'waived', waived_by = 'anna', waived_reason = 'rounding',
         waived_limit = 500.00 where break_id = $1`,
      [breakId],
    );
    throw new Error('the guard let it pass');
  });
  const said = kind === 'waived' ? 'the guard let it pass' : 'needs a second person';
  await expect(alone).rejects.toThrow(said);
  expect([[...becomes.keys()], verdict?.kind]).toEqual([[kind], kind]);
});

test('the limit of a waiver is held against one figure, which the database works out', async () => {
  const { rows } = await house.db.query<{ stake: string }>(
    `select tieout.waiver_stake('amount_mismatch', 'EUR', 0.10, '{"amount": "10.00"}',
       '{"amount": "12.50"}')::text as stake`,
  );
  expect(rows).toEqual([{ stake: '2.50' }]);
});

test('a set is weighed with its words as they are kept, and shows them so', async () => {
  const { breakId } = await only('missing_at_gateway');
  const operations = {
    approveAbove: { capture: null, cancel: null, refund: null, review: null, payout: null },
  };
  const deps = { db: house.db, now: () => new Date(), newId: randomUUID, config: { operations } };
  const action = { kind: 'assign', owner: '4111111111111111' } as const;
  const about = { action, who: { name: 'anna', isClaim: false } };
  await decideBreaks(deps, { ...about, ids: [breakId], over: null });
  const { becomes, left } = await previewSet(deps, { ...about, filter: { ids: [breakId] } });
  expect([[...becomes.keys()], [...left.keys()]]).toEqual([
    [],
    ['it is with 411111******1111 already'],
  ]);
});
