// `tieout schedule`: the nightly clock, which begins the night that is owed. `tieout work`: workers
// alone, for as many processes and hosts as are wanted. Both run until they are told to stop.

import { Command } from 'commander';
import { checkSchedule, startClock } from '../../jobs/clock.js';
import type { App } from '../compose.js';
import type { Workforce } from '../night/run.js';
import { runDate } from '../night/run.js';
import { configOf, SERVICE, withApp } from './context.js';

export function scheduleCommand(): Command {
  return new Command('schedule').action(async (_flags: object, command: Command) => {
    const { cron, timezone } = configOf(command).schedule;
    checkSchedule({ cron, timezone });
    await withApp(
      command,
      async (app, signal) => {
        await runClock(app, signal, await app.workforce());
        return 0;
      },
      SERVICE,
    );
  });
}

/** Runs the clock until the program is told to stop. */
export async function runClock(app: App, signal: AbortSignal, workforce: Workforce): Promise<void> {
  const { cron, timezone } = app.config.schedule;
  const deps = await app.night();
  const clock = startClock({
    cron,
    timezone,
    log: deps.log,
    onTick: async () => {
      // Which date is owed is decided by what has ended and what has run, not by the clock.
      await runDate(deps, { date: null, accountIds: [], isDry: false }, workforce);
    },
  });
  deps.log(`the clock runs; next night at ${clock.nextTick()?.toISOString() ?? 'never'}`);
  await untilStopped(signal);
  await clock.stop();
}

export function workCommand(): Command {
  return new Command('work').action(async (_flags: object, command: Command) => {
    await withApp(
      command,
      async (app, signal) => {
        const { log } = await app.night();
        const workforce = await app.workforce();
        await workforce.start();
        log('works until it is told to stop');
        await untilStopped(signal);
        await workforce.stop();
        return 0;
      },
      SERVICE,
    );
  });
}

export function untilStopped(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    // The timer keeps the process alive; the signal ends it.
    const keepAlive = setInterval(() => {}, 60_000);
    signal.addEventListener('abort', () => {
      clearInterval(keepAlive);
      resolve();
    });
  });
}
