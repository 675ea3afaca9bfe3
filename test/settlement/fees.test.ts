// Fees are held against the tariff of their date, to the decimals of their currency; what differs by
// more than its tolerance is a break, and leaves the movement settled.

import { describe, expect, it } from 'vitest';
import { breakSentence } from '../../src/core/breaks/sentence.js';
import { feeFigures } from '../../src/settlement/settlementStore.js';
import { ACCOUNTS, breaks, db, figures, moved, ownFacts, rules, settle, settled } from './facts.js';

ownFacts();

describe('fees', () => {
  const tariff = (change: object = {}) => ({
    ...{ account_id: 'A1', type: 'captured', parts_per_million: '14000' },
    ...{ fixed: { EUR: '0.25' }, from: '2026-11-01', until: null, tolerance: '0.01', ...change },
  });

  it.each([
    ['as agreed', '100.00', '1.65', 'EUR', []],
    ['within the tolerance', '100.00', '1.66', 'EUR', []],
    ['past it', '100.00', '1.67', 'EUR', ['1 fee_variance 0.02 EUR']],
    ['less than agreed', '100.00', '1.60', 'EUR', ['1 fee_variance 0.05 EUR']],
    // 17.50 * 1.4 % = 0.245: half away from zero
    ['rounded half away from zero', '17.50', '0.51', 'EUR', []],
    ['in yen, which have no decimals', '1250.00', '18.00', 'JPY', []],
    ['in yen, past it', '1250.00', '17.00', 'JPY', ['1 fee_variance 1.00 JPY']],
  ])('%s', async (_name, amount, fee, currency, expected) => {
    await moved({ order: '1', amount, currency });
    await settled({ order: '1', amount, fee, currency });
    const fees = { tariff: [tariff()], coarse: { JPY: 0 } };
    await settle({ fees });
    expect(await breaks()).toEqual(expected);
    // What is listed as at stake is what the tie counts: the difference, not the whole fee.
    const { rows: unlike } = await db.query(
      `select b.expected, b.actual, b.amount, m.stake from tieout.breaks b,
         tieout.break_money(b.kind, b.currency, b.expected, b.actual) m (stake)
       where m.stake is distinct from b.amount`,
    );
    expect(unlike).toEqual([]);
    const [row] = await feeFigures(
      ...([db, ACCOUNTS, { from: '2026-11-01', to: '2026-11-30' }, rules.times, fees] as const),
    );
    expect(row).toMatchObject({ type: 'captured', lines: 1, gross: amount, fees: fee });
    expect(row?.beyond).toBe(expected.length);
    expect((await figures()).accounts[0]?.movements.settled).toBe(1);
  });

  it('come to those of the book, with what a payout cost and without what came before', async () => {
    await settled({ order: '0', amount: '100.00', fee: '9.00', on: '2026-10-20' });
    await settled(
      { order: '1', amount: '100.00', fee: '1.65', on: '2026-10-31' },
      { order: '2', amount: '100.00', fee: '1.60', on: '2026-11-02' },
      { type: 'payout', order: null, amount: '-195.75', fee: '1.00', on: '2026-11-02' },
    );
    await settle();
    expect((await figures()).accounts[0]?.payable).toMatchObject([{ fees: '4.25' }]);
    for (const period of [null, { from: '2026-11-01', to: '2026-11-30' }]) {
      expect(await feeFigures(db, ACCOUNTS, period, rules.times, rules.fees)).toMatchObject([
        { type: 'captured', lines: 2, gross: '200.00', fees: '3.25' },
        { type: 'payout', lines: 1, gross: '0.00', fees: '1.00' },
      ]);
    }
  });

  it('of a line from before the books are those of its own date, as on the page of its batch', async () => {
    await settled(
      { order: '1', amount: '100.00', fee: '9.00', on: '2026-10-31' },
      { order: '2', amount: '100.00', fee: '1.65', on: '2026-11-02' },
    );
    const fees = { tariff: [tariff()], coarse: {} };
    await settle({ fees });
    const month = { from: '2026-11-01', to: '2026-11-30' };
    expect(await feeFigures(db, ACCOUNTS, month, rules.times, fees)).toMatchObject([
      { lines: 2, fees: '10.65', agreed: '1.65', variance: '0.00', beyond: 0 },
    ]);
    expect((await breaks()).filter((line) => line.includes('fee'))).toEqual([]);
  });

  it('of two lines of an order that differ in opposite ways do not make up for each other', async () => {
    await moved(
      { order: '1', amount: '100.00' },
      { order: '1', kind: 'refunded', amount: '10.00' },
    );
    await settled(
      { order: '1', amount: '100.00', fee: '1.95' },
      { order: '1', type: 'refunded', amount: '-10.00', fee: '0.10' },
    );
    const refunds = { type: 'refunded', parts_per_million: '0', fixed: { EUR: '0.40' } };
    await settle({ fees: { tariff: [tariff(), tariff(refunds)], coarse: {} } });
    expect((await breaks()).filter((line) => line.includes('fee'))).toEqual([
      '1 fee_variance 0.60 EUR',
    ]);
    const { rows } = await db.query<{ expected: object; actual: object; stake: string }>(
      `select expected, actual, stake::text from tieout.break_facts where kind = 'fee_variance'`,
    );
    expect(rows[0]?.stake).toBe('0.60');
    const [{ expected = {}, actual = {} } = {}] = rows;
    expect(breakSentence('fee_variance', expected, actual)).toMatch(
      /a fee of 2\.05 EUR .*, 2\.05 EUR was agreed, and the 2 lines differ by 0\.60 EUR in all/,
    );
  });

  it('are those of the date', async () => {
    await settled({ order: '1', amount: '100.00', fee: '1.65', on: '2026-11-09' });
    await settled({ order: '2', amount: '100.00', fee: '2.25', on: '2026-11-10' });
    const lines = [
      tariff({ until: '2026-11-10' }),
      tariff({ from: '2026-11-10', parts_per_million: '20000' }),
    ];
    await settle({ fees: { tariff: lines, coarse: {} } });
    expect((await breaks()).filter((line) => line.includes('fee'))).toEqual([]);
  });
});
