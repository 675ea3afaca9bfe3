// Which night is owed now, and what is to be done about it: one pure question over what the
// calendar and the newest run say. A tick of a clock is only a wish; this decides. Neighbours:
// runs/calendarStore.ts knows the facts, night/owedRun.ts does what is answered, cli/runs/status.ts
// tells it.

import { isFinished, type RunState } from './summary.js';

export interface OwedFacts {
  now: Date;
  /** when a run was last to begin; null: never within a year */
  tick: Date | null;
  /** the business date that had ended by then */
  due: string | null;
  /** the business date that will have ended when the next run is to begin */
  nextDue: string | null;
  /** until when that run is resumed */
  resumeUntil: Date | null;
  /** runs from before it are not owed */
  installedAt: Date | null;
  run: NewestRun | null;
}

export interface NewestRun {
  date: string;
  state: RunState;
  /** incomplete by what accounts left that are in the configuration no more: no look cures it */
  isLeftAlone: boolean;
  /** somebody who lives works on it */
  isAtWork: boolean;
  /** it was told to stop, and did not fail by itself */
  wasStopped: boolean;
  /** an account of the configuration has no part in it, or was begun and not finished */
  lacksAccounts: boolean;
  /** how often it has ended since the tick */
  ends: number;
  endedAt: Date | null;
}

export type Owed =
  /** `newest`: the run of the next night's date is there and done, and that night begins none */
  | { kind: 'nothing'; newest?: string }
  /** the date has no run, or its process is gone */
  | { kind: 'begin' | 'goOn'; date: string; since: Date }
  | { kind: 'underWay'; date: string }
  /** the next night, of `date`, is not going to begin: a run of a date that lies ahead is there */
  | { kind: 'barred'; date: string; newest: string; since: Date }
  /** incomplete or failed: again at `at`, which may be now */
  | { kind: 'resume'; date: string; at: Date; until: Date }
  /** incomplete or failed, and the time to resume it is over */
  | { kind: 'givenUp'; date: string; until: Date };

/**
 * So often a run whose process died is gone on with at once; then it has failed, and is resumed as
 * one that did: a night that is killed for want of memory would be begun without end, and end
 * nowhere.
 */
export const DEATHS_MAX = 5;
/** What such a run has failed of. */
export const DIED =
  `its process died more than ${DEATHS_MAX} times before its end, ` +
  'as one does that lacks memory';

/** How long an incomplete night waits before it is resumed the first time, the second, ... */
export const RESUME_PAUSES_MINUTES = [1, 2, 4, 8, 15] as const;

const MINUTE_MS = 60_000;

/** A clock that differs more from the database's sends nothing and begins no run. */
const SKEW_MS_MAX = 60_000;

const NOTHING: Owed = { kind: 'nothing' };

export function whatIsOwed(facts: OwedFacts): Owed {
  const { run, due, tick } = facts;
  if (run?.isAtWork === true) return { kind: 'underWay', date: run.date };
  if (tick === null || due === null) return { kind: 'nothing' };
  if (run === null || run.date < due) {
    const isOlder = run === null && facts.installedAt !== null && tick < facts.installedAt;
    return isOlder ? { kind: 'nothing' } : { kind: 'begin', date: due, since: tick };
  }
  if (run.state === 'running' || run.wasStopped) {
    return { kind: 'goOn', date: run.date, since: tick };
  }
  const { nextDue } = facts;
  if (nextDue !== null && run.date > nextDue) {
    return { kind: 'barred', date: nextDue, newest: run.date, since: tick };
  }
  // Begun by hand before its own night was to begin: it is owed then, and until then nothing is.
  if (run.date > due) {
    return run.date === nextDue && isDone(run) ? { kind: 'nothing', newest: run.date } : NOTHING;
  }
  return ofEnded(facts, run, tick);
}

function ofEnded({ now, resumeUntil }: OwedFacts, run: NewestRun, tick: Date): Owed {
  const until = resumeUntil ?? tick;
  if (isDone({ ...run, lacksAccounts: false })) {
    const isPart = run.lacksAccounts && now < until;
    return isPart ? { kind: 'goOn', date: run.date, since: tick } : NOTHING;
  }
  // A run that was tried before its time is owed at its time.
  const endedAt = run.ends === 0 ? tick : (run.endedAt ?? tick);
  const at = new Date(endedAt.getTime() + pauseMs(run.ends));
  if (now < until && at < until) return { kind: 'resume', date: run.date, at, until };
  return { kind: 'givenUp', date: run.date, until };
}

/** Whether its own night finds nothing to do. */
function isDone({ state, isLeftAlone, lacksAccounts }: NewestRun): boolean {
  return (isFinished(state) || isLeftAlone) && !lacksAccounts;
}

/** None before it has ended once since the tick; then it grows, up to the last. */
function pauseMs(ends: number): number {
  const pause = RESUME_PAUSES_MINUTES[ends - 1] ?? RESUME_PAUSES_MINUTES.at(-1) ?? 0;
  return ends === 0 ? 0 : pause * MINUTE_MS;
}

/** After so long a run that should have begun is said not to have started. */
const LATE_MINUTES_MAX = 10;

/** Whether somebody has to be told that the run did not start, or is not going to. */
export function didNotStart(owed: Owed, now: Date): boolean {
  if (owed.kind === 'barred') return true;
  if (owed.kind !== 'begin' && owed.kind !== 'goOn') return false;
  return now.getTime() - owed.since.getTime() > LATE_MINUTES_MAX * MINUTE_MS;
}

/** A run that has not ended, and whose holder gave no sign of life since. */
export interface Silence {
  date: string;
  since: Date;
  ms: number;
}

/** A clock takes it up within a minute: what is silent for longer waits for somebody. */
const SILENT_MINUTES_MAX = 3;

/** Whether somebody has to be told that nobody works on a run. */
export function standsStill(silence: Silence | null): silence is Silence {
  return silence !== null && silence.ms > SILENT_MINUTES_MAX * MINUTE_MS;
}

export function silenceSentence({ date, since }: Silence): string {
  return (
    `Business date ${date} stands still: nobody has worked on it since ${toMinute(since)}; ` +
    `\`tieout run --date ${date}\` goes on with it.`
  );
}

/** Null: the clocks agree well enough. `skewMs`: the clock of the database less ours. */
export function clockTrouble(skewMs: number): string | null {
  if (Math.abs(skewMs) <= SKEW_MS_MAX) return null;
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  const where = `${seconds} s ${skewMs < 0 ? 'ahead of' : 'behind'} the database's`;
  return `the clock of this host is ${where}: set the one that is wrong`;
}

/** What is to be said beside the sentence of the newest run; null: it says everything. */
export function owedSentence(owed: Owed, now: Date): string | null {
  switch (owed.kind) {
    case 'nothing':
    case 'underWay':
      return null;
    case 'begin':
      return didNotStart(owed, now)
        ? `Business date ${owed.date} did not start: it is owed since ${toMinute(owed.since)}.`
        : `Business date ${owed.date} is to begin now.`;
    case 'goOn':
      return `Business date ${owed.date} stopped before its end and is to go on now.`;
    case 'resume':
      return (
        `It is resumed ${owed.at > now ? `at ${toMinute(owed.at)}` : 'now'}, ` +
        `until ${toMinute(owed.until)} at the latest, where \`start\` or \`schedule\` runs.`
      );
    case 'barred':
      return (
        `Business date ${owed.date} is not going to begin: ${owed.newest} was run already, by ` +
        'a clock that was ahead, or by another schedule.timezone or cutOff. No night begins, by ' +
        `itself or by hand, until a date after ${owed.newest} has ended.`
      );
    case 'givenUp':
      return (
        `By itself it goes on no more since ${toMinute(owed.until)}: ` +
        `\`tieout run --date ${owed.date}\` goes on with it, else the next night covers it.`
      );
  }
}

/** To the minute, in UTC. */
export function toMinute(at: Date): string {
  return `${at.toISOString().slice(0, 16)}Z`;
}

/** Behind `owedSentence` where a stop stands below it: to run again sends nothing of that. */
export function stoppedSentence({ kind }: Owed): string {
  return kind === 'resume' || kind === 'givenUp'
    ? ' It does not send what the stop below keeps back until sending is resumed.'
    : '';
}

/** When the next run begins, and of which date it will be. */
export function nextSentence(
  next: { nextTick: Date | null; nextDue: string | null },
  owed: Owed,
): string {
  const newest = owed.kind === 'barred' || owed.kind === 'nothing' ? owed.newest : undefined;
  if (newest !== undefined) return `The next night is the first one after ${newest}.`;
  const { nextTick, nextDue } = next;
  if (nextTick === null || nextDue === null) return 'No night is to begin within a year.';
  return `The next night begins at ${toMinute(nextTick)}, business date ${nextDue}.`;
}
