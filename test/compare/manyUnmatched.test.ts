// A night in which nothing matches, as the first one of a shop or one of a gateway that went dark:
// each order that is left over is looked up by itself, on every server that is permitted.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { judgeOrders } from '../../src/compare/verdictsStore.js';
import type { Db } from '../../src/database/db.js';
import type { FreshDatabase } from '../support/database.js';
import { freshDatabase } from '../support/database.js';
import { orderOf, plainRules } from '../support/orders.js';
import { compareRulesOf, storeLedger, storeRun, storeSnapshot } from '../support/snapshotStore.js';

const ORDERS = 1_500;
const ACCOUNT = 'A1';

let fresh: FreshDatabase;
beforeAll(async () => {
  fresh = await freshDatabase();
});
afterAll(() => fresh.drop());

test('finds what does not match at a cost that grows with it, and not with its square', async () => {
  const { db } = fresh;
  const runId = await storeRun(db, ACCOUNT);
  const orders = Array.from({ length: ORDERS }, (_, at) =>
    orderOf(`O${at}`, { ledger: 'captured 10.00 EUR', gateway: ['T1 captured 9.00'] }),
  );
  await storeLedger(db, ACCOUNT, orders);
  const scope = await storeSnapshot(db, runId, ACCOUNT, orders);
  // Half of them are another account's: with one alone its orders are found by its name.
  await db.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica');
    for (const table of ['asked_orders', 'look_entries']) {
      await tx.query(
        `update tieout.${table} set account_id = 'A2' where pull_id = $1 and order_no like '%5%'`,
        [scope.pullId],
      );
    }
  });
  await db.query('analyze');
  const plans: string[] = [];
  await db.transaction(async (tx) => {
    const explained: Db = {
      ...tx,
      query: async (text: string, values?: readonly unknown[]) => {
        if (/^insert into pg_temp\.unmatched/m.test(text)) {
          const { rows } = await tx.query(`explain (format json) ${text}`, values);
          plans.push(JSON.stringify(rows));
        }
        return tx.query(text, values) as never;
      },
    };
    await judgeOrders(explained, scope, compareRulesOf(plainRules(), [ACCOUNT, 'A2']));
  });
  expect(plans).toHaveLength(1);
  // A list that grows with the night is gone through for no row.
  expect(plans[0]).not.toMatch(/"(Join )?Filter":"[^"]*(array_agg|unsettled)/);
});
