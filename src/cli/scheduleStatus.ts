// What is handed to those who look over the whole installation without opening queue or gateway:
// the clock's question of what is owed, and the watch that tells the outside.

import { checkSchedule, isSchedule, localTicksOf } from '../../jobs/clock.js';
import type { WatchDeps } from '../alerts/watchRuns.js';
import { hidingSecrets } from '../config/hiding.js';
import type { ScheduleDeps } from '../night/owedRun.js';
import { isAlive } from '../processes/identity.js';
import type { App } from './app.js';

/** What reading the schedule takes. */
export function scheduleDepsOf(app: App): ScheduleDeps {
  checkSchedule({ ...app.config.schedule, file: app.config.file });
  return anySchedule(app);
}

/** What telling the outside takes: a night by hand is told where no clock could begin one, too. */
export function watchOf(app: App): WatchDeps {
  const { version, log, config } = app;
  return { ...anySchedule(app), version, log, hide: hidingSecrets(config) };
}

function anySchedule({ db, config }: App): ScheduleDeps {
  const { schedule } = config;
  const localTicks = isSchedule(schedule) ? localTicksOf(schedule.cron) : () => [];
  return { db, config, now: () => new Date(), isAlive, localTicks };
}
