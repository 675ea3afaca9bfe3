// Whether every test passed, of what `vitest --reporter=json` wrote: fails on any that did not and on
// any that was left out. `--failed-files` prints the files of those that failed, to be run again;
// a second report says how they went then, and counts for the files that it has.
//   node scripts/test-results.mjs RESULTS [AGAIN | --failed-files]

import { readFileSync } from 'node:fs';

/** More than this is no noise of a machine: nothing is tried again. */
const AGAIN_MAX = 6;

const [first = '', second = ''] = process.argv.slice(2);
const before = filesOf(first);
if (second === '--failed-files') {
  const failed = before.filter(({ tests, name }) => name && !isGood(tests)).map(({ name }) => name);
  if (failed.length <= AGAIN_MAX) console.log(failed.join(' '));
} else {
  const again = second === '' ? [] : filesOf(second);
  const newest = before.map((file) => again.find(({ name }) => name === file.name) ?? file);
  judge(newest);
}

function judge(files) {
  const tests = files.flatMap((file) => file.tests.map((test) => ({ file, test })));
  const leftOut = tests.filter(({ test }) => test.status !== 'passed');
  for (const { file, test } of leftOut) {
    console.error(`${test.status}: ${test.fullName} (${file.name})`);
  }
  const empty = files.filter((file) => file.tests.length === 0);
  for (const file of empty) console.error(`no test ran in ${file.name}`);
  console.log(`== ${tests.length} tests in ${files.length} files, ${leftOut.length} not passed`);
  process.exit(tests.length > 0 && leftOut.length + empty.length === 0 ? 0 : 1);
}

function isGood(tests) {
  return tests.length > 0 && tests.every(({ status }) => status === 'passed');
}

/** None where no report was written. */
function filesOf(path) {
  const text = readFileSync(path, 'utf8');
  if (text === '') return [];
  return JSON.parse(text).testResults.map(({ name, assertionResults }) => {
    return { name, tests: assertionResults };
  });
}
