// How long a database that went away is waited for, by a clock that is moved. The database is a real
// address behind which nothing listens.

import { expect, it } from 'vitest';
import { DatabaseAwayError, DatabaseFullError } from '../../src/core/errors.js';
import { openDatabase } from '../../src/database/db.js';
import type { Run } from '../../src/runs/deps.js';
import { DATABASE_MINUTES_MAX, openOutages } from '../../src/runs/lease.js';
import type { SendDeps } from '../../src/send/deps.js';
import { freshDatabase } from '../support/database.js';

it('waits once for an outage that does not end, whoever waits for it', async () => {
  const db = openDatabase({ connectionString: 'postgres://nobody@127.0.0.1:1/books' });
  const lines: string[] = [];
  let now = 0;
  const deps = {
    db,
    now: () => new Date(now),
    monotonic: () => now,
    sleep: async (ms: number) => {
      now += 30 * ms;
    },
    runner: { id: '00000000-0000-4000-8000-000000000001' },
    log: (line: string) => lines.push(line),
  } as unknown as SendDeps;
  const night = { runId: 1n, businessDate: '2026-11-21', isDry: false } as unknown as Run;
  const outages = openOutages(deps);
  const error = new DatabaseAwayError('the connection was lost');
  // What failed is recorded first, and then the run would go on.
  await outages.recordEnd(deps, night, error);
  expect(lines[0]).toMatch(
    /the database is away; it is waited for, .* \(.*nothing listens there\)$/,
  );
  expect(await outages.isOver(error)).toBe(false);
  expect(now / 60_000).toBeLessThan(DATABASE_MINUTES_MAX + 2);
  await db.close();
});

it('goes on with a pause that grows where the database is back and away again at once', async () => {
  const { db, drop } = await freshDatabase();
  let now = 0;
  const lines: string[] = [];
  const deps = {
    db,
    now: () => new Date(now),
    monotonic: () => now,
    sleep: async (ms: number) => {
      now += ms;
    },
    log: (line: string) => lines.push(line),
  } as unknown as SendDeps;
  // A full disk answers at once, and nobody made room by then.
  expect(await openOutages(deps).isOver(new DatabaseFullError('it is full'))).toBe(true);
  expect([now, lines[0]]).toEqual([15_000, 'it is full; the run goes on in 15 seconds']);
  now = 0;
  const outages = openOutages(deps);
  const error = new DatabaseAwayError('the server has no connection left');
  expect(await outages.isOver(error)).toBe(true);
  expect(now).toBe(0);
  for (const seconds of [15, 60]) {
    const before = now;
    expect(await outages.isOver(error)).toBe(true);
    expect(now - before).toBe(seconds * 1_000);
    expect(lines).toContain(`${error.message}; the run goes on in ${seconds} seconds`);
  }
  // What held for a while was over.
  now += 120_000;
  const before = now;
  expect(await outages.isOver(error)).toBe(true);
  expect(now).toBe(before);
  expect(await outages.isOver(error)).toBe(true);
  expect(await outages.isOver(error)).toBe(false);
  await drop();
});
