// How the sides of `--part sets` are measured: each commits what it writes, as a night does, and
// what it wrote is emptied before the next one's turn, outside of its time; so every side begins
// with the same empty tables. Processor time is that of this process and of everything the server
// runs, whoever asked it. Neighbours: sets.mjs, engines.mjs.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parentOf, processorMs } from './processorTime.mjs';
import { timed } from './stats.mjs';

// What was recorded is never emptied, save by whoever owns the server.
const EMPTIED = `set session_replication_role = replica;
  truncate tieout.verdicts, tieout.breaks, tieout.break_events, tieout.carried_breaks;
  set session_replication_role = origin`;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');

/** Time of work on a database whose verdicts and breaks, the bare ones too, are emptied after. */
export async function written(db, work) {
  await settle(db);
  try {
    return await measured(db, () => work(db));
  } finally {
    await db.query(EMPTIED);
    await db.query('truncate bare.verdicts');
  }
}

/** What the side before left behind costs none of this one: no garbage, and the pages read anew. */
async function settle(db) {
  collectGarbage();
  await db.query('select count(*), max(currency) from tieout.asked_orders');
  await db.query('select count(*), max(currency) from tieout.look_entries');
}

/** The same within one transaction, as a side that knows nothing else writes. */
export function writtenAtOnce(db, work) {
  return written(db, () => db.transaction(work));
}

/** By the clock (`wall`), and by the processor of both ends (`busy`). */
export async function measured(db, work) {
  const { rows } = await db.query('select pg_backend_pid() as pid');
  const server = parentOf(rows[0].pid);
  const before = processorMs(server);
  const took = await timed(work);
  return { ...took, busy: took.cpu + processorMs(server) - before };
}
