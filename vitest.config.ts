// More workers than the two cores of the machine it is meant for: half of a test is waiting, for a
// server to start, for a claim to grow old, for a process to end. What leaves nothing behind in its
// process shares one with the files before it: most of such a file's time was to load the program anew.

import { readdirSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longestFirst.js';

/** What a file would leave behind in its process, a folder or a variable: such a file has one of its own. */
const LEAVES = /process\.(env\.\w+ =|chdir)/;

/** Where whole nights are played, some after others and most with something that goes wrong. */
const FAULTS = ['faults', 'night', 'proof'].map((folder) => `test/${folder}/**/*.test.ts`);

const TOGETHER = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.test.ts') && !/^(faults|night|proof)\b/.test(path))
  .map((path) => `test/${path}`)
  .filter((path) => !LEAVES.test(readFileSync(path, 'utf8')));

const EVERY_TEST = {
  setupFiles: ['test/support/setup.ts'],
  // Real servers and processes on a shared, noisy machine: CI tries a failed test once more.
  retry: process.env.CI ? 1 : 0,
  testTimeout: 60_000,
  hookTimeout: 60_000,
  // As long as it takes on such a machine: what is waited for has no time of its own.
  expect: { poll: { timeout: 20_000 } },
};

// biome-ignore lint/style/noDefaultExport: vitest reads the default export.
export default defineConfig({
  test: {
    // Once, for both: what it provides is theirs as well.
    globalSetup: ['test/support/globalSetup.ts'],
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...EVERY_TEST,
          name: 'alone',
          pool: 'forks',
          include: ['test/**/*.test.ts'],
          exclude: [...TOGETHER, ...FAULTS],
        },
      },
      { test: { ...EVERY_TEST, name: 'faults', pool: 'forks', include: FAULTS } },
      {
        test: { ...EVERY_TEST, name: 'together', pool: 'forks', include: TOGETHER, isolate: false },
      },
    ],
  },
});
