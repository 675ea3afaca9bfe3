// What somebody with all rights in the database may do to what it recorded, and to what checks it: a
// real night, a copy of its database and folder for each attack, the attack as SQL, and then
// `tieout verify`: its exit code and its words. Neighbour: signedHeads.test.ts has the
// files beside the database.

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { Database } from '../../src/database/db.js';
import { openDatabase } from '../../src/database/db.js';
import type { Ended } from '../support/cli.js';
import { tieoutHere } from '../support/cliHere.js';
import { databaseOn } from '../support/databaseOn.js';
import type { House } from '../support/night.js';
import { addressOf, buildHouse } from '../support/night.js';

let house: House;
let admin: Database;
let copies = 0;
/** Two nights and two decisions. */
const NIGHTS_MS_MAX = 240_000;
const TEMPLATE = `tieout_attacked_${process.pid}`;

beforeAll(async () => {
  admin = openDatabase(inject('server'), { max: 1 });
  house = await buildHouse({ orders: 240, seed: 3, settings: { operations: HELD } });
  const { accounts, folder } = house;
  expect((await tieoutHere(['run'], { cwd: folder })).code).not.toBe(1);
  const held = await house.db.query<{ id: bigint; account_id: string }>(
    `select instruction_id as id, account_id from tieout.instructions where state = 'held'
       and hold_reason = 'approval' order by 1 limit 2`,
  );
  expect(accounts.length).toBeGreaterThan(0);
  for (const { id } of held.rows) {
    const ended = await tieoutHere(['instructions', 'approve', String(id)], { cwd: folder });
    expect(ended.code, ended.stdout + ended.stderr).toBe(0);
  }
  expect((await tieoutHere(['run'], { cwd: folder })).code).not.toBe(1);
  // A database that nobody is connected to can be copied at any time.
  const source = new URL(addressOf(house.connection)).pathname.slice(1);
  await admin.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${source}'`,
  );
  await admin.query(`create database ${TEMPLATE} template ${source} strategy file_copy`);
}, NIGHTS_MS_MAX);
afterAll(async () => {
  await admin.query(`drop database if exists ${TEMPLATE} with (force)`);
  await admin.close();
  await house.end();
});

const HELD = { capture: 'approve', cancel: 'auto', refund: 'auto', review: 'auto' };

/** The attack on a copy, and what `tieout verify` says of it. */
async function attacked(sql: string, args: readonly string[] = []): Promise<Ended> {
  copies += 1;
  const name = `${TEMPLATE}_${copies}`;
  await admin.query(`create database ${name} template ${TEMPLATE} strategy file_copy`);
  const connection = databaseOn(inject('server'), name);
  const folder = mkdtempSync(join(tmpdir(), 'tieout-attacked-'));
  try {
    cpSync(join(house.folder, 'var', 'audit'), join(folder, 'var', 'audit'), { recursive: true });
    const settings = JSON.parse(readFileSync(house.file, 'utf8')) as object;
    const database = { url: addressOf(connection) };
    writeFileSync(join(folder, 'tieout.yaml'), JSON.stringify({ ...settings, database }));
    const db = openDatabase(connection, { max: 1 });
    await db.query(sql).finally(() => db.close());
    return await tieoutHere(['verify', ...args], { cwd: folder });
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await admin.query(`drop database if exists ${name} with (force)`);
  }
}

/** Done where no guard sees it, and the guards are as they were afterwards. */
function unseen(sql: string): string {
  return `set session_replication_role = replica; ${sql};
    set session_replication_role = origin`;
}

/** What was sealed is answered for what is there now; the sum of its day fits as well. */
const RAISED = `${unseen(`create temp table raised as select l.link_id, l.facts_sha256 as sealed,
      m.movement_id from tieout.day_movements m join tieout.chain_links l using (link_id) limit 1;
    update tieout.day_movements set amount = amount + 777
      where movement_id = (select movement_id from raised);
    update tieout.day_sums s set amount = s.amount + 777 from tieout.day_movements m
      where m.movement_id = (select movement_id from raised) and s.account_id = m.account_id
        and s.posted_to = m.posted_to and s.currency = m.currency
        and s.operation = m.operation and s.is_late = (m.belongs_to <> m.posted_to)`)};
  do $$ begin execute (select format('create or replace function tieout.fact_digest(content bytea)
      returns text language sql immutable as $f$ select case encode(sha256(content), ''hex'')
        when %L then %L else encode(sha256(content), ''hex'') end $f$', f.facts_sha256, sealed)
    from raised join tieout.chain_links l using (link_id)
    cross join lateral tieout.link_facts(l.link_id, l.what, l.account_id) f); end $$`;

test('nobody touched it', async () => {
  const ended = await attacked('select 1');
  expect(ended.stdout + ended.stderr).toMatch(/^The chain is whole: \d+ links in 3 chains\./);
  expect(ended.stdout).toMatch(/guards and functions are those of this version: \d+ compared\.$/m);
  expect(ended.stdout).toMatch(/^Of 2 signed ends of runs 2 stand; the newest is of /m);
  expect(ended.code).toBe(0);
});

describe('what checks is no more what was shipped', () => {
  test.each([
    [
      'the function that digests is another one, and a movement is raised by 777',
      RAISED,
      /^The function tieout\.fact_digest\(bytea\) was changed$/m,
    ],
    [
      'the view of facts leaves decisions out',
      `do $$ begin execute regexp_replace('create or replace view tieout.facts as '
         || pg_get_viewdef('tieout.facts'::regclass), 'FROM (tieout\\.)?decisions\\s+UNION',
         'FROM tieout.decisions where false union'); end $$`,
      /^The view tieout\.facts was changed$/m,
    ],
    [
      'a guard is gone',
      'drop trigger guard_fact on tieout.brakes',
      /^The trigger guard_fact of tieout\.brakes is gone$/m,
    ],
    [
      'a guard is switched off',
      'alter table tieout.decisions disable trigger guard_decision',
      /^The trigger guard_decision of tieout\.decisions is switched off$/m,
    ],
    [
      'a guard of a month is switched off',
      `do $$ begin execute format('alter table %s disable trigger guard_history', (
         select inhrelid::regclass from pg_inherits where inhparent = 'tieout.pages'::regclass
           and inhrelid::regclass::text !~ 'before')); end $$`,
      /^The trigger guard_history of tieout\.pages_\d{4}_\d\d is switched off$/m,
    ],
    [
      'a guard of a month is gone',
      `do $$ begin execute format('drop trigger guard_look on %s', (
         select inhrelid::regclass from pg_inherits where inhparent = 'tieout.pages'::regclass
           and inhrelid::regclass::text !~ 'before')); end $$`,
      /^The trigger guard_look of tieout\.pages_\d{4}_\d\d is gone$/m,
    ],
    [
      'a guard calls another function',
      `create function tieout.nod() returns trigger language plpgsql as $$ begin return new; end $$;
       create or replace trigger guard_decision before insert on tieout.decisions for each row
         execute function tieout.nod()`,
      /^The trigger guard_decision of tieout\.decisions was changed$/m,
    ],
    [
      'the index that refuses a second payment is gone',
      'drop index tieout.instructions_one_refund',
      /^The unique index instructions_one_refund of tieout\.instructions is gone$/m,
    ],
    [
      'that index looks away',
      `drop index tieout.instructions_one_refund;
       create unique index instructions_one_refund on tieout.instructions (account_id, refund_id)
         where operation = 'refund' and not is_void and amount < 5`,
      /^The unique index instructions_one_refund of tieout\.instructions was changed$/m,
    ],
    [
      'a condition is gone',
      'alter table tieout.decisions drop constraint decisions_check1',
      /^The constraint decisions_check1 of tieout\.decisions is gone$/m,
    ],
    [
      'a kind of fact is not sealed any more',
      `delete from tieout.fact_sources where what = 'decision'`,
      /^The source of facts decision is gone$/m,
    ],
    [
      'a rule swallows what is written',
      'create rule swallow as on insert to tieout.break_events do instead nothing',
      /^The rule swallow of tieout\.break_events is not of this version$/m,
    ],
    [
      'rows hide behind a policy',
      'alter table tieout.decisions enable row level security, force row level security',
      /^The table tieout\.decisions was changed$/m,
    ],
    [
      'rows come from a table of somebody else',
      'create table public.more () inherits (tieout.brakes)',
      /^The child table public\.more of tieout\.brakes is not of this version$/m,
    ],
    [
      'no guard is called in any session of this database',
      `do $$ begin execute format('alter database %I set session_replication_role = replica',
         current_database()); end $$`,
      /^The setting session_replication_role is not of this version$/m,
    ],
  ])('%s', async (_what, sql, words) => {
    const ended = await attacked(sql);
    expect(ended.stdout + ended.stderr).toMatch(words);
    expect(ended.stdout).toMatch(/what is said above cannot be relied on/);
    if (sql === RAISED) expect(ended.stdout).toMatch(/^The chain is whole/);
    expect(ended.code).toBe(1);
  });

  test('what breaks the check itself is named all the same', async () => {
    const ended = await attacked(
      `create or replace function tieout.fact_digest(content bytea) returns text language plpgsql
         immutable as $$ begin raise exception 'no'; end $$`,
    );
    expect(ended.stdout).toMatch(/^The chain cannot be checked: no$/m);
    expect(ended.stdout).toMatch(/^The function tieout\.fact_digest\(bytea\) was changed$/m);
    expect(ended.code).toBe(1);
  });

  test('a digest that stands before the server’s own in the path is not asked', async () => {
    const ended = await attacked(
      `create schema evil;
       create function evil.sha256(bytea) returns bytea language sql as $$ select 'x'::bytea $$;
       do $$ begin execute format('alter database %I set search_path = evil, pg_catalog',
         current_database()); end $$`,
    );
    expect(ended.stdout).toMatch(/^The chain is whole/);
    expect(ended.code).toBe(0);
  });
});

describe('what was recorded is not whole', () => {
  test.each([
    [
      'the links are gone',
      unseen('truncate tieout.chain_links'),
      /there is not one link, and runs have come to their end/,
    ],
    [
      'links and heads are gone',
      unseen('truncate tieout.chain_links, tieout.chain_heads'),
      /^Links are gone: \d+ of kind look \(account A1001\) bear one that no chain has$/m,
    ],
    [
      'a chain ends earlier, and its head went back with it',
      unseen(`delete from tieout.chain_links l where link_no = (select max(link_no)
          from tieout.chain_links m where m.account_id = l.account_id) and account_id = 'A1001';
        update tieout.chain_heads h set link_no = l.link_no, sha256 = l.sha256
          from (select * from tieout.chain_links where account_id = 'A1001'
            order by link_no desc limit 1) l where h.account_id = 'A1001'`),
      /^Signed otherwise: at the end of .* the chain of account A1001 ended in link \d+, which is not there now$/m,
    ],
    [
      'all of it is gone, and no fact says that it was ever sealed',
      unseen(`truncate tieout.chain_links, tieout.chain_heads;
        do $$ declare t text; begin
          for t in select attrelid::regclass::text from pg_attribute join pg_class on oid = attrelid
            where attname = 'link_id' and relkind = 'r' and relnamespace = 'tieout'::regnamespace
              and relname not in ('chain_links', 'look_links', 'removed_looks') loop
            execute format('update %s set link_id = null', t);
          end loop; end $$;
        truncate tieout.look_links; update tieout.pulls set is_sealed = false;
        select tieout.seal_free(array['', 'A1001', 'A1002'], '2026-01-01')`),
      /^Signed otherwise: .* which is (another one|not there) now$/m,
    ],
    [
      'a look is hidden behind a removal that nobody made',
      unseen(`with removal as (insert into tieout.evidence_removals (month, first_date, last_date,
            nights, looks, rows, bytes, kept_months, by, is_claim)
          select replace((p.pull_id / 100000000)::text, '2026', '2026_'), '2026-01-01',
            '2026-01-31', 1, 1, '{}', 1, 1, 'tieout', false from tieout.pulls p limit 1
          returning removal_id)
        insert into tieout.removed_looks select k.pull_id, k.account_id, removal_id, k.link_id,
          l.facts, l.facts_sha256 from removal, tieout.look_links k
          join tieout.chain_links l using (link_id) order by link_id limit 1;
        select tieout.seal('', '2026-01-01', false);
        update tieout.asked_orders set amount = amount + 1 where amount is not null`),
      /\(look, sealed with .*\): its removal is on record, and its month is still there/,
    ],
    [
      'a decision is gone with its link',
      unseen(`with gone as (delete from tieout.decisions d where decision_id = (
            select max(decision_id) from tieout.decisions) returning link_id)
        delete from tieout.chain_links where link_id in (select link_id from gone)`),
      /it is not there; the next one that is is/,
    ],
    [
      'a decision is gone, and its instruction as if it had never waited for one',
      unseen(`delete from tieout.decisions where decision_id = (
          select max(decision_id) from tieout.decisions);
        update tieout.instructions set approval_id = null where approval_id not in (
          select decision_id from tieout.decisions)`),
      /is 1 times moved by .* as after approve, but its history says 0 such decisions/,
    ],
    [
      'an approval was written that moved nothing',
      `insert into tieout.decisions (instruction_id, account_id, decision, decided_by, is_claim, seen,
         seen_sha256, row_before, expires_at)
       select instruction_id, account_id, 'approve', 'anna', false, '{}', tieout.seen_sha256('{}'),
         '{}', now() + interval '1 day'
       from tieout.instructions where state = 'held' and hold_reason = 'approval' limit 1`,
      /is 0 times moved by anna as after approve, but its history says 1 such decisions/,
    ],
    [
      'a decision was written behind its seal',
      unseen(`insert into tieout.decisions (instruction_id, account_id, decision, decided_by,
         is_claim, seen, seen_sha256, row_before, expires_at)
       select instruction_id, account_id, 'approve', 'anna', false, '{}', tieout.seen_sha256('{}'),
         '{}', now() + interval '1 day'
       from tieout.instructions where state = 'held' and hold_reason = 'approval' limit 1`),
      /^decision \d+ of A\d+ is there, but its history says no link that sealed it/m,
    ],
  ])('%s', async (_what, sql, words) => {
    const ended = await attacked(sql);
    expect(ended.stdout + ended.stderr).toMatch(words);
    expect(ended.code).toBe(1);
  });
});

describe('with the guards on', () => {
  test('whatever is guarded against a change of a row is guarded against being emptied', async () => {
    const { rows } = await house.db.query<{ name: string; missing: boolean }>(
      `select c.relname as name, bool_or(t.tgtype & 24 <> 0) and not bool_or(t.tgtype & 32 <> 0)
         as missing
       from pg_trigger t
       join pg_class c on c.oid = t.tgrelid
       join pg_proc f on f.oid = t.tgfoid
       where c.relnamespace = 'tieout'::regnamespace and not t.tgisinternal
         and f.proname like 'guard%' and t.tgtype & 56 <> 0
       group by c.relname order by c.relname`,
    );
    expect(rows.length).toBeGreaterThan(40);
    expect(rows.filter(({ missing }) => missing)).toEqual([]);
  });

  test.each([['brakes'], ['chain_links'], ['chain_heads'], ['removed_looks'], ['decisions']])(
    'tieout.%s is not emptied',
    async (table) => {
      await expect(house.db.query(`truncate tieout.${table} cascade`)).rejects.toThrow(/history/);
    },
  );

  test('the end of a chain does not go back', async () => {
    const back = 'update tieout.chain_heads set link_no = link_no - 1';
    await expect(house.db.query(back)).rejects.toThrow(/only grows at its end/);
    await expect(house.db.query('delete from tieout.chain_heads')).rejects.toThrow(/only grows/);
  });
});
