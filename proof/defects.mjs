// Plants each defect in a copy of the program, builds the copy, and lets the check run that must
// catch it. Prints a table; exit 0 when all are caught. Use:
//   npm run defects [-- --only WORD] [--skip N] [--schedules 300]

import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { DEFECTS } from './plantedDefects.mjs';
import { CHECKOUT } from './program.mjs';

const PARTS = [
  'src',
  'jobs',
  'reports',
  'migrations',
  'test',
  'bin',
  'docs',
  'scripts',
  'package.json',
];
const SETTINGS = [
  'tsconfig.json',
  'tsconfig.build.json',
  'rolldown.config.mjs',
  'vitest.config.ts',
];

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    schedules: { type: 'string', default: '300' },
    skip: { type: 'string', default: '0' },
  },
});

const folder = mkdtempSync(join(tmpdir(), 'tieout-defects-'));
const chosen = DEFECTS.slice(Number(values.skip)).filter(({ name }) => name.includes(values.only));
let missed = 0;
console.log('| defect | caught by | after |\n|---|---|---:|');
try {
  for (const defect of chosen) {
    const caught = catches(defect);
    if (caught === null) missed += 1;
    console.log(`| ${defect.name} | ${caught === null ? 'NOBODY' : defect.by} | ${caught ?? ''} |`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(`\n${chosen.length - missed} of ${chosen.length} caught`);
process.exit(missed === 0 ? 0 : 1);

/** How soon the check cried out; null: it did not. */
function catches(defect) {
  const copy = join(folder, 'copy');
  rmSync(copy, { recursive: true, force: true });
  for (const part of [...PARTS, ...SETTINGS]) {
    cpSync(join(CHECKOUT, part), join(copy, part), { recursive: true });
  }
  symlinkSync(join(CHECKOUT, 'node_modules'), join(copy, 'node_modules'));
  const { file, change, also } = defect;
  plant(join(copy, file), change);
  if (also !== undefined) plant(join(copy, file), also, true);
  return defect.by.startsWith('test/') ? byTests(copy, defect.by) : bySchedules(copy, defect.by);
}

function plant(file, [found, put], everywhere = false) {
  const text = readFileSync(file, 'utf8');
  const times = text.split(found).length - 1;
  if (times === 0 || (times > 1 && !everywhere)) {
    throw new Error(`${file}: "${found}" stands there ${times} times`);
  }
  writeFileSync(
    file,
    text.replaceAll(found, () => put),
  );
}

function byTests(copy, file) {
  const { status, stdout } = run(copy, 'node_modules/.bin/vitest', ['run', file]);
  if (status === 0) return null;
  const failed = /(\d+) failed/.exec(/Tests .*/.exec(stdout.replaceAll('\u001b', ''))?.[0] ?? '');
  return failed === null ? null : `${failed[1]} tests`;
}

function bySchedules(copy) {
  run(copy, 'npm', ['run', 'build', '--silent']);
  const program = join(CHECKOUT, 'proof/simulate.mjs');
  const sizes = [
    '--schedules',
    values.schedules,
    '--wave',
    '50',
    '--jobs',
    '1',
    '--until-violation',
  ];
  const words = [program, '--seed', '7', '--build', copy, ...sizes];
  const { status, stdout } = run(copy, process.execPath, words);
  if (status === 0) return null;
  const schedules = /\| tieout \| (\d+)/.exec(stdout)?.[1];
  const broken = [...new Set([...stdout.matchAll(/^(I\d+): /gm)].map(([, name]) => name))];
  if (schedules === undefined) return 'it does not run';
  return broken.length === 0 ? null : `${schedules} schedules (${broken.join(', ')})`;
}

function run(cwd, program, words) {
  return spawnSync(program, words, { cwd, encoding: 'utf8', maxBuffer: 64 << 20 });
}
