// Trouble with what stands around a night, and nobody is called: the queue is emptied while the
// database restarts; the disk of the journal is full and empties again. The built program on real
// servers, audited by what the gateway did.

import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { RunSummary } from '../../src/core/runs/summary.js';
import { startTieout, tieout } from '../support/cli.js';
import { expectIdentities } from '../support/identities.js';
import { privateRedisMissing, startRedis } from '../support/redis.js';
import type { SeparateHouse, SeparateOptions } from '../support/separateHouse.js';
import { buildSeparateHouse } from '../support/separateHouse.js';
import { gateAt } from '../support/steps.js';
import { auditRun } from './audit.js';

const MINUTE_MS = 60_000;

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function houseOf(options: Partial<SeparateOptions> = {}): Promise<SeparateHouse> {
  const house = await buildSeparateHouse({ orders: 300, seed: 23, ...options });
  cleanups.push(() => house.end());
  return house;
}

async function expectSound(house: SeparateHouse, stdout: string): Promise<void> {
  const summary = JSON.parse(stdout) as RunSummary;
  expect(summary.state).toBe('broken');
  await expectIdentities(house.db, summary);
  expect(await auditRun(house.db, await house.effects())).toEqual([]);
  const { rowCount } = await house.db.query(
    `select from tieout.instructions where state in ('planned', 'queued', 'sending')`,
  );
  expect(rowCount).toBe(0);
}

describe.skipIf(privateRedisMissing !== null)('a queue that is emptied', () => {
  it.each(['pull', 'claim'] as const)(
    'while the database restarts, at %s, is enqueued anew',
    { timeout: 5 * MINUTE_MS },
    async (step) => {
      const redis = await startRedis();
      cleanups.push(() => redis.end());
      const house = await houseOf({ database: 'server', settings: { queue: { url: redis.url } } });
      const gate = await gateAt(house.connection, step);
      const night = startTieout(['run', '--json'], { cwd: house.folder });
      cleanups.push(async () => {
        night.signal('SIGKILL');
        await night.ended;
      });
      await gate.reached();
      const restarted = house.restartServer(2_000);
      await redis.command('FLUSHALL');
      await restarted;
      await gate.open();
      const { code, stdout, stderr } = await night.ended;
      expect(code, stderr).toBe(3);
      await expectSound(house, stdout);
    },
  );
});

describe.skipIf(privateRedisMissing !== null)('a queue whose server is away', () => {
  it.each(['claim', 'report'] as const)(
    'at %s, is waited for: the same command goes on when it is back',
    { timeout: 5 * MINUTE_MS },
    async (step) => {
      const redis = await startRedis();
      cleanups.push(() => redis.end());
      const house = await houseOf({ settings: { queue: { url: redis.url } } });
      const gate = await gateAt(house.connection, step);
      const night = startTieout(['run', '--json'], { cwd: house.folder });
      cleanups.push(async () => {
        night.signal('SIGKILL');
        await night.ended;
      });
      await gate.reached();
      await redis.kill();
      await gate.open();
      await night.says('it is waited for, 3 minutes at most');
      await redis.start();
      const { code, stdout, stderr } = await night.ended;
      expect(code, stderr).toBe(3);
      expect(stderr).toContain('the queue answers; what waits is enqueued, and it goes on');
      expect(stderr).not.toContain('failed for');
      await expectSound(house, stdout);
    },
  );
});

describe('a disk that was full, and has room again', () => {
  it('lets the next run send what waited', { timeout: 5 * MINUTE_MS }, async () => {
    const house = await houseOf();
    const journal = join(house.folder, 'var', 'journal');
    mkdirSync(journal, { recursive: true });
    symlinkSync('/dev/full', join(journal, 'permits.ndjson'));
    const full = await tieout(['run', '--json'], { cwd: house.folder });
    expect(full.code, full.stderr).toBe(4);
    expect(await house.effects()).toEqual([]);
    const { stdout } = await tieout(['status'], { cwd: house.folder });
    expect(stdout).toMatch(
      /the journal of permits at \S+ cannot be written, the disk is full: make room \(host /,
    );
    rmSync(join(journal, 'permits.ndjson'));
    const again = await tieout(['run', '--json'], { cwd: house.folder });
    expect(again.code, again.stderr).toBe(3);
    await expectSound(house, again.stdout);
  });
});
