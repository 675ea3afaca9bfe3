// Work whose writes nobody is to see: a dry run, a run that is worked out again.

import type { Database, Tx } from './db.js';

/** Runs the work in a transaction that never commits; answers what it found. */
export async function rolledBack<T>(
  db: Database,
  work: (tx: Tx) => Promise<T>,
  limits?: Parameters<Database['transaction']>[1],
): Promise<T> {
  const found: { result?: T } = {};
  const undo = new Error('rolled back as intended');
  await db
    .transaction(async (tx) => {
      found.result = await work(tx);
      throw undo;
    }, limits)
    .catch((error: unknown) => {
      if (error !== undo) throw error;
    });
  return found.result as T;
}
