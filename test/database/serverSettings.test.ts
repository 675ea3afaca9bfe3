// What an operator may have set for the database or the role of tieout, for programs of their own:
// a night does not depend on it.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WORK_LIMITS } from '../../src/database/limits.js';
import { auditRun } from '../faults/audit.js';
import { expectIdentities } from '../support/identities.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf } from '../support/night.js';

const SETTINGS: Record<string, string> = {
  DateStyle: `'SQL, DMY'`,
  IntervalStyle: `'sql_standard'`,
  TimeZone: `'Asia/Kolkata'`,
  extra_float_digits: '-15',
  bytea_output: `'escape'`,
  standard_conforming_strings: 'off',
  search_path: 'nowhere',
  lc_messages: `'C'`,
  lc_monetary: `'C'`,
  lc_numeric: `'C'`,
  client_encoding: `'LATIN1'`,
  xmloption: 'document',
  array_nulls: 'off',
  default_transaction_isolation: 'serializable',
  default_transaction_read_only: 'on',
  default_transaction_deferrable: 'on',
  statement_timeout: `'2s'`,
  lock_timeout: `'2s'`,
  idle_in_transaction_session_timeout: `'2s'`,
  idle_session_timeout: `'2s'`,
  transform_null_equals: 'on',
  row_security: 'off',
  check_function_bodies: 'off',
  jit: 'on',
};

let house: House;

beforeAll(async () => {
  house = await buildHouse({ orders: 300, seed: 7 });
  const { rows } = await house.db.query<{ name: string; version: number }>(
    `select current_database() as name, current_setting('server_version_num')::int as version`,
  );
  const since17 = (rows[0]?.version ?? 0) >= 170_000 ? { transaction_timeout: `'1s'` } : {};
  for (const [name, value] of Object.entries({ ...SETTINGS, ...since17 })) {
    await house.db.query(`alter database ${rows[0]?.name} set ${name} = ${value}`);
  }
}, 60_000);
afterAll(() => house.end());

describe('a database with settings of somebody else', () => {
  it('has its night like any other, and the next one sends nothing again', async () => {
    const first = await house.run({ date: dateOf(1) });
    expect(first.summary.state).not.toBe('failed');
    await expectIdentities(house.db, first.summary);
    const before = await house.effects();
    expect(before.filter(({ operation }) => operation === 'capture').length).toBeGreaterThan(0);
    const second = await house.run({ date: dateOf(1) });
    await expectIdentities(house.db, second.summary);
    expect(await house.effects()).toEqual(before);
    expect(await auditRun(house.db, await house.effects())).toEqual([]);
  }, 60_000);

  it('is held to no limit of that setting: those of its transactions are its own', async () => {
    const app = await house.open();
    const { rows } = await app.db.query<{ name: string; setting: string }>(
      `select name, setting from pg_settings where name in ('statement_timeout', 'lock_timeout',
         'idle_in_transaction_session_timeout', 'idle_session_timeout')`,
    );
    const own = Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
    expect(own).toEqual({
      statement_timeout: '0',
      lock_timeout: `${WORK_LIMITS.lockMs}`,
      idle_in_transaction_session_timeout: '0',
      idle_session_timeout: '0',
    });
  });

  it('has transactions that last longer than somebody allows for others', async () => {
    const app = await house.open();
    await app.db.transaction(async (tx) => {
      await tx.query('select pg_sleep(0.7)');
      await tx.query('select pg_sleep(0.7)');
    });
  });

  it('compiles no statement of ours, which takes servers before 18 seconds for each', async () => {
    const { db } = await house.open();
    const set = `select current_setting('jit') as jit`;
    const { rows: alone } = await db.query(set);
    const { rows: inside } = await db.transaction((tx) => tx.query(set));
    const read: unknown[] = [];
    await db.snapshot(async (reads) => {
      for await (const rows of reads.stream(set, [])) read.push(...rows);
    });
    const copied: unknown[] = [];
    for await (const rows of db.copyOut(`copy (${set}) to stdout`)) copied.push(...rows.flat());
    expect([alone, inside, read]).toEqual(Array(3).fill([{ jit: 'off' }]));
    expect(String(copied)).toContain('off');
  });

  it('writes no instant into a record in the words or the zone of that setting', async () => {
    const app = await house.open();
    const { rows } = await app.db.query<{ at: Date; text: string }>(
      `select placed_at as at, placed_at::text as text from tieout.asked_orders
       where placed_at is not null limit 1`,
    );
    expect(rows[0]?.text).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?\+00$/);
    expect(rows[0]?.at.getTime()).toBe(new Date(rows[0]?.text ?? '').getTime());
  });
});
