// Who holds up a session of ours: a table that somebody locked and forgot. A statement that waits
// for a lock says nothing by itself, so a process that works looks every few seconds whether one of
// the installation's sessions waits, and tells by whom and what ends it. Neighbours: limits.ts says
// how long is waited; app/compose.ts looks; `tieout doctor` and the failure of a run repeat it.

import type { Log } from '../../core/log.js';
import { type LockWait, lockWaitSentence } from '../../core/text/lockWait.js';
import { keepingOn } from '../../processes/keepingOn.js';
import { APPLICATION_NAME } from '../connection.js';
import type { Db } from '../db.js';
import { statement } from '../statements.js';

const LOOK_MS = 2_000;
/** Ordinary work waits for ordinary work as long as this, and nobody need hear of it. */
const TOLD_AFTER_MS = 4_000;
/** How often the same wait is told. */
const AGAIN_MS = 60_000;
/** A wait that ended longer ago did not end the statement that asks. */
const LOOKS_KEPT = 5;
/** SQLSTATE of a statement that waited for a lock as long as it may. */
const LOCK_NOT_AVAILABLE = '55P03';

/** What sessions of the installation wait for now, by whom they are held up. */
async function lockWaits(db: Db): Promise<LockWait[]> {
  const { rows } = await db.query<LockWait>(statement('database/server/lockWaits'), [
    APPLICATION_NAME,
  ]);
  return rows;
}

interface LockWatch {
  /** who held up a session of ours in the last few looks; null: nobody */
  last: () => string | null;
  stop: () => void;
}

/** Looks until it is stopped, and tells each wait that is no ordinary one. */
export function watchLockWaits(db: Db, tell: Log, lookMs: number = LOOK_MS): LockWatch {
  let last: { words: string; at: number } | null = null;
  const seen = new Map<string, { since: number; told: number | null }>();
  const look = async (): Promise<void> => {
    const now = performance.now();
    const waits = new Map((await lockWaits(db)).map((one) => [`${one.holder} ${one.what}`, one]));
    for (const key of seen.keys()) if (!waits.has(key)) seen.delete(key);
    for (const [key, wait] of waits) {
      const { since, told } = seen.get(key) ?? { since: now, told: null };
      last = { words: lockWaitSentence(wait), at: now };
      const isDue = told === null ? now - since >= TOLD_AFTER_MS : now - told >= AGAIN_MS;
      if (isDue) tell(last.words, { level: 'warn' });
      seen.set(key, { since, told: isDue ? now : told });
    }
  };
  // Where the server is away, whoever asks it something tells of that.
  const stop = keepingOn(look, lookMs);
  const isNew = (at: number): boolean => performance.now() - at < LOOKS_KEPT * lookMs;
  return {
    last: () => (last !== null && isNew(last.at) ? last.words : null),
    stop,
  };
}

/** Whether a statement gave up waiting for a lock. */
export function gaveUpWaiting(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === LOCK_NOT_AVAILABLE;
}
