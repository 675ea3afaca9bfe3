// The three roles of a database, given by `tieout migrate up`. The program works as the writer,
// who owns no table: nights, a report, a month that goes. An intruder with the writer's rights
// changes and empties nothing that is history, and neither removes nor passes by what guards it;
// what he may write, a decision in another's name, `tieout verify` names, as whoever reads alone.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { openClient } from '../../src/database/connection.js';
import type { Database } from '../../src/database/db.js';
import { openDatabase } from '../../src/database/db.js';
import { tieoutHere } from '../support/cliHere.js';
import type { House } from '../support/night.js';
import { buildHouse } from '../support/night.js';
import { textOf } from '../support/sourceFiles.js';

const ROLE = `tieout_writer_${process.pid}`;
const READER = `tieout_reader_${process.pid}`;
const MONTHS = `select pg_get_userbyid(relowner) as owner from pg_class
  where relname like 'verdicts_2%'`;

/** The template of the tests' databases has this month already. */
const NO_MONTH = `do $$ declare part regclass; begin
  for part in select inhrelid from pg_inherits where inhrelid::regclass::text ~ '_20\\d\\d_\\d\\d$'
  loop execute format('drop table %s', part); end loop; end $$`;

/** On record, and without the digest of a single look: the record alone removes nothing. */
const REMOVED_UNSAID = `
  insert into tieout.evidence_removals (month, first_date, last_date, nights, looks, rows, bytes,
    kept_months, by, is_claim)
  values (to_char(now(), 'YYYY_MM'), now(), now(), 1, 1, '{}', 1, 1, 'anna', true);
  select tieout.drop_month(to_char(now(), 'YYYY_MM'))`;

/** With all that retention itself writes. */
const REMOVED_WHOLE = `
  with r as (
    insert into tieout.evidence_removals (month, first_date, last_date, nights, looks, rows, bytes,
      kept_months, by, is_claim)
    values (to_char(now(), 'YYYY_MM'), now(), now(), 1, 1, '{}', 1, 3, 'tieout', false)
    returning removal_id)
  insert into tieout.removed_looks (pull_id, account_id, removal_id, link_id, facts, facts_sha256)
  select k.pull_id, k.account_id, removal_id, k.link_id, l.facts, l.facts_sha256
  from r, tieout.look_links k join tieout.chain_links l using (link_id, account_id);
  select tieout.drop_month(to_char(now(), 'YYYY_MM'))`;

/** By a guard of ours, or by the server for want of a right; no error of the statement itself. */
const REFUSED = new RegExp(
  'recorded is history|^attempt |only grows|nobody approved|must be owner|' +
    'permission denied (to|for schema|for table)|month .*: it is kept: ',
);

let house: House;
let intruder: Database;

beforeAll(async () => {
  const operations = { capture: 'approve', cancel: 'auto', refund: 'auto', review: 'auto' };
  house = await buildHouse({ orders: 120, settings: { operations } });
  await house.db.query(NO_MONTH);
  await house.db.query(`create role ${ROLE} login; create role ${READER} login`);
  const roles = ['--writer', ROLE, '--reader', READER];
  expect(await program('tieout.yaml', 'migrate', 'up', ...roles)).toMatchObject({ code: 0 });
  for (const role of [ROLE, READER]) {
    const text = readFileSync(join(house.folder, 'tieout.yaml'), 'utf8');
    const { database } = parse(text) as { database: { url: string } };
    const url = new URL(database.url);
    url.username = role;
    writeFileSync(join(house.folder, `${role}.yaml`), text.replace(database.url, url.href));
  }
  intruder = openDatabase(house.connection, { max: 1 });
});
afterAll(async () => {
  await intruder.close();
  for (const role of [ROLE, READER])
    await house.db.query(`drop owned by ${role}; drop role ${role}`);
  await house.end();
});

function program(file: string, ...words: string[]) {
  return tieoutHere([...words, '--config', file], { cwd: house.folder });
}

test('a role that the server does not know gets nothing, and the answer says how one is made', async () => {
  const { code, stderr } = await program('tieout.yaml', 'migrate', 'up', '--writer', 'nobody_here');
  expect([code, stderr]).toEqual([1, expect.stringContaining('create role NAME login')]);
});

test('only the owner migrates, and whoever does not is told so', async () => {
  const { code, stderr } = await program(`${ROLE}.yaml`, 'migrate', 'up', '--reader', READER);
  expect([code, stderr]).toEqual([1, expect.stringContaining('owner of the tables')]);
});

test('a night is worked as the writer, in a month that it has to open', async () => {
  expect((await house.db.query(MONTHS)).rows).toEqual([]);
  const night = await program(`${ROLE}.yaml`, 'run', '--json');
  expect(night.stderr).not.toContain('permission denied');
  const { state, reports } = JSON.parse(night.stdout) as { state: string; reports: unknown[] };
  expect([state, reports.length]).toEqual(['broken', 2]);
  const { rows: after } = await house.db.query<{ owner: string }>(MONTHS);
  expect(after.length).toBeGreaterThan(0);
  expect(after.map(({ owner }) => owner)).not.toContain(ROLE);
  const { rows: known } = await house.db.query(
    `select relname from pg_class where relkind = 'r' and relname ~ '^look_entries_2' and reltuples > 0`,
  );
  expect(known).toHaveLength(1);
  for (const words of [['doctor'], ['days'], ['status'], ['retention']]) {
    const { code, stderr } = await program(`${ROLE}.yaml`, ...words);
    expect([words[0], code, stderr]).not.toContain('permission denied');
    expect(code).toBeLessThan(5);
  }
});

test('a right that was taken from the writer is a problem, with what gives it back', async () => {
  const rights = async () => {
    const { stdout } = await program(`${ROLE}.yaml`, 'doctor', '--json');
    const { checks } = JSON.parse(stdout) as { checks: { name: string; words: string }[] };
    return checks.filter(({ name }) => name === 'rights').map(({ words }) => words);
  };
  expect(await rights()).toEqual([]);
  await house.db.query(`revoke insert, delete on tieout.attempts from ${ROLE}`);
  await house.db.query(`revoke select on tieout.brakes from ${ROLE}`);
  expect(await rights()).toEqual([
    `the role ${ROLE} lacks delete, insert on tieout.attempts; select on tieout.brakes: ` +
      `\`tieout migrate up --writer ${ROLE}\`, as the owner of the tables, gives them back`,
  ]);
  expect((await program('tieout.yaml', 'migrate', 'up', '--writer', ROLE)).code).toBe(0);
  expect(await rights()).toEqual([]);
});

test('the reader verifies, and sees no key, hash or session', async () => {
  const { code, stdout } = await program(`${READER}.yaml`, 'verify');
  expect([code, stdout]).toEqual([0, expect.stringContaining('The chain is whole')]);
  const asReader = (sql: string) => intruder.query(`set role ${READER}; ${sql}`);
  for (const secret of [
    'select * from tieout.workbook_key',
    'select password_hash from tieout.users',
    'select * from tieout.sessions',
    'select session_sha256 from tieout.sign_in_failures',
    'select * from tieout.sign_in_links',
    'delete from tieout.look_hints',
    `insert into ledger.orders (account_id) values ('A1')`,
  ]) {
    await expect(asReader(secret)).rejects.toThrow('permission denied for table');
  }
  await asReader('select name, state from tieout.users; select * from ledger.orders');
  await asReader('select at, name_key, address from tieout.sign_in_failures');
  for (const sql of [`tieout.make_month('2999-01-01')`, `tieout.drop_month('2026_01')`]) {
    await expect(asReader(`select ${sql}`)).rejects.toThrow('permission denied for function');
  }
});

/** As that role alone, in one message: the pool gives every other one a fresh session. */
function asWriter(sql: string) {
  return intruder.query(`set role ${ROLE}; ${sql}`);
}

test.each([
  ['raises what was moved', 'update tieout.day_movements set amount = amount + 777'],
  ['forgets what was sent', 'delete from tieout.attempts'],
  ['changes an answer', "update tieout.answers set body = ''"],
  ['empties the chain', 'truncate tieout.chain_links cascade'],
  ['takes an end of it back', 'update tieout.chain_heads set link_no = link_no - 1'],
  // to planned, and then to queued, he may: lettingGo.test.ts has what becomes of that
  ['frees what waits', "update tieout.instructions set state = 'queued' where state = 'held'"],
  ['lifts every brake', 'truncate tieout.brakes'],
  ['wipes the record of the console', 'truncate tieout.console_events'],
  ['passes the guards by', 'set session_replication_role = replica'],
  ['switches them off', 'alter table tieout.day_movements disable trigger all'],
  ['removes one', 'drop trigger guard_fact on tieout.day_movements'],
  [
    'digests otherwise',
    `create or replace function tieout.fact_digest(content bytea) returns text
       language sql immutable as 'select repeat(''0'', 64)'`,
  ],
  ['takes a month away', `select tieout.drop_month(to_char(now(), 'YYYY_MM'))`],
  ['says that it was removed', REMOVED_UNSAID],
  ['has it removed as retention does', REMOVED_WHOLE],
  ['writes a statement that the owner runs', `update tieout.fact_sources set mark = 'select 1'`],
  ['says that words were taken out', `insert into tieout.redactions (by) values ('anna')`],
  ['says what a link comes to since', 'insert into tieout.redacted_links default values'],
  ['makes it another database', 'insert into tieout.installation default values'],
  ['makes himself owner', `alter table tieout.decisions owner to ${ROLE}`],
])('he %s: refused', async (_what, sql) => {
  await expect(asWriter(sql)).rejects.toThrow(REFUSED);
});

test('none of it left a trace, and a decision in another name does', async () => {
  const verify = () => tieoutHere(['verify'], { cwd: house.folder });
  const before = await verify();
  expect([before.code, before.stdout]).toEqual([0, expect.stringContaining('The chain is whole')]);
  const { rowCount } = await asWriter(
    `insert into tieout.decisions (instruction_id, account_id, decision, decided_by, is_claim, seen,
       seen_sha256, row_before, expires_at)
     select instruction_id, account_id, 'approve', 'anna', false, '{}', tieout.seen_sha256('{}'),
       '{}', now() + interval '1 day'
     from tieout.instructions where state = 'held' and hold_reason = 'approval' limit 1`,
  );
  expect(rowCount).toBe(1);
  const after = await verify();
  expect(after.stdout + after.stderr).toContain('moved by anna as after approve');
  expect(after.code).toBe(1);
});

test('deploy/roles.sql makes roles that can do so, and no password stands in it', async () => {
  const own = `made_${process.pid}`;
  const text = textOf('deploy/roles.sql')
    .replace(/^\\.*$/gm, '')
    .replaceAll(/:'\w+'/g, `'a password'`)
    .replaceAll(/\btieout(_owner|_reader)?\b(?=[ ;,])/g, (name) => `${name}_${own}`);
  const made = ['tieout', 'tieout_owner', 'tieout_reader'].map((name) => `${name}_${own}`);
  const admin = await openClient(house.connection);
  try {
    const statements = text.replace(/^--.*$/gm, '').split(';');
    for (const one of statements.filter((sql) => sql.trim() !== '')) await admin.query(one);
    const { rows } = await admin.query(
      `select pg_get_userbyid(datdba) as owner, rolcanlogin, rolsuper, rolcreaterole
       from pg_database, pg_roles where datname = $1 and rolname = $2`,
      [made[0], made[0]],
    );
    const plain = { rolcanlogin: true, rolsuper: false, rolcreaterole: false };
    expect(rows).toEqual([{ owner: made[1], ...plain }]);
  } finally {
    await admin.query(`drop database if exists ${made[0]}`);
    for (const role of made) await admin.query(`drop role if exists ${role}`);
    await admin.end();
  }
});
