// Nights over one transaction that is to move a second time: the gateway shows what was, another one
// of the same order, or two accounts are one there. Whole nights; each test ends with what moved.

import { createHash } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import type { RunResult } from '../../../src/night/run.js';
import { approveHeld } from '../../support/approveHeld.js';
import type { House } from '../../support/night.js';
import { dateOf, instructionCounts, kinds } from '../../support/night.js';
import type { Front } from '../front.js';
import { answerJson, showing } from '../front.js';
import { houseBehind } from '../houseBehind.js';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

/** The night of that date, in the early morning after it. */
function night(house: House, daysAgo: number): Promise<RunResult> {
  return house.run({ date: dateOf(daysAgo) }, new Date(`${dateOf(daysAgo - 1)}T04:15:00Z`));
}

async function held(house: House): Promise<(string | null)[]> {
  const { rows } = await house.db.query<{ hold_reason: string }>(
    `select hold_reason from tieout.instructions where state = 'held' order by order_no`,
  );
  return rows.map((row) => row.hold_reason);
}

test.each([
  { first: 'cancel', wanted: 'captured', due: kinds({ cancel_due: 1 }, 'A1001') },
  { first: 'capture', wanted: 'cancelled', due: kinds({ capture_due: 1 }, 'A1001') },
])('after our $first no wish for $wanted moves what an old look shows as reserved', async (one) => {
  const { house, front } = await houseBehind({ orders: 900, inLedger: one.due, daysAgo: 4 });
  cleanups.push(() => house.end());
  await night(house, 4);
  const done = [`${one.first} confirmed`];
  expect(Object.keys(await instructionCounts(house.db))).toEqual(done);
  await house.db.query('update ledger.orders set expected = $1', [one.wanted]);
  // The gateway shows what was before that.
  showing(front, () => ({ payment_status: '2000' }));
  await night(house, 3);
  expect(await held(house)).toEqual(['moved_already']);
  expect(await house.effects()).toHaveLength(1);
  // Who looked it up may have it done: it is asked of the gateway, which knows what it has done.
  expect(await approveHeld(house)).toEqual(['done']);
  await night(house, 2);
  expect(await held(house)).toEqual([]);
  expect(Object.keys(await instructionCounts(house.db))).toHaveLength(2);
  const { rows } = await house.db.query('select 1 from tieout.attempts');
  expect(rows).toHaveLength(2);
});

test('a second transaction of an order that was captured waits for a person', async () => {
  const inLedger = kinds({ capture_due: 1 }, 'A1001');
  const { house, front } = await houseBehind({ orders: 900, inLedger, daysAgo: 4 });
  cleanups.push(() => house.end());
  await house.db.query('update ledger.orders set transaction_id = null');
  await night(house, 4);
  expect(await instructionCounts(house.db)).toEqual({ 'capture confirmed': 1 });
  // The first one is not shown any more; another one is, authorised.
  showing(front, () => ({ transaction_id: 'another-1', payment_status: '2000' }));
  const { summary } = await night(house, 3);
  expect(await held(house)).toEqual(['second_capture']);
  expect(summary.state).toBe('tied_out');
  expect(front.asked.get('capture')).toBe(1);
  expect(await house.effects()).toHaveLength(1);
});

test('an order that two accounts have, which are one at the gateway, moves for neither', async () => {
  const inLedger = kinds({ capture_due: 1 }, 'A1001');
  const { house, front } = await houseBehind({ orders: 900, inLedger, daysAgo: 4 });
  cleanups.push(() => house.end());
  await house.db.query('update ledger.orders set transaction_id = null');
  await house.db.query(
    `insert into ledger.orders select 'A1002', order_no, currency, amount, expected, null,
       capture_amount, review_decision, placed_at, updated_at from ledger.orders`,
  );
  oneAtTheGateway(house, front, { asked: 'A1002', answered: 'A1001' });
  await night(house, 4);
  expect(await held(house)).toEqual(['shared_transaction', 'shared_transaction']);
  expect(await house.effects()).toEqual([]);
  expect(front.asked.get('capture')).toBeUndefined();
});

test('what one account captured waits in another that is the same at the gateway', async () => {
  const inLedger = kinds({ capture_due: 1 }, 'A1001');
  const { house, front } = await houseBehind({ orders: 900, inLedger, daysAgo: 4 });
  cleanups.push(() => house.end());
  await house.db.query('update ledger.orders set transaction_id = null');
  await night(house, 4);
  await house.db.query(`update ledger.orders set account_id = 'A1002'`);
  // It shows what was, for a while.
  oneAtTheGateway(house, front, { asked: 'A1002', answered: 'A1001', status: '2000' });
  await night(house, 3);
  expect(await held(house)).toEqual(['shared_transaction']);
  expect(front.asked.get('capture')).toBe(1);
});

/** Questions about one account are answered with what another one has. */
function oneAtTheGateway(
  house: House,
  front: Front,
  { asked, answered, status }: { asked: string; answered: string; status?: string },
): void {
  front.trouble = async (call) => {
    const question = new URLSearchParams(call.body);
    if (call.operation !== 'retrievalTrans' || question.get('account_id') !== asked) return false;
    const as = house.accounts.find(({ accountId }) => accountId === answered);
    const signed = `${as?.merchantId}${answered}${as?.signingKey}`;
    question.set('account_id', answered);
    question.set('encryption_data', createHash('sha256').update(signed).digest('hex'));
    const answer = await fetch(`${house.sandboxUrl}/v1/retrievalTrans`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: question.toString(),
    });
    const text = (await answer.text()).replaceAll(`"${answered}"`, `"${asked}"`);
    const told =
      status === undefined
        ? text
        : text.replaceAll(/"payment_status":"\d+"/g, `"payment_status":"${status}"`);
    return answerJson(call, JSON.parse(told));
  };
}
