// `tieout web`: the HTTP face alone. `tieout start`: clock, workers and HTTP face in one process, a
// small merchant's whole installation.

import { Command } from 'commander';
import { checkSchedule } from '../../jobs/clock.js';
import type { App } from '../compose.js';
import { UnreachableError } from '../core/errors.js';
import { createWebServer } from '../web/server.js';
import { configOf, withApp } from './context.js';
import { runClock, untilStopped } from './schedule.js';

export function webCommand(): Command {
  return new Command('web').action(async (_flags: object, command: Command) => {
    await withApp(command, async (app, signal) => {
      const close = await openWeb(app);
      await untilStopped(signal);
      await close();
      return 0;
    });
  });
}

export function startCommand(): Command {
  return new Command('start').action(async (_flags: object, command: Command) => {
    const { cron, timezone } = configOf(command).schedule;
    checkSchedule({ cron, timezone });
    await withApp(command, async (app, signal) => {
      const close = await openWeb(app);
      try {
        await runClock(app, signal);
      } finally {
        await close();
      }
      return 0;
    });
  });
}

async function openWeb(app: App): Promise<() => Promise<void>> {
  const { host, port } = app.config.web;
  const server = createWebServer({
    db: app.db,
    accountIds: app.config.accounts.map((account) => account.accountId),
    now: () => new Date(),
    log: app.log,
  });
  try {
    await server.listen({ host, port });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new UnreachableError(`web.host ${host}, web.port ${port}: cannot listen (${code})`, {
      cause: error,
    });
  }
  app.log(`takes notifications at http://${host}:${port}/notify`);
  return () => server.close();
}
