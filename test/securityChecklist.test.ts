// The list of what a security standard asks for: whole, with sums that are those of its rows, and no
// row that passes by a file which is not there.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT, textOf } from './support/sourceFiles.js';

/** Requirements of OWASP ASVS 5.0.0 by level. */
const REQUIRED = { 1: 70, 2: 183 } as const;
const ROW = /^\| (\d+\.\d+\.\d+) \| ([12]) \| (.+?) \| (pass|\*\*fail\*\*|n\/a) \| (.+) \|$/gm;

const paper = textOf('docs/SECURITY_CHECKLIST.md');
const rows = [...paper.matchAll(ROW)].map(([, id = '', level, , verdict, where = '']) => {
  return { id, level, verdict, where };
});

test.each(['1', '2'] as const)('level %s stands there whole, and is summed as it is', (level) => {
  const own = rows.filter((row) => row.level === level);
  expect(new Set(own.map(({ id }) => id)).size).toBe(REQUIRED[level]);
  const count = (verdict: string): number => own.filter((row) => row.verdict === verdict).length;
  const sums = [count('pass'), count('**fail**'), count('n/a')];
  expect(paper).toContain(`| ${level} | ${sums.join(' | ')} |`);
});

test('each failure of level 1 is named above the rows', () => {
  const failed = rows.filter(({ level, verdict }) => level === '1' && verdict === '**fail**');
  const ids = failed.map(({ id }) => id).join(', ');
  expect(paper).toContain(`Of level 1 ${ids === '' ? 'none fails' : `these fail: ${ids}`}.`);
});

test('what passes by a file passes by one that is there', () => {
  const named = rows
    .filter(({ verdict }) => verdict === 'pass')
    .flatMap(({ where }) => [...where.matchAll(/`((?:src|test|reports|migrations)\/[^`]+)`/g)])
    .map(([, path = '']) => path);
  expect(named.length).toBeGreaterThan(100);
  expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});
