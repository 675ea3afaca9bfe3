// What is handed to those who look over the whole installation without opening queue or gateway:
// the clock's question of what is owed, and the watch that tells the outside.

import { checkSchedule, localTicksOf } from '../../jobs/clock.js';
import type { WatchDeps } from '../alerts/watch.js';
import { hidingSecrets } from '../config/hiding.js';
import type { SightDeps } from '../night/clock.js';
import { isAlive } from '../runs/processIdentity.js';
import type { App } from './app.js';

/** What a look at the clock takes. */
export function sightOf({ db, config }: App): SightDeps {
  checkSchedule({ ...config.schedule, file: config.file });
  const localTicks = localTicksOf(config.schedule.cron);
  return { db, config, now: () => new Date(), isAlive, localTicks };
}

/** What telling the outside takes. */
export function watchOf(app: App): WatchDeps {
  const { version, log, config } = app;
  return { ...sightOf(app), version, log, hide: hidingSecrets(config) };
}
