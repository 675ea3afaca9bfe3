// How wide and how high: the estimates that keep text whole, without a program that shows it. What
// they come to on a page is looked at with scripts/look-at-workbook.mjs.

import { describe, expect, test } from 'vitest';
import {
  fitsFigure,
  fitsOneLine,
  rowHeight,
  wantedHeadingWidth,
  wantedWidth,
  wrappedLines,
} from '../../reports/xlsx/columnWidths.js';
import { STYLES } from '../../reports/xlsx/styles.js';

describe('the lines of a text', () => {
  test.each([
    ['', 10, 1],
    ['0123456789', 10, 1],
    ['0123456789 0', 10, 2],
    ['01234 01234 01234', 11, 2],
    ['one\ntwo\n\nfour', 80, 4],
    ['0'.repeat(25), 10, 3],
    [`01234 ${'0'.repeat(25)}`, 10, 4],
    ['ORDER-0001-0002-0003', 12, 2],
    ['0', 0, 1],
  ])('%j in %i places are %i', (text, room, lines) => {
    expect(wrappedLines(text, room)).toBe(lines);
  });

  test('count a character of an East Asian script twice', () => {
    expect(wrappedLines('二重に支払われた', 8)).toBe(2);
    expect(fitsOneLine('二重に支払われた', 12)).toBe(false);
    expect(fitsOneLine('二重に支払われた', 19)).toBe(true);
  });
});

describe('a row', () => {
  const cell = (value: string) => ({ value, style: STYLES.wrapped });

  test('of one line has the height of the reader', () => {
    expect(rowHeight([cell('short'), null, { value: 1, style: STYLES.count }], [20, 20, 20])).toBe(
      null,
    );
  });

  test('is as high as its highest cell, and never higher than a spreadsheet takes', () => {
    expect(rowHeight([cell('0'.repeat(30)), cell('0'.repeat(50))], [21.5, 21.5])).toBe(45);
    expect(rowHeight([cell('0 '.repeat(10_000))], [10])).toBe(409);
  });
});

describe('a column', () => {
  test('is wide enough for a figure with its thousands apart', () => {
    const amount = { value: -1234567.8, style: STYLES.money };
    expect(wantedWidth(amount)).toBeGreaterThan('-1,234,567.80'.length);
    expect(fitsFigure(amount, '-1234567.80', 18)).toBe(true);
    expect(fitsFigure(amount, '-1234567.80', 13)).toBe(false);
  });

  test('is as wide as the longest word of its heading', () => {
    const [short, long] = ['compared', 'not compared at all'].map((value) =>
      wantedHeadingWidth({ value, style: STYLES.headRight }),
    );
    expect(long).toBe(short);
  });
});
