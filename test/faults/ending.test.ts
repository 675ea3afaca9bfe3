// A command ends when it has said how it ended, whatever went away for good while it worked: the
// queue's server or the database. The built program, real servers that are killed or frozen under
// it. A cron job that never gets an exit code starts no next night. Each test waits
// minutes for what has minutes to end in, on servers of its own: they wait at the same time.

import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'vitest';
import { describe, it } from 'vitest';
import { readPostmaster } from '../../src/database/embedded/postmaster.js';
import { approveHeld } from '../support/approveHeld.js';
import type { Running } from '../support/cli.js';
import { ensureBuilt, startTieout } from '../support/cli.js';
import { kinds } from '../support/night.js';
import { privateRedisMissing, startRedis } from '../support/redis.js';
import { buildSeparateHouse } from '../support/separateHouse.js';
import { houseBehind } from './houseBehind.js';

const MINUTE_MS = 60_000;

const withRedis = describe.skipIf(privateRedisMissing !== null);

withRedis.concurrent('what sends, and whose Redis goes away for good', () => {
  it.for([
    ['run', 'killed'],
    ['run', 'frozen'],
    ['send', 'killed'],
    ['send', 'frozen'],
  ] as const)(
    '%s, %s: waits for it, fails, and ends',
    { timeout: 8 * MINUTE_MS },
    async ([word, how], { expect, onTestFinished }) => {
      await ensureBuilt();
      const redis = await startRedis();
      onTestFinished(() => redis.end());
      const { house, front } = await houseBehind({
        orders: 9_000,
        inLedger: kinds({ capture_due: 60 }, 'A1001'),
        settings: {
          queue: { url: redis.url },
          ...(word === 'send' ? { operations: { capture: 'approve' } } : {}),
        },
      });
      onTestFinished(() => house.end());
      if (word === 'send') {
        await house.run();
        expect(new Set(await approveHeld(house))).toEqual(new Set(['done']));
      }
      front.trouble = async ({ operation }) => {
        // While the canary is on its way: what waits for it is never enqueued.
        if (operation === 'capture' && how === 'killed') await redis.kill();
        if (operation === 'capture' && how === 'frozen') redis.freeze();
        return false;
      };
      const { code, stderr } = await startTieout([word], { cwd: house.folder }).ended;
      expect(stderr).toMatch(/redis at 127\.0\.0\.1:.*it was waited for, 3 minutes\. Start it/);
      expect(code, stderr).toBe(1);
      expect((await house.effects()).length).toBe(1);
    },
  );
});

describe.concurrent('a run whose database goes away for good', () => {
  it('waits for it, and ends when it is told to', { timeout: 4 * MINUTE_MS }, async (test) => {
    const { run } = await cutOff(test);
    await run.says('the database is away; it is waited for');
    run.signal('SIGTERM');
    const { code, stderr } = await run.ended;
    test.expect(code, stderr).toBe(1);
  });

  // As long as a run waits for its database: not for every day.
  if (process.env.TIEOUT_STEPS === 'all') {
    it('ends by itself when it has waited long enough', {
      timeout: 30 * MINUTE_MS,
    }, async (test) => {
      const { run } = await cutOff(test);
      const { code, stderr } = await run.ended;
      test.expect(code, stderr).toBe(1);
    });
  }
});

/** Nobody starts its server again. */
async function cutOff({ onTestFinished }: TestContext): Promise<{ run: Running }> {
  const house = await buildSeparateHouse({ orders: 900, seed: 1, database: 'server' });
  onTestFinished(() => house.end());
  const run = startTieout(['run'], { cwd: house.folder });
  onTestFinished(async () => {
    run.signal('SIGKILL');
    await run.ended;
  });
  await run.says('pull: done');
  const data = realpathSync(join(house.folder, 'server', 'postgres'));
  process.kill(readPostmaster(data)?.pid ?? 0, 'SIGKILL');
  return { run };
}
