// One line of an import as core reads it: amounts, currencies, instants, identifiers.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkLedgerAmount, coarseCurrencies, decimalsOf } from '../../src/core/currency.js';
import type { RawLine } from '../../src/core/ledger/ledgerRow.js';
import {
  checkOrderLine,
  checkRefundLine,
  identifierProblem,
  MAX_ID_LENGTH,
  normalInstant,
} from '../../src/core/ledger/ledgerRow.js';
import { formatAmount } from '../../src/core/money.js';

describe('an amount of the ledger', () => {
  it.each([
    ['12.34', 'EUR', {}, 1234n],
    ['12', 'EUR', {}, 1200n],
    ['12.5', 'EUR', {}, 1250n],
    ['0.01', 'EUR', {}, 1n],
    ['007.00', 'EUR', {}, 700n],
    ['1500.00', 'JPY', {}, 150_000n],
    ['1500.50', 'ABC', { ABC: 1 }, 150_050n],
    ['1500', 'KRW', {}, 150_000n],
    ['999999999999999999.99', 'EUR', {}, 99_999_999_999_999_999_999n],
    ['1.25', 'KWD', { KWD: 3 }, 125n],
    ['1.25', 'ZZZ', { ZZZ: 2 }, 125n],
    ['1.25', 'ISK', { ISK: 2 }, 125n],
  ])('%s %s is exact', (text, currency, listed, amount) => {
    expect(checkLedgerAmount(text, currency, listed)).toEqual({ kind: 'ok', amount });
  });

  it.each([
    ['12.345', 'EUR', {}, 'two decimals'],
    ['19.989999', 'EUR', {}, 'two decimals'],
    ['12.340', 'EUR', {}, 'two decimals'],
    ['1.2E+3', 'EUR', {}, 'scientific'],
    ['1e5', 'EUR', {}, 'scientific'],
    ['-1.00', 'EUR', {}, 'negative'],
    ['0.00', 'EUR', {}, 'above zero'],
    ['1,50', 'EUR', {}, 'thousands'],
    ['1.000,00', 'EUR', {}, 'thousands'],
    ['', 'EUR', {}, 'digits'],
    [' 1.00', 'EUR', {}, 'digits'],
    ['1.', 'EUR', {}, 'digits'],
    ['.50', 'EUR', {}, 'digits'],
    ['NaN', 'EUR', {}, 'digits'],
    ['+1.00', 'EUR', {}, 'digits'],
    ['0x10', 'EUR', {}, 'digits'],
    ['１２.00', 'EUR', {}, 'digits'],
    ['1000000000000000000.00', 'EUR', {}, '18 digits'],
    ['1500.50', 'JPY', {}, 'end in .00'],
    ['1500.55', 'ABC', { ABC: 1 }, 'end in 0'],
    ['1500.55', 'ABC', { ABC: 1 }, 'one decimal'],
    ['1.50', 'XAU', { XAU: 0 }, 'end in .00'],
    ['1.25', 'KWD', {}, 'profile'],
    ['1.250', 'KWD', { KWD: 3 }, 'two decimals'],
    ['1.00', 'ZZZ', {}, 'profile'],
    ['1.00', 'constructor', {}, 'three capital letters'],
    ['1.00', 'eur', {}, 'three capital letters'],
  ])('%s %s is refused', (text, currency, listed, reason) => {
    const check = checkLedgerAmount(text, currency, listed);
    expect(check).toEqual({ kind: 'refused', reason: expect.stringContaining(reason) });
  });

  it('survives the way to text and back whatever it is', () => {
    const amounts = fc.bigInt({ min: 1n, max: 10n ** 20n - 1n });
    fc.assert(
      fc.property(amounts, (amount) => {
        const check = checkLedgerAmount(formatAmount(amount), 'EUR', {});
        expect(check).toEqual({ kind: 'ok', amount });
      }),
    );
  });

  it('knows the currencies without decimals', () => {
    const coarse = coarseCurrencies({ ISK: 2, ABC: 0, ABD: 1 });
    expect(coarse).toMatchObject({ JPY: 0, ABC: 0, ABD: 1 });
    expect(Object.keys(coarse)).not.toContain('ISK');
    expect(Object.keys(coarse)).not.toContain('EUR');
    expect([decimalsOf('EUR', {}), decimalsOf('BHD', {}), decimalsOf('QQQ', {})]).toEqual([
      2,
      3,
      null,
    ]);
  });
});

describe('an identifier', () => {
  it.each([
    '0000123',
    'SO-2026/11#19',
    '1234567890123456789012345678901234567890',
    'Bestellung für Müller',
    'Ω-17',
    '12E5',
    'x'.repeat(MAX_ID_LENGTH),
  ])('%s is taken as it is', (text) => {
    expect(identifierProblem(text)).toBeNull();
  });

  it.each([
    ['', 'empty'],
    ['x'.repeat(MAX_ID_LENGTH + 1), 'longer'],
    ['1.23E+15', 'scientific'],
    ['1,23457E+15', 'scientific'],
    ['a\u0000b', 'control'],
    ['a\tb', 'control'],
    ['a\u200bb', 'invisible'],
    ['\u202eab', 'invisible'],
    [' a', 'space'],
    ['a ', 'space'],
    ['a\u00a0b', 'looks like'],
    ['ＡＢ１', 'looks like'],
    ['u\u0308', 'looks like'],
    ['SО-1', 'alphabets'],
    ['\ud800', 'invisible'],
  ])('%j is refused', (text, reason) => {
    expect(identifierProblem(text)).toContain(reason);
  });
});

describe('a time of the ledger', () => {
  it.each([
    ['2026-11-19T08:30:00Z', '2026-11-19T08:30:00Z'],
    ['2026-11-19 08:30:00+00', '2026-11-19T08:30:00+00:00'],
    ['2026-11-19T08:30+0100', '2026-11-19T08:30:00+01:00'],
    ['2026-11-19T08:30:00.123456789-05:00', '2026-11-19T08:30:00.123456-05:00'],
    ['2026-11-19T08:30:00.500Z', '2026-11-19T08:30:00.5Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00Z'],
  ])('%s has a zone', (text, normal) => {
    expect(normalInstant(text)).toBe(normal);
  });

  it.each([
    '2026-11-19T08:30:00',
    '2026-11-19',
    '19.11.2026 08:30',
    '2026-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-11-19T24:00:00Z',
    '2026-11-19T08:60:00Z',
    '2026-11-19T08:30:60Z',
    '2026-11-19T08:30:00+15:00',
    '0026-11-19T08:30:00Z',
    '46345.35',
    'now',
    'infinity',
    '',
  ])('%j is refused', (text) => {
    expect(normalInstant(text)).toBeNull();
  });
});

const NOW = new Date('2026-11-20T12:00:00Z');

const ORDER: RawLine = {
  account_id: 'A1',
  order_no: '00042',
  currency: 'EUR',
  amount: '10.00',
  expected: 'captured',
  placed_at: '2026-11-19T08:30:00Z',
};

describe('a line of orders', () => {
  it('may leave out what may be null', () => {
    expect(checkOrderLine(ORDER, {}, NOW)).toEqual({
      kind: 'ok',
      row: {
        accountId: 'A1',
        orderNo: '00042',
        currency: 'EUR',
        amount: 1000n,
        expected: 'captured',
        transactionId: null,
        captureAmount: null,
        reviewDecision: null,
        placedAt: '2026-11-19T08:30:00Z',
        updatedAt: null,
      },
    });
  });

  it.each([
    ['account_id', null, 'empty'],
    ['order_no', '', 'empty'],
    ['currency', 'EURO', 'three capital'],
    ['amount', '1.001', 'two decimals'],
    ['expected', 'Captured', 'authorised, captured, cancelled, declined'],
    ['expected', 'refunded', 'authorised, captured'],
    ['transaction_id', '1.2E+10', 'scientific'],
    ['capture_amount', '10.01', 'above amount'],
    ['capture_amount', '0.00', 'above zero'],
    ['review_decision', 'maybe', 'accept, reject'],
    ['placed_at', '2026-11-19', 'ISO 8601 with zone'],
    ['placed_at', '2026-11-21T12:00:01Z', 'more than a day ahead'],
    ['placed_at', '2062-11-10T12:00:00Z', 'more than a day ahead'],
    ['updated_at', 'yesterday', 'ISO 8601 with zone'],
  ])('with %s %j is refused, naming column and value', (column, value, reason) => {
    expect(checkOrderLine({ ...ORDER, [column]: value }, {}, NOW)).toEqual({
      kind: 'refused',
      problem: { column, value, reason: expect.stringContaining(reason) },
    });
  });
});

describe('a line of refunds', () => {
  const REFUND: RawLine = {
    account_id: 'A1',
    refund_id: 'R1',
    order_no: '00042',
    refund_amount: '3.00',
    requested_at: '2026-11-19T08:30:00Z',
  };

  it('may leave out what may be null', () => {
    expect(checkRefundLine(REFUND, NOW)).toMatchObject({
      kind: 'ok',
      row: { refundAmount: 300n, reason: null, requestedBy: null },
    });
  });

  it.each([
    ['refund_id', null, 'empty'],
    ['refund_amount', '-3.00', 'negative'],
    ['refund_amount', '3.005', 'two decimals'],
    ['reason', 'a\nb', 'control'],
    ['reason', 'x'.repeat(1_001), 'longer'],
    ['requested_at', '2026-11-19T08:30:00', 'zone'],
  ])('with %s %j is refused', (column, value, reason) => {
    expect(checkRefundLine({ ...REFUND, [column]: value }, NOW)).toEqual({
      kind: 'refused',
      problem: { column, value, reason: expect.stringContaining(reason) },
    });
  });
});
