// `tieout jobs list|show|retry|discard`: failed queue jobs in words. A retry asks the database what
// is still to be done and enqueues that; it never repeats a job as it was.

import { Command } from 'commander';
import type { FailedJob } from '../../../jobs/failed.js';
import { discardJob, findFailedJob, listFailedJobs, retryFailedJob } from '../../../jobs/failed.js';
import { FAILED_KEPT } from '../../../jobs/queues.js';
import { UsageError } from '../../core/errors.js';
import type { QueuePort } from '../../core/queuePort.js';
import { reevaluate, renewed } from '../../night/reevaluateJob.js';
import { writtenByIds } from '../../report/reportsStore.js';
import type { App } from '../app.js';
import { printJson, printLines, wantsJson, withApp } from '../context.js';
import type { Line } from '../terminal.js';
import { columns, stateWord } from '../terminal.js';

export function jobsCommand(): Command {
  const root = new Command('jobs');
  root
    .command('list', { isDefault: true })
    .description('failed jobs, newest first, with the reason and what a retry would do')
    .option('--json', 'print one JSON document')
    .action(async (_flags: object, command: Command) => {
      await withApp(command, (app) => list(app, wantsJson(command)), { quiet: true });
    });
  root
    .command('show')
    .argument('<job>')
    .description('one failed job')
    .option('--json', 'print one JSON document')
    .action(async (jobId: string, _flags: object, command: Command) => {
      await withApp(command, (app) => show(app, jobId, wantsJson(command)), { quiet: true });
    });
  root
    .command('retry')
    .argument('[job...]', 'jobs (default: with --all, every failed one)')
    .option('--all', 'every failed job')
    .option('--json', 'print one JSON document')
    .description('look into the database what is still to be done, and enqueue that')
    .action(async (jobIds: string[], flags: { all?: boolean }, command: Command) => {
      await withApp(command, (app) => retry(app, jobIds, flags.all ?? false, wantsJson(command)));
    });
  root
    .command('discard')
    .argument('<job...>')
    .description('take failed jobs off the list; what they named stays as the database says')
    .option('--json', 'print one JSON document')
    .action(async (jobIds: string[], _flags: object, command: Command) => {
      await withApp(command, (app) => discard(app, jobIds, wantsJson(command)), { quiet: true });
    });
  return root;
}

async function list(app: App, json: boolean): Promise<number> {
  const jobs = await listFailedJobs(await app.queues(), { limit: FAILED_KEPT });
  const described = [];
  for (const job of jobs) described.push({ ...job, retry: await retryWords(app, job) });
  if (json) printJson(described);
  else if (described.length === 0) printLines(['No job has failed.']);
  else printLines(jobLines(described));
  return 0;
}

async function show(app: App, jobId: string, json: boolean): Promise<number> {
  const job = await findFailedJob(await app.queues(), jobId);
  if (job === null) throw new UsageError(`there is no failed job ${jobId}`);
  const retryText = await retryWords(app, job);
  if (json) printJson({ ...job, retry: retryText });
  else printLines(jobLines([{ ...job, retry: retryText }]));
  return 0;
}

async function retry(
  app: App,
  jobIds: readonly string[],
  all: boolean,
  json: boolean,
): Promise<number> {
  const queues = await app.queues();
  if (jobIds.length === 0 && !all) throw new UsageError('name the jobs to retry, or say --all');
  const ids = all
    ? (await listFailedJobs(queues, { limit: FAILED_KEPT })).map((job) => job.jobId)
    : jobIds;
  const deps = {
    queues,
    queuePort: { enqueue: enqueueOrWrite(app, queues) },
    renew: (queue: FailedJob['queue'], id: string) => renewed(app, queue, id),
    reevaluate: (queue: FailedJob['queue'], id: string) => reevaluate(app, queue, id),
  };
  const decisions = [];
  for (const jobId of ids) decisions.push(await retryFailedJob(deps, jobId));
  if (json) printJson(decisions);
  else {
    printLines(
      decisions.length === 0
        ? ['No job has failed.']
        : decisions.map((one) => `${one.jobId}: ${one.kind.replace('_', ' ')}: ${one.words}`),
    );
  }
  const missing = decisions.some((one) => one.kind === 'not_found' || one.kind === 'refused');
  return missing ? 1 : 0;
}

/** Reports are written here and now: a command may find no worker that would. */
function enqueueOrWrite(app: App, queues: QueuePort): QueuePort['enqueue'] {
  return async (queue, ids) => {
    if (queue !== 'report') return queues.enqueue(queue, ids);
    const { writeReport } = await import('../../report/writeReport.js');
    for (const id of ids) await writeReport(app, BigInt(id));
    for (const { path } of await writtenByIds(app.db, ids.map(BigInt))) {
      process.stderr.write(`written: ${path}\n`);
    }
  };
}

async function discard(app: App, jobIds: readonly string[], json: boolean): Promise<number> {
  const queues = await app.queues();
  const decisions = [];
  for (const jobId of jobIds) decisions.push({ jobId, ...(await discardJob(queues, jobId)) });
  if (json) printJson(decisions);
  else printLines(decisions.map(({ jobId, kind }) => `${jobId}: ${kind.replace('_', ' ')}`));
  return decisions.some(({ kind }) => kind === 'not_found') ? 1 : 0;
}

/** What a retry of it would do, asked of the database now. */
export async function retryWords(app: App, job: FailedJob): Promise<string> {
  if (job.id === null) return 'the job names nothing of ours; discard it';
  const { kind, words } = await reevaluate(app, job.queue, job.id);
  const verbs = { enqueue: 'is queued again', done: 'changes nothing', hold: 'waits for a person' };
  return `${verbs[kind]}: ${words}`;
}

function jobLines(jobs: readonly (FailedJob & { retry: string })[]): Line[] {
  const heads = columns(
    jobs.map((job) => [
      job.jobId,
      stateWord('failed'),
      job.failedAt.toISOString(),
      `${job.queue} ${job.id ?? '?'}`,
      job.reason,
    ]),
  );
  return heads.flatMap((head, at) => [head, `    a retry: ${jobs[at]?.retry}`]);
}
