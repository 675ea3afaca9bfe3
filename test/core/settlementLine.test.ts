// One line of a settlement file: signs, currencies and the arithmetic of docs/CONTRACT.md section 9,
// as a table of cases.

import { describe, expect, it } from 'vitest';
import { checkSignedAmount } from '../../src/core/currency.js';
import { utcInstant } from '../../src/core/ledger/ledgerRow.js';
import { sumOf } from '../../src/core/mapping/mappedAmounts.js';
import { checkSettlementLine } from '../../src/core/settlement/settlementLine.js';

const CAPTURED = {
  account_id: 'A1001',
  batch: '134',
  type: 'captured',
  booked_at: '2026-11-19T10:00:00Z',
  currency: 'EUR',
  amount: '100.00',
  net: '98.35',
  fee: '1.65',
};

function check(change: Record<string, string | null>, currencies: Record<string, number> = {}) {
  return checkSettlementLine({ ...CAPTURED, ...change }, currencies);
}

describe('an amount is read to the cent', () => {
  it.each([
    ['0.01', 1n],
    ['-0.00', 0n],
    ['007.50', 750n],
    ['9999999999999.99', 999999999999999n],
    ['-999999999999.99', -99999999999999n],
    ['99999999999999.99', 9999999999999999n],
    ['999999999999999999.99', 99999999999999999999n],
    ['12', 1200n],
    ['-1.5', -150n],
  ])('%s', (text, amount) => {
    expect(checkSignedAmount(text, 'EUR', {})).toEqual({ kind: 'ok', amount });
  });

  it.each(['-', '.00', '-.00', '1:00', '1.0.00', '1.5x', '1,00', '/.00', '+1.00', '1.00 ', ''])(
    'not %j',
    (text) => {
      expect(checkSignedAmount(text, 'EUR', {})).toMatchObject({ kind: 'refused' });
    },
  );
});

it.each([
  ['2026-11-19T10:00:00Z', '2026-11-19T10:00:00.000000Z'],
  ['2026-11-19T10:00:00.25Z', '2026-11-19T10:00:00.250000Z'],
  ['2026-11-19T00:30:00.000001+02:00', '2026-11-18T22:30:00.000001Z'],
  ['2026-12-31T23:00:00-05:30', '2027-01-01T04:30:00.000000Z'],
])('%s is %s', (normal, utc) => {
  expect(utcInstant(normal)).toBe(utc);
});

describe('a line is taken', () => {
  it.each([
    ['as it is', {}, { gross: 10000n, fee: 165n, net: 9835n, amount: 10000n }],
    ['without a fee', { fee: null, net: '100.00' }, { gross: 10000n, fee: 0n }],
    ['with a gross that fits', { gross: '100.00' }, { gross: 10000n }],
    [
      'in another currency: nobody knows the exchange',
      { settle_currency: 'USD', net: '110.00', fee: '2.00' },
      { currency: 'EUR', settleCurrency: 'USD', amount: 10000n, gross: 11200n },
    ],
    [
      'refunded below 0, its fee back',
      { type: 'refunded', amount: '-10.00', net: '-9.90', fee: '-0.10' },
      { amount: -1000n, gross: -1000n, fee: -10n, net: -990n },
    ],
    [
      'a chargeback with a cost',
      { type: 'chargeback', amount: '-100.00', net: '-115.00', fee: '15.00' },
      { gross: -10000n },
    ],
    [
      'a fee that names its money once, in what is settled',
      {
        type: 'fee',
        currency: null,
        settle_currency: 'EUR',
        amount: null,
        net: '-5.00',
        fee: null,
      },
      { currency: 'EUR', amount: -500n, gross: -500n, net: -500n },
    ],
    [
      'a fee in the column of fees: it has no gross',
      { type: 'fee', amount: null, net: '-5.00', fee: '5.00' },
      { amount: 0n, gross: 0n, fee: 500n },
    ],
    [
      'a chargeback that is reversed',
      { type: 'chargeback_reversed', net: '100.00', fee: null },
      { amount: 10000n, gross: 10000n },
    ],
    [
      'next to nothing in another currency',
      { settle_currency: 'USD', amount: '0.01', net: '0.00', fee: null },
      { amount: 1n, gross: 0n },
    ],
    ['a payout', { type: 'payout', amount: null, net: '-93.35', fee: null }, { gross: -9335n }],
    ['a reserve of nothing', { type: 'reserve', amount: '0', net: '0.00', fee: null }, { net: 0n }],
    ['yen', { currency: 'JPY', amount: '100', net: '98.00', fee: '2' }, { net: 9800n }],
  ])('%s', (_name, change, row) => {
    expect(check(change)).toMatchObject({ kind: 'ok', row });
  });

  it('in a currency of three decimals once the profile lists it, and in one of none', () => {
    const money = { currency: 'KWD', amount: '10.10', net: '10.00', fee: '0.10' };
    expect(check(money)).toMatchObject({ problem: { column: 'currency', value: 'KWD' } });
    expect(check(money, { KWD: 3 })).toMatchObject({ kind: 'ok' });
    expect(check({ ...money, amount: '10.101' }, { KWD: 3 })).toMatchObject({
      problem: {
        column: 'amount',
        value: '10.101',
        reason: 'has more than two decimals: of KWD, too, no less than 0.01 can be kept',
      },
    });
  });
});

describe('a line is refused', () => {
  it.each([
    ['type', { type: 'settled' }, 'must be captured, refunded'],
    ['type', { type: null }, 'must not be empty'],
    ['batch', { batch: null }, 'must not be empty'],
    ['booked_at', { booked_at: '19.11.2026' }, 'ISO 8601'],
    ['amount', { amount: '-100.00' }, 'above 0'],
    ['amount', { amount: '0.00', net: '-1.65' }, 'above 0'],
    ['amount', { type: 'refunded' }, 'below 0'],
    ['amount', { type: 'payout' }, 'below 0'],
    ['amount', { type: 'chargeback' }, 'below 0'],
    ['amount', { type: 'chargeback', amount: '0.00', net: '-1.65' }, 'below 0'],
    ['amount', { type: 'chargeback_reversed', amount: '-100.00', net: '-101.65' }, 'above 0'],
    ['net', { settle_currency: 'USD', net: '-110.00', fee: null }, 'gross is -110.00, and'],
    ['gross', { settle_currency: 'USD', gross: '-100.00', net: '-101.65' }, 'above 0'],
    ['net', { type: 'refunded', settle_currency: 'USD', amount: '-10.00', net: '9.00' }, 'below 0'],
    ['net', { type: 'chargeback_reversed', net: '-100.00', fee: null }, 'above 0'],
    ['net', { type: 'payout', amount: '-1.00', net: '0.00' }, 'below 0'],
    ['net', { type: 'payout', amount: null, net: '93.35', fee: null }, 'below 0'],
    ['net', { gross: '100.00', net: '98.36' }, '100.00 - 1.65 = 98.35'],
    ['amount', { net: '98.36' }, 'net + fee is 100.01'],
    ['amount', { gross: '99.00', net: '97.35' }, 'gross is 99.00'],
    ['amount', { type: 'chargeback', amount: '-99.00', net: '-98.35' }, 'must equal it'],
    ['amount', { amount: null }, 'must not be empty'],
    ['net', { net: null }, 'must not be empty'],
    ['currency', { currency: null }, 'three capital letters'],
    ['settle_currency', { settle_currency: 'EURO' }, 'three capital letters'],
    ['fee', { fee: '1.655' }, 'more than two decimals'],
    ['amount', { amount: `${'9'.repeat(19)}.00` }, 'digits before the point'],
    ['net', { currency: 'JPY', amount: '100', net: '98.50', fee: '1.50' }, 'JPY has no decimals'],
    ['order_no', { order_no: '1.2E+15' }, 'scientific notation'],
    ['account_id', { account_id: ' A1' }, 'space'],
  ])('%s %j', (column, change, reason) => {
    expect(check(change)).toMatchObject({
      kind: 'refused',
      problem: { column, reason: expect.stringContaining(reason) },
    });
  });
});

it.each([
  [['1.10', '-0.30'], '0.80'],
  [['0.015', '0.005'], '0.02'],
  [['0.015', '0.0051'], '0.0201'],
  [['-1', '-2.5'], '-3.50'],
  [['999999999999999999.99', '0.01'], '1000000000000000000.00'],
])('the sum of %j is %s', (parts, sum) => {
  expect(sumOf(parts)).toBe(sum);
});
