// The items text of a payment, there and back.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildItems, type Item, parseItems } from '../../src/gateway/payments/items.js';

describe('items', () => {
  it('are written with ; between records and #,# between their four parts', () => {
    const items: Item[] = [
      ['SKU1', 'Boots', '8.00', '1'],
      ['SKU2', 'Łaces, red', '', '2'],
    ];
    const text = 'SKU1#,#Boots#,#8.00#,#1;SKU2#,#Łaces, red#,##,#2';
    expect(buildItems(items)).toBe(text);
    expect(parseItems(text)).toEqual(items);
    expect(parseItems(`${text};`)).toEqual(items);
  });

  it.each([
    ['a semicolon in a part', [['a;b', '', '', '']]],
    ['a separator in a part', [['a#,#b', '', '', '']]],
    ['parts that make one together', [['a#,', '#b', '', '']]],
    ['a last part that makes one with the next record', [['', '', '', 'a;']]],
    ['no record', []],
    ['too many records', Array.from({ length: 1_001 }, () => ['a', 'b', 'c', 'd'])],
  ])('refuse %s', (_, items) => {
    expect(() => buildItems(items as unknown as Item[])).toThrow('items');
  });

  it.each(['', 'a', 'a#,#b#,#c', 'a#,#b#,#c#,#d#,#e', 'a#,#b#,#c#,#d;;', 'a#,#b#,#c#,#d;x'])(
    'are not read from %j',
    (text) => {
      expect(parseItems(text)).toBeNull();
    },
  );

  it('come back as they were, whatever the parts, or are refused', () => {
    const part = fc.string({ unit: fc.constantFrom('#', ',', ';', 'a', ' '), maxLength: 5 });
    const items = fc.array(fc.tuple(part, part, part, part), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(items, (given) => {
        let text: string;
        try {
          text = buildItems(given);
        } catch {
          return;
        }
        expect(parseItems(text)).toEqual(given);
      }),
    );
  });
});
