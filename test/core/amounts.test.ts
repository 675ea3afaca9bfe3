// Amounts as people write and read them.

import { expect, it } from 'vitest';
import { readAmount } from '../../src/core/money.js';
import { andMore, moneyText, moreOf } from '../../src/core/text/amounts.js';

it.each([
  ['500.00', 500_00n],
  ['500.5', 500_50n],
  ['20000', 20_000_00n],
  ['12.340', 12_34n],
  ['0', 0n],
  ['12.345', null],
  ['-1', null],
  ['1e3', null],
  ['1,000.00', null],
  ['', null],
  ['1'.repeat(19), null],
])('%s as somebody writes it', (text, amount) => {
  expect(readAmount(text)).toBe(amount);
});

it('money of several currencies stands in the order of their codes', () => {
  const money = { USD: '10.00', JPY: '5000.00', EUR: '9.00' };
  expect(moneyText(money)).toBe('9.00 EUR, 5,000 JPY, 10.00 USD');
  expect(moneyText({})).toBe('');
});

it('what a list leaves out is counted in groups, and nothing is said of nothing', () => {
  expect([moreOf(1_234), moreOf(0), moreOf(-1)]).toEqual([['1,234 more'], [], []]);
  expect([andMore(2), andMore(0)]).toEqual([' and 2 more', '']);
});
