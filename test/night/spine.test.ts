// The spine, held by looking at the files: its steps stand in their order, one after the other, and
// nobody but the spine and what puts it together takes all that a night needs. That the steps do
// what they say is held by tests that run them. Neighbour: house.test.ts.

import { expect, test } from 'vitest';
import { allFiles, textOf } from '../support/sourceFiles.js';

const STEPS =
  'recover pull seal compare plan send confirm resumeStopped judgeAnew bookMovements ' +
  'matchSettlement seal total report sealEnd removeOld';

test('the spine is its steps, one after the other', () => {
  const steps = [...textOf('src/night/night.ts').matchAll(/await (\w+)\(/g)].map(
    ([, step]) => step,
  );
  expect(steps).toEqual(STEPS.split(' '));
});

/** Every other step, and every part of one, names the few that it uses. */
const TAKE_ALL: readonly string[] = [
  'src/app/compose.ts',
  'src/cli/app.ts',
  'src/night/dryRun.ts',
  'src/night/night.ts',
  'src/night/owedRun.ts',
  'src/night/run.ts',
  'src/runs/deps.ts',
  'src/send/deps.ts',
];
const IMPORTS = /^import [^;]*;$/gm;
const WHOLE = /(?<!\bPick<)\b(Run|Send)Deps\b(?!\[)/;

test('only the spine and what puts it together take all that a night needs', () => {
  const program = allFiles().filter((path) => /^(src|jobs|reports)\/.*\.tsx?$/.test(path));
  const takeAll = program.filter((path) => WHOLE.test(textOf(path).replace(IMPORTS, '')));
  expect(takeAll.sort()).toEqual(TAKE_ALL);
});
