// Reads the schedule: which run is owed, and does its work where one is. Asked at each tick and now
// and then between: a tick that was lost, skipped by a change of clocks, or heard by two
// processes at once never matters. Neighbours: core/runs/owed.ts decides, cli/runs/schedule.ts
// asks until it is told to stop, cli/runs/status.ts only tells.

import { LEFT, STOPPED } from '../core/errors.js';
import type { Owed, Silence } from '../core/runs/owed.js';
import {
  clockTrouble,
  DEATHS_MAX,
  DIED,
  didNotStart,
  toMinute,
  whatIsOwed,
} from '../core/runs/owed.js';
import { isLeftAlone } from '../core/runs/summary.js';
import { tellFailed } from '../outbox/writeAlerts.js';
import type { ScheduleFacts } from '../runs/calendarStore.js';
import { scheduleFacts } from '../runs/calendarStore.js';
import { isAtWork } from '../runs/lease.js';
import { leaveRun } from '../runs/leaseStore.js';
import type { RunRow } from '../runs/runsStore.js';
import { heldRun, newestRun, takeAskedAgain } from '../runs/runsStore.js';
import type { SendDeps } from '../send/deps.js';
import type { RunResult, Workforce } from './run.js';
import { runDate } from './run.js';

export type ScheduleDeps = Pick<SendDeps, 'db' | 'config' | 'now' | 'isAlive'> & {
  /** when a run is to begin, as local times around a time */
  localTicks: (now: Date) => string[];
};

export interface ScheduleStatus {
  now: Date;
  owed: Owed;
  facts: ScheduleFacts;
  run: RunRow | null;
  /** of a run that nobody works on any more, of whatever date */
  silence: Silence | null;
}

/** What the calendar and the newest run say now; changes nothing. */
export async function readSchedule(deps: ScheduleDeps): Promise<ScheduleStatus> {
  const now = deps.now();
  const { schedule, accounts } = deps.config;
  const accountIds = accounts.map((account) => account.accountId);
  const facts = await scheduleFacts(deps.db, now, schedule, deps.localTicks(now), accountIds);
  const run = await newestRun(deps.db);
  const newest = run && {
    date: run.businessDate,
    state: run.state,
    isLeftAlone: run.state === 'incomplete' && run.summary !== null && isLeftAlone(run.summary),
    isAtWork: isAtWork(deps, run),
    wasStopped: run.state === 'failed' && [STOPPED, LEFT].includes(run.failure ?? ''),
    lacksAccounts: facts.lacksAccounts,
    ends: facts.ends,
    endedAt: run.finishedAt,
  };
  const silence = silenceOf(deps, (await heldRun(deps.db)) ?? run, now);
  return { now, owed: whatIsOwed({ now, ...facts, run: newest }), facts, run, silence };
}

function silenceOf(deps: ScheduleDeps, run: RunRow | null, now: Date): Silence | null {
  if (run === null || isAtWork(deps, run)) return null;
  const { businessDate: date, heartbeatAt, finishedAt, silentMs } = run;
  if (run.state === 'running') return { date, since: heartbeatAt ?? run.createdAt, ms: silentMs };
  if (run.failure !== LEFT || finishedAt === null) return null;
  return { date, since: finishedAt, ms: now.getTime() - finishedAt.getTime() };
}

/** Does what the schedule shows to be owed; null where nothing was to be done. */
export async function workOnOwed(
  deps: SendDeps & ScheduleDeps,
  workforce: Workforce,
  status: ScheduleStatus,
): Promise<RunResult | null> {
  const { owed, now } = status;
  const trouble = clockTrouble(status.facts.skewMs);
  if (trouble !== null) throw new Error(`${trouble}; no night begins until they agree`);
  const isOwed = owed.kind === 'begin' || owed.kind === 'goOn' || owed.kind === 'resume';
  if (!isOwed || (owed.kind === 'resume' && now < owed.at)) {
    return workAgain(deps, workforce, status.run);
  }
  if (owed.kind === 'goOn' && isDying(status)) {
    await endDying(deps, status.run);
    return null;
  }
  if (owed.kind !== 'resume' && didNotStart(owed, now)) {
    deps.log(`business date ${owed.date} was to begin at ${toMinute(owed.since)}; it begins now`);
  }
  const request = { date: owed.date, accountIds: [], isDry: false };
  // Only a part of the accounts has finished: the run is not.
  const unlessFinished = owed.kind !== 'goOn';
  return runDate(deps, { ...request, unlessFinished, waitsForGateway: true }, workforce);
}

/** Whether nobody works on it since its process died once too often. */
function isDying(status: ScheduleStatus): status is ScheduleStatus & { run: RunRow } {
  return status.run?.state === 'running' && status.facts.deaths > DEATHS_MAX;
}

/** It has failed: with the pauses and the limit of one that did, and told as one. */
async function endDying(deps: SendDeps, run: RunRow): Promise<void> {
  const { businessDate } = run;
  deps.log(`business date ${businessDate} failed: ${DIED}`, { level: 'warn' });
  await leaveRun(deps.db, run, DIED, (tx) =>
    tellFailed(tx, deps.config, { businessDate, failure: DIED }),
  );
}

/** What somebody asked for on the console: the newest run once more, as `tieout run` does it. */
async function workAgain(
  deps: SendDeps,
  workforce: Workforce,
  run: RunRow | null,
): Promise<RunResult | null> {
  const by = run === null ? null : await takeAskedAgain(deps.db, run.runId);
  if (run === null || by === null) return null;
  deps.log(`${by} asked for another look: business date ${run.businessDate} is worked on again`);
  const request = { date: run.businessDate, accountIds: [], isDry: false, waitsForGateway: true };
  return runDate(deps, request, workforce);
}
