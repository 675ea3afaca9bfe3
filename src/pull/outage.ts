// A gateway that goes away in the middle of a run that a clock began is waited for: half an hour
// of its absence costs half an hour, and not the pages asked meanwhile. One that was not there to
// begin with, or in a run that somebody typed, is not: the run says so within seconds. Asking moves
// nothing, and whether it is back is tried with a connection alone.

import type { Account } from '../gateway/account.js';
import type { RunDeps } from '../runs/deps.js';
import type { PageAnswer } from './askPage.js';
import type { ReachDeps } from './otherWorkers.js';
import { areOthersAnswered, watchWay } from './otherWorkers.js';
import type { ChunkRow } from './snapshot/snapshotsStore.js';
import { gatewayStatus } from './snapshot/storedPagesStore.js';

export type OutageDeps = Pick<RunDeps, 'gateway' | 'monotonic'> & ReachDeps;

/** So long in all, for a chunk, a gateway is waited for that answered within as long before. */
export const OUTAGE_MINUTES_MAX = 45;
const MINUTE_MS = 60_000;
const PAUSE_FIRST_MS = 2_000;
const PAUSE_MAX_MS = 20_000;

export interface Patience {
  /** An answer came. */
  answered(): void;
  /** How many came so far. */
  answers(): number;
  /** A page was answered here since, or shortly before. */
  hasWay(): boolean;
  /** It answers others: what is asked here is for them. */
  isLeft(): boolean;
  /** Waits, once for all pages that ask; false: it is not worth waiting, or not any more. */
  back(asked: { isWithoutWay: boolean }): Promise<boolean>;
}

/** For the pages of one chunk, until it is lost to another worker. */
export function openPatience(
  deps: OutageDeps,
  chunk: ChunkRow,
  account: Account,
  isLost: () => boolean,
): Patience {
  let answers = 0;
  let wasThere = false;
  let end: 'gone' | 'left' | null = null;
  let spentMs = 0;
  let waiting: Promise<'back' | 'gone' | 'left'> | null = null;
  /** The absence that lasts: a connection alone does not end it, an answer does. */
  let absence = null as { since: number; pause: number } | null;
  const say = (words: string): void =>
    deps.log(`account ${account.accountId}: the gateway ${words}`);
  const awayMs = (): number => (absence === null ? 0 : deps.monotonic() - absence.since);
  const leftMs = (): number => OUTAGE_MINUTES_MAX * MINUTE_MS - spentMs - awayMs();
  const untilBack = async (isWayGone: boolean): Promise<'back' | 'gone' | 'left'> => {
    const status = await gatewayStatus(deps.db, chunk.pullId, OUTAGE_MINUTES_MAX);
    wasThere ||= status.wasThere || answers > 0;
    if (!status.isWaitedFor || !wasThere) return 'gone';
    if (isWayGone && answers === 0 && (await areOthersAnswered(deps, chunk, 0))) return 'left';
    if (absence === null) {
      say(`does not answer any more; it is waited for, ${inMinutes(leftMs())} at most`);
      absence = { since: deps.monotonic(), pause: PAUSE_FIRST_MS };
    }
    const mine = absence;
    while (leftMs() > 0) {
      await deps.sleep(mine.pause);
      mine.pause = Math.min(mine.pause * 2, PAUSE_MAX_MS);
      if (isLost()) return 'gone';
      if (absence !== mine || (await connects(deps, account))) return 'back';
      if (await areOthersAnswered(deps, chunk, answers)) return 'left';
    }
    say('did not come back; its pages failed');
    return 'gone';
  };
  return {
    answered: () => {
      answers += 1;
      deps.reach.answered();
      if (absence === null) return;
      say(`is back after ${inMinutes(awayMs())}`);
      spentMs += awayMs();
      absence = null;
    },
    answers: () => answers,
    hasWay: watchWay(deps),
    isLeft: () => end === 'left',
    back: async (asked) => {
      if (end !== null) return false;
      waiting ??= untilBack(asked.isWithoutWay).finally(() => {
        waiting = null;
      });
      const found = await waiting;
      if (found !== 'back') end = found;
      return end === null;
    },
  };
}

async function connects({ gateway }: OutageDeps, account: Account): Promise<boolean> {
  const opened = await gateway.connectMoney(account);
  if (opened.kind === 'not_sent') return false;
  opened.connection.close();
  return true;
}

/**
 * Asks until there is an answer, or nothing more to be gained by waiting. Who answers others
 * meanwhile, and this one nothing, is not away: it may just be back, and is asked once more.
 */
export async function askPatiently(
  patience: Patience,
  ask: () => Promise<PageAnswer>,
): Promise<PageAnswer> {
  for (let isOnceMore = false; ; ) {
    const before = patience.answers();
    const answer = await ask();
    if (answer.kind === 'answered') {
      patience.answered();
      return answer;
    }
    if (answer.reachable || answer.attempts === 0) return answer;
    if (answer.isSilent && patience.answers() > before) {
      if (isOnceMore) return answer;
      isOnceMore = true;
    } else if (!(await patience.back({ isWithoutWay: isWithoutWay(answer, patience) }))) {
      return answer;
    }
  }
}

/** A connection without a word is none either, but for a process that is answered otherwise. */
export function isWithoutWay(answer: PageAnswer, { hasWay }: Patience): boolean {
  if (answer.kind === 'answered' || answer.reachable) return false;
  return !answer.isSilent || !hasWay();
}

/** Whether a chunk that came to its end here, pages unanswered, is for others to ask. */
export async function isForOthers(
  deps: ReachDeps,
  chunk: ChunkRow,
  { answers, isLeft }: Patience,
  { isUnreached }: { isUnreached: boolean },
): Promise<boolean> {
  return isLeft() || (isUnreached && (await areOthersAnswered(deps, chunk, answers())));
}

function inMinutes(ms: number): string {
  return `${(ms / MINUTE_MS).toFixed(1)} minutes`;
}
