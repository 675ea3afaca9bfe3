// A night that is killed again and again, as the built program, on a gateway that lives on:
// whatever the moment, running it again brings it to its end with nothing done twice and nothing
// forgotten. TIEOUT_KILLS makes a longer campaign, TIEOUT_KILL_SEED another one.

import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { RunSummary } from '../../src/core/runs/summary.js';
import { readPostmaster } from '../../src/database/embedded/postmaster.js';
import { drawsAt } from '../../src/sandbox/seed/random.js';
import { startTieout, tieout } from '../support/cli.js';
import { expectIdentities } from '../support/identities.js';
import type { SeparateHouse } from '../support/separateHouse.js';
import { buildSeparateHouse } from '../support/separateHouse.js';
import { auditRun } from './audit.js';

const KILLS = Number(process.env.TIEOUT_KILLS ?? '10');
const SEED = Number(process.env.TIEOUT_KILL_SEED ?? '1');
/** Of one night; then it may end. */
const KILLS_A_NIGHT = 4;
/** A night of these orders is over about so long after it began. */
const ORDERS = 900;
const NIGHT_MS = 1_400;
const RUNS_TO_THE_END_MAX = 3;
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
