// bench, proof and scripts run the built program, and no compiler reads them: a file that moved or
// a name that changed would be found out the day somebody measures. Here it is found out at once.

import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { allFiles, textOf } from './support/sourceFiles.js';

const FILES = allFiles();
/** What a yardstick or a proof takes out of the built program: the file, and each name. */
const FROM_BUILT = /import \{([^}]+)\} from '((?:\.\.\/)+)dist\/([^']+)\.js'/g;

test('what runs beside the program takes out of it what is there', () => {
  const wanted = FILES.filter((path) => /^(bench|proof|scripts)\/.*\.mjs$/.test(path)).flatMap(
    (path) =>
      [...textOf(path).matchAll(FROM_BUILT)].flatMap(([, names = '', , file = '']) =>
        names.split(',').map((name) => ({ path, file, name: name.trim().split(' as ')[0] ?? '' })),
      ),
  );
  const gone = wanted.filter(({ file, name }) => {
    const source = FILES.find((path) => path === `${file}.ts` || path === `${file}.tsx`);
    const exported = new RegExp(`^export (async )?(function\\*?|const|class) ${name}\\b`, 'm');
    return name !== '' && (source === undefined || !exported.test(textOf(source)));
  });
  expect(wanted.length).toBeGreaterThan(50);
  expect(gone).toEqual([]);
});

test('the rows that a measured workbook is written of are whole', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tieout-yardstick-'));
  try {
    const command = ['bench/nightWriter.mjs', join(folder, 'night.xlsx')];
    const { stdout } = await promisify(execFile)(process.execPath, command);
    expect(JSON.parse(stdout).ms).toBeGreaterThan(0);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
