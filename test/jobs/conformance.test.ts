// What the queuePort promises, run unchanged over both backends.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listFailedJobs } from '../../jobs/failed.js';
import type { Queues } from '../../jobs/queues.js';
import { QUEUE_TABLE } from '../../jobs/queues.js';
import { UnreachableError } from '../../src/core/errors.js';
import { QUEUES } from '../../src/core/queuePort.js';
import { openDatabase } from '../../src/database/db.js';
import { freshDatabase } from '../support/database.js';
import { latch } from '../support/latch.js';
import type { House } from './house.js';
import { fact, forge, HOUSES, houseOf, quiet, titleOf } from './house.js';

/** Anything but one id that could be enqueued. */
const FORGED: readonly unknown[] = [
  { id: 'b1', amount: '12.00' },
  {},
  ['b1'],
  'b1',
  null,
  { id: 1 },
  { id: { $gt: '' } },
  { id: '' },
  { id: '../b1' },
  { id: 'b1\n' },
  { id: 'b'.repeat(1_000_000) },
];

const LARGE = Array.from({ length: 30 }, (_, index) => `large-${index}`);
const SMALL = ['small-0', 'small-1'];
/** The two, enqueued in this order. */
const IN_TURN = ['large-0', 'small-0', 'large-1', 'small-1', ...LARGE.slice(2)];

describe.each(HOUSES)('the queuePort', (entry) => {
  describe.skipIf(entry.missing !== null)(titleOf(entry), () => {
    let house: House;
    let queues: Queues;

    beforeEach(async () => {
      house = await entry.build();
      queues = await house.open();
    });
    afterEach(() => house.end());

    it('gives the enqueued ids to the handler of their queue', async () => {
      const heard = new Map<string, string[]>(QUEUES.map((queue) => [queue, []]));
      const handlers = QUEUES.map((queue) => [
        queue,
        async (id: string) => void heard.get(queue)?.push(id),
      ]);
      await house.work(queues, Object.fromEntries(handlers));
      for (const queue of QUEUES) await queues.enqueue(queue, [`${queue}-1`, '7', '9f8b.c_d@e']);
      for (const queue of QUEUES) {
        await fact(() =>
          expect(heard.get(queue)?.toSorted()).toEqual(['7', '9f8b.c_d@e', `${queue}-1`]),
        );
      }
    });

    it('enqueues hundreds of ids at once and hears each of them', async () => {
      const ids = Array.from({ length: 1_200 }, (_, index) => `window-${index}`);
      const heard = new Set<string>();
      await queues.enqueue('pull', ids);
      expect((await queues.counts()).pull.waiting).toBe(1_200);
      await house.work(queues, { pull: async (id) => void heard.add(id) });
      await fact(() => expect(heard.size).toBe(1_200));
      await quiet(queues, 'pull');
    });

    it('lets two workers share the work', async () => {
      const other = await house.open();
      const [first, second] = [new Set<string>(), new Set<string>()];
      const bothBusy = latch();
      const handler = (mine: Set<string>) => async (id: string) => {
        mine.add(id);
        if (first.size > 0 && second.size > 0) bothBusy.open();
        await bothBusy.promise;
      };
      await house.work(queues, { capture: handler(first) });
      await house.work(other, { capture: handler(second) });
      const ids = Array.from({ length: 40 }, (_, index) => `batch-${index}`);
      await queues.enqueue('capture', ids);
      await fact(() => expect(new Set([...first, ...second]).size).toBe(40));
      await quiet(queues, 'capture');
    });

    it('keeps one job waiting for an id, however often it is enqueued', async () => {
      for (let round = 1; round <= 30; round += 1)
        await queues.enqueue('refund', ['b1', 'b2', 'b1']);
      // A call at the turn of a window may leave one more.
      expect((await queues.counts()).refund.waiting).toBeLessThanOrEqual(4);
      const heard = new Set<string>();
      await house.work(queues, { refund: async (id) => void heard.add(id) });
      await fact(() => expect([...heard].toSorted()).toEqual(['b1', 'b2']));
    });

    it('takes an id that comes while the same id is at work once more afterwards', async () => {
      const [begun, go] = [latch(), latch()];
      let runs = 0;
      await house.work(queues, {
        cancel: async () => {
          runs += 1;
          begun.open();
          await go.promise;
        },
      });
      await queues.enqueue('cancel', ['batch']);
      await begun.promise;
      await queues.enqueue('cancel', ['batch']);
      go.open();
      await fact(() => expect(runs).toBe(2));
      await quiet(queues, 'cancel');
    });

    it('works on an id once at a time in one process, however often it is enqueued', async () => {
      const [begun, go] = [latch(), latch()];
      let [atOnce, most, runs] = [0, 0, 0];
      await house.work(queues, {
        refund: async () => {
          runs += 1;
          atOnce += 1;
          most = Math.max(most, atOnce);
          begun.open();
          await go.promise;
          atOnce -= 1;
        },
      });
      await queues.enqueue('refund', ['b1']);
      await begun.promise;
      for (let round = 1; round <= 5; round += 1) {
        await queues.enqueue('refund', ['b1']);
        await fact(async () => expect((await queues.counts()).refund.waiting).toBe(0));
      }
      go.open();
      await quiet(queues, 'refund');
      expect(most).toBe(1);
      // Once more for all that came meanwhile; a call that came when that was over is another one.
      expect([2, 3]).toContain(runs);
    });

    it('hears a short list before the rest of a long one that came earlier', async () => {
      const [held, go] = [latch(), latch()];
      const heard: string[] = [];
      let begun = 0;
      await house.work(queues, {
        payout: async (id) => {
          if (!id.startsWith('held')) return void heard.push(id);
          begun += 1;
          await (id === 'held-0' ? held : go).promise;
        },
      });
      // One handler is kept busy all the time, so that what the other one takes is what it hears.
      expect(QUEUE_TABLE.payout.concurrency).toBe(2);
      await queues.enqueue('payout', ['held-0', 'held-1']);
      await fact(() => expect(begun).toBe(2));
      for (const ids of [LARGE, SMALL]) await queues.enqueue('payout', ids);
      held.open();
      await fact(() => expect(heard).toHaveLength(32));
      go.open();
      expect(heard).toEqual(IN_TURN);
    });

    it.each(['payout', 'capture'] as const)('passes by no %s that waits', async (queue) => {
      for (const ids of [LARGE, SMALL]) await queues.enqueue(queue, ids);
      const heard: string[] = [];
      await house.work(queues, { [queue]: async (id: string) => void heard.push(id) });
      await fact(() => expect(heard).toHaveLength(32));
      // One that is taken and not heard yet keeps a handler, however many the others take meanwhile.
      const passedBy = heard.map((id, at) => {
        const before = IN_TURN.slice(0, IN_TURN.indexOf(id));
        return before.filter((earlier) => heard.indexOf(earlier) > at).length;
      });
      expect(Math.max(...passedBy)).toBeLessThan(QUEUE_TABLE[queue].concurrency);
    });

    it('lists a job whose handler throws, with the reason in words, and runs it once', async () => {
      let runs = 0;
      await house.work(queues, {
        review: async () => {
          runs += 1;
          throw new Error('card 4111111111111111\nwas shown');
        },
      });
      await queues.enqueue('review', ['batch-9']);
      await fact(async () => expect(await listFailedJobs(queues, { limit: 10 })).toHaveLength(1));
      const [failed] = await listFailedJobs(queues, { limit: 10 });
      expect(failed).toMatchObject({
        queue: 'review',
        id: 'batch-9',
        reason: 'card 411111******1111 was shown',
        attempts: 1,
      });
      expect(failed?.failedAt).toBeInstanceOf(Date);
      expect(runs).toBe(1);
      expect(house.lines).toContain(
        'queue review: batch-9 failed: card 411111******1111 was shown',
      );
    });

    it('hears an id again although an earlier job of it failed', async () => {
      let runs = 0;
      await house.work(queues, {
        pull: async () => {
          runs += 1;
          if (runs === 1) throw new Error('not this time');
        },
      });
      await queues.enqueue('pull', ['w']);
      await fact(async () => expect((await queues.counts()).pull.failed).toBe(1));
      await queues.enqueue('pull', ['w']);
      await fact(() => expect(runs).toBe(2));
    });

    it('refuses each forged job for good, and goes on', async () => {
      const heard: string[] = [];
      await house.work(queues, { refund: async (id) => void heard.push(id) });
      for (const payload of FORGED) await forge(queues, 'refund', payload, { attempts: 50 });
      await fact(async () => expect((await queues.counts()).refund.failed).toBe(FORGED.length));
      await queues.enqueue('refund', ['honest']);
      await fact(() => expect(heard).toEqual(['honest']));
      const refused = await listFailedJobs(queues, { limit: 50 });
      const reason = 'refused: a job must carry exactly one id and nothing else';
      expect(refused.map(({ id, attempts, reason }) => ({ id, attempts, reason }))).toEqual(
        FORGED.map(() => ({ id: null, attempts: 1, reason })),
      );
    });

    it('never tries a job again, even one that asks for it', async () => {
      let runs = 0;
      await house.work(queues, {
        capture: async () => {
          runs += 1;
          throw new Error('no');
        },
      });
      await forge(queues, 'capture', { id: 'b1' }, { attempts: 5, backoff: 1 });
      await fact(async () => expect((await queues.counts()).capture.failed).toBe(1));
      expect((await queues.counts()).capture).toEqual({ waiting: 0, active: 0, failed: 1 });
      expect(runs).toBe(1);
    });

    it('refuses to enqueue an id that could not be heard', async () => {
      await expect(queues.enqueue('pull', ['fine', 'not:fine'])).rejects.toThrow(/not an id/);
      expect((await queues.counts()).pull.waiting).toBe(0);
    });

    it('keeps nothing of a job that was done', async () => {
      const heard: number[] = [];
      await house.work(queues, { report: async () => void heard.push(1) });
      await queues.enqueue('report', ['run-1']);
      await fact(() => expect(heard).toEqual([1]));
      await fact(async () =>
        expect((await queues.counts()).report).toEqual({ waiting: 0, active: 0, failed: 0 }),
      );
    });

    it('waits for the running job when it stops, and takes no new one', async () => {
      const [begun, go] = [latch(), latch()];
      const [started, finished]: [string[], string[]] = [[], []];
      const workers = await house.work(queues, {
        report: async (id) => {
          started.push(id);
          begun.open();
          await go.promise;
          finished.push(id);
        },
      });
      await queues.enqueue('report', ['run-1']);
      await begun.promise;
      const stopping = workers.stop(60_000);
      await queues.enqueue('report', ['run-2']);
      go.open();
      expect(await stopping).toEqual({ stillRunning: 0 });
      expect([started, finished]).toEqual([['run-1'], ['run-1']]);
      expect((await queues.counts()).report.waiting).toBe(1);
    });

    it('tells a job to stop when the grace is over', async () => {
      const begun = latch();
      let told: unknown;
      const workers = await house.work(queues, {
        pull: (_, signal) =>
          new Promise((_resolve, reject) => {
            begun.open();
            signal.addEventListener('abort', () => {
              told = signal.reason;
              reject(new Error('handed back'));
            });
          }),
      });
      await queues.enqueue('pull', ['w']);
      await begun.promise;
      expect(await workers.stop(50)).toEqual({ stillRunning: 0 });
      expect(told).toBe('tieout is stopping');
    });

    it('says how many jobs would not stop; others hear their ids at once', async () => {
      const [begun, go] = [latch(), latch()];
      const workers = await house.work(queues, {
        pull: async () => {
          begun.open();
          await go.promise;
        },
      });
      await queues.enqueue('pull', ['w']);
      await begun.promise;
      expect(await workers.stop(50)).toEqual({ stillRunning: 1 });
      // The job is taken and locked, as that of a dead worker is; its id is heard all the same.
      const heard: string[] = [];
      await house.work(await house.open(), { pull: async (id) => void heard.push(id) });
      await queues.enqueue('pull', ['w']);
      await fact(() => expect(heard).toEqual(['w']));
      go.open();
    });
  });
});

describe('the queuePort on PostgreSQL', () => {
  it('whose server let nobody in when a queue was first asked for is heard once it does', async () => {
    const { connection, db, drop } = await freshDatabase({ queues: true });
    const house = houseOf({ kind: 'database', connection }, drop);
    const queues = await house.open();
    const { rows } = await db.query<{ name: string }>('select current_database() as name');
    const name = rows[0]?.name;
    const beside = openDatabase({ ...connection, database: 'postgres' }, { max: 1 });
    await beside.query(
      `alter database ${name} allow_connections false;
       select pg_terminate_backend(pid, 5000) from pg_stat_activity
       where datname = '${name}' and application_name = 'tieout queue'`,
    );
    await expect(queues.enqueue('pull', ['early'])).rejects.toThrow(UnreachableError);
    const newcomer = openDatabase(connection, { max: 1 });
    await expect(newcomer.query('select 1')).rejects.toThrow(/it lets nobody in now/);
    await newcomer.close();
    await beside.query(`alter database ${name} allow_connections true`);
    await beside.close();
    await fact(() => queues.enqueue('pull', ['later']));
    await house.end();
  });
});
