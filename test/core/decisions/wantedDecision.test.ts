// The table of filled rows: which decision each asks for, or why it asks for none.

import { describe, expect, it } from 'vitest';
import type { EnteredCell, EnteredRow } from '../../../src/core/decisions/wantedDecision.js';
import { isFilled, readRows } from '../../../src/core/decisions/wantedDecision.js';

const words = (text: string | null): EnteredCell =>
  text === null ? null : { kind: 'words', text };

type Cells = [decision: string | null, reason?: string | null, toWhom?: string | null];

function row(
  of: 'break' | 'instruction',
  cells: Cells,
  changes: Partial<EnteredRow> = {},
): EnteredRow {
  const [decision, reason = null, toWhom = null] = cells;
  return {
    ...{ sheet: 'S', row: 9, decision: words(decision) },
    ...{ reason: words(reason), toWhom: words(toWhom) },
    carried: { binding: { of, id: '7', last: '0', seen: 'd'.repeat(64) }, isWhole: true },
    ...changes,
  };
}

const one = (entered: EnteredRow) => readRows([entered])[0];

describe('a filled row', () => {
  it.each<[...Parameters<typeof row>, object]>([
    ['break', ['waive', 'rounding'], {}, { kind: 'waive', reason: 'rounding' }],
    [
      'break',
      [' Waive ', ' rounding\r\nof the shop '],
      {},
      { kind: 'waive', reason: 'rounding\nof the shop' },
    ],
    ['break', ['note', 'asked'], {}, { kind: 'note', text: 'asked' }],
    ['break', ['assign', null, 'Bo'], {}, { kind: 'assign', owner: 'Bo' }],
    [
      'break',
      ['assign', 'has the file', 'Bo'],
      {},
      { kind: 'assign', owner: 'Bo', reason: 'has the file' },
    ],
    ['break', ['assign', null, '-'], {}, { kind: 'assign', owner: null }],
    ['instruction', ['approve'], {}, { kind: 'approve', reason: null }],
    ['instruction', ['APPROVE', 'seen'], {}, { kind: 'approve', reason: 'seen' }],
    ['instruction', ['reject', 'taken back'], {}, { kind: 'reject', reason: 'taken back' }],
  ])('%s %j asks for it', (of, cells, changes, action) => {
    expect(one(row(of, cells, changes))).toMatchObject({
      kind: 'wanted',
      id: '7',
      wanted: { of, action },
    });
  });

  it.each<[...Parameters<typeof row>, string]>([
    ['break', ['waive'], {}, 'the reason must not be empty'],
    ['break', ['waive', '  '], {}, 'the reason must not be empty'],
    ['break', ['note'], {}, 'the reason must not be empty'],
    ['break', ['assign', 'why'], {}, 'to whom must not be empty'],
    ['break', ['waive', 'why', 'Bo'], {}, 'to whom is for assign alone'],
    ['break', ['waive', 'x'.repeat(1001)], {}, 'longer than 1000'],
    ['break', ['waive', 'a\u0007b'], {}, 'control character'],
    ['break', ['assign', null, 'B\u0000'], {}, 'control character'],
    ['break', ['approve'], {}, 'approve: no such decision: choose waive, assign, note'],
    ['break', [null, 'why'], {}, 'there is no decision: choose waive, assign, note'],
    ['instruction', ['reject'], {}, 'the reason must not be empty'],
    ['instruction', ['waive', 'why'], {}, 'choose approve, reject'],
    ['instruction', ['approve', null, 'Bo'], {}, 'to whom is for assign alone'],
    ['break', ['waive', 'why'], { decision: { kind: 'formula' } }, 'the decision is a formula'],
    ['break', ['waive', 'why'], { reason: { kind: 'formula' } }, 'the reason is a formula'],
    ['break', ['waive', 'why'], { carried: null }, 'carries no id'],
  ])('%s %j %j is refused', (of, cells, changes, reason) => {
    const read = one(row(of, cells, changes));
    expect(read).toMatchObject({ kind: 'refused', reason: expect.stringContaining(reason) });
  });

  it('is refused when its other cells were altered', () => {
    const { carried } = row('break', ['note', 'x']);
    const altered = row('break', ['note', 'x'], {
      carried: carried === null ? null : { ...carried, isWhole: false },
    });
    expect(one(altered)).toMatchObject({ kind: 'refused', id: '7' });
  });

  it('is one where anything is entered', () => {
    expect([null, 'x'].map((text) => isFilled(row('break', [null, text])))).toEqual([false, true]);
  });
});

describe('one id in several rows', () => {
  const kinds = (...rows: EnteredRow[]) =>
    readRows(rows.map((entered, at) => ({ ...entered, row: at + 1 }))).map(({ kind }) => kind);

  it('is decided once where all say the same', () => {
    expect(kinds(row('break', ['note', 'a']), row('break', ['Note', ' a']))).toEqual([
      'wanted',
      'unchanged',
    ]);
  });

  it.each<[Cells, Cells]>([
    [
      ['note', 'a'],
      ['waive', 'a'],
    ],
    [
      ['note', 'a'],
      ['note', 'b'],
    ],
    [
      ['assign', null, 'A'],
      ['assign', null, 'B'],
    ],
    [
      ['note', 'a'],
      ['nothing', 'a'],
    ],
  ])('is refused in all of them where they differ: %j %j', (first, second) => {
    expect(kinds(row('break', first), row('break', second))).toEqual(['refused', 'refused']);
  });

  it('means breaks and instructions apart', () => {
    expect(kinds(row('break', ['note', 'a']), row('instruction', ['approve']))).toEqual([
      'wanted',
      'wanted',
    ]);
  });
});
