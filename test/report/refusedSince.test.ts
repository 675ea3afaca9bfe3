// A revision of the nightly workbook that is written after what the night had planned came to
// nothing: refused by the gateway, sent without an answer, refused by a person. The statement says
// of each what became of it, and of a refund that waited behind a refused one that it still waits.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { itemWords } from '../../src/core/runs/statement.js';
import type { Decision } from '../../src/instructions/decisions.js';
import { decideInstructions } from '../../src/instructions/decisions.js';
import { sendApproved } from '../../src/night/sendApproved.js';
import { statementLines } from '../../src/report/statementStore.js';
import { findRun } from '../../src/runs/runsStore.js';
import { drop } from '../faults/front.js';
import { houseBehind } from '../faults/houseBehind.js';
import { refuse } from '../faults/refuse.js';
import { APPROVE } from '../support/deciding.js';
import type { House } from '../support/night.js';
import { dateOf, kinds, openBreaksOf } from '../support/night.js';

const [DATE, NEXT] = [dateOf(2), dateOf(1)];

interface Held {
  id: bigint;
  orderNo: string;
  money: string;
}

let house: House;
let captures: Held[];
let refund: Held;

beforeAll(async () => {
  const { house: built, front } = await houseBehind({
    orders: 900,
    daysAgo: 2,
    inLedger: kinds({ capture_due: 2, partial_refund_due: 1 }),
    settings: { operations: { capture: 'approve', refund: 'approve' } },
  });
  house = built;
  await house.db.query(
    `insert into ledger.refund_requests (account_id, refund_id, order_no, refund_amount,
       requested_at)
     select account_id, 'R-SECOND', order_no, 0.30, requested_at + interval '1 minute'
     from ledger.refund_requests`,
  );
  await house.run({ date: DATE });
  const held = async (operation: string): Promise<Held[]> =>
    (
      await house.db.query<Held>(
        `select instruction_id as id, order_no as "orderNo",
           coalesce(refund_amount, amount)::text as money
         from tieout.instructions where operation = $1 and state = 'held'
         order by instruction_id`,
        [operation],
      )
    ).rows;
  captures = await held('capture');
  refund = (await held('refund'))[0] as Held;
  const [no] = captures;
  front.trouble = (call) => {
    if (call.operation !== 'capture') return false;
    return call.body.includes(no?.orderNo ?? '') ? refuse(call) : drop(call);
  };
  await decide(APPROVE, captures);
  const app = await house.open();
  const accountIds = house.accounts.map(({ accountId }) => accountId);
  await sendApproved(await app.sendDeps(), accountIds, await app.workforce());
}, 180_000);

afterAll(() => house.end());

async function decide(decision: Decision, what: readonly Held[]): Promise<void> {
  const ids = what.map(({ id }) => id);
  const deps = await (await house.open()).sendDeps();
  await decideInstructions(deps, { ids, decision, who: { name: 'anna', isClaim: false } });
}

const CLOCK = { at: new Date(), timezone: 'UTC' };

/** Items with what they say, captured and refunded, of an order. */
async function linesOf(orderNo: string | undefined): Promise<string[]> {
  const run = await findRun(house.db, DATE);
  const lines: string[] = [];
  for await (const some of statementLines(house.db, run?.runId ?? 0n, CLOCK)) {
    lines.push(
      ...some
        .filter((line) => line.orderNo === orderNo)
        .map(({ item, captured, refunded }) => `${item} ${captured} ${refunded}`),
    );
  }
  return lines.toSorted();
}

test('what the gateway refused does not come later by itself, and what is unknown is not on its way', async () => {
  const [no, lost] = captures;
  expect(await linesOf(no?.orderNo)).toEqual([`rejected -${no?.money} 0.00`]);
  expect(await linesOf(lost?.orderNo)).toEqual([`unknown -${lost?.money} 0.00`]);
  expect(itemWords('rejected')).toMatch(/^Rejected: the gateway refused it/);
  expect(itemWords('unknown')).toMatch(/^Unknown: it was sent/);
});

test('what a person found not to have happened does not come later, either', async () => {
  const [, lost] = captures;
  const words = { reason: 'not in the portal', reference: 'case 5' };
  await decide({ kind: 'resolve', finding: 'not_happened', ...words }, [lost as Held]);
  expect(await linesOf(lost?.orderNo)).toEqual([`rejected -${lost?.money} 0.00`]);
  // had planned again it would come with the next run
  await decide({ kind: 'replan', reason: null }, [lost as Held]);
  expect(await linesOf(lost?.orderNo)).toEqual([`later -${lost?.money} 0.00`]);
});

test('a refund that waits behind one that a person refused was refused by nobody', async () => {
  const both = [`held 0.00 -${refund.money}`, 'later 0.00 -0.30'];
  expect(await linesOf(refund.orderNo)).toEqual(both);
  await decide({ kind: 'reject', reason: 'sold again' }, [refund]);
  const refused = ['later 0.00 -0.30', `refused 0.00 -${refund.money}`];
  expect(await linesOf(refund.orderNo)).toEqual(refused);
});

test('and the next night says what is different', async () => {
  await house.run({ date: NEXT });
  expect((await openBreaksOf(house.db)).toSorted()).toEqual(
    [
      `${captures[0]?.orderNo} instruction_rejected`,
      `${refund.orderNo} refund_mismatch`,
    ].toSorted(),
  );
});
