// The queuePort when things break: a lost queue, a dead server, a dead worker, a blocked process.
// Nothing of it may lose work for good; that a job may run twice is shown here on purpose.

import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { listFailedJobs } from '../../jobs/failed.js';
import { migrateQueues, openQueues } from '../../jobs/queues.js';
import { ERRORS_PER_WINDOW } from '../../jobs/rests.js';
import { TieoutError, UnreachableError } from '../../src/core/errors.js';
import type { QueueName } from '../../src/core/queuePort.js';
import { openDatabase } from '../../src/database/db.js';
import { startEmbedded } from '../../src/database/embedded/embedded.js';
import type { House } from '../jobs/house.js';
import { fact, houseOf, quiet } from '../jobs/house.js';
import { freshDatabase } from '../support/database.js';
import { latch } from '../support/latch.js';
import { prepareData } from '../support/preparedData.js';
import type { TestRedis } from '../support/redis.js';
import { privateRedisMissing, startRedis } from '../support/redis.js';

const BLOCKED_POLL_MS = 100;
const BLOCKED_POLLS = 300;
const SHORT_LOCK = { lockMs: 1_000, stalledCheckMs: 500 };
const deps = { log: () => {}, now: () => new Date(), newId: randomUUID };

/** A house whose server is ours alone, to be killed, frozen and emptied. */
interface Breakable extends House {
  kill(): Promise<void>;
  start(): Promise<void>;
  loseAllJobs(): Promise<void>;
  dropConnections(): Promise<void>;
}

const BREAKABLE: readonly {
  title: string;
  missing: string | null;
  build: () => Promise<Breakable>;
}[] = [
  { title: 'on Redis', missing: privateRedisMissing, build: breakableRedis },
  { title: 'on PostgreSQL', missing: null, build: breakablePostgres },
];

async function breakableRedis(): Promise<Breakable> {
  const server = await startRedis();
  const house = houseOf({ kind: 'redis', url: server.url }, () => server.end());
  return {
    ...house,
    kill: () => server.kill(),
    start: () => server.start(),
    loseAllJobs: async () => void (await server.command('FLUSHALL')),
    dropConnections: async () => void (await server.command('CLIENT', 'KILL', 'TYPE', 'normal')),
  };
}

async function breakablePostgres(): Promise<Breakable> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tieout-queue-'));
  // Open to the user that the server runs as, when the tests run as root.
  await chmod(dataDir, 0o755);
  prepareData(dataDir);
  const launch = () => startEmbedded({ dataDir, unsafeFast: true });
  let server = await launch();
  const { host, user, database } = server;
  const connection = { kind: 'database', connection: { host, user, database } } as const;
  await migrateQueues(connection);
  const run = async (statement: string): Promise<void> => {
    const admin = openDatabase(connection.connection, { max: 1 });
    await admin.query(statement).finally(() => admin.close());
  };
  const house = houseOf(connection, async () => {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  });
  return {
    ...house,
    kill: () => server.stop(),
    async start() {
      server = await launch();
    },
    loseAllJobs: () => run('truncate bullmq.job, bullmq.dedup, bullmq.dedup_next cascade'),
    dropConnections: () =>
      run(`select pg_terminate_backend(pid) from pg_stat_activity
           where datname = current_database() and pid <> pg_backend_pid()`),
  };
}

describe.each(BREAKABLE)('the queuePort', (entry) => {
  const skipped = entry.missing === null ? '' : ` (skipped: ${entry.missing})`;
  describe.skipIf(entry.missing !== null)(`${entry.title}${skipped}`, () => {
    let house: Breakable;
    afterEach(() => house.end());

    it('is heard again after the queue lost all its jobs, one of them at work', async () => {
      house = await entry.build();
      const queues = await house.open();
      const [begun, go] = [latch(), latch()];
      const heard: string[] = [];
      await house.work(queues, {
        report: async (id) => {
          heard.push(id);
          begun.open();
          await go.promise;
        },
      });
      await queues.enqueue('report', ['at-work', 'waiting-1', 'waiting-2']);
      await begun.promise;
      await house.loseAllJobs();
      go.open();
      await queues.enqueue('report', ['at-work', 'waiting-1', 'waiting-2']);
      await fact(() =>
        expect(new Set(heard)).toEqual(new Set(['at-work', 'waiting-1', 'waiting-2'])),
      );
      await fact(() => expect(heard.length).toBeGreaterThanOrEqual(4));
      await quiet(queues, 'report');
    });

    it('is heard again after its connections were cut', async () => {
      house = await entry.build();
      const queues = await house.open();
      const heard: string[] = [];
      await house.work(queues, { pull: async (id) => void heard.push(id) });
      await queues.enqueue('pull', ['before']);
      await fact(() => expect(heard).toContain('before'));
      await house.dropConnections();
      await fact(() => queues.enqueue('pull', ['after']));
      await fact(() => expect(heard).toContain('after'));
    });

    it('is heard again after its server was killed and restarted under a running job', async () => {
      house = await entry.build();
      const queues = await house.open();
      const [begun, go] = [latch(), latch()];
      const heard: string[] = [];
      const capture = async (id: string) => {
        heard.push(id);
        if (id !== 'at-work') return;
        begun.open();
        await go.promise;
      };
      await house.work(queues, { capture }, SHORT_LOCK);
      await queues.enqueue('capture', ['at-work']);
      await begun.promise;
      await house.kill();
      const early = queues.enqueue('capture', ['too-early']);
      await expect(early).rejects.toBeInstanceOf(UnreachableError);
      go.open();
      await house.start();
      await fact(() => queues.enqueue('capture', ['after']));
      await fact(() => expect(heard).toContain('after'));
      await quiet(queues, 'capture');
      // What repeats itself for seconds is told once.
      expect(house.lines.length).toBeLessThan(60);
    });

    it('enqueues for another worker when one dies in the middle of a job', async () => {
      house = await entry.build();
      const queues = await house.open();
      await queues.enqueue('refund', ['orphan']);
      const dying = otherWorker(house, 'refund', "process.kill(process.pid, 'SIGKILL')");
      expect(await once(dying, 'exit')).toEqual([null, 'SIGKILL']);
      expect((await queues.counts()).refund.active).toBe(1);
      const heard: string[] = [];
      await house.work(queues, { refund: async (id) => void heard.push(id) }, SHORT_LOCK);
      await fact(() => expect(heard).toEqual(['orphan']));
      expect(house.lines.join('\n')).toContain('went silent; it is run again');
      await quiet(queues, 'refund');
    });

    it('may run a job twice when its process is blocked past the lock', async () => {
      house = await entry.build();
      const queues = await house.open();
      const dir = await mkdtemp(join(tmpdir(), 'tieout-twice-'));
      const sign = join(dir, 'second-run');
      const runs: string[] = [];
      const capture = async (id: string) => {
        otherWorker(house, 'capture', `writeFileSync(${JSON.stringify(sign)}, job.data.id)`);
        block(() => existsSync(sign));
        runs.push(id);
      };
      await house.work(queues, { capture }, SHORT_LOCK);
      await queues.enqueue('capture', ['batch']);
      await fact(() => expect(runs).toEqual(['batch']));
      expect(await readFile(sign, 'utf8')).toBe('batch');
      // Both did it, and neither run is listed as failed.
      await quiet(queues, 'capture');
      expect(await listFailedJobs(queues, { limit: 10 })).toEqual([]);
      await rm(dir, { recursive: true });
    });
  });
});

/** Holds the event loop until something is seen outside: no timer runs, no lock is renewed. */
function block(until: () => boolean): void {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  for (let look = 1; look <= BLOCKED_POLLS && !until(); look += 1) {
    Atomics.wait(cell, 0, 0, BLOCKED_POLL_MS);
  }
}

/** Another process with a worker on one queue; `action` is what it does with a job. */
function otherWorker(house: House, queue: QueueName, action: string): ChildProcess {
  const script = `
    import { writeFileSync } from 'node:fs';
    import { createPostgresBackend, Worker } from 'bullmq';
    import pg from 'pg';
    const given = JSON.parse(process.argv[1]);
    const onRedis = given.kind === 'redis';
    const connection = onRedis
      ? { url: given.url, maxRetriesPerRequest: null }
      : new pg.Pool({ ...given.connection, options: '-c search_path=bullmq' });
    const work = async (job) => { ${action}; setTimeout(() => process.exit(), 500); };
    const times = { lockDuration: ${SHORT_LOCK.lockMs}, stalledInterval: ${SHORT_LOCK.stalledCheckMs} };
    const options = { connection, prefix: '{tieout-${queue}}', ...times };
    const backend = onRedis ? undefined : createPostgresBackend;
    new Worker('${queue}', work, options, backend).on('error', () => {});
  `;
  const args = ['--input-type=module', '-e', script, JSON.stringify(house.connection)];
  return spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
}

describe('opening the queuePort', () => {
  it.each([
    'redis://127.0.0.1:1',
    'redis://:secret-word@127.0.0.1:1/3',
    'rediss://127.0.0.1:1',
    'redis://no-such-host.invalid:6379',
  ])('says that the queue cannot be reached at %s, in a bounded time', async (url) => {
    const opening = openQueues(deps, { kind: 'redis', url });
    await expect(opening).rejects.toBeInstanceOf(UnreachableError);
    await expect(opening).rejects.not.toThrow('secret-word');
  });

  it('says that the queue cannot be reached where no database server is', async () => {
    const connection = { host: '/nowhere/at/all', user: 'nobody', database: 'none' };
    const opening = openQueues(deps, { kind: 'database', connection });
    await expect(opening).rejects.toBeInstanceOf(UnreachableError);
  });

  it.each(['http://127.0.0.1:1', 'redis://', 'redis:///var/run/redis.sock', 'localhost:6379', ''])(
    'refuses "%s" as an address, naming the key',
    async (url) => {
      const opening = openQueues(deps, { kind: 'redis', url });
      await expect(opening).rejects.toThrow('queue.url: not an address of the form redis://');
    },
  );

  it('refuses a database without the tables of the queue, and says what to do', async () => {
    const { connection, drop } = await freshDatabase();
    const opening = openQueues(deps, { kind: 'database', connection });
    await expect(opening).rejects.toBeInstanceOf(TieoutError);
    await expect(opening).rejects.toThrow('run `tieout migrate up`');
    await drop();
  });

  it('does not let workers spin while the tables of the queue are gone', async () => {
    const { connection, db, drop } = await freshDatabase();
    await migrateQueues({ kind: 'database', connection });
    // A clock that leaps makes the log tell each error.
    let at = 0;
    const now = () => {
      at += 100_000;
      return new Date(at);
    };
    const lines: string[] = [];
    const log = (line: string) => void lines.push(line);
    const queues = await openQueues({ ...deps, log, now }, { kind: 'database', connection });
    const [begun, go] = [latch(), latch()];
    const heard: string[] = [];
    const house = houseOf({ kind: 'database', connection }, drop);
    const report = async (id: string) => {
      heard.push(id);
      begun.open();
      await go.promise;
    };
    const workers = await house.work(queues, { report });
    await queues.enqueue('report', ['at-work', 'next']);
    await begun.promise;
    await db.query('drop schema bullmq cascade');
    go.open();
    const start = performance.now();
    const told = () => lines.filter((line) => line.startsWith('worker report: ')).length;
    await fact(() => expect(told()).toBeGreaterThanOrEqual(ERRORS_PER_WINDOW + 5));
    // Rests of 1 and 2 seconds, and more: a timer never comes early, however busy the machine is.
    expect(performance.now() - start).toBeGreaterThan(2_900);
    await migrateQueues({ kind: 'database', connection });
    await fact(() => queues.enqueue('report', ['after']));
    await fact(() => expect(heard).toContain('after'));
    await workers.stop(5_000);
    await queues.close();
    await house.end();
  });

  it('makes the tables of the queue once, whoever asks and however often', async () => {
    const { connection, drop } = await freshDatabase();
    const ask = () => migrateQueues({ kind: 'database', connection });
    await Promise.all([ask(), ask(), ask()]);
    await ask();
    const queues = await openQueues(deps, { kind: 'database', connection });
    await queues.enqueue('pull', ['w']);
    expect((await queues.counts()).pull.waiting).toBe(1);
    await queues.close();
    await drop();
  });
});

const skippedRedis = privateRedisMissing === null ? '' : ` (skipped: ${privateRedisMissing})`;

describe.skipIf(privateRedisMissing !== null)(`a Redis server${skippedRedis}`, () => {
  it('that went away is reported by a worker that starts, in a bounded time', async () => {
    const server = await startRedis();
    const house = houseOn(server, server.url);
    const queues = await house.open();
    await server.kill();
    await expect(house.work(queues)).rejects.toBeInstanceOf(UnreachableError);
  });

  it('that hangs is reported when something is enqueued, in a bounded time', async () => {
    const server = await startRedis();
    const house = houseOn(server, server.url);
    const queues = await house.open();
    server.freeze();
    await expect(queues.enqueue('pull', ['w'])).rejects.toBeInstanceOf(UnreachableError);
    server.thaw();
  });

  it('that may evict or forget jobs, or is full, is warned about', async () => {
    const forgetful = ['--appendonly', 'no', '--maxmemory-policy', 'allkeys-lru'];
    const server = await startRedis([...forgetful, '--maxmemory', '1']);
    const house = houseOn(server, server.url);
    await house.open();
    expect(house.lines.join('\n')).toContain('maxmemory-policy is allkeys-lru');
    expect(house.lines.join('\n')).toContain('appendonly is off');
    expect(house.lines.join('\n')).toContain('its memory is full: it takes no jobs');
  });

  it('with a password and a database number is used as its address says', async () => {
    const server = await startRedis(['--requirepass', 'a+b/c']);
    const url = `${server.url.replace('redis://', `redis://:${encodeURIComponent('a+b/c')}@`)}/5`;
    const house = houseOn(server, url);
    const queues = await house.open();
    const heard: string[] = [];
    await house.work(queues, { pull: async (id) => void heard.push(id) });
    await queues.enqueue('pull', ['w']);
    await fact(() => expect(heard).toEqual(['w']));
  });
});

/** Ended with its server even when the test fails. */
function houseOn(server: TestRedis, url: string): House {
  const house = houseOf({ kind: 'redis', url }, () => server.end());
  onTestFinished(() => house.end());
  return house;
}
