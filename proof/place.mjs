// Where the schedules keep their databases: an embedded server of their own, and in it a template
// whose clock can be moved, copied for each wave. The simulator's need not survive anything; the
// campaign's is as durable as a merchant's.

import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ASKED } from './asked.mjs';
import { planOnce } from './planOnce.mjs';
import { SERVER } from './simulator/putBack.mjs';

const POOL_CLIENTS = 6;

/** The program's statements ask for clock_timestamp(); found first, this one answers. */
const MOVED_CLOCK = `
  create schema sim;
  create table sim.clock (shift interval not null);
  insert into sim.clock values ('0');
  create function sim.clock_timestamp() returns timestamptz language sql volatile as
    'select pg_catalog.clock_timestamp() + (select shift from sim.clock)';
`;
/** Stands still but for one microsecond a question, so that no two answers are the same. */
const STILL_CLOCK = `
  create schema sim;
  create sequence sim.asked;
  create table sim.clock (at timestamptz not null, asked bigint not null);
  insert into sim.clock values (pg_catalog.clock_timestamp(), 1);
  create function sim.clock_timestamp() returns timestamptz language sql volatile as
    'select at + nextval(''sim.asked'') * interval ''1 microsecond'' from sim.clock';
${SERVER}`;
const SEARCH_PATH = 'set search_path = sim, pg_catalog, public';

/** Of a server that is thrown away: what functions ask inside is planned once a connection, too. */
const THROWAWAY = ['plan_cache_mode = force_generic_plan', "max_wal_size = '512MB'"];
const MEMORY = '/dev/shm';
/** Several times what a few servers have been seen to hold at once. */
const ROOM_BYTES_MIN = 4 * 2 ** 30;

/** `isStill`: the server's clock goes on only where it is set, not by itself. */
export async function openPlace(program, { tally, log, isDurable = false, isStill = false }) {
  const under = !isDurable && hasRoom() ? MEMORY : tmpdir();
  const folder = mkdtempSync(join(under, 'tieout-proof-'));
  chmodSync(folder, 0o755);
  const options = { dataDir: join(folder, 'var'), unsafeFast: !isDurable };
  let server = await program.embedded.startEmbedded(options);
  const { host, user, database } = server;
  const at = (name) => ({ host, user, database: name });
  const admin = program.db.openDatabase(at(database), { max: 1 });
  const clock = isStill ? STILL_CLOCK : MOVED_CLOCK;
  if (isStill) {
    for (const one of THROWAWAY) await admin.query(`alter system set ${one}`);
    await admin.query('select pg_reload_conf()');
  }
  await makeTemplate(program, admin, at('proof_template'), { clock, withQueues: isDurable });
  let made = 0;
  return {
    program,
    tally,
    log,
    folder,
    async freshDatabase() {
      made += 1;
      const name = `proof_${made}`;
      await admin.query(`create database ${name} template proof_template`);
      await admin.query(`alter database ${name} ${SEARCH_PATH}`);
      const db = program.db.openDatabase(at(name), { max: POOL_CLIENTS });
      if (isStill) planOnce(db.pool);
      const drop = async () => {
        await db.close();
        await admin.query(`drop database ${name} with (force)`);
      };
      const url = `postgres://${user}@localhost/${name}?host=${encodeURIComponent(host)}`;
      return { db, url, connection: { host, user, database: name, port: 5432 }, drop };
    },
    /** Under whoever is at work; all connections end. */
    async restart() {
      await server.stop();
      server = await program.embedded.startEmbedded(options);
    },
    async close() {
      await admin.close();
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A bare container has 64 MB there, and macOS no such folder. */
function hasRoom() {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= ROOM_BYTES_MIN;
  } catch {
    return false;
  }
}

/** A database of the schedules' own on a server that runs, with a clock that is moved. */
export function makeMovedDatabase(program, admin, connection) {
  return makeTemplate(program, admin, connection, { clock: MOVED_CLOCK, withQueues: true });
}

async function makeTemplate(program, admin, connection, { clock, withQueues }) {
  await admin.query(`create database ${connection.database}`);
  await admin.query(`alter database ${connection.database} ${SEARCH_PATH}`);
  const template = program.db.openDatabase(connection, { max: 1 });
  await template.query(clock);
  await template.close();
  await program.migrate.migrateUp(connection);
  const made = program.db.openDatabase(connection, { max: 1 });
  await made.query(ASKED);
  await made.close();
  if (withQueues) await program.queues.migrateQueues({ kind: 'database', connection });
}
