// The table of faults in docs/RELIABILITY.md: every row of parts A to G stands there, and names a
// test that exists by its own title, or says in words why there is none.

import { describe, expect, it } from 'vitest';
import { allFiles, textOf } from '../support/sourceFiles.js';

const PAPER = 'docs/RELIABILITY.md';
/** The last number of each part. */
const PARTS: readonly (readonly [string, number, number])[] = [
  ['A', 1, 20],
  ['B', 21, 43],
  ['C', 44, 56],
  ['D', 57, 68],
  ['E', 69, 78],
  ['F', 79, 85],
  ['G', 86, 90],
];
const WITHOUT_A_TEST_MAX = 8;

interface Row {
  fault: string;
  file: string;
  title: string;
}

function rows(): Row[] {
  const [, section = ''] = textOf(PAPER).split('\n## Faults and their tests\n');
  const [table = ''] = section.split('\n## ');
  return table
    .split('\n')
    .filter((line) => /^\| [A-G]\d+ \|/.test(line))
    .map((line) => {
      const [fault = '', , file = '', title = ''] = line
        .split('|')
        .slice(1)
        .map((cell) => cell.trim());
      return { fault, file: file.replaceAll('`', ''), title };
    });
}

describe('the table of faults', () => {
  it('has every row of parts A to G, once', () => {
    const all = PARTS.flatMap(([part, from, to]) =>
      Array.from({ length: to - from + 1 }, (_, at) => `${part}${from + at}`),
    );
    expect([...new Set(rows().map(({ fault }) => fault))]).toEqual(all);
  });

  it('names tests that exist, by their titles', () => {
    const files = new Set(allFiles());
    const wrong = rows()
      .filter(({ file }) => file !== '-')
      .filter(({ file, title }) => {
        return title === '' || !files.has(file) || !textOf(file).includes(title);
      });
    expect(wrong).toEqual([]);
  });

  it('says why where there is none, and that is seldom', () => {
    const without = rows().filter(({ file }) => file === '-');
    expect(without.filter(({ title }) => title.length < 20)).toEqual([]);
    expect(without.length).toBeLessThanOrEqual(WITHOUT_A_TEST_MAX);
  });
});

describe('the planted defects', () => {
  it('still find the text that they change, once', async () => {
    const { DEFECTS } = (await import(PLANTED)) as { DEFECTS: readonly Defect[] };
    const lost = DEFECTS.filter(({ file, change: [found], also }) => {
      const text = textOf(file);
      return text.split(found).length !== 2 || (also !== undefined && !text.includes(also[0]));
    });
    expect(lost.map(({ name, file }) => `${file}: ${name}`)).toEqual([]);
  });
});

interface Defect {
  name: string;
  file: string;
  change: readonly [string, string];
  also?: readonly [string, string];
}

const PLANTED = new URL('../../proof/plantedDefects.mjs', import.meta.url).href;
