// What a person reads on a terminal: amounts in groups with the decimals of their currency, and
// lines that data cannot steer it with.

import { describe, expect, it, test } from 'vitest';
import { reservationsLapse, runFinished, unknownWaits } from '../../src/core/alertMessages.js';
import { nextStep } from '../../src/core/instructions/nextStep.js';
import { plainLine } from '../../src/core/log.js';
import { leftNotice } from '../../src/core/runs/notices.js';
import { strangeOrdersNotice } from '../../src/core/runs/strangeOrders.js';
import type { RunSummary } from '../../src/core/runs/summary.js';
import { unkeptBreaksNotice } from '../../src/core/settlement/unkeptSettlement.js';
import { counted, countText, moneyIn } from '../../src/core/text/amounts.js';

describe('an amount', () => {
  it.each([
    ['1234567.00', 'EUR', '1,234,567.00 EUR'],
    ['-1234.50', 'EUR', '-1,234.50 EUR'],
    ['999.99', 'USD', '999.99 USD'],
    ['23400.00', 'JPY', '23,400 JPY'],
    // Not what such a currency can hold: shown as it is.
    ['23400.50', 'JPY', '23,400.50 JPY'],
    ['1234.50', 'KWD', '1,234.500 KWD'],
    ['-0.50', 'UYW', '-0.5000 UYW'],
    // Not what the gateway may say: shown as it said it.
    ['862.9', 'KWD', '862.9 KWD'],
    ['1000.00', 'XYZ', '1,000.00 XYZ'],
    ['1000.00', null, '1,000.00'],
  ])('%s %s is %s', (amount, currency, words) => {
    expect(moneyIn(amount, currency)).toBe(words);
  });
});

test('what is said of dinars has their three decimals everywhere', () => {
  const waits = { instructionId: '5', operation: 'refund', state: 'unknown', holdReason: null };
  const step = nextStep({ ...waits, currency: 'KWD', amount: '12.34', transactionId: 'T1' });
  expect(step).toContain('a refund of 12.340 KWD ');
  const once = { reservations: 1, unread: 0, lapsed: 0, nextLapse: null };
  const lapsing = { ...once, currency: 'KWD', amount: '12.34' };
  expect(reservationsLapse('A1001', [lapsing]).text).toContain('1 reservation of 12.340 KWD will');
});

test('what cannot be read is no zero in what is told of reservations', () => {
  const none = { lapsed: 0, nextLapse: null };
  const read = { ...none, currency: 'EUR', reservations: 3, amount: '9.50', unread: 2 };
  const unread = { ...none, currency: 'KWD', reservations: 4, amount: null, unread: 4 };
  const both = reservationsLapse('A1', [read, unread]);
  expect(both.text).toContain(
    'A1: 7 reservations of 9.50 EUR (the amount of 2 in EUR, 4 in KWD cannot be read) will lapse',
  );
  expect(both.details.money).toEqual([
    { currency: 'EUR', amount: '9.50', unread: 2 },
    { currency: 'KWD', amount: null, unread: 4 },
  ]);
  expect(reservationsLapse('A1', [unread]).text).toContain(
    'A1: 4 reservations (the amount of 4 in KWD cannot be read) will lapse',
  );
});

test('a payout in a unit that nobody has set is counted in a message, and in no sum of it', () => {
  const since = new Date('2026-11-20T03:00:00Z');
  const one = {
    instructionId: 5n,
    accountId: 'A1001',
    operation: 'payout',
    currency: 'EUR',
    since,
  };
  const { details } = unknownWaits('A1001', [
    { ...one, amount: null },
    { ...one, amount: '12.50' },
  ]);
  expect(details).toMatchObject({ count: 2, money: [{ currency: 'EUR', amount: '12.50' }] });
});

test('payouts of several accounts are told with the other money of a night', () => {
  const nothing = { cancelled: '0.00', refunded: '0.00', net: '0.00', unknown: '0.00' };
  const account = (accountId: string, payouts: object) => ({
    ...{ accountId, state: 'tied_out', orders: {}, breaks: {}, notSearched: [], instructions: {} },
    totals: [{ currency: 'EUR', captured: '1.00', ...nothing, ...payouts }],
  });
  const accounts = [
    account('A1', { paidOut: '20.00', payoutFees: '0.30' }),
    account('A2', {}),
    account('A3', { paidOut: '5.00' }),
  ];
  const run = { businessDate: '2026-11-20', covers: [], state: 'tied_out', asOf: '', reports: [] };
  const summary = { ...run, pull: { pages: 1, failedPages: 0 }, accounts };
  const { money } = runFinished(summary as unknown as RunSummary).details;
  expect(money).toMatchObject([{ captured: '3.00', paidOut: '25.00', payoutFees: '0.30' }]);
});

describe('a count', () => {
  it.each([
    [0, '0 breaks'],
    [1, '1 break'],
    [999, '999 breaks'],
    [20_000, '20,000 breaks'],
  ])('%s is said as %s', (count, words) => {
    expect(counted(count, 'break')).toBe(words);
  });

  it('stands in groups of three in what is told to people', () => {
    expect(countText(1_234_567n)).toBe('1,234,567');
    const [accountId, sample] = ['A1001', 'ORD-1'];
    expect(leftNotice({ accountId, left: 12_345, sample }).text).toContain('12,345 orders left');
    expect(strangeOrdersNotice({ accountId, orders: 12_345, sample }).text).toContain('12,345');
    const breaks = { not_settled: 12_345 };
    expect(unkeptBreaksNotice({ accountId, breaks, sample }).text).toContain('12,345 not settled');
  });
});

describe('a line for a terminal', () => {
  it.each([
    ['a colour', 'A\u001b[31mB', 'A [31mB'],
    ['a title', 'A\u001b]0;x\u0007B', 'A ]0;x B'],
    ['the eight bit form', 'A\u009b31mB', 'A 31mB'],
    ['a carriage return', 'paid\rnot', 'paid not'],
    ['turned text', 'A\u202eB', 'A B'],
    ['a line break', 'A\nB', 'A\n    B'],
    ['a tab and other scripts', 'A\tß 漢', 'A\tß 漢'],
  ])('with %s', (_what, given, shown) => {
    expect(plainLine(given)).toBe(shown);
  });
});
