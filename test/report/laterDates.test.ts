// A revision of the workbook of a date that is written after later dates: what they sent of it is
// no part of the date, and waits for nothing any more; what is still to come is told beside it.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { decideInstructions } from '../../src/instructions/decisions.js';
import { sendApproved } from '../../src/night/sendApproved.js';
import { statementLines } from '../../src/report/statementStore.js';
import { findRun } from '../../src/runs/runsStore.js';
import { APPROVE } from '../support/deciding.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf, kinds } from '../support/night.js';

const [DATE, NEXT] = [dateOf(2), dateOf(1)];
const CLOCK = { at: new Date(), timezone: 'UTC' };

interface Due {
  id: bigint;
  operation: string;
  orderNo: string;
  money: string;
}

let house: House;
let capture: Due;
let refund: Due;

beforeAll(async () => {
  house = await buildHouse({
    orders: 900,
    daysAgo: 2,
    inLedger: kinds({ capture_due: 1, partial_refund_due: 1 }),
    settings: { operations: { capture: 'approve', refund: 'approve' } },
  });
  await house.db.query(
    `insert into ledger.refund_requests (account_id, refund_id, order_no, refund_amount,
       requested_at)
     select account_id, 'R-SECOND', order_no, 0.30, requested_at + interval '1 minute'
     from ledger.refund_requests`,
  );
  await house.run({ date: DATE });
  await house.run({ date: NEXT });
  const { rows } = await house.db.query<Due>(
    `select instruction_id as id, operation, order_no as "orderNo",
       coalesce(refund_amount, amount)::text as money
     from tieout.instructions where state = 'held' order by operation`,
  );
  [capture, refund] = rows as [Due, Due];
}, 180_000);

afterAll(() => house.end());

/** What the statement says of an order: items, each with what it adds to captured and refunded. */
async function linesOf(date: string, orderNo: string): Promise<string[]> {
  const run = await findRun(house.db, date);
  const lines: string[] = [];
  for await (const some of statementLines(house.db, run?.runId ?? 0n, CLOCK)) {
    for (const { item, captured, refunded, ...line } of some) {
      const by = line.instructionId === null ? '' : ` ${line.instructionId}`;
      if (line.orderNo === orderNo) lines.push(`${item} ${captured} ${refunded}${by}`);
    }
  }
  return lines.toSorted();
}

test('what a later date sent does not wait, and what it left does', async () => {
  const waits = [`held 0.00 -${refund.money} ${refund.id}`, 'later 0.00 -0.30'];
  expect(await linesOf(DATE, refund.orderNo)).toEqual(waits);
  const app = await house.open();
  const deps = await app.sendDeps();
  const ids = [capture.id, refund.id];
  await decideInstructions(deps, { ids, decision: APPROVE, who: { name: 'anna', isClaim: false } });
  const accountIds = house.accounts.map(({ accountId }) => accountId);
  await sendApproved(deps, accountIds, await app.workforce());

  expect(await linesOf(DATE, capture.orderNo)).toEqual([
    `moved_later -${capture.money} 0.00 ${capture.id}`,
  ]);
  const moved = `moved_later 0.00 -${refund.money}`;
  expect(await linesOf(DATE, refund.orderNo)).toEqual([
    'later 0.00 -0.30',
    `${moved} ${refund.id}`,
  ]);
});

test('a second refund that is planned since stands apart from the first', async () => {
  await house.run({ date: NEXT });
  const { rows } = await house.db.query<{ id: bigint }>(
    `select instruction_id as id from tieout.instructions where refund_id = 'R-SECOND'`,
  );
  expect(await linesOf(DATE, refund.orderNo)).toEqual([
    `held 0.00 -0.30 ${rows[0]?.id}`,
    `moved_later 0.00 -${refund.money} ${refund.id}`,
  ]);
});
