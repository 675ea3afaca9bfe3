// `tieout run` without the command line: begin, work or join, end. Says in words what it found.

import { STOPPED } from '../core/errors.js';
import { withFields } from '../core/log.js';
import type { RunSummary } from '../core/summary.js';
import { failRun } from '../store/runs.js';
import type { RunRequest } from './begin.js';
import { beginRun, blockedSentences } from './begin.js';
import type { Night, NightDeps } from './deps.js';
import { runDry, runNight } from './night.js';
import { tellFailed } from './tell.js';
import { joinRun, withHeartbeat } from './watch.js';

/** A run that is joined and whose process dies is taken over; so often at most. */
const TAKE_OVERS_MAX = 3;

export interface RunResult {
  kind: 'ran' | 'resumed' | 'joined' | 'shown' | 'dry';
  summary: RunSummary;
}

/** `start` and `stop` bring workers up and down around work of our own. */
export interface Workforce {
  start: () => Promise<void>;
  /** loads what reports are written by; a worker does so when it is first asked for one */
  loadWriter?: () => Promise<unknown>;
  stop: () => Promise<void>;
}

export async function runDate(
  deps: NightDeps,
  request: RunRequest,
  workforce: Workforce,
): Promise<RunResult> {
  for (let turn = 0; turn <= TAKE_OVERS_MAX; turn += 1) {
    const beginning = await beginRun(deps, request);
    switch (beginning.kind) {
      case 'readOnly':
        deps.log(
          `${beginning.summary.businessDate} is older than the newest run: shown again, ` +
            'nothing changes',
        );
        return { kind: 'shown', summary: beginning.summary };
      case 'finished':
        deps.log(`${beginning.summary.businessDate} was finished meanwhile by another process`);
        return { kind: 'shown', summary: beginning.summary };
      case 'join': {
        deps.log(
          `another process works on ${beginning.run.businessDate}; this one joins and waits`,
        );
        const summary = await joinRun(deps, beginning.run.businessDate);
        if (summary) return { kind: 'joined', summary };
        break;
      }
      case 'mine':
        return workOn(deps, beginning.night, beginning.resumed, workforce);
    }
  }
  throw new Error('the run changed hands too often');
}

async function workOn(
  { log, ...others }: NightDeps,
  night: Night,
  resumed: boolean,
  workforce: Workforce,
): Promise<RunResult> {
  const told = { ...others, log: withFields(log, { run: night.businessDate }) };
  const { deps, stop } = withWorkers(told, workforce);
  deps.log(beginningOf(night, resumed));
  for (const sentence of await blockedSentences(night)) deps.log(sentence);
  try {
    if (night.isDry) {
      const summary = await withHeartbeat(deps, night, () => runDry(deps, night));
      return { kind: 'dry', summary };
    }
    const summary = await withHeartbeat(deps, night, () => runNight(deps, night));
    return { kind: resumed ? 'resumed' : 'ran', summary };
  } catch (error) {
    const failure = error instanceof Error ? error.message : String(error);
    await endFailed(deps, night, failure).catch(() => {});
    throw error;
  } finally {
    await stop();
  }
}

/** Workers start while the database works out what to ask; at the latest when they are rung for. */
function withWorkers(
  deps: NightDeps,
  workforce: Workforce,
): { deps: NightDeps; stop: () => Promise<void> } {
  let starting: Promise<void> | null = null;
  const start = (): Promise<void> => {
    starting ??= workforce.start();
    return starting;
  };
  const doorbell: NightDeps['doorbell'] = {
    ring: async (name, ids) => {
      await start();
      await deps.doorbell.ring(name, ids);
    },
  };
  // Why they could not start is thrown where they are needed.
  const getReady: NightDeps['getReady'] = (step) => {
    if (step === 'pull') start().catch(() => {});
    if (step === 'report') workforce.loadWriter?.().catch(() => {});
  };
  let stopping: Promise<void> | null = null;
  const stop = (): Promise<void> => {
    stopping ??= (starting ?? Promise.resolve()).catch(() => {}).then(() => workforce.stop());
    return stopping;
  };
  // Why they could not stop is thrown where the run waits for it.
  const allRung = (): void => {
    stop().catch(() => {});
  };
  return { deps: { ...deps, doorbell, getReady, allRung }, stop };
}

async function endFailed(deps: NightDeps, night: Night, failure: string): Promise<void> {
  const { businessDate, runId } = night;
  await deps.db.transaction(async (tx) => {
    const isMine = await failRun(tx, runId, deps.runner.id, failure, deps.now());
    const isNews = !night.isDry && failure !== STOPPED;
    if (isMine && isNews) await tellFailed(tx, deps.config, { businessDate, failure });
  });
}

function beginningOf(night: Night, resumed: boolean): string {
  const covers = night.covers.length > 1 ? `, which covers ${night.covers.join(', ')}` : '';
  const verb = resumed ? 'goes on with' : 'begins';
  const dry = night.isDry ? ' (dry run: nothing is sent, nothing is kept)' : '';
  return `${verb} business date ${night.businessDate}${covers}${dry}`;
}
