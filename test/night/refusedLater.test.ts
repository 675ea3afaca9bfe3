// What the gateway refuses of an instruction that an earlier night had planned: it stands in the
// figures of exactly one night, the one that sent it or the first after `tieout send`, and on its
// sheet of what waits.

import { afterEach, expect, test } from 'vitest';
import type { RunSummary } from '../../src/core/runs/summary.js';
import { decideInstructions } from '../../src/instructions/decisions.js';
import { sendApproved } from '../../src/night/sendApproved.js';
import { waitingRows } from '../../src/report/reportRowsStore.js';
import { findRun } from '../../src/runs/runsStore.js';
import { verifyRun } from '../../src/verify/verifyRun.js';
import type { Front } from '../faults/front.js';
import { houseBehind } from '../faults/houseBehind.js';
import { capturedOrders, refuse } from '../faults/refuse.js';
import { APPROVE } from '../support/deciding.js';
import type { House } from '../support/night.js';
import { dateOf, kinds, trails } from '../support/night.js';

const [FIRST, NEXT, LAST] = [dateOf(3), dateOf(2), dateOf(1)];
let house: House;
let front: Front;
afterEach(() => house.end());

/** Two captures of one account and one of another wait for approval; the gateway refuses some. */
async function held(refused: (orderNo: string) => boolean): Promise<void> {
  const [first, second] = [kinds({ capture_due: 2 }, 'A1001'), kinds({ capture_due: 1 }, 'A1002')];
  ({ house, front } = await houseBehind({
    orders: 900,
    daysAgo: 3,
    inLedger: (order) => first(order) || second(order),
    settings: { operations: { capture: 'approve' } },
  }));
  front.trouble = (call) => {
    const orders = capturedOrders(call);
    return orders.length > 0 && orders.every(refused) && refuse(call);
  };
  await night(FIRST);
}

/** The first one in time: else the accounts would begin without a history. */
async function night(date: string, accountIds: string[] = []): Promise<RunSummary> {
  const at = date === FIRST ? new Date(`${NEXT}T04:15:00Z`) : undefined;
  return (await house.run({ date, accountIds }, at)).summary;
}

async function approveAll(accountId: string): Promise<void> {
  const { rows } = await house.db.query<{ id: bigint }>(
    `select instruction_id as id from tieout.instructions
     where state = 'held' and account_id = $1`,
    [accountId],
  );
  const ids = rows.map(({ id }) => id);
  const who = { name: 'anna', isClaim: false };
  const deps = await (await house.open()).sendDeps();
  await decideInstructions(deps, { ids, decision: APPROVE, who });
}

async function send(): Promise<string[]> {
  const app = await house.open();
  const accountIds = house.accounts.map(({ accountId }) => accountId);
  const sent = await sendApproved(await app.sendDeps(), accountIds, await app.workforce());
  return sent.map(({ state }) => state).toSorted();
}

/** Captures of an account that a night tells as this. */
const told = (summary: RunSummary, state: string, accountId = 'A1001'): number =>
  summary.accounts.find((one) => one.accountId === accountId)?.instructions.capture?.[state] ?? 0;

/** What the sheet Waiting for you of a date lists as rejected. */
async function sheetOf(date: string): Promise<string[]> {
  const run = await findRun(house.db, date);
  const lines: string[] = [];
  for await (const some of waitingRows(house.db, run?.runId ?? 0n)) {
    lines.push(...some.filter(({ state }) => state === 'rejected').map((row) => row.orderNo));
  }
  return lines.toSorted();
}

/** What comes out otherwise when nights are worked out again. */
async function differences(dates: readonly string[]): Promise<unknown[]> {
  const { config, version } = await house.open();
  const found = [];
  for (const date of dates) {
    const run = await findRun(house.db, date);
    if (run === null) throw new Error(`no run of ${date}`);
    const deps = { db: house.db, config, version, progress: () => {} };
    found.push(...(await verifyRun(deps, run)).differences);
  }
  return found;
}

async function rejectedOrders(): Promise<string[]> {
  const all = Object.entries(await trails(house.db));
  return all.filter(([, [trail]]) => trail?.endsWith(' rejected')).map(([orderNo]) => orderNo);
}

test('a refusal of what was approved by day is one of the night that sent it', async () => {
  await held(() => true);
  await approveAll('A1001');
  const next = await night(NEXT);
  expect(told(next, 'carried')).toBe(2);
  expect(told(next, 'rejected')).toBe(2);
  expect(await sheetOf(NEXT)).toEqual((await rejectedOrders()).toSorted());
  expect(await sheetOf(FIRST)).toEqual([]);
  const last = await night(LAST);
  expect([told(last, 'carried'), told(last, 'rejected')]).toEqual([0, 0]);
  expect(await sheetOf(LAST)).toEqual([]);
  expect(await differences([FIRST, NEXT, LAST])).toEqual([]);
}, 120_000);

test('a refusal that tieout send brings is one of the night after, with what it confirmed', async () => {
  let first = '';
  await held((orderNo) => {
    if (first === '') first = orderNo;
    return orderNo === first;
  });
  await approveAll('A1001');
  expect(await send()).toEqual(['confirmed', 'rejected']);
  // until it is counted, the newest revision has it as it has all that waits
  expect(await sheetOf(FIRST)).toEqual(await rejectedOrders());
  const next = await night(NEXT);
  expect(told(next, 'carried')).toBe(2);
  expect([told(next, 'confirmed'), told(next, 'rejected')]).toEqual([1, 1]);
  expect(await sheetOf(NEXT)).toEqual(await rejectedOrders());
  expect(await sheetOf(FIRST)).toEqual([]);
  const last = await night(LAST);
  expect([told(last, 'carried'), told(last, 'rejected')]).toEqual([0, 0]);
  expect(await differences([FIRST, NEXT, LAST])).toEqual([]);
}, 120_000);

test('what was sent of one account counts once where the date is run again for another', async () => {
  let first = '';
  await held((orderNo) => {
    if (first === '') first = orderNo;
    return orderNo === first;
  });
  await approveAll('A1001');
  expect(await send()).toEqual(['confirmed', 'rejected']);
  const again = await night(FIRST, ['A1002']);
  expect([told(again, 'confirmed'), told(again, 'rejected')]).toEqual([1, 1]);
  const { totals = [] } = again.accounts.find(({ accountId }) => accountId === 'A1001') ?? {};
  expect(totals.filter(({ captured }) => captured !== '0.00')).toHaveLength(1);
  expect(await sheetOf(FIRST)).toEqual(await rejectedOrders());
  const next = await night(NEXT);
  expect([told(next, 'confirmed'), told(next, 'rejected')]).toEqual([0, 0]);
  expect(await sheetOf(NEXT)).toEqual([]);
  expect(await differences([FIRST, NEXT])).toEqual([]);
}, 120_000);
