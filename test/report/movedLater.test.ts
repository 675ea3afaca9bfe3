// Money that moved after the look of a night on another road than `tieout send` of its own orders:
// the statement of that night has it on both sides.

import { afterEach, expect, test } from 'vitest';
import { movedAfter } from '../../src/days/daysStore.js';
import type { Decision } from '../../src/instructions/decisions.js';
import { decideInstructions } from '../../src/instructions/decisions.js';
import { bookConfirmed } from '../../src/movements/bookMovements.js';
import { sendApproved } from '../../src/night/sendApproved.js';
import { queueReports } from '../../src/report/reportsStore.js';
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
         select coalesce(sum((b ->> 'refunded')::numeric), 0)::text
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
