// One bad row harms itself alone: odd rows of the merchant's own views, each alone and all together,
// beside good orders of the same account, page and batch. The good ones are captured once; the bad
// ones are named every night until they are mended, and no night fails.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectIdentities } from '../../support/identities.js';
import type { House } from '../../support/night.js';
import { buildHouse, dateOf, kinds } from '../../support/night.js';
import type { PoisonCase } from '../../support/poisonCases.js';
import { POISON_CASES, poisonViews } from '../../support/poisonCases.js';
import { auditRun } from '../audit.js';

const NAMED = POISON_CASES.filter(({ says }) => says !== '');

async function houseWith(cases: readonly PoisonCase[], orders: number) {
  const house = await buildHouse({
    orders,
    seed: 9,
    daysAgo: 2,
    inLedger: kinds({ capture_due: 40 }),
  });
  const numbers = house.seeded.map(({ ledger }) => ledger.order_no ?? '');
  expect(numbers.length).toBeGreaterThan(cases.length + 2);
  const placed = new Map(cases.map((one, at) => [numbers[at] ?? '', one]));
  await house.db.query(poisonViews(placed));
  return { house, placed, numbers };
}

async function saidOf(house: House, orderNo: string): Promise<string[]> {
  const { rows } = await house.db.query<{ said: string }>(
    `select kind || ': ' || coalesce(expected ->> 'problem', '') as said from tieout.breaks
     where order_no = $1 and state = 'open'`,
    [orderNo],
  );
  return rows.map(({ said }) => said);
}

/** Two nights: what they read, and that money moved once for the good orders alone. */
async function twoNights(house: House, numbers: readonly string[], bad: ReadonlySet<string>) {
  const good = numbers.filter((orderNo) => !bad.has(orderNo)).sort();
  for (const daysAgo of [2, 1]) {
    const { summary } = await house.run({ date: dateOf(daysAgo) });
    expect(summary.state, `${daysAgo} days ago`).toBe(bad.size > 0 ? 'broken' : 'tied_out');
    const invalid = summary.accounts.map(({ breaks }) => breaks.invalid_record ?? 0);
    expect(invalid.reduce((sum, count) => sum + count, 0)).toBe(bad.size);
    await expectIdentities(house.db, summary);
    const effects = await house.effects();
    expect(effects.map(({ order_no: orderNo }) => orderNo).sort()).toEqual(good);
    expect(await auditRun(house.db, effects)).toEqual([]);
  }
}

describe('all together', () => {
  let built: Awaited<ReturnType<typeof houseWith>>;

  beforeAll(async () => {
    built = await houseWith(POISON_CASES, 3000);
    const bad = [...built.placed].flatMap(([orderNo, { says }]) => (says === '' ? [] : [orderNo]));
    await twoNights(built.house, built.numbers, new Set(bad));
  }, 120_000);
  afterAll(() => built.house.end());

  it.each(NAMED)('names $name', async ({ name, says }) => {
    const [orderNo = ''] = [...built.placed].find(([, one]) => one.name === name) ?? [];
    const said = await saidOf(built.house, orderNo);
    expect(said).toHaveLength(1);
    expect(said[0]).toMatch(/^invalid_record: /);
    expect(said[0]).toContain(says);
    expect((said[0] ?? '').length).toBeLessThan(250);
  });

  it('is healed by mending the ledger: what was bad is captured, once', async () => {
    const { house, numbers } = built;
    await house.db.query(`drop view ledger.orders, ledger.refund_requests;
      alter table ledger.shop_orders rename to orders;
      alter table ledger.shop_refunds rename to refund_requests`);
    const { summary } = await house.run({ date: dateOf(1) });
    expect(summary.state).toBe('tied_out');
    const effects = await house.effects();
    expect(effects.map(({ order_no: orderNo }) => orderNo).sort()).toEqual([...numbers].sort());
    expect(await auditRun(house.db, effects)).toEqual([]);
  }, 60_000);
});

describe('alone', () => {
  it.each(POISON_CASES.filter(({ alone }) => alone))(
    '$name',
    async (one) => {
      const { house, placed, numbers } = await houseWith([one], 500);
      try {
        await twoNights(house, numbers, new Set(placed.keys()));
        const said = await saidOf(house, [...placed.keys()][0] ?? '');
        expect(said.join()).toContain(one.says);
      } finally {
        await house.end();
      }
    },
    60_000,
  );
});
