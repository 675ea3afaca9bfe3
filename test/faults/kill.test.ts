// A night that is killed again and again, as the built program, on a gateway that lives on:
// whatever the moment, running it again brings it to its end with nothing done twice and nothing
// forgotten. TIEOUT_KILLS makes a longer campaign, TIEOUT_KILL_SEED another one. And one moment that
// chance would never meet: between the two commits of a compare that was shared out.

import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import type { RunSummary } from '../../src/core/runs/summary.js';
import { readPostmaster } from '../../src/database/embedded/postmaster.js';
import { drawsAt } from '../../src/sandbox/seed/random.js';
import { startTieout, tieout } from '../support/cli.js';
import { expectIdentities } from '../support/identities.js';
import type { SeparateHouse } from '../support/separateHouse.js';
import { buildSeparateHouse } from '../support/separateHouse.js';
import { auditRun } from './audit.js';
import { booksOf } from './books.js';

const KILLS = Number(process.env.TIEOUT_KILLS ?? '10');
const SEED = Number(process.env.TIEOUT_KILL_SEED ?? '1');
/** Of one night; then it may end. */
const KILLS_A_NIGHT = 4;
/** A night of these orders is over about so long after it began. */
const ORDERS = 900;
const NIGHT_MS = 1_400;
const RUNS_TO_THE_END_MAX = 3;
const COMPARED_ORDERS = 300;
const MINUTE_MS = 60_000;

describe('a night whose process is killed', () => {
  const draw = drawsAt(SEED, 0);
  const nights = Math.ceil(KILLS / KILLS_A_NIGHT);
  for (let night = 0; night < nights; night += 1) {
    const kills = Math.min(KILLS_A_NIGHT, KILLS - night * KILLS_A_NIGHT);
    it(`${kills} times (night ${night + 1}) ends right`, { timeout: 3 * MINUTE_MS }, async () => {
      const house = await buildSeparateHouse({ orders: ORDERS, seed: SEED * 1_000 + night });
      try {
        for (let kill = 0; kill < kills; kill += 1) await killedRun(house, draw() * NIGHT_MS);
        const summary = await runToItsEnd(house);
        await expectIdentities(house.db, summary);
        const effects = await house.effects();
        expect(await auditRun(house.db, effects)).toEqual([]);
        expect(await forgotten(house)).toEqual([]);
      } finally {
        await house.end();
      }
    });
  }
});

describe('a night whose compare is done by two sessions', () => {
  it('and killed when one of them has committed', { timeout: 3 * MINUTE_MS }, async () => {
    const settings = { orders: COMPARED_ORDERS, seed: SEED };
    const houses = await Promise.all([buildSeparateHouse(settings), buildSeparateHouse(settings)]);
    const [house, quiet] = houses;
    try {
      await house.db.query(SNAPSHOTS_ARE_LARGE);
      const killed = killedBeforeCommitOf(house, 'A1001');
      const [undisturbed] = await Promise.all([runToItsEnd(quiet), killed]);
      const summary = await runToItsEnd(house);
      await expectIdentities(house.db, summary);
      expect(await booksOf(house, summary)).toEqual(await booksOf(quiet, undisturbed));
      expect(await auditRun(house.db, await house.effects())).toEqual([]);
      const verified = await tieout(['verify', summary.businessDate], { cwd: house.folder });
      expect(verified.code, verified.stderr).toBe(0);
    } finally {
      await Promise.all(houses.map((one) => one.end()));
    }
  });
});

describe('a night whose embedded database is killed', () => {
  it('starts it again and ends right', { timeout: 3 * MINUTE_MS }, async () => {
    const house = await buildSeparateHouse({ orders: ORDERS, seed: SEED, database: 'own' });
    try {
      const run = startTieout(['run', '--json'], { cwd: house.folder });
      await run.says('pull: done');
      const data = realpathSync(join(house.folder, 'var', 'postgres'));
      process.kill(readPostmaster(data)?.pid ?? 0, 'SIGKILL');
      const { code, stderr } = await run.ended;
      expect([0, 3, 4], stderr).toContain(code);
      expect(stderr).toMatch(/the database is away; it is waited for/);
      expect(stderr).not.toMatch(/^\s+at /m);
      await runToItsEnd(house);
      expect(await auditRun(house.db, await house.effects())).toEqual([]);
      expect(await forgotten(house)).toEqual([]);
    } finally {
      await house.end();
    }
  });
});

async function killedRun(house: SeparateHouse, afterMs: number): Promise<void> {
  const run = startTieout(['run', '--json'], { cwd: house.folder });
  await run.says('business date');
  await sleep(afterMs);
  run.signal('SIGKILL');
  await run.ended;
}

/** To the program a snapshot of few orders is one that two sessions compare, an account each. */
const SNAPSHOTS_ARE_LARGE = `
  create function public.seem_large() returns trigger language plpgsql as $$ begin
    update tieout.chunks set last_page = last_page + 400 where pull_id = new.pull_id;
    return null;
  end $$;
  create trigger seem_large after update of finished_at on tieout.pulls
    for each row execute function public.seem_large()`;

const GATE = 1_001;
/** Whoever wrote verdicts of that account stands before the gate with its COMMIT. */
const waitsAtGate = (accountId: string): string => `
  create function public.wait_at_gate() returns trigger language plpgsql as $$ begin
    perform pg_advisory_xact_lock_shared(${GATE});
    return null;
  end $$;
  create constraint trigger wait_at_gate after insert on tieout.verdicts
    deferrable initially deferred for each row when (new.account_id = '${accountId}')
    execute function public.wait_at_gate()`;
const AT_GATE = `select pid from pg_locks join pg_stat_activity using (pid)
  where datname = current_database() and locktype = 'advisory' and objid = ${GATE} and not granted`;

/** The other account's verdicts are there for good when the process dies; these never will be. */
async function killedBeforeCommitOf(house: SeparateHouse, accountId: string): Promise<void> {
  const gate = await house.db.pool.connect();
  await gate.query(`select pg_advisory_lock(${GATE})`);
  await gate.query(waitsAtGate(accountId));
  const run = startTieout(['run', '--json'], { cwd: house.folder });
  try {
    await vi.waitFor(
      async () => {
        expect((await gate.query(AT_GATE)).rows).toHaveLength(1);
        const { rows } = await gate.query('select distinct account_id from tieout.verdicts');
        expect(rows).toHaveLength(1);
        expect(rows).not.toContainEqual({ account_id: accountId });
      },
      { timeout: MINUTE_MS, interval: 20 },
    );
    run.signal('SIGKILL');
    await run.ended;
    // The server had its COMMIT already; a process that died a moment sooner had not sent it.
    await gate.query(`select pg_terminate_backend(pid, 10000) from (${AT_GATE}) as waiting`);
    await gate.query('drop function public.wait_at_gate cascade');
    const { rows } = await gate.query('select distinct account_id from tieout.verdicts');
    expect(rows).toHaveLength(1);
  } finally {
    run.signal('SIGKILL');
    gate.release(true);
  }
}

/** Runs until nothing is under way any more. */
async function runToItsEnd(house: SeparateHouse): Promise<RunSummary> {
  for (let turn = 0; turn < RUNS_TO_THE_END_MAX; turn += 1) {
    const { code, stdout, stderr } = await tieout(['run', '--json'], { cwd: house.folder });
    expect([0, 3, 4], stderr).toContain(code);
    const { rows } = await house.db.query(
      `select 1 from tieout.instructions
       where state in ('planned', 'queued', 'sending', 'accepted') limit 1`,
    );
    if (rows.length === 0) return JSON.parse(stdout) as RunSummary;
  }
  throw new Error('the night did not come to its end');
}

const OPERATIONS = new Set(['capture', 'cancel', 'refund', 'review']);

/** Orders that were to be moved and for which there is no instruction. */
async function forgotten(house: SeparateHouse): Promise<string[]> {
  const { rows } = await house.db.query<{ what: string }>(
    `select order_no || ' ' || operation as what from tieout.instructions`,
  );
  const known = new Set(rows.map((row) => row.what));
  return house.seeded
    .filter(({ leadsTo }) => OPERATIONS.has(leadsTo))
    .map(({ ledger, leadsTo }) => `${ledger.order_no} ${leadsTo}`)
    .filter((what) => !known.has(what));
}
