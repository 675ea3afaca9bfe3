// Every command ends when it has said how it ended, also where Redis went away for good: what sends,
// enqueues or asks the queue, and what works until it is told to stop, which then has the minute
// that deploy/ leaves it. Neighbour: ending.test.ts, where Redis goes away under a run or a send.

import { describe, it } from 'vitest';
import { ensureBuilt, startTieout } from '../support/cli.js';
import { privateRedisMissing, startRedis } from '../support/redis.js';
import { buildSeparateHouse } from '../support/separateHouse.js';

const MINUTE_MS = 60_000;

describe.skipIf(privateRedisMissing !== null).concurrent('where Redis goes away for good', () => {
  it.for(['killed', 'frozen'] as const)(
    '%s: every command that needs it ends',
    { timeout: 8 * MINUTE_MS },
    async (how, { expect, onTestFinished }) => {
      await ensureBuilt();
      const redis = await startRedis();
      onTestFinished(() => redis.end());
      const operations = { capture: 'approve', cancel: 'auto', refund: 'auto', review: 'auto' };
      const settings = { queue: { url: redis.url }, operations, web: { port: 0 } };
      const house = await buildSeparateHouse({ orders: 300, seed: 21, settings });
      onTestFinished(() => house.end());
      const start = (...words: string[]) => startTieout(words, { cwd: house.folder });
      const run = await start('run').ended;
      expect(run.code, run.stderr).toBe(3);
      const { rows } = await house.db.query<{ id: string }>(
        `select min(instruction_id)::text as id from tieout.instructions
         where state = 'held' and hold_reason = 'approval'`,
      );
      const working = [start('start'), start('work')] as const;
      await Promise.all([
        working[0].says('The next night begins at'),
        working[1].says('works until'),
      ]);
      if (how === 'killed') await redis.kill();
      else redis.freeze();
      // What is approved waits from now on to be enqueued: whoever works tries again and again.
      const approved = await start('instructions', 'approve', rows[0]?.id ?? '', '--as', 'Ann')
        .ended;
      expect(approved.code, approved.stderr).toBe(0);
      expect(approved.stdout).toContain('queued');
      for (const words of [['send'], ['jobs', 'retry', '--all'], ['jobs', 'list']]) {
        const { code, stderr } = await start(...words).ended;
        expect([words, code]).toEqual([words, 1]);
        expect(stderr).toContain('redis at 127.0.0.1');
      }
      await Promise.all(working.map((one) => one.says('sweep: redis at')));
      const told = performance.now();
      for (const one of working) one.signal('SIGTERM');
      for (const { code, stderr } of await Promise.all(working.map(({ ended }) => ended))) {
        expect(code, stderr).toBe(0);
      }
      expect(performance.now() - told).toBeLessThan(MINUTE_MS);
    },
  );
});
