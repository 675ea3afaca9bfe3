// How lines look on a terminal: colours only where one shows them, and never those of the data; one
// format of times, in the schedule's zone; columns that stand under each other.

import { WriteStream } from 'node:tty';
import { describe, expect, it, test } from 'vitest';
import type { Line, Screen } from '../../src/cli/terminal.js';
import { columns, shownLine, showsColours, stateWord } from '../../src/cli/terminal.js';

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
    ['business date 2026-11-20', 'business date 2026-11-20'],
    ['order 2026-11-20T03:15:07', 'order 2026-11-20T03:15:07'],
    ['2026-99-99T03:15:07Z', '2026-99-99T03:15:07Z'],
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
