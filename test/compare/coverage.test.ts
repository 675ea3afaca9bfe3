// What was looked at and what was said of each order: every case by itself, through one statement;
// and what the tolerance swallowed keeps its money.

import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { toleratedRows, toleratedSums } from '../../src/breaks/explainedStore.js';
import { judgeOrders } from '../../src/compare/verdictsStore.js';
import type { Database } from '../../src/database/db.js';
import { relationsIn } from '../../src/database/relations.js';
import { packageRoot, statement } from '../../src/database/statements.js';
import { orderHistory } from '../../src/orders/historyStore.js';
import {
  coverageCounts,
  coverageOfOrder,
  coverageRows,
} from '../../src/pull/snapshot/coverageStore.js';
import type { FreshDatabase } from '../support/database.js';
import { freshDatabase } from '../support/database.js';
import type { OrderText } from '../support/orders.js';
import { orderOf, plainRules } from '../support/orders.js';
import { compareRulesOf, storeLedger, storeRun, storeSnapshot } from '../support/snapshotStore.js';

const ACCOUNT = 'A1';
const LEDGER = 'captured 10.00 EUR';
const ORDERS: Record<string, OrderText> = {
  plain: { ledger: LEDGER, gateway: ['T1 captured 10.00'] },
  twoTransactions: { ledger: LEDGER, gateway: ['T1 captured 10.00', 'T2 declined 10.00'] },
  none: { ledger: LEDGER },
  failed: { ledger: LEDGER, page: 'failed' },
  unfound: { ledger: LEDGER, gateway: ['T1 captured 10.00 found=0'] },
  separator: { ledger: LEDGER, page: 'separator' },
  gatewayOnly: { ledger: null, page: 'unasked', gateway: ['T1 captured 10.00'] },
  twiceSame: { ledger: LEDGER, gateway: ['T1 captured 10.00', 'T1 captured 10.00'] },
  twiceDifferent: { ledger: LEDGER, gateway: ['T1 captured 10.00', 'T1 refunded 10.00'] },
};

let fresh: FreshDatabase;
let db: Database;
let runId = 0n;
let pullId = 0n;
beforeAll(async () => {
  fresh = await freshDatabase();
  db = fresh.db;
  runId = await storeRun(db, ACCOUNT);
  const orders = Object.entries(ORDERS).map(([orderNo, text]) => orderOf(orderNo, text));
  await storeLedger(db, ACCOUNT, orders);
  const scope = await storeSnapshot(db, runId, ACCOUNT, orders);
  ({ pullId } = scope);
  await judgeOrders(db, scope, compareRulesOf(plainRules(), [ACCOUNT]));
  await db.query('update tieout.run_accounts set pull_id = $1', [pullId]);
});
afterAll(() => fresh.drop());

const HOW = {
  failed: 'unanswered',
  none: 'no_entry',
  separator: 'not_asked',
  unfound: 'other_result',
  gatewayOnly: 'unasked',
  twiceDifferent: 'twice_different',
  twiceSame: 'twice_same',
};

test('every order that was not plainly asked and answered is named, with the word for it', async () => {
  const found: Record<string, string> = {};
  for await (const rows of coverageRows(db, runId)) {
    for (const row of rows) found[row.orderNo] = row.how;
  }
  expect(found).toEqual(HOW);
  const [row] = await coverageOfOrder(db, ACCOUNT, 'unfound', [String(pullId)]);
  expect(row).toMatchObject({ pageNo: expect.any(Number), reason: 'query_result 0' });
});

test('they are counted by account; those without an entry are counted elsewhere', async () => {
  expect((await coverageCounts(db, runId)).get(ACCOUNT)).toEqual({
    unanswered: 1,
    not_asked: 1,
    unasked: 1,
    twice_same: 1,
    twice_different: 1,
    other_result: 1,
  });
});

test.each(Object.keys(ORDERS))('of one order the same is said: %s', async (orderNo) => {
  const rows = await coverageOfOrder(db, ACCOUNT, orderNo, [String(pullId)]);
  const how = (HOW as Record<string, string>)[orderNo];
  expect(rows.map((row) => row.how)).toEqual(how === undefined ? [] : [how]);
  const history = await orderHistory(db, ACCOUNT, orderNo);
  expect(history?.looks.map((snapshot) => snapshot.coverage)).toEqual([how ?? 'answered']);
});

test('a page that waits for its answer beside answered ones is named, not taken for empty', async () => {
  const account = 'A3';
  const run = await storeRun(db, account);
  const orders = [orderOf('answered', { ledger: LEDGER, gateway: ['T1 captured 10.00'] })];
  const snapshot = await storeSnapshot(db, run, account, orders);
  await db.query('update tieout.run_accounts set pull_id = $1 where run_id = $2', [
    snapshot.pullId,
    run,
  ]);
  await db.query(
    `insert into tieout.asked_orders (pull_id, account_id, order_no, page_no, in_ledger, currency,
       amount, expected) values ($1, $2, 'waiting', 1, true, 'EUR', 10, 'captured')`,
    [snapshot.pullId, account],
  );
  await db.query(
    'insert into tieout.chunks (pull_id, account_id, first_page, last_page) values ($1, $2, 1, 1)',
    [snapshot.pullId, account],
  );
  expect((await coverageCounts(db, run)).get(account)).toEqual({ unanswered: 1 });
});

test('what the tolerance swallowed is listed with its money', async () => {
  const account = 'A2';
  const run = await storeRun(db, account);
  const orders = [
    orderOf('below', { ledger: LEDGER, gateway: ['T1 captured 9.98'] }),
    orderOf('above', { ledger: LEDGER, gateway: ['T1 captured 10.01'] }),
    orderOf('broken', { ledger: LEDGER, gateway: ['T1 captured 9.00'] }),
  ];
  await storeLedger(db, account, orders);
  const scope = await storeSnapshot(db, run, account, orders);
  const tolerance = { below: 5n, above: 5n, partsPerMillion: 0n };
  await judgeOrders(db, scope, compareRulesOf(plainRules({ tolerance }), [account]));
  expect(await toleratedSums(db, run)).toEqual([
    { accountId: account, currency: 'EUR', orders: 2, below: '0.02', above: '0.01', net: '-0.01' },
  ]);
  const rows = await toleratedRows(db, run, { limit: 10, offset: 0 });
  expect(rows.map((row) => `${row.orderNo} ${row.difference}`)).toEqual([
    'below -0.02',
    'above 0.01',
  ]);
  expect(await toleratedRows(db, run, { limit: 1, offset: 1 })).toHaveLength(1);
});

test('no statement reads the snapshots of every night to find those of one', async () => {
  const files = readdirSync(join(packageRoot(), 'src'), { recursive: true, encoding: 'utf8' });
  const names = files
    .filter((file) => file.endsWith('.sql'))
    .map((file) => file.replace('.sql', ''));
  const reading = names.filter(
    (name) =>
      /\b(from|join) "?tieout"?\."?look_entries/.test(statement(name, WHOLE)) &&
      !OF_VERIFY.includes(basename(name)),
  );
  expect(reading.length).toBeGreaterThan(10);
  const found: string[] = [];
  await db.transaction(async (tx) => {
    await tx.query(statement('compare/unmatchedTable'));
    await tx.query('create temp table scanned (like tieout.look_entries) on commit drop');
    // Then a table is read whole only where no index fits.
    await tx.query('set local enable_seqscan = off');
    for (const name of reading) {
      const { rows } = await tx.query(`explain (generic_plan) ${statement(name, WHOLE)}`);
      const plan = rows.map((row) => Object.values(row).join()).join('\n');
      if (/Seq Scan on look_entries/.test(plan)) found.push(name);
    }
  });
  expect(found).toEqual([]);
});

/** As if of every month. */
const WHOLE = relationsIn('tieout');

/** They read what `verify` has laid out for itself. */
const OF_VERIFY = ['differingEntries'];
