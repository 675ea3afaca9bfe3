// A clock of the database that tests can set: a function that the program's statements find before
// the server's own. Connections that are opened afterwards see it. Neighbour: night.ts, whose
// houses move the clock of this side.

import type { Database } from '../../src/database/db.js';

export interface MovedClock {
  now(): Date;
  /** Both clocks from now on; they go on from there. */
  set(at: Date | string): Promise<void>;
}

export async function moveClock(db: Database): Promise<MovedClock> {
  await db.query(`create schema sim;
    create table sim.clock (shift interval not null);
    insert into sim.clock values ('0');
    create function sim.clock_timestamp() returns timestamptz language sql volatile as
      'select pg_catalog.clock_timestamp() + (select shift from sim.clock)';
    do $$ begin
      execute format('alter database %I set search_path = sim, pg_catalog, public',
        current_database());
    end $$;
    -- The tables were made before: what they write down by themselves is by this clock, too.
    do $$ declare one record; begin
      for one in select table_schema, table_name, column_name from information_schema.columns
        where table_schema = 'tieout' and column_default = 'clock_timestamp()' loop
        execute format('alter table %I.%I alter %I set default sim.clock_timestamp()',
          one.table_schema, one.table_name, one.column_name);
      end loop;
    end $$`);
  let shift = 0;
  return {
    now: () => new Date(Date.now() + shift),
    async set(at) {
      shift = new Date(at).getTime() - Date.now();
      await db.query('update sim.clock set shift = make_interval(secs => $1)', [shift / 1000]);
    },
  };
}
