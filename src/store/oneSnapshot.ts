// Work on a large set shared out among sessions of the server that are at it at once and see the
// same: each in a transaction of its own, all of one snapshot, and none commits before all have
// done theirs. Where that cannot be, behind a pool without room or within a transaction, one does
// all of it. Neighbours: db.ts below, verdicts.ts above.

import type { Database, Db } from './db.js';
import { inTransaction, isDatabase } from './db.js';

/** Whether so many transactions can be open at once without waiting for one another's clients. */
export function hasRoomFor(db: Db, transactions: number): boolean {
  if (!isDatabase(db)) return false;
  const { pool } = db;
  const taken = pool.totalCount - pool.idleCount + pool.waitingCount;
  return pool.options.max - taken >= transactions;
}

/**
 * What each of the works answered. One that fails undoes the others; a process that dies between
 * two commits leaves what some of them did, as it does between two steps.
 */
export async function ofOneSnapshot<T>(
  db: Db,
  works: readonly ((tx: Db) => Promise<T>)[],
): Promise<T[]> {
  if (isDatabase(db) && works.length > 1 && hasRoomFor(db, works.length)) {
    return atOnce(db, works);
  }
  return inTransaction(db, async (tx) => {
    const answers: T[] = [];
    for (const work of works) answers.push(await work(tx));
    return answers;
  });
}

async function atOnce<T>(db: Database, works: readonly ((tx: Db) => Promise<T>)[]): Promise<T[]> {
  const snapshot = later<string>();
  const answers = works.map(() => later<T>());
  const all = Promise.all(answers.map(({ promise }) => promise));
  all.catch(() => {});
  const transactions = works.map(async (work, at) => {
    try {
      await db.transaction(async (tx) => {
        await tx.query('set transaction isolation level repeatable read');
        if (at === 0) snapshot.resolve(await exportSnapshot(tx));
        else await tx.query(`set transaction snapshot '${await snapshot.promise}'`);
        answers[at]?.resolve(await work(tx));
        await all;
      });
    } catch (error) {
      snapshot.reject(error);
      answers[at]?.reject(error);
      throw error;
    }
  });
  const ended = await Promise.allSettled(transactions);
  for (const one of ended) if (one.status === 'rejected') throw one.reason;
  return all;
}

/** Good for as long as this transaction lasts. */
async function exportSnapshot(tx: Db): Promise<string> {
  const { rows } = await tx.query<{ id: string }>('select pg_export_snapshot() as id');
  const id = rows[0]?.id ?? '';
  if (!/^[\w-]+$/.test(id)) throw new Error('the server named no snapshot');
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
