// The figures of /metrics in the text that Prometheus reads. They come from PostgreSQL and the
// queue, so that one process speaks for the whole fleet. No totals without a login: a monitor
// brings the token of the configuration, a person is signed in. The only labels are accounts of the
// configuration and words of our own.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { sameSecret } from '../access/password.js';
import type { Count, MetricFigures } from '../audit/metricsStore.js';
import { readMetricFigures } from '../audit/metricsStore.js';
import { hasEverywhere } from '../core/access.js';
import { didNotStart } from '../core/runs/owed.js';
import { RUN_STATES } from '../core/runs/summary.js';
import type { ScheduleStatus } from '../night/owedRun.js';
import { readSchedule } from '../night/owedRun.js';
import type { OutboxFigures } from '../outbox/outboxStore.js';
import { outboxFigures } from '../outbox/outboxStore.js';
import { inTime } from '../processes/inTime.js';
import type { InboxFigures } from '../settlement/inbox.js';
import { inboxFigures } from '../settlement/inbox.js';
import { cached } from './cachedAnswer.js';
import type { MonitorDeps } from './health.js';
import type { ConsoleDeps } from './visit.js';
import { currentSession } from './visitor/session.js';

const LIMITS = { cacheMs: 10_000, timeoutMs: 20_000 };
const PART_TIMEOUT_MS = 10_000;
/** Accounts with figures of their own; the others are one. */
const ACCOUNTS_MAX = 200;
const OTHERS = 'others';

/** Each name with its help and its labels; docs/RUNBOOK.md says what to do about it. */
export const METRICS = {
  tieout_info: ['Version and environment; always 1', 'version', 'environment'],
  tieout_database_up: ['1 where the database answers'],
  tieout_queue_up: ['1 where the queue answers and takes jobs'],
  tieout_run_state: ['1 for the state of the newest run', 'state'],
  tieout_run_began_timestamp_seconds: ['When the newest run began'],
  tieout_run_business_date_seconds: ['Its business date, as midnight in UTC'],
  tieout_run_finished_timestamp_seconds: ['When the newest finished run ended'],
  tieout_run_duration_seconds: ['From its first beginning to its end'],
  tieout_run_pages: ['Pages asked in it'],
  tieout_run_failed_pages: ['Pages of it that failed, of any of its looks'],
  tieout_run_orders: ['Orders of it'],
  tieout_run_silent_seconds: [
    'Since when nobody works on a run that has not ended; 0: all is well',
  ],
  tieout_night_late: ['1 where a night is owed and nobody began it in time, or it was given up'],
  tieout_next_night_timestamp_seconds: ['When the next night is to begin'],
  tieout_clock_skew_seconds: ['How far the clock of the database is ahead of ours'],
  tieout_open_breaks: ['Open breaks', 'account', 'kind'],
  tieout_instructions: ['Instructions that are not finished', 'account', 'state'],
  tieout_unknown_oldest_timestamp_seconds: ['Since when the oldest unknown one is unknown'],
  tieout_sending_stopped: ['1 where nothing is sent, and why', 'account', 'why'],
  tieout_queue_jobs: ['Jobs of the queue', 'queue', 'state'],
  tieout_alerts: ['Messages to the outside: waiting, or given up', 'state'],
  tieout_inbox_files: ['Files of settlement.inbox: waiting, or refused', 'state'],
  tieout_alerts_oldest_waiting_timestamp_seconds: ['Since when the oldest of them waits'],
} as const satisfies Record<string, readonly [help: string, ...labels: string[]]>;
type MetricName = keyof typeof METRICS;

type QueueFigures = Awaited<ReturnType<MonitorDeps['queueCounts']>>;

/** null: that part does not answer. */
interface Figures {
  database: { figures: MetricFigures; alerts: OutboxFigures; status: ScheduleStatus } | null;
  queue: QueueFigures | null;
  takesJobs: boolean;
  inbox: InboxFigures | null;
}

export function addMetrics(
  server: FastifyInstance,
  people: ConsoleDeps,
  monitor: MonitorDeps,
): void {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const gauges = gaugesOn(registry);
  const figures = cached(() => readFigures(monitor), LIMITS);
  server.get('/metrics', async (request, reply) => {
    if (!(await mayRead(people, request))) return refuse(reply);
    const found = await figures();
    forget(gauges);
    fill(monitor, gauges, found);
    return reply.type(registry.contentType).send(await registry.metrics());
  });
}

async function mayRead(people: ConsoleDeps, request: FastifyRequest): Promise<boolean> {
  const { metricsToken } = people.config.web;
  const [scheme, given, ...more] = (request.headers.authorization ?? '').split(' ');
  if (scheme?.toLowerCase() === 'bearer' && given !== undefined && more.length === 0) {
    return metricsToken !== null && sameSecret(given, metricsToken);
  }
  const session = await currentSession(people, request);
  return session !== null && hasEverywhere('look', session.grants);
}

function refuse(reply: FastifyReply): FastifyReply {
  return reply
    .code(401)
    .header('www-authenticate', 'Bearer')
    .type('text/plain')
    .send('for those who are signed in, or bring web.metricsToken\n');
}

async function readFigures(monitor: MonitorDeps): Promise<Figures> {
  const folder = monitor.config.settlement?.inbox ?? null;
  const [database, queue, takesJobs, inbox] = await Promise.all([
    inTime(readDatabase(monitor), PART_TIMEOUT_MS).catch(() => null),
    inTime(monitor.queueCounts(), PART_TIMEOUT_MS).catch(() => null),
    inTime(monitor.queueTakesJobs(), PART_TIMEOUT_MS).then(
      () => true,
      () => false,
    ),
    // Of a folder on another host nothing is said here.
    folder === null ? null : inTime(inboxFigures(folder), PART_TIMEOUT_MS).catch(() => null),
  ]);
  return { database, queue, takesJobs, inbox };
}

async function readDatabase(monitor: MonitorDeps): Promise<NonNullable<Figures['database']>> {
  const accountIds = monitor.config.accounts.map((account) => account.accountId);
  return {
    figures: await readMetricFigures(monitor.db, accountIds),
    alerts: await outboxFigures(monitor.db),
    status: await readSchedule(monitor),
  };
}

type Gauges = Record<MetricName, Gauge>;

function gaugesOn(registry: Registry): Gauges {
  const entries = Object.entries(METRICS).map(([name, [help, ...labelNames]]) => [
    name,
    new Gauge({ name, help, labelNames, registers: [registry] }),
  ]);
  return Object.fromEntries(entries) as Gauges;
}

function fill({ version, config }: MonitorDeps, gauges: Gauges, found: Figures): void {
  gauges.tieout_info.set({ version, environment: config.environment }, 1);
  gauges.tieout_database_up.set(found.database === null ? 0 : 1);
  gauges.tieout_queue_up.set(found.queue !== null && found.takesJobs ? 1 : 0);
  for (const [queue, counts] of Object.entries(found.queue ?? {})) {
    for (const [state, count] of Object.entries(counts)) {
      gauges.tieout_queue_jobs.set({ queue, state }, count);
    }
  }
  if (found.inbox !== null) {
    gauges.tieout_inbox_files.set({ state: 'waiting' }, found.inbox.waiting);
    gauges.tieout_inbox_files.set({ state: 'refused' }, found.inbox.refused);
  }
  if (found.database === null) return;
  const { figures, alerts, status } = found.database;
  fillRuns(gauges, figures);
  fillClock(gauges, status);
  const named = new Set(config.accounts.slice(0, ACCOUNTS_MAX).map(({ accountId }) => accountId));
  addUp(gauges.tieout_open_breaks, 'kind', figures.breaks, named);
  addUp(gauges.tieout_instructions, 'state', figures.instructions, named);
  for (const { accountId, name } of figures.stops) {
    const account = accountId === '' ? 'all' : named.has(accountId) ? accountId : OTHERS;
    gauges.tieout_sending_stopped.set({ account, why: name }, 1);
  }
  setTime(gauges.tieout_unknown_oldest_timestamp_seconds, figures.oldestUnknown);
  gauges.tieout_alerts.set({ state: 'waiting' }, alerts.waiting);
  gauges.tieout_alerts.set({ state: 'failed' }, alerts.failed);
  setTime(gauges.tieout_alerts_oldest_waiting_timestamp_seconds, alerts.oldestWaiting);
}

function fillRuns(gauges: Gauges, { newest, finished }: MetricFigures): void {
  for (const state of RUN_STATES) {
    gauges.tieout_run_state.set({ state }, newest?.state === state ? 1 : 0);
  }
  setTime(gauges.tieout_run_began_timestamp_seconds, newest?.beganAt ?? null);
  const date = newest === null ? null : new Date(`${newest.date}T00:00:00Z`);
  setTime(gauges.tieout_run_business_date_seconds, date);
  if (finished === null) return;
  setTime(gauges.tieout_run_finished_timestamp_seconds, finished.finishedAt);
  gauges.tieout_run_duration_seconds.set(finished.seconds);
  gauges.tieout_run_pages.set(finished.pages);
  gauges.tieout_run_failed_pages.set(finished.failedPages);
  gauges.tieout_run_orders.set(finished.orders);
}

function fillClock(gauges: Gauges, { owed, facts, now, silence }: ScheduleStatus): void {
  const isLate = didNotStart(owed, now) || owed.kind === 'givenUp';
  gauges.tieout_night_late.set(isLate ? 1 : 0);
  gauges.tieout_run_silent_seconds.set((silence?.ms ?? 0) / 1000);
  setTime(gauges.tieout_next_night_timestamp_seconds, facts.nextTick);
  gauges.tieout_clock_skew_seconds.set(facts.skewMs / 1000);
}

function addUp(
  gauge: Gauge,
  label: 'kind' | 'state',
  counts: readonly Count[],
  named: ReadonlySet<string>,
): void {
  for (const { accountId, name, count } of counts) {
    gauge.inc({ account: named.has(accountId) ? accountId : OTHERS, [label]: name }, count);
  }
}

function setTime(gauge: Gauge, time: Date | null): void {
  if (time !== null) gauge.set(time.getTime() / 1000);
}

/** What is not known is not said: a reset alone leaves a zero, which is a late night of 1970. */
function forget(gauges: Gauges): void {
  for (const [name, gauge] of Object.entries(gauges)) {
    gauge.reset();
    if (METRICS[name as MetricName].length === 1) gauge.remove();
  }
}
