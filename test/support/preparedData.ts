// A data folder for a server of a test's own, copied from one that holds the migrated database: to
// make one anew takes more than a second of the processor. Neighbour: globalSetup.ts makes the one
// that is copied, once for a whole run.

import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';

/** The next start in this folder finds the database there, without the queues' tables. */
export function prepareData(dataDir: string): void {
  const prepared = inject('preparedData');
  // Another server was given for the tests: none was made that could be copied.
  if (prepared === null) return;
  mkdirSync(dataDir, { recursive: true });
  execFileSync('cp', ['-a', prepared, join(dataDir, 'postgres')]);
}
