// Builds what the commands need, lazily and in one place: database, queue, gateway, the deps of a
// night, the workers. The one file that knows everything; it decides nothing. What only some
// commands need is loaded when it is first built. Whatever it opened it closes in reverse, and the
// embedded servers are left to their last user.

import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { QueueConnection } from '../../jobs/backend.js';
import type { Queues } from '../../jobs/queues.js';
import { notePutBack } from '../audit/signedHeads.js';
import type { App, AppOptions, Talk } from '../cli/app.js';
import type { Config } from '../config/config.js';
import {
  ConfigurationError,
  DatabaseRefusesError,
  STOPPED,
  TieoutError,
  UnreachableError,
} from '../core/errors.js';
import type { Log } from '../core/log.js';
import { withFields } from '../core/log.js';
import type { QueueName, QueuePort, Reevaluate } from '../core/queuePort.js';
import type { Connection } from '../database/connection.js';
import { openDatabase } from '../database/db.js';
import { startEmbedded, WRITER } from '../database/embedded/embedded.js';
import { WORK_LIMITS } from '../database/limits.js';
import { migrateUp, migrationStatus } from '../database/migrate.js';
import { ensureWriter } from '../database/server/grantRoles.js';
import { watchLockWaits } from '../database/server/lockWaits.js';
import { bringNumbersForward } from '../database/server/sequencesStore.js';
import { packageRoot } from '../database/statements.js';
import { openSlots } from '../gateway/transport/slots.js';
import type { Workforce } from '../night/run.js';
import { tellFrozen, tellJobFailed } from '../outbox/writeAlerts.js';
import { isAlive, thisMachine, thisProcess } from '../processes/identity.js';
import { openReach } from '../processes/ownReach.js';
import { countJobs } from '../runs/jobsUnderWay.js';
import { packageVersion } from '../runs/thisProgram.js';
import { openRateLimit } from '../send/batches/rateLimitStore.js';
import type { SendDeps } from '../send/deps.js';
import { openAnswerSpool } from '../send/journal/answerSpool.js';
import { openJournalGuard } from '../send/journal/journalGuard.js';
import { openPermitJournal } from '../send/journal/permitJournal.js';
import { watchFitness } from '../send/journal/senderFitness.js';
import { startSweeping } from '../send/sweep.js';

/** What a server that is gone keeps from being closed is left: the process ends all the same. */
const CLOSE_MS_MAX = 15_000;
const PARTS_PAUSE_MS = 1_000;
/** How long a send in flight may still take when the program is told to stop. */
const STOP_GRACE_MS = 45_000;

export async function openApp(config: Config, options: AppOptions): Promise<App> {
  // Every wait of the run listens on it; that is meant, not a leak.
  setMaxListeners(0, options.signal);
  const closers: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const closer of closers.splice(0).reverse()) await inTime(closer(), options.talk.log);
  };
  try {
    const { connection, owner } = await openServer(config, options, closers);
    const queueConnection = queueConnectionOf(config, connection);
    if (options.anySchema !== true) await whenThere(() => requireSchema(config, owner), options);
    const lockMs = options.lockMs ?? WORK_LIMITS.lockMs;
    const db = openDatabase(connection, { limits: { idleMs: 0, lockMs } });
    closers.push(() => db.close());
    const { log, progress } = options.talk;
    const locks = watchLockWaits(db, options.warn ?? log);
    closers.push(async () => locks.stop());
    if (options.anySchema !== true) await bringNumbersForward(db);
    const heldUpBy = locks.last;
    const base = {
      config,
      version: packageVersion(),
      connection,
      owner,
      db,
      log,
      progress,
      heldUpBy,
      localTicks: ticksOf(config),
      close,
    };
    const queues = once(async () => {
      const { migrateQueues, openQueues } = await import('../../jobs/queues.js');
      // Like the ledger's, the queue's tables of an embedded database come about by themselves.
      if (config.database.kind === 'embedded' && options.anySchema !== true) {
        await migrateQueues(queueConnectionOf(config, owner));
      }
      const opened = await openQueues(
        { log: options.talk.log, now: () => new Date(), newId: randomUUID },
        queueConnection,
      );
      closers.push(() => opened.close());
      return opened;
    });
    const sendDeps = once(() => openSendDeps(base, queues, options, closers));
    return {
      ...base,
      queues,
      sendDeps,
      workforce: once(() => openWorkforce(queues, sendDeps, options)),
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function inTime(closing: Promise<unknown>, log: Log): Promise<void> {
  const ended = new AbortController();
  const late = sleep(CLOSE_MS_MAX, undefined, { signal: ended.signal, ref: false }).then(
    () => log(`something did not close within ${CLOSE_MS_MAX / 1000} s; it is left as it is`),
    () => {},
  );
  await Promise.race([closing, late]).finally(() => ended.abort());
}

async function openServer(
  config: Config,
  { talk }: AppOptions,
  closers: (() => Promise<unknown>)[],
): Promise<Pick<App, 'connection' | 'owner'>> {
  if (config.database.kind === 'url') {
    const connection = { connectionString: config.database.url };
    return { connection, owner: connection };
  }
  const server = await startEmbedded({ dataDir: config.dataDir, log: talk.log });
  closers.push(() => server.stopIfUnused());
  const { host, database } = server;
  const owner = { host, database, user: server.user };
  return { owner, connection: { ...owner, user: WRITER } };
}

/** Nobody else starts the embedded server again when it has died. */
function reviver(config: Config, { log }: Talk, closers: (() => Promise<unknown>)[]) {
  return async (): Promise<void> => {
    const server = await startEmbedded({ dataDir: config.dataDir, log });
    closers.push(() => server.stopIfUnused());
  };
}

/** What the work answers; where a server is away and may come, as soon as it is there. */
async function whenThere<T>(work: () => Promise<T>, options: AppOptions): Promise<T> {
  const { partsSeconds = 0, talk, signal } = options;
  const until = performance.now() + partsSeconds * 1_000;
  for (let isSaid = false; ; isSaid = true) {
    try {
      return await work();
    } catch (error) {
      const mayCome = error instanceof UnreachableError && !(error instanceof DatabaseRefusesError);
      if (!mayCome || performance.now() >= until) throw error;
      const words = `${error.message}; it is waited for, ${partsSeconds} seconds at most`;
      if (!isSaid) talk.log(words, { level: 'warn' });
      await interruptible(PARTS_PAUSE_MS, signal);
    }
  }
}

function queueConnectionOf(config: Config, connection: Connection): QueueConnection {
  if (config.queue.kind === 'redis') return { kind: 'redis', url: config.queue.url };
  return { kind: 'database', connection };
}

/** An embedded database migrates by itself; a given one is refused until `tieout migrate up`. */
async function requireSchema(config: Config, owner: Connection): Promise<void> {
  if (config.database.kind === 'embedded') {
    await migrateUp(owner);
    await ensureWriter(owner, WRITER);
    return;
  }
  const status = await migrationStatus(owner);
  if (status.missing.length > 0) {
    throw new TieoutError(
      `the database was used by a newer tieout (${status.missing.join(', ')}); update this one`,
    );
  }
  if (status.pending.length > 0) {
    throw new ConfigurationError(
      config.file,
      'database.url',
      `the database lacks ${status.pending.length} migration(s): run \`tieout migrate up\``,
    );
  }
}

async function openSendDeps(
  app: Pick<App, 'config' | 'db' | 'version' | 'heldUpBy'>,
  queues: () => Promise<Queues>,
  options: AppOptions,
  closers: (() => Promise<unknown>)[],
): Promise<SendDeps> {
  const { talk, signal, now = () => new Date(), wallClock = () => new Date() } = options;
  const { config, db } = app;
  const pause = (ms: number): Promise<void> => interruptible(ms, signal);
  const monotonic = (): number => performance.now();
  const { createGatewayClient } = await import('../gateway/client.js');
  const gateway = createGatewayClient({
    profile: config.gateway.profile,
    baseUrl: await gatewayAddress(config, talk, closers),
    proxy: config.gateway.proxy,
    takeToken: openRateLimit(db, config.gateway.profile.limits.requestsPerSecond, pause),
  });
  closers.push(() => gateway.close());
  const runner = { id: randomUUID(), ...thisProcess() };
  const journal = openJournalGuard({
    db,
    environment: config.environment,
    host: thisMachine(),
    open: () => openPermitJournal(config.dataDir),
    wallClock,
    monotonic,
    every,
    log: talk.log,
    putBack: (reason) => notePutBack(config.dataDir, reason, talk.log),
    tellFrozen: (tx, reason) => tellFrozen(tx, config, reason, wallClock()),
  });
  closers.push(() => journal.close());
  return {
    db,
    config,
    gateway,
    queuePort: await queuePortOf(config, () => whenThere(queues, options)),
    runner,
    version: app.version,
    now,
    monotonic,
    newId: randomUUID,
    sleep: pause,
    journal,
    fitness: watchFitness({ host: thisMachine(), monotonic, log: talk.log }),
    answers: openAnswerSpool(config.dataDir),
    // The client holds the snapshots to the limit; one batch of ours is one request.
    turns: openSlots(config.gateway.profile.limits.concurrency),
    jobs: countJobs(signal),
    reach: openReach(monotonic),
    isAlive,
    heldUpBy: app.heldUpBy,
    ...(config.database.kind === 'url' ? {} : { reviveDatabase: reviver(config, talk, closers) }),
    log: talk.log,
    progress: talk.progress,
  };
}

/** On the ledger's own server it is opened when first used: loading it takes a while. */
async function queuePortOf(config: Config, queues: () => Promise<Queues>): Promise<QueuePort> {
  if (config.queue.kind !== 'database') return queues();
  return { enqueue: async (name, ids) => (await queues()).enqueue(name, ids) };
}

async function gatewayAddress(
  config: Config,
  talk: Talk,
  closers: (() => Promise<unknown>)[],
): Promise<string> {
  if (config.gateway.baseUrl !== 'sandbox') return config.gateway.baseUrl;
  const { useSandbox } = await import('../sandbox/daemon.js');
  const sandbox = await useSandbox({
    stateDir: join(config.dataDir, 'sandbox'),
    accounts: config.accounts,
    log: () => {},
    program: join(packageRoot(), 'bin', 'tieout.js'),
  });
  talk.log(`the sandbox gateway listens on ${sandbox.baseUrl}: no real money moves`);
  closers.push(() => sandbox.leave());
  return sandbox.baseUrl;
}

async function openWorkforce(
  queues: () => Promise<Queues>,
  sendDeps: () => Promise<SendDeps>,
  { talk }: AppOptions,
): Promise<Workforce> {
  const deps = await sendDeps();
  let stop = async (): Promise<void> => {};
  return {
    start: async () => {
      const [opened, handlers] = await Promise.all([queues(), handlersOf(deps)]);
      const { startWorkers } = await import('../../jobs/worker.js');
      const { keepClear } = await import('../../jobs/failed.js');
      const { reevaluate } = await import('../night/reevaluateJob.js');
      const { enqueueLostReports } = await import('../report/report.js');
      const workers = await startWorkers({
        queues: opened,
        handlers,
        log: talk.log,
        onFailed: (job) => tellJobFailed(deps.db, deps.config, job, deps.now()),
        isInTheWay: deps.fitness.isInTheWay,
      });
      const stopSweeping = startSweeping(deps, () => enqueueLostReports(deps));
      const weigh: Reevaluate = (queue, id) => reevaluate(deps, queue, id);
      const endClearing = keepClear({ queues: opened, reevaluate: weigh });
      stop = async () => {
        await stopSweeping();
        const { stillRunning } = await workers.stop(STOP_GRACE_MS);
        await endClearing();
        if (stillRunning > 0) {
          talk.log(`${stillRunning} job(s) did not end in time`, { level: 'warn' });
        }
      };
    },
    stop: () => stop(),
  };
}

/** What each queue's id names, and who works on it. */
async function handlersOf(
  deps: SendDeps,
): Promise<Record<QueueName, (id: string) => Promise<void>>> {
  const { pullChunk } = await import('../pull/pullChunk.js');
  const { sendBatch } = await import('../send/sendBatch.js');
  const send = (id: string): Promise<void> =>
    sendBatch({ ...deps, log: withFields(deps.log, { batch: id }) }, rowId(id));
  const counted =
    (work: (id: string) => Promise<void>) =>
    (id: string): Promise<void> =>
      deps.jobs.during(() => work(id));
  return {
    pull: counted((id) => pullChunk(deps, rowId(id))),
    capture: counted(send),
    cancel: counted(send),
    refund: counted(send),
    review: counted(send),
    payout: counted(send),
    report: counted(async (id) => {
      // Takes a while to load: of workers only those that write a report do.
      const { writeReport } = await import('../report/writeReport.js');
      await writeReport({ ...deps, localTicks: ticksOf(deps.config) }, rowId(id));
    }),
  };
}

/** What reads the expression takes a while to load: few commands ask. */
function ticksOf({ schedule }: Config): App['localTicks'] {
  return async (around) => {
    const { localTicksOf } = await import('../../jobs/clock.js');
    return localTicksOf(schedule.cron)(around);
  };
}

/** Ids of jobs are not trusted: anything but the number of a row is refused. */
function rowId(id: string): bigint {
  if (!/^\d{1,18}$/.test(id)) throw new TieoutError(`job id ${id} does not name a row`);
  return BigInt(id);
}

/** Nobody stays alive for it. */
function every(ms: number, work: () => Promise<void>): () => void {
  const timer = setInterval(work, ms).unref();
  return () => clearInterval(timer);
}

async function interruptible(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(ms, undefined, { signal });
  } catch {
    throw new TieoutError(STOPPED);
  }
}

/** Builds it when it is first asked for; what failed, as for a queue away, is tried anew. */
function once<T>(build: () => Promise<T>): () => Promise<T> {
  let built: Promise<T> | null = null;
  const forget = (): void => {
    built = null;
  };
  return () => {
    if (built === null) {
      built = build();
      built.catch(forget);
    }
    return built;
  };
}
