// A gateway that goes away in the middle of a run that a clock began is waited for: half an hour
// of its absence costs half an hour, and not the pages asked meanwhile. One that was not there to
// begin with, or in a run that somebody typed, is not: the run says so within seconds. Asking moves
// nothing, and whether it is back is tried with a connection alone.

import type { Account } from '../gateway/account.js';
import type { RunDeps } from '../runs/deps.js';
import type { PageAnswer } from './askPage.js';
import type { ChunkRow } from './snapshot/snapshotsStore.js';
import { keepChunk } from './snapshot/snapshotsStore.js';
import { gatewayStatus } from './snapshot/storedPagesStore.js';

export type OutageDeps = Pick<RunDeps, 'db' | 'gateway' | 'log' | 'monotonic' | 'sleep'>;

/** So long in all, for a chunk, a gateway is waited for that answered within as long before. */
export const OUTAGE_MINUTES_MAX = 45;
const MINUTE_MS = 60_000;
const PAUSE_FIRST_MS = 2_000;
/** Well below the time after which a chunk without a sign of life is given to another worker. */
const PAUSE_MAX_MS = 20_000;

export interface Patience {
  /** An answer came. */
  answered(): void;
  /** Waits, once for all pages that ask; false: it is not worth waiting, or not any more. */
  back(): Promise<boolean>;
}

/** For the pages of one chunk, as long as `token` holds it. */
export function openPatience(
  deps: OutageDeps,
  chunk: ChunkRow,
  token: string,
  account: Account,
): Patience {
  let wasThere = false;
  let isOver = false;
  let leftMs = OUTAGE_MINUTES_MAX * MINUTE_MS;
  let waiting: Promise<boolean> | null = null;
  const wait = async (): Promise<boolean> => {
    const status = await gatewayStatus(deps.db, chunk.pullId, OUTAGE_MINUTES_MAX);
    wasThere ||= status.wasThere;
    if (!status.isWaitedFor || !wasThere) {
      isOver = true;
      return false;
    }
    const began = deps.monotonic();
    isOver = !(await isBack(deps, chunk, token, account, leftMs));
    leftMs -= deps.monotonic() - began;
    return !isOver;
  };
  return {
    answered: () => {
      wasThere = true;
    },
    back: async () => {
      if (isOver) return false;
      waiting ??= wait().finally(() => {
        waiting = null;
      });
      return waiting;
    },
  };
}

/** Asks until there is an answer, or nothing more to be gained by waiting. */
export async function askPatiently(
  patience: Patience,
  ask: () => Promise<PageAnswer>,
): Promise<PageAnswer> {
  for (;;) {
    const answer = await ask();
    if (answer.kind === 'answered') patience.answered();
    else if (!answer.reachable && answer.attempts > 0 && (await patience.back())) continue;
    return answer;
  }
}

async function isBack(
  deps: OutageDeps,
  chunk: ChunkRow,
  token: string,
  account: Account,
  leftMs: number,
): Promise<boolean> {
  const say = (words: string): void =>
    deps.log(`account ${account.accountId}: the gateway ${words}`);
  const began = deps.monotonic();
  const waited = (): number => deps.monotonic() - began;
  say(`cannot be reached any more; it is waited for, ${inMinutes(leftMs)} at most`);
  for (let pause = PAUSE_FIRST_MS; waited() < leftMs; pause = Math.min(pause * 2, PAUSE_MAX_MS)) {
    await deps.sleep(pause);
    if (!(await keepChunk(deps.db, chunk.chunkId, token))) return false;
    const opened = await deps.gateway.connectMoney(account);
    if (opened.kind === 'not_sent') continue;
    opened.connection.close();
    say(`is back after ${inMinutes(waited())}`);
    return true;
  }
  say('did not come back; its pages failed');
  return false;
}

function inMinutes(ms: number): string {
  return `${(ms / MINUTE_MS).toFixed(1)} minutes`;
}
