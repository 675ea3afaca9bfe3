// What is handed to those who look over the whole installation without opening queue or gateway:
// the clock's question of what is owed, and the watch that tells the outside.

import { localTicksOf } from '../../jobs/clock.js';
import type { WatchDeps } from '../alerts/watchRuns.js';
import { hidingSecrets } from '../config/hiding.js';
import type { ScheduleDeps } from '../night/owedRun.js';
import { isAlive } from '../processes/identity.js';
import type { App } from './app.js';

/** What reading the schedule takes. */
export function scheduleDepsOf({ db, config }: App): ScheduleDeps {
  const localTicks = localTicksOf(config.schedule.cron);
  return { db, config, now: () => new Date(), isAlive, localTicks };
}

/** What telling the outside takes. */
export function watchOf(app: App): WatchDeps {
  const { version, log, config } = app;
  return { ...scheduleDepsOf(app), version, log, hide: hidingSecrets(config) };
}
