// Card numbers in words that people and files bring: forty spellings of them, and what only looks
// like one. The numbers are those that schemes publish for tests.

import { describe, expect, it } from 'vitest';
import { withoutCards } from '../../src/core/text/cardSpellings.js';

const VISA = '4111111111111111';
const groups = (separator: string): string => ['4111', '1111', '1111', '1111'].join(separator);
const each = (change: (digit: string) => string): string => [...VISA].map(change).join('');
const script = (zero: number) => (digit: string) => String.fromCodePoint(zero + Number(digit));

const SPELLINGS: readonly [name: string, text: string][] = [
  ['plain', VISA],
  ['of 13 digits', '4222222222222'],
  ['of 15 digits', '378282246310005'],
  ['of 14 digits', '30569309025904'],
  ['of another scheme', '5555555555554444'],
  ['of a newer range', '2223003122003222'],
  ['of 19 digits', '6304000000000000000'],
  ['spaces', groups(' ')],
  ['no-break spaces', groups('\u00a0')],
  ['narrow no-break spaces', groups('\u202f')],
  ['ideographic spaces', groups('\u3000')],
  ['thin spaces', groups('\u2009')],
  ['two spaces', groups('  ')],
  ['tabs', groups('\t')],
  ['lines', groups('\n')],
  ['hyphens', groups('-')],
  ['spaced hyphens', groups(' - ')],
  ['en dashes', groups('\u2013')],
  ['no-break hyphens', groups('\u2011')],
  ['minus signs', groups('\u2212')],
  ['dots', groups('.')],
  ['middle dots', groups('\u00b7')],
  ['commas', groups(',')],
  ['slashes', groups('/')],
  ['underscores', groups('_')],
  ['bars', groups('|')],
  ['stars', groups('*')],
  ['zero-width spaces', groups('\u200b')],
  ['soft hyphens', groups('\u00ad')],
  ['a space after each digit', each((digit) => `${digit} `)],
  ['zero-width joiners after each digit', each((digit) => `${digit}\u200d`)],
  ['American Express groups', '3782 822463 10005'],
  ['full-width digits', each(script(0xff10))],
  ['Arabic-Indic digits', each(script(0x0660))],
  ['Devanagari digits', each(script(0x0966))],
  ['mathematical digits', each(script(0x1d7ce))],
  ['circled digits', '④①①①①①①①①①①①①①①①'],
  ['escaped spaces of an address', groups('%20')],
  ['escaped hyphens, twice', groups('%252D')],
  ['plus signs of a form', groups('+')],
  ['escaped digits of an address', each((digit) => `%3${digit}`)],
  ['digits as entities', each((digit) => `&#${48 + Number(digit)};`)],
  ['digits as hexadecimal entities', each((digit) => `&#x3${digit};`)],
  ['spaces as entities', groups('&nbsp;')],
  ['tags between', groups('<br>')],
  ['in a sentence', `the shopper said ${VISA}, expires 12/27`],
  ['with the date after it', `${VISA}/12/27`],
  ['beside letters', `card:${VISA}x`],
];

describe('a card number is taken out', () => {
  it('in forty spellings and more', () => expect(SPELLINGS.length).toBeGreaterThanOrEqual(40));
  it.each(SPELLINGS)('%s', (_name, text) => {
    const stored = withoutCards(text);
    expect(stored).not.toBe(text);
    // What is left has at least three digits less than the shortest card number, and says so.
    expect(stored.match(/\*/g)?.length).toBeGreaterThanOrEqual(3);
    expect(withoutCards(stored)).toBe(stored);
  });

  it('but for its first six and last four digits, and what stands around it', () => {
    expect(withoutCards(`see ${VISA} and 5555-5555-5555-4444.`)).toBe(
      'see 411111******1111 and 5555-55**-****-4444.',
    );
  });
});

describe('what is none stays as it is', () => {
  it.each([
    ['a number that fails the check', '4111111111111112'],
    ['an order number with letters', 'SO-20261119-000627'],
    ['dates and times', '2026-11-20 03:16:02 to 2026-11-21 04:15:00'],
    ['amounts', 'captured 1999.00, refunded 10.00, net 1989.00'],
    ['a telephone number', '+49 30 1234567 ext. 12'],
    ['a tracking number of twenty digits', '00340434161094042557'],
    ['an account number of a bank', 'DE89 3704 0044 0532 0130 00'],
    ['a card number that words stand in', '4111 1111 and later 1111 1111'],
    ['nothing', ''],
  ])('%s', (_name, text) => expect(withoutCards(text)).toBe(text));

  it('an id that ledger or gateway gave, also one that passes the check', () => {
    const text = `order ${VISA} was refunded`;
    expect(withoutCards(text, [VISA])).toBe(text);
    expect(withoutCards(text, [`A-${VISA}`])).toBe(text);
    expect(withoutCards(text, ['another'])).not.toBe(text);
  });

  it('an id with the digits that stand behind it, as in the reference of a refund', () => {
    for (const [id, text] of [
      ['45395787630003', '45395787630003-01'],
      ['41112222008', 'seen in the portal: 41112222008-01'],
      ['45395787630000', 'order 45395787630000, 20 EUR'],
    ] as const) {
      expect(withoutCards(text)).not.toBe(text);
      expect(withoutCards(text, [id])).toBe(text);
    }
  });

  it('but no card whose groups are an id by chance, nor one that stands beside an id', () => {
    const card = groups(' ');
    expect(withoutCards(card, ['4111', '1111'])).not.toBe(card);
    expect(withoutCards(`order 41112222008, ${VISA}`, ['41112222008'])).toBe(
      'order 41112222008, 411111******1111',
    );
  });
});
