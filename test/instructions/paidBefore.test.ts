// What waits or is on its way is found by the index of open instructions, however much was paid
// before: these statements are asked after each answer to a payout, or as `tieout send` begins.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Db } from '../../src/database/db.js';
import { approvedIn } from '../../src/instructions/instructionsStore.js';
import { confirmAcceptedPayouts, withdrawPayouts } from '../../src/instructions/payoutsStore.js';
import type { FreshDatabase } from '../support/database.js';
import { freshDatabase } from '../support/database.js';
import { storeRun } from '../support/snapshotStore.js';

const ACCOUNT = 'A1';
const PAID = 5_000;

let fresh: FreshDatabase;
let runId: bigint;

beforeAll(async () => {
  fresh = await freshDatabase();
  runId = await storeRun(fresh.db, ACCOUNT);
  await fresh.db.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica');
    await tx.query(
      `insert into tieout.instructions (run_id, account_id, order_no, operation, from_state,
         transaction_id, currency, amount, state, payload, created_at, settled_at, done_states,
         approval_id)
       select $1, $2, n::text, 'payout', 'requested', n::text, 'EUR', 100, 'confirmed', '{}',
         now(), now(), '{completed}', n
       from generate_series(1, $3::int) n`,
      [runId, ACCOUNT, PAID],
    );
  });
  await fresh.db.query('analyze tieout.instructions');
});
afterAll(() => fresh.drop());

test.each<[string, (db: Db) => Promise<unknown>]>([
  ['what was accepted', (db) => confirmAcceptedPayouts(db, [ACCOUNT], new Date())],
  [
    'what waits and is asked for no more',
    (db) => withdrawPayouts(db, runId, [ACCOUNT], new Date()),
  ],
  ['what waits approved', (db) => approvedIn(db, [ACCOUNT], 'queued')],
])('%s', async (_, ask) => {
  const plan: string[] = [];
  await ask({
    ...fresh.db,
    query: async <Row extends object>(text: string, values: readonly unknown[] = []) => {
      const { rows } = await fresh.db.query<{ 'QUERY PLAN': string }>(`explain ${text}`, values);
      plan.push(...rows.map((row) => row['QUERY PLAN']));
      return fresh.db.query<Row>(text, values);
    },
  });
  expect(plan.join('\n')).toContain('instructions_open_order');
});
