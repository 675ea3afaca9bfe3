// Every break can be said in a sentence that names both sides.

import { describe, expect, test } from 'vitest';
import {
  breakDifference,
  breakFields,
  breakSentence,
  sideText,
} from '../../src/core/breaks/sentence.js';
import { BREAK_KINDS } from '../../src/core/orders/verdict.js';
import { currencySentences } from '../../src/settlement/settlementWords.js';

const EXPECTED = { state: 'captured', currency: 'EUR', amount: '10.00' };
const ACTUAL = {
  state: 'authorised',
  code: '2000',
  currency: 'USD',
  amount: '9.00',
  transaction: 'T1',
};

describe('a break in words', () => {
  test.each(BREAK_KINDS.map((kind) => [kind]))('%s', (kind) => {
    const full = breakSentence(kind, EXPECTED, ACTUAL);
    const empty = breakSentence(kind, {}, {});
    expect(full.length).toBeGreaterThan(20);
    expect(full).not.toMatch(/undefined|null/);
    expect(empty).not.toMatch(/undefined|null/);
  });

  test.each(['EUR', 'JPY'])('of an amount that nobody knows, in %s', (currency) => {
    const side = { state: 'refunded', currency, amount: null };
    expect(sideText(side)).toBe(`refunded an unknown amount of ${currency}`);
    for (const kind of BREAK_KINDS) {
      expect(breakSentence(kind, side, side)).not.toMatch(/undefined|null/);
    }
  });

  test('says what the gateway did, and what the ledger wanted', () => {
    const wanted = { state: 'captured', currency: 'EUR', amount: '120.00' };
    const shown = { state: 'captured', currency: 'EUR', amount: '12.00' };
    expect(breakSentence('amount_mismatch', wanted, shown)).toBe(
      'the gateway captured 12.00 EUR, the ledger expects 120.00 EUR',
    );
  });

  test('what was given back is not set against a refund that the ledger would want', () => {
    const wanted = { state: 'captured', currency: 'JPY', amount: '99000.00' };
    const shown = { currency: 'JPY', amount: '5668.00' };
    expect(breakSentence('amount_mismatch', wanted, { ...shown, state: 'refunded' })).toBe(
      'the gateway captured 5,668 JPY and refunded it, the ledger expects 99,000 JPY to be captured',
    );
    const part = { state: 'partially_refunded', currency: 'EUR', amount: '88.10' };
    expect(breakSentence('currency_mismatch', wanted, part)).toBe(
      'the gateway captured 88.10 EUR and refunded a part of it, ' +
        'the ledger expects 99,000 JPY to be captured: another currency',
    );
    expect(breakSentence('amount_mismatch', wanted, part)).toMatch(
      /to be captured: the figures differ, and are of two currencies$/,
    );
    const called = { ...wanted, state: 'cancelled' };
    expect(
      breakSentence('amount_mismatch', called, { ...shown, state: 'partially_refunded' }),
    ).toBe(
      'the gateway captured 5,668 JPY and refunded a part of it, ' +
        'the ledger expects 99,000 JPY to be cancelled: it is captured there, and cancelled in the ledger',
    );
  });

  test("says which of the gateway's entry cannot be read", () => {
    const said = (amount: string | null): string =>
      breakSentence('invalid_record', EXPECTED, { ...ACTUAL, amount });
    const rest = 'currency USD, code 2000, transaction T1)';
    expect(said('862.9')).toContain(`the gateway's amount '862.9' cannot be read (${rest}`);
    expect(said('9.00')).toContain(`the gateway's entry cannot be read (amount 9.00, ${rest}`);
    expect(said(null)).toContain(`the gateway's entry cannot be read (amount (none), ${rest}`);
  });

  test('where nothing was chosen, all candidates are named', () => {
    const candidates = [
      { transaction: 'T1', state: 'captured', amount: '10.00', currency: 'EUR' },
      { transaction: 'T2', state: 'authorised', amount: '10.00', currency: 'EUR' },
    ];
    const sentence = breakSentence('duplicate_transaction', EXPECTED, { ...ACTUAL, candidates });
    expect(sentence).toContain('T1 (captured 10.00 EUR) and T2 (authorised 10.00 EUR)');
    const other = breakSentence('transaction_mismatch', EXPECTED, { ...ACTUAL, candidates });
    expect(other).toContain('T1 (captured 10.00 EUR) and T2');
  });

  test('both sides stand beside each other, field by field', () => {
    expect(breakFields(EXPECTED, ACTUAL)).toEqual([
      { field: 'state', expected: 'captured', actual: 'authorised', differs: true },
      { field: 'amount', expected: '10.00', actual: '9.00', differs: true },
      { field: 'currency', expected: 'EUR', actual: 'USD', differs: true },
      { field: 'transaction', expected: null, actual: 'T1', differs: false },
      { field: 'code', expected: null, actual: '2000', differs: false },
    ]);
  });

  test('a request alone lacks nothing that the gateway shows of its order', () => {
    const request = { problem: 'refund request R1 of 3.00', amount: '3.00', currency: 'EUR' };
    const fields = breakFields(request, { state: 'refunded' });
    expect(fields.filter(({ differs }) => differs)).toEqual([]);
  });

  test.each([
    [{}, 'nothing'],
    [{ amount: '10.00', currency: 'EUR' }, '10.00 EUR'],
    [{ state: 'captured', amount: '10.00', currency: 'EUR' }, 'captured 10.00 EUR'],
    [{ state: 'captured', amount: '23400.00', currency: 'JPY' }, 'captured 23,400 JPY'],
    [{ amount: '1234567.50', currency: 'EUR' }, '1,234,567.50 EUR'],
    [{ code: '7777', amount: 'ten' }, 'code 7777 ten'],
    [{ code: '7777', amount: '12345,6', currency: 'EUR' }, 'code 7777 12345,6 EUR'],
  ])('%j reads %s', (side, text) => {
    expect(sideText(side)).toBe(text);
  });
});

type SettledAccounts = Parameters<typeof currencySentences>[0]['accounts'];

describe('the difference in money', () => {
  const tenEuro = { currency: 'EUR', amount: '10.00' };
  test.each([
    ['amount_mismatch', tenEuro, { currency: 'EUR', amount: '9.99' }, '-0.01'],
    ['amount_mismatch', tenEuro, { currency: 'EUR', amount: '12.00' }, '2.00'],
    ['amount_mismatch', tenEuro, { currency: 'USD', amount: '12.00' }, null],
    ['missing_at_gateway', tenEuro, {}, '-10.00'],
    ['missing_in_ledger', {}, tenEuro, '10.00'],
    ['state_mismatch', tenEuro, { currency: 'EUR', amount: '9.00' }, null],
    ['amount_mismatch', tenEuro, { currency: 'EUR', amount: 'ten' }, null],
  ] as const)('%s of %j and %j is %s', (kind, expected, actual, difference) => {
    expect(breakDifference(kind, expected, actual)).toBe(difference);
  });
});

describe('what became of the captured money', () => {
  const book = { currency: 'JPY', captured: '3209800.00', refunded: '0.00', settled: '3253800.00' };
  const atGateway = [{ ...book, closing: '-44000.00', suspense: 0 }];
  const accounts = [{ atGateway, payable: [], bank: [] }] as unknown as SettledAccounts;

  test('has the decimals of its currency, in groups', () => {
    expect(currencySentences({ accounts }, [], '2026-11-01')).toEqual([
      'JPY: captured 3,209,800, refunded 0, settled 3,253,800, at the gateway -44,000; ' +
        'paid out 0 (gross 0, less fees 0, less chargebacks 0, plus other 0), arrived 0.',
    ]);
  });

  test('counts the refunds that it has no money of', () => {
    const told = (suspense: number) => {
      const of = [{ ...accounts[0], atGateway: [{ ...atGateway[0], suspense }] }] as never;
      return currencySentences({ accounts: of }, [], '2026-11-01').join();
    };
    expect(told(1)).toContain(
      'refunded 0 and 1 refund of an amount that nobody knows yet, settled',
    );
    expect(told(2)).toContain('0 and 2 refunds of amounts that nobody knows yet, settled');
  });

  test.each([
    ['0.00', '1,045.00', ''],
    ['45.00', '1,000.00', ', less not paid out yet 45.00'],
  ])('has all that leads to what is paid out, where %s is not', (closing, paid, unpaid) => {
    const paidOut = paid.replace(',', '');
    const of = { currency: 'EUR', gross: '900.00', fees: '3.00', chargebacks: '2.00' };
    const payable = [{ ...of, other: '150.00', paidOut, closing }];
    const bank = [{ currency: 'EUR', paidOut, arrived: '0.00', closing: paidOut }];
    const one = [{ atGateway: [], payable, bank }] as unknown as SettledAccounts;
    expect(currencySentences({ accounts: one }, [], '2026-11-01')).toEqual([
      expect.stringContaining(
        `paid out ${paid} (gross 900.00, less fees 3.00, less chargebacks 2.00, plus other 150.00` +
          `${unpaid}), arrived 0.00.`,
      ),
    ]);
  });

  test('a break of settlement says so too', () => {
    const sides = { expected: {}, actual: { amount: '50900.00', currency: 'JPY' } };
    expect(breakSentence('settled_unknown', sides.expected, sides.actual)).toContain('50,900 JPY');
  });
});
