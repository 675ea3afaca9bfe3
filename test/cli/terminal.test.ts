// How lines look on a terminal: colours only where one shows them, and never those of the data; one
// format of times, in the schedule's zone; columns that stand under each other.

import { WriteStream } from 'node:tty';
import { describe, expect, it, test } from 'vitest';
import { groupLines } from '../../src/cli/breaks/breaksText.js';
import { BATCH_LINES, OPEN_ITEMS } from '../../src/cli/settlement/settlementText.js';
import type { Line, Screen } from '../../src/cli/terminal.js';
import {
  columns,
  growingColumns,
  jsonText,
  moreLines,
  shownLine,
  showsColours,
  stateWord,
} from '../../src/cli/terminal.js';
import { maskCardNumbers } from '../../src/core/text/masking.js';

const PLAIN: Screen = { zone: 'Europe/Berlin', hasColours: false };
const COLOURED: Screen = { ...PLAIN, hasColours: true };

describe('colours', () => {
  // The platform's own terminal, which reads the environment.
  const terminal = (env: Record<string, string>) => ({
    isTTY: true,
    hasColors: () => WriteStream.prototype.hasColors.call(WriteStream.prototype, 16, env),
  });
  it.each([
    [{ TERM: 'xterm-256color' }, true],
    [{ TERM: 'xterm-256color', NO_COLOR: '1' }, false],
    [{ TERM: 'dumb' }, false],
  ])('of a terminal with %o: %s', (env, shows) => {
    expect(showsColours(terminal(env))).toBe(shows);
  });

  it('are in no file and no pipe', () => {
    expect(showsColours({})).toBe(false);
  });

  it('are around a word, and none of the data comes through', () => {
    const line: Line = [stateWord('broken'), '  SO-1\u001b[32m'];
    expect(shownLine(line, COLOURED)).toBe('\u001b[31mbroken\u001b[0m  SO-1 [32m');
    expect(shownLine(stateWord('broken', 'did not\u001b[0m tie'), COLOURED)).toBe(
      '\u001b[31mdid not [0m tie\u001b[0m',
    );
    expect(shownLine(line, PLAIN)).toBe('broken  SO-1 [32m');
  });
});

describe('times', () => {
  it.each([
    ['checked at 2026-11-20T03:15:07Z', 'checked at 2026-11-20 04:15:07 Europe/Berlin'],
    ['2026-07-01T22:30:00.123456+00:00  held', '2026-07-02 00:30:00 Europe/Berlin  held'],
    ['begins at 2026-11-20T03:15Z, then', 'begins at 2026-11-20 04:15 Europe/Berlin, then'],
    ['seen 2026-11-20T03:15:07.85+00:00: 9.00', 'seen 2026-11-20 04:15:07 Europe/Berlin: 9.00'],
    ['business date 2026-11-20', 'business date 2026-11-20'],
    ['order 2026-11-20T03:15:07', 'order 2026-11-20T03:15:07'],
    ['2026-99-99T03:15:07Z', '2026-99-99T03:15:07Z'],
    // what stands in a file, or is to be typed
    [
      'a.csv line 2: at "0001-01-01T00:00:00Z": as of 2026-11-20T03:15:07Z, such as "2026-11-19T08:30:00Z"',
      'a.csv line 2: at "0001-01-01T00:00:00Z": as of 2026-11-20 04:15:07 Europe/Berlin, such as "2026-11-19T08:30:00Z"',
    ],
    ['"5\\" 2026-11-20T03:15:07Z" is 5" wide', '"5\\" 2026-11-20T03:15:07Z" is 5" wide'],
  ])('%s', (text, shown) => {
    expect(shownLine(text, PLAIN)).toBe(shown);
  });

  it('stay in what the gateway answered', () => {
    const text = '{"at":"2026-11-20T03:15:07Z"}';
    expect(shownLine({ text, isVerbatim: true }, PLAIN)).toBe(text);
  });
});

test('columns begin, and figures end, at one place; a number of 128 characters breaks only its row', () => {
  const rows = [
    ['#1', stateWord('held'), '1,000.00 EUR', 'a'],
    ['#22', stateWord('unknown'), '5.00 EUR', 'b'],
    ['#3', stateWord('held'), 'N'.repeat(128), 'c'],
  ];
  const wide = ' '.repeat(48 - '1,000.00 EUR'.length);
  expect(columns(rows, [2]).map((line) => shownLine(line, PLAIN))).toEqual([
    `#1   held     ${wide}1,000.00 EUR  a`,
    `#22  unknown  ${wide}    5.00 EUR  b`,
    `#3   held     ${'N'.repeat(128)}  c`,
  ]);
});

test('columns of a list that comes in parts never become narrower', () => {
  const lined = growingColumns([0]);
  const shown = [
    [
      ['1', 'a'],
      ['200', 'b'],
    ],
    [['3', 'c']],
  ].map((part) => lined(part).map((line) => shownLine(line, PLAIN)));
  expect(shown).toEqual([['  1  a', '200  b'], ['  3  c']]);
});

test('open money of settlement stands in columns, and what was settled too much is said', () => {
  const item = {
    book: 'atGateway',
    accountId: 'A1',
    currency: 'EUR',
    transactionId: null,
  } as const;
  const of = (more: object) => ({ ...item, batch: null, suspense: false, ...more }) as never;
  const rows = [
    of({ since: '2026-11-23', orderNo: 'O-1', what: 'captured', amount: '1300.00' }),
    of({ since: '2026-11-23', orderNo: 'O-2', what: 'captured', amount: '-20.00' }),
    of({ since: '2026-11-23', orderNo: 'O-3', what: 'refunded', amount: '0.00', suspense: true }),
    of({
      since: '2026-11-24',
      orderNo: 'O-4\u001b[2J',
      batch: 'B1',
      what: 'settled captured',
      amount: '-7.00',
    }),
    of({ since: '2026-11-24', currency: 'KWD', orderNo: 'O-5', what: 'refunded', amount: '-0.50' }),
  ];
  const cells = [OPEN_ITEMS.head, ...rows.map(OPEN_ITEMS.cells)];
  expect(columns(cells, OPEN_ITEMS.figures).map((line) => shownLine(line, PLAIN))).toEqual([
    'since       book            account  order    batch          open  what',
    '2026-11-23  at the gateway  A1       O-1      -      1,300.00 EUR  captured',
    '2026-11-23  at the gateway  A1       O-2      -        -20.00 EUR  captured, and settled too much',
    '2026-11-23  at the gateway  A1       O-3      -       unknown EUR  refunded',
    '2026-11-24  at the gateway  A1       O-4 [2J  B1        -7.00 EUR  settled as captured, and no capture fits',
    '2026-11-24  at the gateway  A1       O-5      -        -0.500 KWD  refunded',
  ]);
});

test('JSON holds no sign that steers a terminal, and the same value', () => {
  const value = { order: 'A\u009b31mB\u007f\u0085', reason: 'Grüße\u001b[0m', count: 3n };
  const text = jsonText(value);
  expect(text).toMatch(/^[^\p{Cc}]*$/u);
  expect(JSON.parse(text)).toEqual({ ...value, count: '3' });
});

test('a group says how many of its breaks have no amount', () => {
  const oldest = new Date('2026-11-20T03:16:00Z');
  const group = { key: 'anna', breaks: 5, orders: 5, oldest, money: { EUR: '10.00' } };
  const shown = (withoutAmount: number, money = group.money) =>
    groupLines([{ ...group, money, withoutAmount }], 'owner', { at: oldest, timezone: 'UTC' }).map(
      (line) => shownLine(line, PLAIN),
    );
  expect(shown(4)).toEqual(['  5  anna  10.00 EUR, 4 without an amount, oldest 0 d']);
  expect(shown(0)).toEqual(['  5  anna  10.00 EUR, oldest 0 d']);
});

test('ids are shown as they are, also where they look like a card number', () => {
  const id = '4111111111111111';
  expect(maskCardNumbers(id)).not.toBe(id);
  const money = { gross: '1.00', fee: '0.00', net: '1.00', settleCurrency: 'EUR' };
  const told = { type: 'captured', bookedAt: '2026-11-01', movedOn: '2026-11-01' };
  const names = { accountId: 'A', lineId: id, orderNo: 'N1', settlesOrder: null, matchedBy: null };
  expect(BATCH_LINES.cells({ ...money, ...told, ...names })[1]).toBe(id);
  const group = { breaks: 1, orders: 1, oldest: new Date(), money: {}, withoutAmount: 1 };
  const clock = { at: group.oldest, timezone: 'UTC' };
  for (const [by, shown] of [
    ['account', id],
    ['batch', id],
    ['text', maskCardNumbers(id)],
  ] as const) {
    const [line = ''] = groupLines([{ ...group, key: id }], by, clock);
    expect(shownLine(line, PLAIN)).toContain(shown);
  }
});

test('a list that is cut says how many more there are, and how they are seen', () => {
  expect(moreLines(1_234, '--limit')).toEqual(['... and 1,234 more: --limit']);
  expect(moreLines(9_800, '--limit', true)).toEqual(['... and more than 9,800 more: --limit']);
  expect(moreLines(0, '--limit')).toEqual([]);
});
