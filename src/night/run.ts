// `tieout run` without the command line: begin, work or join, end. Says in words what it found.

import { firstNamed } from '../core/accounts/alike.js';
import { inDiskWords, TakenOverError, TieoutError } from '../core/errors.js';
import { withFields } from '../core/log.js';
import type { RunSummary } from '../core/runs/summary.js';
import { inLedgerWords } from '../ledger/ledgerTroubleStore.js';
import type { Run } from '../runs/deps.js';
import { joinRun, outwaitRun, withHeartbeat } from '../runs/heartbeat.js';
import type { Outages } from '../runs/lease.js';
import { openOutages, TAKEN_OVER } from '../runs/lease.js';
import type { RunRow } from '../runs/runsStore.js';
import type { SendDeps } from '../send/deps.js';
import type { RunRequest } from './begin.js';
import { beginRun, blockedSentences } from './begin.js';
import { runDry } from './dryRun.js';
import { runNight } from './night.js';

/** A run that is joined and whose process dies is taken over; so often at most. */
const TAKE_OVERS_MAX = 3;

export interface RunResult {
  kind: 'ran' | 'resumed' | 'joined' | 'shown' | 'dry';
  summary: RunSummary;
}

/** `start` and `stop` bring workers up and down around work of our own. */
export interface Workforce {
  start: () => Promise<void>;
  stop: () => Promise<void>;
}

export async function runDate(
  deps: SendDeps,
  request: RunRequest,
  workforce: Workforce,
): Promise<RunResult> {
  const outages = openOutages(deps);
  for (let hands = 0; hands <= TAKE_OVERS_MAX; ) {
    try {
      const turn = await takeTurn(deps, request, workforce, outages);
      if (turn.kind === 'over') return turn.result;
      if (turn.kind === 'again') hands += 1;
    } catch (error) {
      if (!(await outages.isOver(error))) throw error;
    }
  }
  throw new Error('the run changed hands too often');
}

type Turn =
  | { kind: 'over'; result: RunResult }
  /** the run changed hands */
  | { kind: 'again' }
  /** what was in the way has ended */
  | { kind: 'waited' };

async function takeTurn(
  others: SendDeps,
  request: RunRequest,
  workforce: Workforce,
  outages: Outages,
): Promise<Turn> {
  // Another holder each time: what an earlier turn may have left under way is fenced off as well.
  const deps = { ...others, runner: { ...others.runner, id: others.newId() } };
  const beginning = await beginRun(deps, request);
  switch (beginning.kind) {
    case 'readOnly':
      deps.log(
        `${beginning.summary.businessDate} is older than the newest run: shown again, ` +
          'nothing changes',
      );
      return over('shown', beginning.summary);
    case 'finished':
      deps.log(`${beginning.summary.businessDate} was finished meanwhile by another process`);
      return over('shown', beginning.summary);
    case 'join': {
      deps.log(`another process works on ${beginning.run.businessDate}; this one joins and waits`);
      const summary = await joinRun(deps, beginning.run.businessDate);
      return summary === null ? { kind: 'again' } : over('joined', summary);
    }
    case 'wait':
      deps.log(waitingWords(beginning.run));
      await outwaitRun(deps, beginning.run.runId, beginning.run.businessDate);
      return { kind: 'waited' };
    case 'again':
      return beginning;
    case 'mine': {
      const result = await workOn(deps, beginning, workforce, outages);
      return { kind: 'over', result };
    }
  }
}

function over(kind: RunResult['kind'], summary: RunSummary): Turn {
  return { kind: 'over', result: { kind, summary } };
}

function waitingWords({ businessDate, workingOn }: RunRow): string {
  return (
    `another process works on ${businessDate} (${firstNamed(workingOn)}), and one date is worked ` +
    'on at a time; this one waits for its end and begins then'
  );
}

async function workOn(
  { log, ...others }: SendDeps,
  { run, resumed }: { run: Run; resumed: boolean },
  workforce: Workforce,
  outages: Outages,
): Promise<RunResult> {
  const told = { ...others, log: withFields(log, { run: run.businessDate }) };
  const { deps, stop } = withWorkers(told, workforce);
  deps.log(beginningOf(run, resumed));
  try {
    for (const sentence of await blockedSentences(run)) deps.log(sentence);
    if (run.isDry) {
      const summary = await withHeartbeat(deps, run, () => runDry(deps, run));
      return { kind: 'dry', summary };
    }
    const summary = await withHeartbeat(deps, run, () => runNight(deps, run));
    return { kind: resumed ? 'resumed' : 'ran', summary };
  } catch (error) {
    // Of a dry run nothing is left by now in which an end could be recorded.
    if (run.isDry) throw endOfDry(await inLedgerWords(deps, error));
    if (error instanceof TakenOverError) throw new TakenOverError(TAKEN_OVER, { cause: error });
    const { dataDir, reports } = deps.config;
    const failure = await inLedgerWords(deps, inDiskWords(error, [dataDir, reports.dir]));
    await outages.recordEnd(told, run, failure);
    throw failure;
  } finally {
    await stop();
  }
}

/** Nobody takes a dry run over: one that was silent is cleared away. */
function endOfDry(error: unknown): unknown {
  if (!(error instanceof TakenOverError)) return error;
  return new TieoutError(
    'this dry run was silent for so long that it was cleared away; nothing was sent, nothing was ' +
      'kept; run it again',
    { cause: error },
  );
}

/** Workers start with the first id. */
function withWorkers(
  deps: SendDeps,
  workforce: Workforce,
): { deps: SendDeps; stop: () => Promise<void> } {
  let starting: Promise<void> | null = null;
  const start = (): Promise<void> => {
    // Tried anew where the queue was away: what could not begin has ended.
    starting ??= workforce.start().catch((error: unknown) => {
      starting = null;
      throw error;
    });
    return starting;
  };
  const queuePort: SendDeps['queuePort'] = {
    enqueue: async (name, ids) => {
      await start();
      await deps.queuePort.enqueue(name, ids);
    },
  };
  const stop = (): Promise<void> =>
    (starting ?? Promise.resolve()).catch(() => {}).then(() => workforce.stop());
  return { deps: { ...deps, queuePort }, stop };
}

function beginningOf(run: Run, resumed: boolean): string {
  const covers = run.covers.length > 1 ? `, which covers ${run.covers.join(', ')}` : '';
  const verb = resumed ? 'goes on with' : 'begins';
  const dry = run.isDry ? ' (dry run: nothing is sent, nothing is kept)' : '';
  return `${verb} business date ${run.businessDate}${covers}${dry}`;
}
