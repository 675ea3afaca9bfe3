// A night worked out again from what was stored: the same figures, whatever happened since; and
// what was altered afterwards is named by order and figure.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { PROFILE_TEMPLATE } from '../../src/config/templates.js';
import type { Db } from '../../src/database/db.js';
import { named } from '../../src/database/identifiers.js';
import { relationsOf } from '../../src/database/monthPartitions.js';
import { findRun } from '../../src/runs/runsStore.js';
import { scratchDb } from '../../src/verify/scratchStore.js';
import { verifyRun } from '../../src/verify/verifyRun.js';
import { tieoutHere } from '../support/cliHere.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf, rewriteSettings } from '../support/night.js';

async function verified(house: House, date = dateOf(1)) {
  const app = await house.open();
  const run = await findRun(house.db, date);
  if (!run) throw new Error(`no run of ${date}`);
  const { db, config, version } = app;
  return verifyRun({ db, config, version, progress: () => {} }, run);
}

describe('a night', () => {
  let house: House;
  beforeAll(async () => {
    house = await buildHouse({ orders: 400, seed: 21, daysAgo: 2 });
    await house.run({ date: dateOf(2) });
  });
  afterAll(() => house.end());

  test('comes out the same', async () => {
    const found = await verified(house, dateOf(2));
    expect(found.differences).toEqual([]);
    expect(found.pages).toBeGreaterThan(3);
    const run = await findRun(house.db, dateOf(2));
    const { reports: _, ...figures } = run?.summary ?? { reports: [] };
    expect(found.summary).toEqual({ ...figures, reports: [] });
  });

  test('and leaves nothing behind', async () => {
    const count = async () =>
      (await house.db.query(`select relname from pg_class where relname = 'scratch_ids'`)).rows;
    await verified(house, dateOf(2));
    expect(await count()).toEqual([]);
  });

  test('the same after it was resumed, with other settings, and after later nights', async () => {
    await house.run({ date: dateOf(2) });
    expect((await verified(house, dateOf(2))).differences).toEqual([]);
    rewriteSettings(house, {
      reconcile: { tolerance: { below: '5.00', above: '5.00', percent: 2 } },
    });
    await house.run({ date: dateOf(2), accountIds: ['A1001'] });
    expect((await verified(house, dateOf(2))).differences).toEqual([]);
    await house.db.query(
      `update ledger.orders set amount = amount + 1, capture_amount = null
       where (account_id, order_no) in (
         select account_id, order_no from tieout.breaks where state = 'open'
         order by order_no limit 5)`,
    );
    const { rows } = await house.db.query<{ break_id: bigint }>(
      `select break_id from tieout.breaks where state = 'open' and kind = 'state_mismatch' limit 1`,
    );
    const waive = [
      'breaks',
      'waive',
      String(rows[0]?.break_id),
      '--reason',
      'known',
      '--as',
      'ann',
    ];
    const waived = await tieoutHere(waive, { cwd: house.folder });
    expect(waived.code, waived.stderr + waived.stdout).toBe(0);
    await house.run({ date: dateOf(1) });
    expect((await verified(house, dateOf(1))).differences).toEqual([]);
    expect((await verified(house, dateOf(2))).differences).toEqual([]);
  });

  test('by command: exit 0 and the figures', async () => {
    const ended = await tieoutHere(['verify', dateOf(2)], { cwd: house.folder });
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stdout).toContain('every figure is the same');
    expect(ended.stdout).toContain('Account A1001');
    const none = await tieoutHere(['verify', '2001-01-01'], { cwd: house.folder });
    expect(none.code).toBe(2);
  });

  test('an amount altered in a stored answer is named with its order', async () => {
    const { rows } = await house.db.query<{ pull_id: bigint; page_no: number; body: Buffer }>(
      `select pull_id, page_no, body_gzip as body from tieout.pages p
       join tieout.pulls using (pull_id) join tieout.runs r using (run_id)
       where r.business_date = $1 and p.account_id = 'A1001' and kind = 'night'
       order by pull_id desc, page_no limit 1`,
      [dateOf(2)],
    );
    const page = rows[0];
    if (!page) throw new Error('no page');
    const answer = JSON.parse(gunzipSync(page.body).toString()) as {
      orders_list: { order_no: string; amount: string; payment_status: string }[];
    };
    const { rows: odd } = await house.db.query<{ order_no: string }>(
      'select order_no from tieout.verdicts',
    );
    const plain = (one: { order_no: string; payment_status: string }): boolean =>
      one.payment_status === '3000' && !odd.some((row) => row.order_no === one.order_no);
    const entry = answer.orders_list.find(plain);
    if (!entry) throw new Error('no plainly matched entry');
    const was = entry.amount;
    entry.amount = '98765.43';
    const body = gzipSync(JSON.stringify(answer));
    await behindItsBack(house.db, (tx) =>
      tx.query(
        `update tieout.pages set body_gzip = $3
         where pull_id = $1 and page_no = $2 and account_id = 'A1001'`,
        [page.pull_id, page.page_no, body],
      ),
    );
    const { differences } = await verified(house, dateOf(2));
    expect(differences).toContainEqual({
      accountId: 'A1001',
      orderNo: entry.order_no,
      what: expect.stringMatching(/^entry \d+\/\d+ amount$/),
      was,
      is: '98765.43',
    });
    expect(differences).toContainEqual(
      expect.objectContaining({ orderNo: entry.order_no, what: 'class', is: 'broken' }),
    );
    expect(differences.some((one) => one.what.startsWith('answer of page'))).toBe(true);
    expect(differences).toContainEqual(
      expect.objectContaining({ accountId: 'A1001', what: 'orders.matched' }),
    );
    const ended = await tieoutHere(['verify', dateOf(2)], { cwd: house.folder });
    expect(ended.code).toBe(1);
    expect(ended.stdout).toContain(`${entry.order_no}: entry`);
    expect(ended.stdout).toContain(`then ${was}, now 98765.43`);
  });
});

test('where orders cannot be named, the pages of the window come out the same', async () => {
  const house = await buildHouse({ orders: 250, seed: 4 });
  try {
    const profile = parse(PROFILE_TEMPLATE) as Record<string, Record<string, unknown>>;
    profile.query = { ...profile.query, select: 'window' };
    writeFileSync(join(house.folder, 'profile.yaml'), stringify(profile));
    rewriteSettings(house, { gateway: { baseUrl: house.gatewayUrl, profile: './profile.yaml' } });
    await house.run();
    const found = await verified(house);
    expect(found.differences).toEqual([]);
  } finally {
    await house.end();
  }
});

test('a statement that asks for a relation of today is refused', async () => {
  const asked: string[] = [];
  const db = scratchDb({
    query: (text) => {
      asked.push(text);
      return Promise.resolve({ rows: [], rowCount: 0 });
    },
  });
  const { pages } = relationsOf(db, 20_261_100_000_001n);
  await db.query(named`-- tieout.pages\nselect from ${pages} p, tieout.ledger_problem(1)`);
  expect(asked).toEqual([
    '-- tieout.pages\nselect from "pg_temp"."pages" p, tieout.ledger_problem(1)',
  ]);
  await expect(db.query('select from tieout.pages')).rejects.toThrow(/tieout.pages/);
  await expect(db.query('select from "tieout"."pages_2026_11"')).rejects.toThrow(/pages_2026_11/);
  await expect(db.query('select from tieout.users')).rejects.toThrow(/users/);
  await expect(db.query('select from ledger.orders')).rejects.toThrow(/ledger/);
  expect(asked).toHaveLength(1);
});

/** As somebody does it who has switched the guards off. */
async function behindItsBack(db: House['db'], work: (tx: Db) => Promise<unknown>): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica');
    await work(tx);
  });
}
