// A command ends when it has said how it ended, whatever went away for good while it worked: the
// queue's server or the database. The built program, real servers that are killed or frozen under
// it. A cron job that never gets an exit code starts no next night.

import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { readPostmaster } from '../../src/database/embedded/postmaster.js';
import type { Running } from '../support/cli.js';
import { ensureBuilt, startTieout } from '../support/cli.js';
import { kinds } from '../support/night.js';
import { privateRedisMissing, startRedis } from '../support/redis.js';
import { buildSeparateHouse } from '../support/separateHouse.js';
import { houseBehind } from './houseBehind.js';

const MINUTE_MS = 60_000;

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

describe.skipIf(privateRedisMissing !== null)('a run whose Redis goes away for good', () => {
  it.each(['killed', 'frozen'] as const)(
    '%s: fails, and ends',
    { timeout: 4 * MINUTE_MS },
    async (how) => {
      await ensureBuilt();
      const redis = await startRedis();
      cleanups.push(() => redis.end());
      const { house, front } = await houseBehind({
        orders: 9_000,
        inLedger: kinds({ capture_due: 60 }, 'A1001'),
        settings: { queue: { url: redis.url } },
      });
      cleanups.push(() => house.end());
      front.trouble = async ({ operation }) => {
        // While the canary is on its way: what waits for it is never enqueued.
        if (operation === 'capture' && how === 'killed') await redis.kill();
        if (operation === 'capture' && how === 'frozen') redis.freeze();
        return false;
      };
      const run = startTieout(['run'], { cwd: house.folder });
      const { code, stderr } = await run.ended;
      expect(stderr).toMatch(/redis at 127\.0\.0\.1/);
      expect(code, stderr).toBe(1);
      expect((await house.effects()).length).toBe(1);
    },
  );
});

describe('a run whose database goes away for good', () => {
  it('waits for it, and ends when it is told to', { timeout: 4 * MINUTE_MS }, async () => {
    const { run } = await cutOff();
    await run.says('the database is away; it is waited for');
    run.signal('SIGTERM');
    const { code, stderr } = await run.ended;
    expect(code, stderr).toBe(1);
  });

  // As long as a run waits for its database: not for every day.
  if (process.env.TIEOUT_STEPS === 'all') {
    it('ends by itself when it has waited long enough', { timeout: 30 * MINUTE_MS }, async () => {
      const { run } = await cutOff();
      const { code, stderr } = await run.ended;
      expect(code, stderr).toBe(1);
    });
  }
});

/** Nobody starts its server again. */
async function cutOff(): Promise<{ run: Running }> {
  const house = await buildSeparateHouse({ orders: 900, seed: 1, database: 'server' });
  cleanups.push(() => house.end());
  const run = startTieout(['run'], { cwd: house.folder });
  cleanups.push(async () => {
    run.signal('SIGKILL');
    await run.ended;
  });
  await run.says('pull: done');
  const data = realpathSync(join(house.folder, 'server', 'postgres'));
  process.kill(readPostmaster(data)?.pid ?? 0, 'SIGKILL');
  return { run };
}
