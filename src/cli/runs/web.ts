// `tieout web`: the HTTP face alone. `tieout start`: clock, workers and HTTP face in one process, a
// small merchant's whole installation.

import { randomUUID } from 'node:crypto';
import { Command } from 'commander';
import { discardJob, listFailedJobs, retryFailedJob } from '../../../jobs/failed.js';
import { hasAdministrator, listUsers } from '../../access/usersStore.js';
import { UnreachableError } from '../../core/errors.js';
import type { QueueName, Reevaluate } from '../../core/queuePort.js';
import { migrationStatus } from '../../database/migrate.js';
import { readSchedule } from '../../night/owedRun.js';
import { reevaluate, renewed } from '../../night/reevaluateJob.js';
import type { Workforce } from '../../night/run.js';
import type { MonitorDeps } from '../../web/health.js';
import { createWebServer } from '../../web/server.js';
import type { FailedJobView, JobsPort } from '../../web/visit.js';
import { localIdentity } from '../../web/visitor/identity.js';
import { makeLink } from '../../web/visitor/links.js';
import type { App } from '../app.js';
import { enqueuesWhenAsked } from '../app.js';
import { SERVICE, withApp } from '../context.js';
import { scheduleDepsOf } from '../scheduleStatus.js';
import { certificateState, readCertificate } from '../setup/consoleCertificate.js';
import { retryWords } from './jobs.js';
import { runClock, untilStopped } from './schedule.js';

/** The newest so many failed jobs are listed. */
const JOBS_SHOWN_MAX = 200;

export function webCommand(): Command {
  return new Command('web').action(async (_flags: object, command: Command) => {
    await withApp(
      command,
      async (app, signal) => {
        const close = await openWeb(app);
        await untilStopped(signal);
        await close();
        return 0;
      },
      SERVICE,
    );
  });
}

export function startCommand(): Command {
  return new Command('start').action(async (_flags: object, command: Command) => {
    await withApp(
      command,
      async (app, signal) => {
        const close = await openWeb(app);
        const workforce = await app.workforce();
        // All day long: what is approved at noon is sent at noon.
        await workforce.start();
        try {
          await runClock(app, signal, AT_WORK);
        } finally {
          await close();
          await workforce.stop();
        }
        return 0;
      },
      SERVICE,
    );
  });
}

/** A run that finds the workers at work leaves them there. */
const AT_WORK: Workforce = { start: async () => {}, stop: async () => {} };

async function openWeb(app: App): Promise<() => Promise<void>> {
  const { host, port, proxies, notifications, tls } = app.config.web;
  const base = {
    db: app.db,
    accountIds: app.config.accounts.map((account) => account.accountId),
    now: () => new Date(),
    newId: randomUUID,
    log: app.log,
  };
  const { config, version } = app;
  const identity = localIdentity(base);
  const people = {
    ...base,
    config,
    version,
    identity,
    jobs: jobsPort(app),
    queuePort: enqueuesWhenAsked(app),
    nextNight: async () => (await readSchedule(scheduleDepsOf(app))).facts.nextTick,
  };
  const server = createWebServer({
    ...base,
    console: people,
    monitor: monitorOf(app),
    notifications,
    proxies,
    tls: tls && readCertificate(tls),
  });
  let address: string;
  try {
    address = await server.listen({ host, port });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new UnreachableError(`web.host ${host}, web.port ${port}: cannot listen (${code})`, {
      cause: error,
    });
  }
  app.log(`the console is at ${address}`);
  const certificate = tls && certificateState(tls, base.now());
  if (certificate && certificate.kind !== 'ok') {
    app.log(`web.tls: ${certificate.words}`, { level: 'warn' });
  }
  if (notifications !== null) {
    const last = notifications.secret === null ? '' : '/ and web.notifications.secret';
    app.log(`notifications of the gateway go to ${address}/notify${last}`);
  }
  if (!(await hasAdministrator(app.db))) {
    const link = await makeLink(app, null, new Date());
    const isNew = (await listUsers(app.db)).length === 0;
    const give = 'give the role to one who is there (tieout users role NAME --role admin), or ';
    const first = isNew ? 'make the first account' : `${give}make a new account`;
    app.log(`nobody may manage it yet: ${first}, once: ${address}${link}`);
  }
  return () => server.close();
}

/** The queue is asked for only when a monitor asks. */
function monitorOf(app: App): MonitorDeps {
  return {
    ...scheduleDepsOf(app),
    version: app.version,
    queueCounts: async () => (await app.queues()).counts(),
    queueTakesJobs: async () => (await app.queues()).takesJobs(),
    pendingMigrations: async () => (await migrationStatus(app.connection)).pending.length,
  };
}

function jobsPort(app: App): JobsPort {
  return {
    list: async () => {
      const found = await listFailedJobs(await app.queues(), { limit: JOBS_SHOWN_MAX });
      const jobs: FailedJobView[] = [];
      for (const job of found) jobs.push({ ...job, retry: await retryWords(app, job) });
      return jobs;
    },
    counts: async () => (await app.queues()).counts(),
    retry: async (jobId) => {
      const queues = await app.queues();
      const weigh: Reevaluate = (queue, id) => reevaluate(app, queue, id);
      const renew = (queue: QueueName, id: string) => renewed(app, queue, id);
      return retryFailedJob({ queues, queuePort: queues, reevaluate: weigh, renew }, jobId);
    },
    discard: async (jobId) => {
      const { kind } = await discardJob(await app.queues(), jobId);
      const words =
        kind === 'discarded' ? 'it left the list; its rows are as they were' : 'it is gone';
      return { kind, words };
    },
  };
}
