// Money that moved after the look of a night on another road than `tieout send` of its own orders:
// the statement of that night has it on both sides.

import { afterEach, expect, test } from 'vitest';
import type { StatementLine } from '../../src/core/runs/statement.js';
import { movedAfter } from '../../src/days/daysStore.js';
import { movedRows } from '../../src/days/movedRowsStore.js';
import type { Decision } from '../../src/instructions/decisions.js';
import { decideInstructions } from '../../src/instructions/decisions.js';
import { bookConfirmed } from '../../src/movements/bookMovements.js';
import { sendApproved } from '../../src/night/sendApproved.js';
import { queueReports } from '../../src/report/reportsStore.js';
import { statementLines } from '../../src/report/statementStore.js';
import { writeReport } from '../../src/report/writeReport.js';
import { findRun } from '../../src/runs/runsStore.js';
import { APPROVE } from '../support/deciding.js';
import type { House, HouseOptions } from '../support/night.js';
import { buildHouse, dateOf, kinds } from '../support/night.js';

const [FIRST, NEXT] = [dateOf(2), dateOf(1)];

let house: House;

afterEach(() => house.end());

const accountIds = () => house.accounts.map(({ accountId }) => accountId);
const moved = (date: string) => movedAfter(house.db, accountIds(), date);

async function openHouse(options: HouseOptions): Promise<void> {
  house = await buildHouse({ orders: 900, daysAgo: 2, ...options });
}

async function decide(decision: Decision): Promise<void> {
  const { rows } = await house.db.query<{ id: bigint }>(
    'select instruction_id as id from tieout.instructions where is_open',
  );
  const ids = rows.map(({ id }) => id);
  const who = { name: 'anna', isClaim: false };
  const app = await house.open();
  await decideInstructions(await app.sendDeps(), { ids, decision, who });
  await bookConfirmed(app, accountIds());
}

/** By how much both sides differ in a new revision, and what its books have of other orders. */
async function statementOf(date: string) {
  const app = await house.open();
  const run = await findRun(house.db, date);
  const reports = await queueReports(house.db, run?.runId ?? 0n, ['reconciliation'], new Date());
  for (const id of reports) await writeReport(app, id);
  const { rows } = await house.db.query<{ differs: string[]; otherwise: string; said: string }>(
    `select array[gateway_captured - ledger_captured, gateway_refunded - ledger_refunded]::text[]
         as differs, books::text as said, (
         select coalesce(sum((b ->> 'refunded')::numeric), 0)::numeric(20, 2)::text
         from jsonb_array_elements(books -> 'bridge') b
         where b ->> 'item' in ('other_orders', 'booked_otherwise')) as otherwise
     from tieout.statements where report_id = any ($1::bigint[])
       and gateway_captured + ledger_captured > 0`,
    [reports],
  );
  return rows;
}

test('what the night before sent is proved to have moved after this one', async () => {
  await openHouse({
    inLedger: kinds({ partial_refund_due: 1 }),
    settings: { settlement: { from: FIRST } },
    fault: ({ operation }) => (operation === 'refund' ? { kind: 'drop', when: 'after' } : null),
  });
  await house.run({ date: FIRST });
  await house.run({ date: NEXT });
  const happened = { finding: 'happened', reason: 'seen in the portal', reference: 'P-1' } as const;
  await decide({ kind: 'resolve', ...happened });
  const [first, next] = [await statementOf(FIRST), await statementOf(NEXT)];
  expect(first).toMatchObject([{ differs: ['0.00', '0.00'], otherwise: '0.00' }]);
  expect(next).toMatchObject([{ differs: ['0.00', '0.00'], otherwise: '0.00' }]);
  // It is of the day before: this one has it and does not say that it is its own.
  expect(await moved(FIRST)).toHaveLength(1);
  expect(await moved(NEXT)).toEqual([]);
});

/** The lines of the statement of a date, as its workbook is written from them. */
async function linesOf(date: string): Promise<StatementLine[]> {
  const run = await findRun(house.db, date);
  const lines: StatementLine[] = [];
  const clock = { at: new Date(), timezone: 'UTC' };
  for await (const some of statementLines(house.db, run?.runId ?? 0n, clock)) lines.push(...some);
  return lines;
}

test('a refund of what is cancelled waits no more, and what moved is a sum of lines', async () => {
  await openHouse({
    inLedger: kinds({ cancelled_refund_due: 1, partial_refund_due: 1, capture_due: 1 }),
    settings: { operations: { capture: 'approve', cancel: 'approve', refund: 'approve' } },
  });
  // A second part waits until the first is done: its order stands in an item of what waits.
  await house.db.query(
    `insert into ledger.refund_requests (account_id, refund_id, order_no, refund_amount,
       requested_at)
     select r.account_id, 'R-SECOND', r.order_no, 0.30, r.requested_at + interval '1 minute'
     from ledger.refund_requests r join ledger.orders using (account_id, order_no)
     where expected = 'captured'`,
  );
  await house.run({ date: FIRST });
  await decide(APPROVE);
  const app = await house.open();
  await sendApproved(await app.sendDeps(), accountIds(), await app.workforce());
  const lines = await linesOf(FIRST);
  const { rows } = await house.db.query<{ order_no: string }>(
    `select order_no from ledger.orders where expected = 'cancelled'`,
  );
  const cancelled = lines.filter(({ orderNo }) => orderNo === rows[0]?.order_no);
  expect(cancelled.map(({ item }) => item)).toEqual(['taken_of_cancelled']);
  expect(lines.map(({ item }) => item)).toContain('later');
  const said = await moved(FIRST);
  expect(said.length).toBeGreaterThan(1);
  const listed = (
    await Promise.all(accountIds().map((one) => movedRows(house.db, one, FIRST)))
  ).flatMap((found, at) => {
    expect(found.rows).toHaveLength(found.count);
    return found.rows.map((row) => ({ ...row, accountId: accountIds()[at] }));
  });
  for (const { accountId, currency, operation, amount } of said) {
    const own = lines.filter((one) => one.accountId === accountId && one.currency === currency);
    const key = operation === 'capture' ? 'movedCaptured' : 'movedRefunded';
    const sum = own.reduce((all, line) => all + Number(line[key] ?? 0), 0);
    expect([operation, sum.toFixed(2)]).toEqual([operation, amount]);
    const shown = listed.filter(
      (row) =>
        row.accountId === accountId && row.currency === currency && row.operation === operation,
    );
    expect(shown.reduce((all, row) => all + Number(row.amount), 0).toFixed(2)).toBe(amount);
  }
});

test('an order that the night did not get to see is sent after it', async () => {
  let isDown = false;
  await openHouse({
    inLedger: kinds({ capture_due: 1 }),
    settings: {
      operations: { capture: 'approve', cancel: 'approve', refund: 'approve', review: 'approve' },
      settlement: { from: FIRST },
    },
    fault: ({ operation }) =>
      isDown && operation === 'retrievalTrans'
        ? { kind: 'status', status: 500, when: 'before' }
        : null,
  });
  await house.run({ date: FIRST });
  isDown = true;
  await house.run({ date: NEXT });
  isDown = false;
  await decide(APPROVE);
  const app = await house.open();
  await sendApproved(await app.sendDeps(), accountIds(), await app.workforce());
  const next = await statementOf(NEXT);
  expect(await moved(NEXT)).toHaveLength(1);
  expect(next).toMatchObject([{ differs: ['0.00', '0.00'] }]);
  expect(next[0]?.said).not.toMatch(/other_orders|booked_otherwise/);
});
