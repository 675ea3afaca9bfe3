// What nobody would tell: a run that did not begin, an unknown that waits, a reservation that is
// about to lapse. Every process that runs on looks for it now and then, and one of them tells;
// `tieout run` looks once before it ends. So an installation of plain cron is told of these, too;
// that its cron has died only the dead man's switch can know.

import { setTimeout as sleep } from 'node:timers/promises';
import { warnOfLapses } from '../authorisations/warnOfLapses.js';
import type { AlertEvent } from '../core/alertMessages.js';
import {
  runDidNotStart,
  runIsSilent,
  UNKNOWN_HOURS_MAX,
  unknownWaits,
} from '../core/alertMessages.js';
import { messageOf } from '../core/errors.js';
import type { Silence } from '../core/runs/owed.js';
import { didNotStart, standsStill } from '../core/runs/owed.js';
import type { Tx } from '../database/db.js';
import type { ScheduleDeps, ScheduleStatus } from '../night/owedRun.js';
import { readSchedule } from '../night/owedRun.js';
import {
  newestNotified,
  putInOutbox,
  unnotifiedUnknowns,
  watchAlone,
} from '../outbox/outboxStore.js';
import type { AlertDeps } from './deliverAlerts.js';
import { deliverDue } from './deliverAlerts.js';

export type WatchDeps = AlertDeps & ScheduleDeps;

const HOUR_MS = 3_600_000;
/** How often a process that runs on looks, and tells. */
const WATCH_MS = 15_000;
/** A run does not wait longer for a receiver before it ends. */
const RUN_DELIVERY_MS = 10_000;

/** Watches and tells until the answer is called. */
export function startAlerts(deps: WatchDeps): () => Promise<void> {
  const stop = new AbortController();
  const seen: Seen = { night: null };
  const working = (async () => {
    // The first to ask what is owed is the clock's: a run that it begins late is not
    // missing.
    await quietly(deps, () => deliverDue(deps, stop.signal));
    while (!stop.signal.aborted) {
      await sleep(WATCH_MS, undefined, { signal: stop.signal }).catch(() => {});
      if (!stop.signal.aborted) await watchAndTell(deps, stop.signal, seen);
    }
  })();
  return async () => {
    stop.abort();
    await working;
  };
}

/** What `tieout run` does at its end; it takes a moment at most, and never fails. */
export async function tellOnce(deps: WatchDeps): Promise<void> {
  await watchAndTell(deps, AbortSignal.timeout(RUN_DELIVERY_MS));
}

async function watchAndTell(deps: WatchDeps, signal: AbortSignal, seen?: Seen): Promise<void> {
  await quietly(deps, async () => {
    await watch(deps, seen);
    await deliverDue(deps, signal);
  });
}

async function quietly(deps: WatchDeps, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    // A database that is away ends no process; the next round finds it back.
    const reason = messageOf(error);
    deps.log(`alerts: ${reason}`, { level: 'warn' });
  }
}

/** Puts into the outbox what has to be told; nothing where another process is at it. */
export async function watch(deps: WatchDeps, seen: Seen = { night: null }): Promise<void> {
  if (deps.config.notify.webhook === null) return;
  await deps.db.transaction(async (tx) => {
    if (!(await watchAlone(tx))) return;
    const status = await readSchedule(deps);
    await watchSchedule(status, tx);
    await watchUnknowns(deps, tx);
    await watchReservations(deps, tx, status, seen);
  });
}

async function watchReservations(
  { config }: WatchDeps,
  tx: Tx,
  status: ScheduleStatus,
  seen: Seen,
): Promise<void> {
  const night = nightOf(status);
  if (night === seen.night || isAhead(status)) return;
  await warnOfLapses(tx, config, { now: status.now, nextNight: status.facts.nextTick });
  seen.night = night;
}

/** Up to which night a process has looked for reservations that lapse: they are many. */
interface Seen {
  night: string | null;
}

function nightOf({ run, facts }: ScheduleStatus): string {
  return [run?.businessDate, run?.finishedAt, facts.nextTick].map(String).join();
}

/** What a run is about to take, or takes right now, is not at risk yet. */
function isAhead({ owed, now }: ScheduleStatus): boolean {
  if (owed.kind === 'underWay') return true;
  return (owed.kind === 'begin' || owed.kind === 'goOn') && !didNotStart(owed, now);
}

async function watchSchedule({ owed, now, silence }: ScheduleStatus, tx: Tx): Promise<void> {
  if (standsStill(silence)) await tellSilence(tx, silence);
  if (!didNotStart(owed, now)) return;
  if (owed.kind !== 'begin' && owed.kind !== 'goOn' && owed.kind !== 'barred') return;
  // Of one date one word is enough; a night that is owed since has its own.
  if (silence?.date === owed.date) return;
  const event: AlertEvent = 'night_did_not_start';
  if ((await newestNotified(tx, event, owed.date)) !== null) return;
  const alert = runDidNotStart(owed, now);
  await putInOutbox(tx, { ...alert, channels: ['webhook'], fingerprint: owed.date });
}

/** Once for each time that it fell silent. */
async function tellSilence(tx: Tx, silence: Silence): Promise<void> {
  const alert = runIsSilent(silence);
  const told = await newestNotified(tx, alert.event, alert.subject);
  if (told !== null && told >= silence.since) return;
  const fingerprint = silence.since.toISOString();
  await putInOutbox(tx, { ...alert, channels: ['webhook'], fingerprint });
}

async function watchUnknowns(deps: WatchDeps, tx: Tx): Promise<void> {
  const before = new Date(deps.now().getTime() - UNKNOWN_HOURS_MAX * HOUR_MS);
  const unknowns = await unnotifiedUnknowns(tx, before);
  for (const accountId of new Set(unknowns.map((one) => one.accountId))) {
    const mine = unknowns.filter((one) => one.accountId === accountId);
    const about = mine.map((one) => one.eventSeq);
    const alert = unknownWaits(accountId, mine);
    await putInOutbox(tx, { ...alert, channels: ['webhook'], fingerprint: String(about), about });
  }
}
