// What a spreadsheet cell may hold: clean text, exact money, and nothing that comes alive.

import { describe, expect, test } from 'vitest';
import {
  CELL_TEXT_MAX,
  CUT_MARK,
  finiteNumber,
  freeText,
  hundredthsOf,
  idText,
  isWholeMoney,
  moneyCell,
  wallClock,
} from '../../reports/xlsx/cells.js';
import { wantedWidth } from '../../reports/xlsx/columnWidths.js';
import { moneyStyle, STYLES, shrunk, totalMoneyStyle } from '../../reports/xlsx/styles.js';

describe('text for a cell', () => {
  test.each([
    ['control characters', 'a\0b\x07c\x1bd\x7fe\x85f', 'abcdef'],
    ['lone surrogates', 'a\ud800b\udc00c', 'abc'],
    ['noncharacters', 'a\ufffeb\uffffc', 'abc'],
    ['other line ends', 'a\r\nb\rc', 'a\nb\nc'],
  ])('loses %s', (_name, text, expected) => {
    expect(idText(text)).toBe(expected);
  });

  test('keeps letters, pairs of surrogates, tabs and what begins like a formula', () => {
    for (const text of ['Größe 名 😀', 'a\tb', '=1+1', '+1', '-1', '@x']) {
      expect(idText(text)).toBe(text);
    }
  });

  test('that a reader would unescape is escaped', () => {
    expect(idText('_x0041_')).toBe('_x005F_x0041_');
  });

  test('over the limit is cut with a mark, and never through a surrogate pair', () => {
    const cut = freeText('x'.repeat(CELL_TEXT_MAX + 1));
    expect(cut).toHaveLength(CELL_TEXT_MAX);
    expect(cut.endsWith(CUT_MARK)).toBe(true);
    expect(freeText('😀'.repeat(CELL_TEXT_MAX))).not.toMatch(/\p{Cs}/u);
    expect(freeText('x'.repeat(CELL_TEXT_MAX))).toHaveLength(CELL_TEXT_MAX);
  });

  test('of an object is its text, never the object', () => {
    const payload = { formula: 'HYPERLINK("http://x")', result: 1 };
    expect(typeof freeText(payload)).toBe('string');
    expect(typeof idText({ text: 'x', hyperlink: 'http://x' })).toBe('string');
  });
});

describe('money for a cell', () => {
  test.each([
    ['0.00', 0],
    ['12.34', 12.34],
    ['-0.50', -0.5],
    ['9999999999999.99', 9999999999999.99],
    ['99999999999999.99', '99999999999999.99'],
    ['0000000000000000001.00', 1],
    ['1e5', '1e5'],
  ])('%s is %s', (amount, expected) => {
    expect(moneyCell(amount)).toBe(expected);
  });

  test.each([
    ['-12.34', -1234n],
    ['0.05', 5n],
    [null, 0n],
    ['nothing', 0n],
  ])('%s counts as %s hundredths', (amount, expected) => {
    expect(hundredthsOf(amount)).toBe(expected);
  });

  test('only whole amounts of currencies without decimals go without them', () => {
    expect(isWholeMoney('JPY', '500.00')).toBe(true);
    expect(isWholeMoney('JPY', '500.50')).toBe(false);
    expect(isWholeMoney('EUR', '500.00')).toBe(false);
    expect(isWholeMoney(null, '500.00')).toBe(false);
  });

  test('money has the decimals of its currency', () => {
    const formats = ['EUR', 'JPY', 'KWD', 'CLF', null].map((currency) => {
      return moneyStyle(currency, ['500.00']).numFmt;
    });
    const shown = ['#,##0.00', '#,##0', '#,##0.000', '#,##0.0000', '#,##0.00'];
    expect(formats).toEqual(shown);
    const small = ['EUR', 'JPY', 'KWD', 'CLF', null].map((currency) => {
      return shrunk(moneyStyle(currency, ['500.00']));
    });
    expect(small.map(({ numFmt }) => numFmt)).toEqual(shown);
    expect(small.every(({ alignment }) => alignment?.shrinkToFit)).toBe(true);
    expect(totalMoneyStyle('KWD', ['1.50'])).toMatchObject({ numFmt: '#,##0.000' });
    expect(wantedWidth({ value: 1.5, style: STYLES.moneyOfThree })).toBeGreaterThan(
      wantedWidth({ value: 1.5, style: STYLES.money }),
    );
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY])('%s is refused', (value) => {
    expect(() => finiteNumber(value)).toThrow(RangeError);
  });
});

describe('the wall clock', () => {
  test.each([
    ['Europe/Berlin', '2026-03-29T00:59:59.900Z', '2026-03-29T01:59:59.000Z'],
    ['Europe/Berlin', '2026-03-29T01:00:00.000Z', '2026-03-29T03:00:00.000Z'],
    ['Europe/Berlin', '2026-10-25T00:30:00.000Z', '2026-10-25T02:30:00.000Z'],
    ['Asia/Kathmandu', '2026-11-19T18:15:00.000Z', '2026-11-20T00:00:00.000Z'],
    ['America/New_York', '2026-01-01T04:59:59.000Z', '2025-12-31T23:59:59.000Z'],
    ['UTC', '2026-11-19T00:00:00.000Z', '2026-11-19T00:00:00.000Z'],
  ])('of %s shows %s as %s', (zone, instant, wall) => {
    const clock = wallClock(zone);
    expect(clock(new Date(instant)).toISOString()).toBe(wall);
    expect(clock(new Date(instant)).toISOString()).toBe(wall);
  });

  test('refuses a date that is none', () => {
    expect(() => wallClock('UTC')(new Date(Number.NaN))).toThrow(RangeError);
  });
});
