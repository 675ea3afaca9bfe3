// A run whose own question gets no answer does not say that it lives: whoever could take it over
// would not, and nobody would be told. A real PostgreSQL; what it answers is not read, as it would
// not come where the server's host had vanished.

import { afterAll, expect, it } from 'vitest';
import { clientSettings } from '../../src/database/connection.js';
import { openDatabase } from '../../src/database/db.js';
import type { Run } from '../../src/runs/deps.js';
import { withHeartbeat } from '../../src/runs/heartbeat.js';
import { fenced } from '../../src/runs/lease.js';
import { freshDatabase } from '../support/database.js';
import { storeRun } from '../support/snapshotStore.js';

const BEATS_MS = 12_000;
const fresh = await freshDatabase();
const { db, connection } = fresh;
afterAll(() => fresh.drop());

/** Begins a run, asks, and lets the time go that a question may take. */
async function heartbeats(ask: (run: Run) => Promise<unknown>): Promise<boolean> {
  const runId = await storeRun(db, 'A1');
  const { rows } = await db.query<{ id: string }>(
    'select runner_id::text as id from tieout.runs where run_id = $1',
    [runId],
  );
  let now = 0;
  const deps = { monotonic: () => now, runner: { id: rows[0]?.id } as never };
  const run = { runId, businessDate: '2026-11-21', isDry: true, db: mute } as unknown as Run;
  const last = async () =>
    (await db.query('select heartbeat_at from tieout.runs where run_id = $1', [runId])).rows[0];
  return withHeartbeat({ ...deps, db }, run, async () => {
    ask(fenced({ ...deps, db: mute }, run).run).catch(() => {});
    now = 16_000;
    const before = await last();
    await new Promise((resolve) => setTimeout(resolve, BEATS_MS));
    return JSON.stringify(await last()) !== JSON.stringify(before);
  });
}

const mute = openDatabase(connection, { max: 1 });
afterAll(() => mute.close());

it('beats while the server works on what the run asked', { timeout: 60_000 }, async () => {
  expect(await heartbeats((run) => run.db.query('select pg_sleep(15)'))).toBe(true);
});

it('does not beat where no answer comes and the server works on nothing', {
  timeout: 60_000,
}, async () => {
  const client = await mute.pool.connect();
  const { stream } = (client as unknown as { connection: { stream: NodeJS.ReadStream } })
    .connection;
  client.release();
  stream.pause();
  expect(await heartbeats((run) => run.db.query('select 1'))).toBe(false);
  stream.resume();
});

it('misses a server that vanished within half a minute', () => {
  const { keepAlive, keepAliveInitialDelayMillis } = clientSettings(connection);
  expect([keepAlive, keepAliveInitialDelayMillis]).toEqual([true, 10_000]);
});
