// Failed jobs over both backends: what is listed, and that a retry asks the database first.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  clearOver,
  discardJob,
  findFailedJob,
  listFailedJobs,
  retryFailedJob,
} from '../../jobs/failed.js';
import type { Queues } from '../../jobs/queues.js';
import type { QueueName, QueuePort, Reevaluation } from '../../src/core/queuePort.js';
import type { House } from './house.js';
import { fact, forge, HOUSES, quiet, titleOf } from './house.js';

describe.each(HOUSES)('failed jobs', (entry) => {
  describe.skipIf(entry.missing !== null)(titleOf(entry), () => {
    let house: House;
    let queues: Queues;
    let runs: string[];
    let enqueued: string[];
    let queuePort: QueuePort;

    beforeEach(async () => {
      house = await entry.build();
      queues = await house.open();
      runs = [];
      enqueued = [];
      queuePort = {
        enqueue: async (queue, ids) => {
          enqueued.push(`${queue} ${ids.join(' ')}`);
          await queues.enqueue(queue, ids);
        },
      };
    });
    afterEach(() => house.end());

    async function fail(queue: QueueName, ids: readonly string[]): Promise<void> {
      const before = (await queues.counts())[queue].failed;
      const handler = async (id: string) => {
        runs.push(id);
        throw new Error(`${id} could not be done`);
      };
      const workers = await house.work(queues, { [queue]: handler });
      await queues.enqueue(queue, ids);
      await fact(async () =>
        expect((await queues.counts())[queue].failed).toBe(before + ids.length),
      );
      await workers.stop(5_000);
    }

    async function onlyJob(): Promise<string> {
      const [job] = await listFailedJobs(queues, { limit: 1 });
      if (job === undefined) throw new Error('no failed job');
      return job.jobId;
    }

    const answering = (kind: Reevaluation['kind'], words: string) => async () => ({ kind, words });

    it('are listed newest first over all queues, up to the limit', async () => {
      await fail('capture', ['c1']);
      await fail('refund', ['r1', 'r2']);
      const jobs = await listFailedJobs(queues, { limit: 10 });
      expect(jobs.map((job) => job.id).toSorted()).toEqual(['c1', 'r1', 'r2']);
      expect(jobs.at(-1)).toMatchObject({
        queue: 'capture',
        id: 'c1',
        reason: 'c1 could not be done',
      });
      expect(await listFailedJobs(queues, { limit: 2 })).toHaveLength(2);
      expect(await listFailedJobs(queues, { limit: 0 })).toHaveLength(0);
    });

    it('leave the list by themselves once their work was done, and no others', async () => {
      await fail('capture', ['done-since', 'a-person-decides', 'nothing-left']);
      await fail('report', ['done-since', 'still-to-do']);
      await forge(queues, 'report', { id: 'r', more: 1 });
      const workers = await house.work(queues);
      await fact(async () => expect((await queues.counts()).report.failed).toBe(3));
      await workers.stop(5_000);
      const answers: Record<string, Reevaluation> = {
        'done-since': { kind: 'done', words: 'done since', isOver: true },
        'a-person-decides': { kind: 'hold', words: 'held' },
        'nothing-left': { kind: 'done', words: 'nobody does it any more' },
        'still-to-do': { kind: 'enqueue', words: 'still to be done' },
      };
      const reevaluate = async (_: QueueName, id: string) =>
        answers[id] ?? { kind: 'enqueue' as const, words: '' };
      expect(await clearOver({ queues, reevaluate })).toBe(2);
      const left = (await listFailedJobs(queues, { limit: 10 })).map(
        ({ queue, id }) => `${queue} ${id}`,
      );
      expect(left.toSorted()).toEqual([
        'capture a-person-decides',
        'capture nothing-left',
        'report null',
        'report still-to-do',
      ]);
      expect(enqueued).toEqual([]);
    });

    it('are told once for one reason, and then as a count', async () => {
      const workers = await house.work(queues, {
        pull: async () => {
          throw new Error('the database is away');
        },
        report: async (id) => {
          throw new Error(id === 'full' ? 'the disk is full' : 'the database is away');
        },
      });
      await queues.enqueue('pull', ['1', '2', '3', '4']);
      await queues.enqueue('report', ['5', 'full']);
      await fact(async () => {
        const counts = await queues.counts();
        expect([counts.pull.failed, counts.report.failed]).toEqual([4, 2]);
      });
      const told = (): string[] => house.lines.filter((line) => / failed/.test(line));
      expect(told()).toHaveLength(2);
      await workers.stop(5_000);
      expect(told().toSorted()).toEqual([
        '4 more jobs failed for the same reason: the database is away',
        expect.stringMatching(/^queue (pull|report): \d failed: the database is away$/),
        'queue report: full failed: the disk is full',
      ]);
    });

    it('can be shown one by one', async () => {
      await fail('pull', ['w1']);
      const jobId = await onlyJob();
      expect(await findFailedJob(queues, jobId)).toMatchObject({ queue: 'pull', id: 'w1', jobId });
      expect(await findFailedJob(queues, 'pull-w1-never')).toBeNull();
    });

    it('are enqueued anew when the database says that there is still something to do', async () => {
      await fail('refund', ['b1']);
      const jobId = await onlyJob();
      const reevaluate = answering('enqueue', 'batch b1 is queued and was never sent');
      expect(await retryFailedJob({ queues, queuePort, reevaluate }, jobId)).toEqual({
        kind: 'rung',
        jobId,
        queue: 'refund',
        id: 'b1',
        words: 'batch b1 is queued and was never sent',
      });
      expect(enqueued).toEqual(['refund b1']);
      expect(await queues.counts()).toMatchObject({ refund: { waiting: 1, failed: 0 } });
      const heard: string[] = [];
      await house.work(queues, { refund: async (id) => void heard.push(id) });
      await fact(() => expect(heard).toEqual(['b1']));
      await quiet(queues, 'refund');
    });

    it('leave the list without being enqueued when nothing is left to do', async () => {
      await fail('refund', ['b1']);
      const reevaluate = answering('done', 'all 50 refunds of b1 are confirmed');
      const decision = await retryFailedJob({ queues, queuePort, reevaluate }, await onlyJob());
      expect(decision).toMatchObject({ kind: 'done', words: 'all 50 refunds of b1 are confirmed' });
      expect(enqueued).toEqual([]);
      expect((await queues.counts()).refund).toEqual({ waiting: 0, active: 0, failed: 0 });
    });

    it('stay on the list without being enqueued while a person has to decide', async () => {
      await fail('refund', ['b1']);
      const reevaluate = answering('hold', 'b1 was sent and its outcome is unknown');
      const decision = await retryFailedJob({ queues, queuePort, reevaluate }, await onlyJob());
      expect(decision.kind).toBe('held');
      expect(enqueued).toEqual([]);
      expect((await queues.counts()).refund).toEqual({ waiting: 0, active: 0, failed: 1 });
      expect(runs).toEqual(['b1']);
    });

    it('stay on the list when the database cannot be asked', async () => {
      await fail('refund', ['b1']);
      const reevaluate = async () => {
        throw new Error('the database is away');
      };
      const jobId = await onlyJob();
      await expect(retryFailedJob({ queues, queuePort, reevaluate }, jobId)).rejects.toThrow(
        'away',
      );
      expect((await queues.counts()).refund).toEqual({ waiting: 0, active: 0, failed: 1 });
    });

    it('are never asked about when they were forged, and can be discarded', async () => {
      await forge(queues, 'capture', { id: 'b1', amount: '1.00' }, { jobId: 'forged-by-hand' });
      const workers = await house.work(queues);
      await fact(async () => expect((await queues.counts()).capture.failed).toBe(1));
      await workers.stop(5_000);
      const asked: string[] = [];
      const reevaluate = async (_: QueueName, id: string) => {
        asked.push(id);
        return { kind: 'enqueue' as const, words: '' };
      };
      const decision = await retryFailedJob({ queues, queuePort, reevaluate }, 'forged-by-hand');
      expect(decision).toMatchObject({ kind: 'refused', id: null });
      expect([asked, enqueued]).toEqual([[], []]);
      expect(await discardJob(queues, 'forged-by-hand')).toEqual({ kind: 'discarded' });
      expect(await discardJob(queues, 'forged-by-hand')).toEqual({ kind: 'not_found' });
    });

    it('are not looked for among the jobs that still wait', async () => {
      await forge(queues, 'capture', { id: 'b1' }, { jobId: 'still-waiting' });
      expect(await discardJob(queues, 'still-waiting')).toEqual({ kind: 'not_found' });
      const reevaluate = answering('enqueue', '');
      const decision = await retryFailedJob({ queues, queuePort, reevaluate }, 'still-waiting');
      expect(decision.kind).toBe('not_found');
      expect((await queues.counts()).capture.waiting).toBe(1);
    });
  });
});
