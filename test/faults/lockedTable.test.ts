// Somebody has locked the ledger's table and gone for lunch: a run that waits says who holds it up
// and what ends it, `doctor` answers, and when the lock is gone the run ends as ever. A standby that
// commits wait for is named as well.

import { afterEach, describe, expect, it, vi } from 'vitest';
import type { RunSummary } from '../../src/core/runs/summary.js';
import { openClient } from '../../src/database/connection.js';
import { openDatabase } from '../../src/database/db.js';
import { gaveUpWaiting, watchLockWaits } from '../../src/database/server/lockWaits.js';
import { startTieout, tieout } from '../support/cli.js';
import type { SeparateHouse } from '../support/separateHouse.js';
import { buildSeparateHouse } from '../support/separateHouse.js';
import { startSharedServer } from '../support/sharedServer.js';
import { auditRun } from './audit.js';

const MINUTE_MS = 60_000;

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function locked(house: SeparateHouse, table: string) {
  const client = await openClient(house.connection, 'psql');
  await client.query(`begin; lock table ${table} in access exclusive mode`);
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const letGo = async (): Promise<void> => {
    await client.query('rollback');
    await client.end();
  };
  return { pid: rows[0]?.pid ?? 0, letGo };
}

describe('a synchronous standby that does not answer', () => {
  it('is named by what waits for it, and nobody is told to end a session of ours', async () => {
    const server = await startSharedServer();
    cleanups.push(() => server.end());
    const waitFor = (standbys: string): Promise<unknown> =>
      server.at(async (db) => {
        await db.query(`alter system set synchronous_standby_names = '${standbys}'`);
        await db.query('select pg_reload_conf()');
      });
    const db = openDatabase(server.connection);
    cleanups.push(() => db.close());
    const watch = watchLockWaits(db, () => {}, 100);
    cleanups.push(async () => watch.stop());
    await waitFor('nobody');
    const written = db.query('set synchronous_commit = on; create table public.written (n int)');
    await vi.waitFor(() => expect(watch.last()).toMatch(/a standby that does not answer/), 20_000);
    expect(watch.last()).not.toContain('pg_terminate_backend');
    await waitFor('');
    await written;
  });
});

describe('a table that somebody has locked', () => {
  it('is named with its holder, and the work goes on by itself', {
    timeout: 4 * MINUTE_MS,
  }, async () => {
    const house = await buildSeparateHouse({ orders: 60, seed: 8 });
    cleanups.push(() => house.end());
    const { pid, letGo } = await locked(house, 'ledger.orders');
    const heldUp = `held up: session ${pid} of the database (psql as `;
    const run = startTieout(['run', '--json'], { cwd: house.folder });
    await run.says(heldUp);
    await run.says(`has locked ledger.orders`);

    const doctor = await tieout(['doctor', '--json'], { cwd: house.folder });
    const { checks } = JSON.parse(doctor.stdout) as {
      checks: { name: string; kind: string; words: string }[];
    };
    const ledger = checks.filter(({ name }) => name === 'ledger');
    expect(ledger).toMatchObject([{ kind: 'problem', words: expect.stringContaining(heldUp) }]);
    expect(checks.find(({ name }) => name === 'alerts')).toBeDefined();
    expect(doctor.code).toBe(1);

    await letGo();
    const { code, stdout, stderr } = await run.ended;
    expect([0, 3], stderr).toContain(code);
    expect(stderr).toContain(`by pg_terminate_backend(${pid})`);
    expect((JSON.parse(stdout) as RunSummary).accounts.map((one) => one.state)).not.toContain(
      'failed',
    );
    expect(await auditRun(house.db, await house.effects())).toEqual([]);
  });

  it('is waited for as long as the limit says, and no longer', async () => {
    const house = await buildSeparateHouse({ orders: 1, seed: 8 });
    cleanups.push(() => house.end());
    const { pid, letGo } = await locked(house, 'tieout.breaks');
    const db = openDatabase(house.connection, { limits: { idleMs: 0, lockMs: 700 } });
    cleanups.push(() => db.close());
    const watch = watchLockWaits(house.db, () => {}, 100);
    expect(watch.last()).toBeNull();
    const error = await db.query('select from tieout.breaks').catch((thrown: unknown) => thrown);
    expect(gaveUpWaiting(error)).toBe(true);
    expect(watch.last()).toContain(`session ${pid}`);
    watch.stop();
    await letGo();
  });
});
