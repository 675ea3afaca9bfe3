// The clock that starts a run. It owns the cron expression and nothing else: which business date
// is owed, and whether a run of it exists, is decided by whoever hears the tick. It must never
// carry a rule, and a lost tick must never matter. Neighbours: compose gives it `onTick`.

import type { Logger } from 'node-cron';
import cron from 'node-cron';
import type { Log } from '../src/core/log.js';
import { DAY_MS } from '../src/core/time.js';
import { reasonOf } from './reason.js';

interface ClockDeps {
  cron: string;
  timezone: string;
  onTick: () => Promise<void>;
  log: Log;
}

interface Clock {
  nextTick(): Date | null;
  /** No tick begins after it; a tick that is under way belongs to whoever hears it. */
  stop(): Promise<void>;
}

/** Of a schedule that the configuration has read: it refuses what has no meaning. */
export function startClock(deps: ClockDeps): Clock {
  const { log } = deps;
  const tick = async (): Promise<void> => {
    try {
      await deps.onTick();
    } catch (error) {
      log(`clock: the tick failed: ${reasonOf(error)}`, { level: 'error' });
    }
  };
  const task = cron.schedule(deps.cron, tick, {
    name: 'night',
    timezone: deps.timezone,
    // A run may take longer than the time between two ticks.
    noOverlap: true,
    suppressMissedWarning: true,
    logger: loggerTo(log),
  });
  task.on('execution:missed', ({ date }) =>
    log(
      `clock: the tick of ${date.toISOString()} was missed; what is owed is looked at all the same`,
    ),
  );
  task.on('execution:overlap', () => log('clock: a tick was left out, the one before still runs'));
  return {
    nextTick: () => task.getNextRun(),
    stop: async () => {
      await task.destroy();
    },
  };
}

function loggerTo(log: Log): Logger {
  const tell = (message: string | Error): void => log(`clock: ${reasonOf(message)}`);
  return { info: () => {}, debug: () => {}, warn: tell, error: tell };
}

/** So many days to each side are looked at for a tick, until one is found on either. */
const WINDOWS_DAYS = [2, 9, 400] as const;

/**
 * When a run is to begin around a time, as local times to the minute, whatever the zone makes of
 * them: the calendar in the database says when those were. The library itself leaves out what the
 * zone skips, and with it the run.
 */
export function localTicksOf(expression: string): (now: Date) => string[] {
  const { second, minute, hour } = cron.parse(expression);
  // In UTC no time is skipped or repeated: its days stand for local ones.
  const task = cron.createTask(expression, () => {}, { timezone: 'UTC' });
  const probe = ((hour[0] ?? 0) * 3600 + (minute[0] ?? 0) * 60 + (second[0] ?? 0)) * 1000;
  const between = (now: Date, reach: number): string[] => {
    const midnight = Math.floor(now.getTime() / DAY_MS) * DAY_MS;
    const found: string[] = [];
    // No zone is further from UTC than a day.
    for (let day = -reach - 1; day <= reach + 1; day += 1) {
      const at = midnight + day * DAY_MS;
      if (!task.match(new Date(at + probe))) continue;
      const date = new Date(at).toISOString().slice(0, 10);
      for (const h of hour) for (const m of minute) found.push(`${date} ${two(h)}:${two(m)}`);
    }
    return found;
  };
  return (now) => {
    const isWide = (found: readonly string[]): boolean => {
      const [first, last] = [found[0], found.at(-1)].map((text) => Date.parse(`${text}Z`));
      const [from, to] = [now.getTime() - DAY_MS, now.getTime() + DAY_MS];
      return first !== undefined && last !== undefined && first < from && last > to;
    };
    let found: string[] = [];
    for (const reach of WINDOWS_DAYS) if (!isWide(found)) found = between(now, reach);
    return found;
  };
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
