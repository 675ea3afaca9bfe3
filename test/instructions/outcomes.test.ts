// Outcomes for the shop: numbered in the order in which they become visible, so that a reader who
// resumes after the highest number it saw never misses one; told once and never changed.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Database, Db } from '../../src/database/db.js';
import {
  lastOutcome,
  outcomesBetween,
  publishOutcomes,
} from '../../src/instructions/outcomesStore.js';
import type { FreshDatabase } from '../support/database.js';
import { freshDatabase } from '../support/database.js';
import { orderOf } from '../support/orders.js';
import { storeInstructions, storeRun } from '../support/snapshotStore.js';

let fresh: FreshDatabase;
let db: Database;
let accounts = 0;
beforeAll(async () => {
  fresh = await freshDatabase();
  db = fresh.db;
});
afterAll(() => fresh.drop());

/** Instructions that are being sent, of an account of their own; answers it. */
async function sending(...orderNos: string[]): Promise<string> {
  accounts += 1;
  const accountId = `A${accounts}`;
  const runId = await storeRun(db, accountId);
  const orders = orderNos.map((orderNo) =>
    orderOf(orderNo, {
      ledger: 'captured 10.00 EUR',
      gateway: ['T1 authorised 10.00'],
      did: ['capture T1 sending'],
    }),
  );
  await storeInstructions(db, runId, accountId, orders);
  return accountId;
}

async function move(on: Db, accountId: string, orderNo: string, state: string): Promise<void> {
  await on.query(
    `update tieout.instructions set state = $3, reason = 'test', gateway_reference = 'ref ' || $3
     where account_id = $1 and order_no = $2`,
    [accountId, orderNo, state],
  );
}

async function readAfter(after: bigint): Promise<{ told: string[]; last: bigint }> {
  const last = await lastOutcome(db);
  const told: string[] = [];
  for await (const rows of outcomesBetween(db, after, last)) {
    told.push(...rows.map((row) => `${row.orderNo} ${row.state}`));
  }
  return { told, last };
}

describe('a reader that resumes', () => {
  test('sees a move that commits after a later one was published', async () => {
    const accountId = await sending('slow', 'quick');
    const before = await lastOutcome(db);
    let first = { told: [] as string[], last: 0n };
    await db.transaction(async (tx) => {
      await move(tx, accountId, 'slow', 'accepted');
      await move(db, accountId, 'quick', 'accepted');
      await publishOutcomes(db);
      first = await readAfter(before);
    });
    expect(first.told).toEqual(['quick accepted']);
    await publishOutcomes(db);
    expect((await readAfter(first.last)).told).toEqual(['slow accepted']);
  });

  test('sees each outcome once and without a gap, however many publish at once', async () => {
    const orderNos = Array.from({ length: 60 }, (_, index) => `order ${index}`);
    const accountId = await sending(...orderNos);
    const before = await lastOutcome(db);
    await Promise.all(
      orderNos.map(async (orderNo) => {
        await move(db, accountId, orderNo, 'accepted');
        await publishOutcomes(db);
      }),
    );
    const { told, last } = await readAfter(before);
    expect(last).toBe(before + BigInt(orderNos.length));
    expect([...told].sort()).toEqual(orderNos.map((orderNo) => `${orderNo} accepted`).sort());
  });
});

describe('what was told', () => {
  test('holds what was known then, move by move', async () => {
    const accountId = await sending('one');
    const before = await lastOutcome(db);
    await move(db, accountId, 'one', 'unknown');
    await db.query(
      `update tieout.instructions set state = 'confirmed', settled_at = now(),
         settled_run_id = run_id, gateway_reference = 'later' where account_id = $1`,
      [accountId],
    );
    await publishOutcomes(db);
    const { rows } = await db.query(
      `select state, gateway_reference, amount, currency from tieout.outcomes
       where seq > $1 order by seq`,
      [before],
    );
    const money = { amount: '10.00', currency: 'EUR' };
    expect(rows).toEqual([
      { state: 'unknown', gateway_reference: 'ref unknown', ...money },
      { state: 'confirmed', gateway_reference: 'later', ...money },
    ]);
  });

  test.each([
    [`update tieout.outcome_rows set state = 'rejected'`],
    ['update tieout.outcome_rows set seq = seq + 1000'],
    ['delete from tieout.outcome_rows'],
  ])('is not changed: %s', async (statement) => {
    await move(db, await sending('kept'), 'kept', 'accepted');
    await publishOutcomes(db);
    await expect(db.query(statement)).rejects.toThrow(/stays/);
  });
});
