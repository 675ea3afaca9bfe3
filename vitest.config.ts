// More workers than the two cores of the machine it is meant for: half of a test is waiting, for a
// server to start, for a claim to grow old, for a process to end.

import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longestFirst.js';

// biome-ignore lint/style/noDefaultExport: vitest reads the default export.
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/globalSetup.ts'],
    pool: 'forks',
    maxWorkers: 5,
    sequence: { sequencer: LongestFirst },
    // Real servers and processes on a shared, noisy machine: CI tries a failed test once more.
    retry: process.env.CI ? 1 : 0,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // As long as it takes on such a machine: what is waited for has no time of its own.
    expect: { poll: { timeout: 20_000 } },
  },
});
