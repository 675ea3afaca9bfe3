// Where a night stands still for a test: a step of it is known by a row that it writes, and its
// statement waits there, inside the server, until the test lets it go on. For tests that stop, kill
// or cut off a real process at a step of their choice.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from '../../src/database/connection.js';
import { openDatabase } from '../../src/database/db.js';

/** A step, and the table whose rows it writes first or most. */
export const STEPS = {
  pull: { table: 'tieout.asked_orders', when: null },
  pages: { table: 'tieout.pages', when: null },
  compare: { table: 'tieout.breaks', when: null },
  plan: { table: 'tieout.instructions', when: null },
  send: { table: 'tieout.batches', when: null },
  claim: { table: 'tieout.attempts', when: null },
  confirm: { table: 'tieout.pulls', when: "new.kind = 'confirm'" },
  total: { table: 'tieout.workings', when: "new.kind = 'total'" },
  report: { table: 'tieout.reports', when: null },
  end: { table: 'tieout.run_ends', when: null },
} as const;
export type Step = keyof typeof STEPS;

const LOCK = 5_501;
const POLL_MS = 20;
const WAIT_MS_MAX = 90_000;
const WAITERS = `select pid from pg_locks where locktype = 'advisory' and objid = ${LOCK}
  and not granted and database = (select oid from pg_database where datname = current_database())`;

/** Nights from before the installation are not owed: by this, last night's is owed at once. */
export const INSTALLED_LONG_AGO =
  "update tieout_meta.checksums set recorded_at = recorded_at - interval '1 day'";

export interface Gate {
  /** Resolves when the step has begun and waits. */
  reached(): Promise<void>;
  /** The step goes on, and so does whoever comes there later. */
  open(): Promise<void>;
}

/** Whoever comes to this step waits there until the gate is opened. */
export async function gateAt(connection: Connection, step: Step): Promise<Gate> {
  const { table, when } = STEPS[step];
  const db = openDatabase(connection, { max: 2 });
  const keeper = await db.pool.connect();
  keeper.on('error', () => {});
  await keeper.query(`select pg_advisory_lock(${LOCK})`);
  await keeper.query(
    `create or replace function public.wait_at_step() returns trigger language plpgsql as $$ begin
       perform pg_advisory_xact_lock_shared(${LOCK});
       return null;
     end $$;
     create trigger wait_at_step after insert on ${table}
       for each row ${when === null ? '' : `when (${when})`}
       execute function public.wait_at_step()`,
  );
  return {
    reached: async () => {
      const began = Date.now();
      while ((await db.query(WAITERS)).rowCount === 0) {
        if (Date.now() - began > WAIT_MS_MAX) throw new Error(`nobody came to ${step}`);
        await sleep(POLL_MS);
      }
    },
    open: async () => {
      keeper.release(true);
      await db.close();
    },
  };
}
