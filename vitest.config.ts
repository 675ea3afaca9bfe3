// Few workers: the tests share the machine with the servers they run against. One more than two
// cores, since much of a test is waiting.

import { defineConfig } from 'vitest/config';

// biome-ignore lint/style/noDefaultExport: vitest reads the default export.
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/globalSetup.ts'],
    pool: 'forks',
    maxWorkers: 3,
    // Real servers and processes on a shared, noisy machine: CI tries a failed test once more.
    retry: process.env.CI ? 1 : 0,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // As long as it takes on such a machine: what is waited for has no time of its own.
    expect: { poll: { timeout: 20_000 } },
  },
});
