// Can this process send at all? Its clock, the disk of its journal and its way to the gateway are
// of this host alone: what is wrong with them is no try of a batch, which another host may send.
// While it lasts one batch at a time finds out whether it is over, its workers leave the others
// alone for a while (jobs/rests.ts), and a run whose own process cannot send waits for other hosts
// only as long as one of them sends. Neighbours: send/sendBatch.ts says what it met, send/send.ts
// and night/sendApproved.ts wait.

import type { Log } from '../../core/log.js';
import type { Db } from '../../database/db.js';
import { noAccountHere } from '../../runs/environment.js';
import { ofHost } from './hostReasons.js';
import type { JournalGuard } from './journalGuard.js';
import { isSentByAnybody } from './journalsStore.js';

/** So many connections in a row that did not come about are a way that is not there. */
const UNREACHED_MAX = 4;
/** What was not met again for so long may be over. */
const FORGOTTEN_MS = 60_000;
/** So long a run waits whose own process cannot send, and without a send of anybody. */
const HELD_UP_MS_MAX = 20_000;
const ASK_MS = 1_000;
/** A job has ended so soon after its batch was left to others. */
const LEFT_MS = 1_000;
/** Whoever sent something within so long is of use here, and takes what is its own between. */
const OF_USE_MS = 10_000;

export interface SenderFitness {
  /** Does the work, unless nothing can be sent from here and another try finds that out already. */
  through(work: () => Promise<void>): Promise<void>;
  /** Nothing can be sent from here now; answers why, with the name of the host, for the record. */
  unfit(reason: string): string;
  /** A connection to the gateway did not come about; the same. */
  unreached(reason: string): string;
  /** All is well: a first byte may go. */
  fit(): void;
  /** A batch of an account that this process does not know: who knows it says why it waits. */
  leave(accountId: string): void;
  /** Nothing could be sent from here, a moment ago. */
  isUnfit(): boolean;
  /** What it takes from the queues now is kept from those who can send it. */
  isInTheWay(): boolean;
  /** For so long, of the time since that moment. */
  unfitMs(began: number): number;
}

interface FitnessDeps {
  host: string;
  /** never goes back; milliseconds */
  monotonic: () => number;
  log: Log;
}

export function watchFitness({ host, monotonic, log }: FitnessDeps): SenderFitness {
  let trouble: { since: number; last: number; reason: string } | null = null;
  let unreachedInARow = 0;
  let trying = 0;
  const unknown = new Set<string>();
  let leftAt = Number.NEGATIVE_INFINITY;
  let fitAt = Number.NEGATIVE_INFINITY;
  const present = () =>
    trouble !== null && monotonic() - trouble.last < FORGOTTEN_MS ? trouble : null;
  const named = (reason: string): string => ofHost(reason, host);
  const unfit = (reason: string): string => {
    const before = present();
    const last = monotonic();
    trouble = { since: before?.since ?? last, last, reason };
    if (before === null || !isAlike(before.reason, reason)) {
      log(`nothing is sent from this host: ${reason}`, { level: 'warn' });
    }
    return named(reason);
  };
  return {
    through: async (work) => {
      if (trying > 0 && present() !== null) return;
      trying += 1;
      try {
        await work();
      } finally {
        trying -= 1;
      }
    },
    unfit,
    unreached: (reason) => {
      unreachedInARow += 1;
      return unreachedInARow < UNREACHED_MAX ? named(reason) : unfit(reason);
    },
    fit: () => {
      unreachedInARow = 0;
      trouble = null;
      fitAt = monotonic();
    },
    leave: (accountId) => {
      leftAt = monotonic();
      if (unknown.has(accountId)) return;
      unknown.add(accountId);
      const line = `${noAccountHere(accountId)}: its batches are left to others`;
      log(line, { level: 'warn', account: accountId });
    },
    isUnfit: () => present() !== null,
    isInTheWay: () => {
      const now = monotonic();
      return present() !== null || (now - leftAt < LEFT_MS && now - fitAt > OF_USE_MS);
    },
    unfitMs: (began) => {
      const now = present();
      return now === null ? 0 : monotonic() - Math.max(now.since, began);
    },
  };
}

/** A clock that is wrong is so by a second more or less each time. */
function isAlike(one: string, other: string): boolean {
  const plain = (text: string): string => text.replace(/\d+/g, '');
  return plain(one) === plain(other);
}

interface WaitingDeps {
  db: Db;
  config: { gateway: { profile: { limits: { timeoutMs: number } } } };
  journal: Pick<JournalGuard, 'isHeldUp'>;
  fitness: Pick<SenderFitness, 'unfitMs'>;
  monotonic: () => number;
}

/** Whoever waits from now on asks it: is nothing sent for so long that it waits no more? */
export function holdUps(deps: WaitingDeps): () => Promise<boolean> {
  const { db, journal, fitness, monotonic } = deps;
  const began = monotonic();
  const openMs = deps.config.gateway.profile.limits.timeoutMs + HELD_UP_MS_MAX;
  let asked = Number.NEGATIVE_INFINITY;
  return async () => {
    if (await journal.isHeldUp()) return true;
    const now = monotonic();
    if (fitness.unfitMs(began) <= HELD_UP_MS_MAX || now - asked < ASK_MS) return false;
    asked = now;
    return !(await isSentByAnybody(db, { endedMs: HELD_UP_MS_MAX, openMs }));
  };
}
