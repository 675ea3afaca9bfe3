// Work on a large set shared out among sessions of the server that are at it at once and see the
// same: each in a transaction of its own, all of one snapshot, and none commits before all have
// done theirs. Where that cannot be, without a second session, within a transaction or on a server
// that shares no snapshot, one does all of it. Neighbours: db.ts below, verdictsStore.ts above.

import type { Database, Db } from './db.js';
import { inTransaction, isDatabase } from './db.js';
import { literal, named } from './identifiers.js';
import { SHARED_IDLE_MS } from './limits.js';

/** Whether so many transactions can begin at once, with no wait for a client of the pool. */
export function hasRoomFor(db: Db, transactions: number): boolean {
  if (!isDatabase(db)) return false;
  const { pool } = db;
  const taken = pool.totalCount - pool.idleCount + pool.waitingCount;
  return pool.options.max - taken >= transactions;
}

/**
 * What each of the works answered. One that fails undoes the others; a process that dies between
 * two commits leaves what some of them did, as it does between two steps. `onRefused` is told why
 * the server shares no snapshot, where it does not.
 */
export async function ofOneSnapshot<T>(
  db: Db,
  works: readonly ((tx: Db) => Promise<T>)[],
  onRefused?: (why: string) => void,
): Promise<T[]> {
  if (isDatabase(db) && works.length > 1) {
    try {
      return await atOnce(db, works);
    } catch (error) {
      // Each work waits for the snapshot: none of them had begun.
      if (!(error instanceof SnapshotRefused)) throw error;
      onRefused?.(error.message);
    }
  }
  return inTransaction(db, async (tx) => {
    const answers: T[] = [];
    for (const work of works) answers.push(await work(tx));
    return answers;
  });
}

/**
 * A session takes what nobody has taken yet: one that gets no place at the server before another
 * has done all finds nothing left, so that none ever waits for one that waits for it.
 */
async function atOnce<T>(db: Database, works: readonly ((tx: Db) => Promise<T>)[]): Promise<T[]> {
  const waiting = [...works.entries()];
  const answers = works.map(() => later<T>());
  const all = Promise.all(answers.map(({ promise }) => promise));
  all.catch(() => {});
  const seeTheSame = snapshotSharing();
  /** Answers why it did nothing, if it could not. */
  const session = async (): Promise<unknown> => {
    let at: number | null = null;
    try {
      await db.transaction(async (tx) => {
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
          const isFirst = at === null;
          at = next[0];
          if (isFirst) await seeTheSame(tx);
          answers[at]?.resolve(await next[1](tx));
        }
        if (at !== null) await all;
      });
    } catch (error) {
      if (at === null) return error;
      waiting.length = 0;
      answers[at]?.reject(error);
      throw error;
    }
    return null;
  };
  const ended = await Promise.allSettled(works.map(session));
  const failed = ended.find((one) => one.status === 'rejected');
  // Of several failures the first is the cause, and what `all` tells; else it was a COMMIT.
  if (failed) return all.then(() => Promise.reject(failed.reason));
  if (waiting.length === 0) return all;
  throw ended.map((one) => (one.status === 'fulfilled' ? one.value : null)).find(Boolean);
}

/** Nor does the server soon end, as idle, one that has done its share before the others. */
const OF_ONE = named`set transaction isolation level repeatable read;
  set local idle_in_transaction_session_timeout = ${SHARED_IDLE_MS}`;

/** The first transaction tells the others its snapshot, and outlasts their beginning. */
function snapshotSharing(): (tx: Db) => Promise<void> {
  let told: Promise<string> | null = null;
  return async (tx) => {
    const isFirst = told === null;
    told ??= tx.query(OF_ONE).then(() => exportSnapshot(tx));
    const id = await told;
    if (isFirst) return;
    await tx.query(OF_ONE);
    await tx.query(named`set transaction snapshot ${literal(id)}`);
  };
}

class SnapshotRefused extends Error {}

/** SQLSTATE classes: what the server does not know, or does not let this user do; not supported. */
const REFUSALS = /^(42|0A)/;

/**
 * Good for as long as this transaction lasts. Any PostgreSQL can do it, through a pooler too,
 * unless its owner forbids it; some distributed servers that speak its language cannot, or not by
 * default.
 */
async function exportSnapshot(tx: Db): Promise<string> {
  const asked = tx.query<{ id: string }>('select pg_export_snapshot() as id');
  const { rows } = await asked.catch((error: Error & { code?: string }) => {
    throw REFUSALS.test(error.code ?? '')
      ? new SnapshotRefused(error.message, { cause: error })
      : error;
  });
  const id = rows[0]?.id ?? '';
  if (id === '') throw new Error('the server named no snapshot');
  return id;
}

interface Later<T> {
  promise: Promise<T>;
  resolve(value: T): void;
  reject(error: unknown): void;
}

function later<T>(): Later<T> {
  let [resolve, reject]: [Later<T>['resolve'], Later<T>['reject']] = [() => {}, () => {}];
  const promise = new Promise<T>((yes, no) => {
    [resolve, reject] = [yes, no];
  });
  // Whoever waits for it hears of it; where nobody does, its transaction has thrown the same.
  promise.catch(() => {});
  return { promise, resolve, reject };
}
