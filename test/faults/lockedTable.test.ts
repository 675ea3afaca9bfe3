// Somebody has locked the ledger's table and gone for lunch: a run that waits says who holds it up
// and what ends it, `doctor` answers, and when the lock is gone the run ends as ever.

import { afterEach, describe, expect, it } from 'vitest';
import type { RunSummary } from '../../src/core/runs/summary.js';
import { openClient } from '../../src/database/connection.js';
import { openDatabase } from '../../src/database/db.js';
import { gaveUpWaiting, watchLockWaits } from '../../src/database/server/lockWaits.js';
import { startTieout, tieout } from '../support/cli.js';
import type { SeparateHouse } from '../support/separateHouse.js';
import { buildSeparateHouse } from '../support/separateHouse.js';
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
