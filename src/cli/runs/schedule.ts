// `tieout schedule`: the nightly clock, which begins the run that is owed. `tieout work`: workers
// alone, for as many processes and hosts as are wanted. Both run until they are told to stop.

import { setTimeout } from 'node:timers/promises';
import { Command } from 'commander';
import { localTicksOf, startClock } from '../../../jobs/clock.js';
import { reasonOf } from '../../../jobs/reason.js';
import { DatabaseAwayError } from '../../core/errors.js';
import { nextSentence, owedSentence } from '../../core/runs/owed.js';
import type { ScheduleStatus } from '../../night/owedRun.js';
import { readSchedule, workOnOwed } from '../../night/owedRun.js';
import type { Workforce } from '../../night/run.js';
import { inTime } from '../../processes/inTime.js';
import { openInbox } from '../../settlement/inbox.js';
import type { App } from '../app.js';
import { SERVICE, withApp } from '../context.js';
import { sentenceOf } from './status.js';

export function scheduleCommand(): Command {
  return new Command('schedule').action(async (_flags: object, command: Command) => {
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

type Log = (line: string, about?: typeof WARN) => void;
const WARN = { level: 'warn' } as const;

/** Looks at what is owed so often, whatever the ticks do. */
const POLL_MS = 30_000;

/** Runs the clock until the program is told to stop: at each tick, and now and then between. */
export async function runClock(app: App, signal: AbortSignal, workforce: Workforce): Promise<void> {
  const { cron, timezone } = app.config.schedule;
  const opened = await app.sendDeps();
  await opened.journal.keep();
  const deps = { ...opened, localTicks: localTicksOf(cron) };
  const say = onlyChanges(deps.log);
  const inbox = besideTheClock(openInbox(deps), deps.log);
  let wake = (): void => {};
  const clock = startClock({ cron, timezone, log: deps.log, onTick: async () => wake() });
  while (!signal.aborted) {
    const woken = new Promise<void>((resolve) => {
      wake = resolve;
    });
    await inbox.look(signal);
    try {
      const status = await readSchedule(deps);
      const worked = (await workOnOwed(deps, workforce, status)) !== null;
      say(`clock: ${clockWords(worked ? await readSchedule(deps) : status)}`);
    } catch (error) {
      // A database that is away ends no clock: what is owed stays owed.
      if (!signal.aborted) say(`clock: ${reasonOf(error)}`, WARN);
      if (error instanceof DatabaseAwayError) await deps.reviveDatabase?.().catch(() => {});
    }
    await Promise.race([woken, setTimeout(POLL_MS, undefined, { signal }).catch(() => {})]);
  }
  await clock.stop();
  await inbox.end();
}

/** So long a night waits for files that are being taken: what they say bears on what it sends. */
const INBOX_WAIT_MS = 5 * 60_000;
/** Whoever is told to stop waits so long for a file that is being taken; it is taken anew. */
const INBOX_END_MS = 10_000;

/** One look at a time; a share that is away may never answer, and holds up no night for good. */
export function besideTheClock(lookIntoInbox: ReturnType<typeof openInbox>, log: Log) {
  const say = onlyChanges(log);
  let began = 0;
  let waitsFor = '';
  let looking: Promise<void> | null = null;
  const begin = (): Promise<void> => {
    began = performance.now();
    return lookIntoInbox((what) => {
      waitsFor = what;
    })
      .catch((error: unknown) => say(`inbox: ${reasonOf(error)}`, WARN))
      .finally(() => {
        looking = null;
      });
  };
  return {
    /** Comes back when the look has ended, or has taken too long, or `stop` is told. */
    look: async (stop: AbortSignal): Promise<void> => {
      looking ??= begin();
      const left = began + INBOX_WAIT_MS - performance.now();
      if (left > 0) {
        const over = setTimeout(left, undefined, { signal: stop, ref: false }).catch(() => {});
        await Promise.race([looking, over]);
      }
      if (looking !== null && !stop.aborted)
        say(`inbox: the look into settlement.inbox does not end: ${waitsFor}`, WARN);
    },
    end: async (): Promise<void> => {
      if (looking !== null) await inTime(looking, INBOX_END_MS).catch(() => {});
    },
  };
}

/** The newest run in a sentence where it is not over, and when the next one begins. */
function clockWords({ owed, now, facts, run }: ScheduleStatus): string {
  const about = owedSentence(owed, now);
  const last = about !== null && owed.kind !== 'begin' ? sentenceOf(run) : null;
  return [last, about, nextSentence(facts, owed)].filter((part) => part !== null).join(' ');
}

/** A line that says the same as the one before is not said again. */
function onlyChanges(log: Log): Log {
  let last = '';
  return (line, about) => {
    if (line !== last) log(line, about);
    last = line;
  };
}

export function workCommand(): Command {
  return new Command('work').action(async (_flags: object, command: Command) => {
    await withApp(
      command,
      async (app, signal) => {
        const { log, journal } = await app.sendDeps();
        const workforce = await app.workforce();
        await workforce.start();
        await journal.keep();
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
