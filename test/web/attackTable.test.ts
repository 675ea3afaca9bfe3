// The table of attacks in docs/CONSOLE.md: every row from 106 to 118 stands there and names a test
// that exists, by its own title.

import { expect, it } from 'vitest';
import { allFiles, textOf } from '../support/sourceFiles.js';

const [FIRST, LAST] = [106, 118];

function rows(): { row: number; file: string; title: string }[] {
  const [, section = ''] = textOf('docs/CONSOLE.md').split('\n## Attacks and their tests\n');
  return section.split('\n').flatMap((line) => {
    const cells = line.split('|').map((cell) => cell.trim());
    const [, row = '', , file = '', title = ''] = cells;
    return /^\d+$/.test(row) ? [{ row: Number(row), file: file.replaceAll('`', ''), title }] : [];
  });
}

it('every attack has a test, named by its title', () => {
  const all = Array.from({ length: LAST - FIRST + 1 }, (_, at) => FIRST + at);
  expect([...new Set(rows().map(({ row }) => row))]).toEqual(all);
  const files = new Set(allFiles());
  const missing = rows().filter(({ file, title }) => {
    return title === '' || !files.has(file) || !textOf(file).includes(title);
  });
  expect(missing).toEqual([]);
});
