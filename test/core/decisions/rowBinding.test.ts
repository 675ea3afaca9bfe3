// What a row carries: two ways to write one value are one, two values are two, and a seal holds only
// over what it was made of.

import { describe, expect, it } from 'vitest';
import type { ShownKind, ShownValue } from '../../../src/core/decisions/rowBinding.js';
import { openRow, sealRow, shownText } from '../../../src/core/decisions/rowBinding.js';

const SECRET = 'a1'.repeat(32);
const BINDING = { of: 'break', id: '12', last: '34', seen: 'b'.repeat(64) } as const;

describe('what a cell shows', () => {
  it.each<[ShownKind, ShownValue, ShownValue]>([
    ['number', -0.5, '-0.50'],
    ['number', 1234567890123.45, 1234567890123.4502],
    ['number', 0.1 + 0.2, 0.3],
    ['number', -0, 0],
    ['text', '10001', 10_001],
    ['text', '12.50', 12.5],
    ['text', null, ''],
    ['text', ' a  b\n', 'a b'],
    ['text', 'a\r\nb', 'a_x000D_\nb'],
    ['text', '_x005F_x0041_', '_x005F_x0041_'],
    ['instant', new Date('2026-11-18T23:30:00Z'), 46_344.979166667],
    ['instant', 46_344.979166667, 46_344.97916666241],
    ['instant', new Date('2026-11-18T23:30:00Z'), '2026-11-18T23:30:00'],
    ['instant', new Date('2026-11-18T23:30:00Z'), '2026-11-18T23:30:00.000Z'],
  ])('is the same: %s %s and %s', (kind, one, other) => {
    expect(shownText(kind, one)).toBe(shownText(kind, other));
  });

  it.each<[ShownKind, ShownValue, ShownValue]>([
    ['number', 0.5, -0.5],
    ['number', 10, 10.01],
    ['number', null, 0],
    ['text', '0010', 10],
    ['text', '0010', '10'],
    ['text', '12345678901234567', 12_345_678_901_234_500],
    ['text', '1e5', 100_000],
    ['text', 'a b', 'ab'],
    ['instant', 46_344.979166667, 46_344.979178],
    ['instant', 46_344.5, '46344.5 '],
  ])('is not the same: %s %s and %s', (kind, one, other) => {
    expect(shownText(kind, one)).not.toBe(shownText(kind, other));
  });
});

describe('a seal', () => {
  const sealed = sealRow(SECRET, BINDING, ['A1', '10']);

  it('opens to what was bound, and is whole', () => {
    expect(openRow(SECRET, ` ${sealed} `, ['A1', '10'])).toEqual({
      binding: BINDING,
      isWhole: true,
    });
  });

  it.each([
    ['another cell', SECRET, sealed, ['A1', '11']],
    ['cells that run into each other', SECRET, sealed, ['A', '110']],
    ['one cell less', SECRET, sealed, ['A1']],
    ['another id', SECRET, sealed.replace(' 12 ', ' 13 '), ['A1', '10']],
    ['another last word', SECRET, sealed.replace(' 34 ', ' 35 '), ['A1', '10']],
    ['another subject', SECRET, sealed.replace('break', 'instruction'), ['A1', '10']],
    ['the key of another installation', 'c3'.repeat(32), sealed, ['A1', '10']],
  ])('is not whole over %s', (_what, secret, text, shown) => {
    expect(openRow(secret, text, shown)).toMatchObject({ isWhole: false });
  });

  it.each(['', 'break 1', sealed.slice(0, -1), `${sealed}0`, sealed.replace('break', 'order')])(
    'is none: %s',
    (text) => {
      expect(openRow(SECRET, text, ['A1', '10'])).toBeNull();
    },
  );
});
