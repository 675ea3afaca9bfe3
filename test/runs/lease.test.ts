// How long a database that went away is waited for, by a clock that is moved. The database is a real
// address behind which nothing listens.

import { expect, it } from 'vitest';
import { DatabaseAwayError } from '../../src/core/errors.js';
import { openDatabase } from '../../src/database/db.js';
import type { Run } from '../../src/runs/deps.js';
import { DATABASE_MINUTES_MAX, openOutages } from '../../src/runs/lease.js';
import type { SendDeps } from '../../src/send/deps.js';

it('waits once for an outage that does not end, whoever waits for it', async () => {
  const db = openDatabase({ connectionString: 'postgres://nobody@127.0.0.1:1/books' });
  let now = 0;
  const deps = {
    db,
    now: () => new Date(now),
    monotonic: () => now,
    sleep: async (ms: number) => {
      now += 30 * ms;
    },
    runner: { id: '00000000-0000-4000-8000-000000000001' },
    log: () => {},
  } as unknown as SendDeps;
  const night = { runId: 1n, businessDate: '2026-11-21', isDry: false } as unknown as Run;
  const outages = openOutages(deps);
  const error = new DatabaseAwayError('the connection was lost');
  // What failed is recorded first, and then the run would go on.
  await outages.recordEnd(deps, night, error);
  expect(await outages.isOver(error)).toBe(false);
  expect(now / 60_000).toBeLessThan(DATABASE_MINUTES_MAX + 2);
  await db.close();
});
