// The database of a wave is put back: a cold copy or a base backup comes back with or without the
// ledger, a standby takes over that lacks the last commits or the server is recovered to a point in
// time, a dump is loaded anew under a server that runs on, or a logical replica is promoted, whose
// sequences begin anew. Copies of the tables stand in for the files; which server it is, that it was
// started anew, and on which timeline it is, the server's own functions are made to say. What the
// database knew until then is kept for the auditor. What `tieout restore` does is the campaign's.

import { join } from 'node:path';
import pg from 'pg';
import { readDatabase } from '../auditor/readBooks.mjs';

const MINUTE_MS = 60_000;

/** Answers for the functions by which the program knows a server that was started anew. */
export const SERVER = `
  create table sim.server (started timestamptz not null, timeline int not null,
    system bigint not null);
  insert into sim.server values ('2026-01-01T00:00:00Z', 1, 1);
  create function sim.pg_postmaster_start_time() returns timestamptz language sql stable as
    'select started from sim.server';
  create function sim.pg_walfile_name(pg_lsn) returns text language sql stable as
    'select lpad(timeline::text, 8, ''0'') || ''0000000000000001'' from sim.server';
  create function sim.pg_control_system(out system_identifier bigint) language sql stable as
    'select system from sim.server';
`;

const TABLES = `
  select n.nspname as schema, c.relname as name,
    (select string_agg(quote_ident(a.attname), ', ' order by a.attnum) from pg_attribute a
     where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
       and a.attgenerated = '') as columns
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname in ('tieout', 'ledger') and c.relkind in ('r', 'p') and not c.relispartition
  order by 1, 2`;

const kept = ({ schema, name }) => `snapshot."${schema}.${name}"`;

const KINDS_OF_RESTORE = [
  ...['a copy', 'a copy', 'without the ledger', 'a standby took over'],
  ...['recovered to a point in time', 'a dump loaded anew', 'a logical replica was promoted'],
];
/** What the rarest run has to have drawn. */
export const RESTORES = [...new Set(KINDS_OF_RESTORE)].map((kind) => `put back: ${kind}`);
/** Files that come back name the transaction that wrote each row; rows that are loaded do not. */
const LOADED = new Set(['a dump loaded anew', 'a logical replica was promoted']);
const SERVERS = {
  'a standby took over': 'started = clock_timestamp(), timeline = timeline + 1',
  'recovered to a point in time': 'started = clock_timestamp(), timeline = timeline + 1',
  // The server runs on.
  'a dump loaded anew': 'started = started',
  'a logical replica was promoted':
    'started = clock_timestamp(), timeline = 1, system = system + 1',
};
/** One database that forgets nothing: there is nothing to hold against it. */
export const NO_JOURNAL = {
  journalId: () => null,
  verify: async () => null,
  keep: async () => {},
  sign: async () => {},
  awaited: async () => null,
  isHeldUp: async () => false,
  mayClaim: async () => null,
  append: async () => {},
  whyNoLine: async () => null,
  close: async () => {},
};

/** When a copy is taken, and when it comes back: before the second night, or in its middle. */
export function restoreFor({ draws, admin }) {
  if (!draws.falls(admin, 'the database is put back')) return null;
  return {
    kind: admin.pick(KINDS_OF_RESTORE),
    copyAt: admin.between(2, 150),
    comes: admin.pick([1, 1.5, 2]),
    restarts: admin.chance(0.5),
  };
}

/** A process has one address for its life, and a replica has another. */
const restarts = ({ kind, restarts: isDrawn }) =>
  isDrawn || kind === 'a logical replica was promoted';

/** A journal of permits for each host, on the disk as it really is; its guard lives as a process. */
export function openJournals(wave) {
  const { program, db, clock, folder, guards } = wave;
  return (host) => {
    const name = `${host}.${wave.generation ?? 0}`;
    const known = guards.get(name);
    if (known !== undefined) return known;
    const open = async () => {
      const journal = await program.permitJournal.openPermitJournal(join(folder, host));
      // Dated by the wall of the schedule: what a person let go would lie before it for ever.
      const append = (line) => journal.append({ ...line, at: clock.now().toISOString() });
      return { ...journal, append };
    };
    const guard = program.journalGuard.openJournalGuard({
      ...{ db, host, open, wallClock: clock.now, monotonic: clock.elapsed },
      every: (ms, work) => every(wave, ms, work),
    });
    guards.set(name, guard);
    return guard;
  };
}

/** A timer goes by the schedule's clock: after a skip it is due once, like one of a busy process. */
function every({ clock, timers }, ms, work) {
  const timer = { ms, work, due: clock.elapsed() + ms };
  timers.add(timer);
  return () => timers.delete(timer);
}

/** Whatever is due by now, one after the other. */
export async function letTimersFall({ clock, timers }) {
  for (const timer of [...timers]) {
    if (timer.due > clock.elapsed()) continue;
    timer.due = clock.elapsed() + timer.ms;
    await timer.work();
  }
}

export async function putBackNow(wave) {
  const { restore } = wave;
  if (wave.copy === null) await takeCopy(wave);
  await putBack(wave, restore.kind);
  wave.restore = null;
  if (!restarts(restore)) return;
  wave.generation = (wave.generation ?? 0) + 1;
  wave.timers.clear();
  for (const world of wave.list) world.killAll('with the database');
  wave.tally.count('with the database');
}

/** Copies every table, and how far each sequence had come. */
export async function takeCopy(wave) {
  const { db } = wave;
  await db.transaction(async (tx) => {
    await tx.query('set transaction isolation level repeatable read');
    await tx.query('drop schema if exists snapshot cascade; create schema snapshot');
    const { rows: tables } = await tx.query(TABLES);
    for (const one of tables) {
      const { schema, name, columns } = one;
      await tx.query(`create table ${kept(one)} as select ${columns} from ${schema}.${name}`);
    }
    await tx.query(`create table snapshot.sequences as select schemaname, sequencename, last_value
      from pg_sequences where schemaname in ('tieout', 'ledger')`);
    wave.copy = { tables };
  });
  wave.tally.count('a copy of the database was taken');
}

/** `kind`: what comes back, and how. Everybody who was at work finds another database. */
async function putBack(wave, kind) {
  const { copy, tally } = wave;
  await keepForgotten(wave);
  const isPart = kind === 'without the ledger';
  const tables = copy.tables.filter(
    ({ schema, name }) =>
      (!isPart || schema !== 'ledger') && (LOADED.has(kind) || name !== 'installation'),
  );
  await wave.db.transaction(async (tx) => {
    await tx.query(`set local session_replication_role = replica`);
    const names = tables.map(({ schema, name }) => `${schema}.${name}`).join(', ');
    await tx.query(`truncate ${names}`);
    for (const one of tables) {
      const { schema, name, columns } = one;
      await tx.query(`insert into ${schema}.${name} (${columns}) overriding system value
        select ${columns} from ${kept(one)}`);
    }
    await tx.query(`select setval(format('%I.%I', schemaname, sequencename)::regclass,
      coalesce(last_value, 1), last_value is not null) from snapshot.sequences`);
    await tx.query(`select sim.note_asked(account_id, order_no) from ledger.orders`);
    await tx.query(`select sim.note_disputes()`);
    if (kind === 'a logical replica was promoted') {
      await tx.query(`select setval(format('%I.%I', schemaname, sequencename)::regclass, 1, false)
        from pg_sequences where schemaname = 'tieout'`);
    }
    await tx.query(`update sim.server set ${SERVERS[kind] ?? 'started = clock_timestamp()'}`);
  });
  // It has another address: whoever works on it was opened anew.
  if (kind === 'a logical replica was promoted') {
    await wave.program.sequences.bringNumbersForward(wave.db);
  }
  tally.count(`put back: ${kind}`);
  await wave.clock.skip(10 * MINUTE_MS);
}

/** Instructions and attempts that stand in no database any more own the effects that they had. */
async function keepForgotten(wave) {
  const client = new pg.Client(wave.connection);
  await client.connect();
  const { instructions, attempts, approvals, calls } = await readDatabase(client);
  await client.end();
  wave.putBacks += 1;
  const named = (id) => `L${wave.putBacks}.${id}`;
  wave.forgotten.instructions.push(...instructions.map((row) => ({ ...row, id: named(row.id) })));
  wave.forgotten.approvals.push(...approvals.map((row) => ({ ...row, id: named(row.id) })));
  wave.forgotten.calls.push(...calls);
  wave.forgotten.attempts.push(
    ...attempts.map((row) => ({ ...row, entries: row.entries.map(named) })),
  );
}

/** Without what the database knows after all. */
export function forgottenBy({ forgotten }, { attempts }) {
  const known = new Set(attempts.map(({ attempt_id }) => attempt_id));
  const lost = forgotten.attempts.filter(({ attempt_id }) => !known.has(attempt_id));
  const ids = new Set(lost.flatMap(({ entries }) => entries));
  return {
    attempts: lost,
    calls: forgotten.calls,
    approvals: forgotten.approvals,
    instructions: forgotten.instructions.filter(({ id }) => ids.has(id)),
  };
}
