// No card number reaches a report, whatever column it stands in (law 10 of ARCHITECTURE.md).

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { breakSentence, transactionsIn } from '../../src/core/breaks/sentence.js';
import { maskCardNumbers, maskedStart } from '../../src/core/text/masking.js';

/** Digits that pass Luhn, made from any leading digits. */
function withCheckDigit(lead: string): string {
  for (let check = 0; check < 10; check += 1) {
    if (luhn(`${lead}${check}`) === 0) return `${lead}${check}`;
  }
  throw new Error('there is always a check digit');
}

function luhn(digits: string): number {
  let sum = 0;
  for (let i = 0; i < digits.length; i += 1) {
    const value = Number(digits[digits.length - 1 - i]) * (i % 2 === 1 ? 2 : 1);
    sum += value > 9 ? value - 9 : value;
  }
  return sum % 10;
}

const CARDS = fc
  .tuple(fc.constantFrom(13, 14, 15, 16, 17, 18, 19), fc.integer({ min: 0, max: 2 ** 30 }))
  .map(([length, seed]) => {
    const lead = `4${String(seed).repeat(2)}${'7'.repeat(19)}`.slice(0, length - 1);
    return withCheckDigit(lead);
  });

const GROUPINGS: Record<string, (card: string) => string> = {
  plain: (card) => card,
  'groups of four': (card) => card.replace(/(\d{4})(?=\d)/g, '$1 '),
  hyphens: (card) => card.replace(/(\d{4})(?=\d)/g, '$1-'),
  'no-break spaces': (card) => card.replace(/(\d{4})(?=\d)/g, '$1\u00a0'),
  'single digits': (card) => card.split('').join(' '),
};

describe('card numbers in free text', () => {
  test('a digest is none, whatever digits stand in it', () => {
    const card = withCheckDigit('411111111111');
    const digest = `eb203730${card}e4381676b4b58df079f50cc1f615a3663f7c59a6eb3ab`;
    expect(maskCardNumbers(`the chains end in ${digest}.`)).toBe(`the chains end in ${digest}.`);
    // Of anything shorter nobody can say that it is one.
    expect(maskCardNumbers(`ref ab${card}cd`)).toBe(`ref ab411111***${card.slice(-4)}cd`);
    expect(maskCardNumbers(`${digest} ${card}`)).toBe(`${digest} 411111***${card.slice(-4)}`);
  });

  test.each(Object.entries(GROUPINGS))('500 of them are masked: %s', (_name, group) => {
    fc.assert(
      fc.property(CARDS, fc.constantFrom('note ', 'x', '', 'kd. '), (card, before) => {
        const text = `${before}${group(card)}; thanks`;
        const masked = maskCardNumbers(text);
        expect(masked).toHaveLength(text.length);
        const digitsLeft = masked.replace(/[^\d]/g, '');
        expect(digitsLeft).toBe(card.slice(0, 6) + card.slice(-4));
      }),
      { numRuns: 500, seed: 1 },
    );
  });

  test.each([
    ['four groups', 'card 4111 1111 1111 1111 please', 'card 4111 11** **** 1111 please'],
    ['fifteen digits', '3782-822463-10005', '3782-82****-*0005'],
    ['two in a row', '4111111111111111,5500005555555559', '411111******1111,550000******5559'],
  ])('%s keep the first six and the last four', (_name, text, expected) => {
    expect(maskCardNumbers(text)).toBe(expected);
  });

  test.each([
    ['one digit is wrong', '4111111111111112'],
    ['too short', '411111111117'],
    ['more digits than a card has', '41111111111111110000000'],
    ['an amount and a date', 'captured 1999.00 EUR on 2026-11-19 03:16:02'],
    ['a digest', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    ['nothing', ''],
  ])('text stays as it is: %s', (_name, text) => {
    expect(maskCardNumbers(text)).toBe(text);
  });

  test('a card number stays hidden when other digits stand right beside it', () => {
    const masked = maskCardNumbers('12 4111 1111 1111 1111 03');
    expect(masked).toContain('4111 11** **** 1111');
  });

  test('a transaction that the sentence of a break names is never altered, however it begins', () => {
    const one = { state: 'captured', amount: '35.56', currency: 'EUR' };
    const actual = {
      candidates: ['T2026112100002350', withCheckDigit('202611220000123')].map((transaction) => ({
        ...one,
        transaction,
      })),
    };
    const sentence = breakSentence('duplicate_transaction', one, actual);
    expect(maskCardNumbers(sentence)).not.toBe(sentence);
    expect(maskCardNumbers(sentence, transactionsIn(one, actual))).toBe(sentence);
  });

  test('the reference of a refund is that of its transaction, and is never altered', () => {
    expect(maskCardNumbers('45395787630003-01')).not.toBe('45395787630003-01');
    expect(maskCardNumbers('45395787630003-01', ['45395787630003'])).toBe('45395787630003-01');
    expect(maskCardNumbers('4111 1111 1111 1111', ['4111', '1111'])).toBe('4111 11** **** 1111');
  });

  test('an order number that the row names is never altered, a card beside it is', () => {
    const text = 'order 4111111111111111 was paid with 5500005555555559';
    expect(maskCardNumbers(text, ['4111111111111111'])).toBe(
      'order 4111111111111111 was paid with 550000******5559',
    );
  });
});

describe('a text that is cut', () => {
  const CARD = '4111111111111111';
  const starts = Array.from({ length: 60 }, (_, at) => 60 + at);
  test.each(Object.entries(GROUPINGS))('shows no half of a card number, %s', (_, spell) => {
    const card = spell(CARD);
    for (const start of starts) {
      const text = `${'x'.repeat(start)} ${card} declined ${'y'.repeat(900)}`;
      const shown = maskedStart(text, 100);
      expect(shown).toBe(maskCardNumbers(text).slice(0, 100));
      expect(shown.replace(/\D/g, '').length).toBeLessThanOrEqual(10);
    }
  });

  test('keeps an id that goes on behind the cut, and a signature that is hidden before', () => {
    const text = `${'x'.repeat(90)} ${CARD}-01 ${'y'.repeat(900)}`;
    expect(maskedStart(text, 100, [`${CARD}-01`])).toBe(text.slice(0, 100));
    const hidden = (read: string) => read.replace(/f{40,}/g, '***');
    for (const start of starts) {
      const long = `${'f'.repeat(600)} ${'x'.repeat(start)} ${CARD} ${'y'.repeat(900)}`;
      expect(maskedStart(long, 100, [], hidden).replace(/\D/g, '').length).toBeLessThanOrEqual(10);
    }
    expect(maskedStart(`a ${CARD}`, 100)).toBe('a 411111******1111');
  });
});
