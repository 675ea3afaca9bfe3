// Where a night stands still until something was done to it: a step of it is known by a row that it
// writes, and its statement waits there, inside the server. (The tests have the same in
// test/support/steps.ts.)

import { setTimeout as sleep } from 'node:timers/promises';
import { patiently } from './server.mjs';

/** A step, and the table whose rows it writes first or most. */
export const STEPS = {
  pull: ['tieout.asked_orders', null],
  pages: ['tieout.pages', null],
  plan: ['tieout.instructions', null],
  send: ['tieout.batches', null],
  claim: ['tieout.attempts', null],
  answer: ['tieout.answers', null],
  confirm: ['tieout.pulls', "new.kind = 'confirm'"],
  total: ['tieout.workings', "new.kind = 'total'"],
  report: ['tieout.reports', null],
  end: ['tieout.run_ends', null],
};
/** How often each is drawn: where money is about to move, or has just moved, most of all. */
export const STEP_WEIGHTS = Object.keys(STEPS).map((name) => [
  { claim: 4, answer: 3, send: 2 }[name] ?? 1,
  name,
]);
const LOCK = 5_501;
const POLL_MS = 30;
const WAITERS = `select 1 from pg_locks where locktype = 'advisory' and objid = ${LOCK}
  and not granted and database = (select oid from pg_database where datname = current_database())`;

/** `reached(isOver)`: true once somebody waits there, false where the night is over without. */
export async function openGate(program, connection, step) {
  const [table, when] = STEPS[step];
  const db = await patiently(async () => program.db.openDatabase(connection, { max: 2 }));
  const keeper = await db.pool.connect();
  keeper.on('error', () => {});
  // The lock comes last: whoever waited for it at another step would hold what the trigger needs.
  try {
    await keeper.query(
      `create or replace function sim.wait_at_step() returns trigger language plpgsql as $$ begin
         perform pg_advisory_xact_lock_shared(${LOCK});
         return null;
       end $$;
       create or replace trigger wait_at_step after insert on ${table}
         for each row ${when === null ? '' : `when (${when})`}
         execute function sim.wait_at_step()`,
    );
    await keeper.query(`select pg_advisory_lock(${LOCK})`);
  } catch (error) {
    keeper.release(true);
    await db.close().catch(() => {});
    throw error;
  }
  return {
    async reached(isOver) {
      while (!isOver()) {
        if ((await db.query(WAITERS)).rowCount > 0) return true;
        await sleep(POLL_MS);
      }
      return false;
    },
    /** What waits goes on, and whoever comes there later. */
    async open() {
      keeper.release(true);
      await db.close().catch(() => {});
    },
  };
}
