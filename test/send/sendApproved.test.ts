// From a held instruction to money that moved: people approve after the night, `tieout send` sends
// after a fresh snapshot, and the next night counts it. Each test ends with what really moved.

import { afterEach, expect, test } from 'vitest';
import { runSentence } from '../../src/core/runs/summary.js';
import { movedAfter } from '../../src/days/daysStore.js';
import type { Decision, DecisionVerdict } from '../../src/instructions/decisions.js';
import { decideInstructions } from '../../src/instructions/decisions.js';
import { sheetOf } from '../../src/instructions/instructionSheet.js';
import type { SentInstruction } from '../../src/instructions/instructionsStore.js';
import { sendApproved } from '../../src/night/sendApproved.js';
import { queueReports, writtenByIds } from '../../src/report/reportsStore.js';
import { writeReport } from '../../src/report/writeReport.js';
import { findRun } from '../../src/runs/runsStore.js';
import { stopNotices } from '../../src/send/stops.js';
import { verifyRun } from '../../src/verify/verifyRun.js';
import type { Call } from '../faults/front.js';
import { answerJson } from '../faults/front.js';
import { houseBehind } from '../faults/houseBehind.js';
import { openXlsx, sheetOf as worksheetOf } from '../reports/openXlsx.js';
import { byHand } from '../support/byHand.js';
import type { House, HouseOptions } from '../support/night.js';
import { buildHouse, dateOf, instructionCounts, kinds } from '../support/night.js';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

const WITH_APPROVAL = {
  operations: { capture: 'approve', cancel: 'approve', refund: 'approve', review: 'approve' },
};

async function houseOf(options: HouseOptions): Promise<House> {
  const house = await buildHouse({ orders: 900, settings: WITH_APPROVAL, ...options });
  cleanups.push(() => house.end());
  return house;
}

test('a part that a person refunded by hand meanwhile is not refunded a second time', async () => {
  const house = await houseOf({ inLedger: kinds({ partial_refund_due: 1 }), daysAgo: 2 });
  await house.run({ date: dateOf(2) });
  const id = await oldest(house, 'refund');
  await decide(house, [id], { kind: 'approve', reason: null });
  const { rows } = await house.db.query<Record<string, string>>(
    `select account_id, transaction_id, order_no, currency, amount::text as amount,
       refund_amount::text as refund_amount, 'by hand' as refund_reason from tieout.instructions`,
  );
  const { account_id: accountId = '', ...entry } = rows[0] ?? {};
  expect(await byHand(house, accountId, 'refund', { refund_orders: [entry] })).toBe('accepted');
  expect((await send(house)).map(({ state }) => state)).toEqual(['withdrawn']);
  expect(await house.effects()).toHaveLength(1);
  const { summary } = await house.run({ date: dateOf(1) });
  expect(summary.state).toBe('broken');
});

test('what was approved is sent, and nothing else; the next night counts it', async () => {
  const inLedger = kinds({ capture_due: 2, partial_refund_due: 1 });
  const settings = { ...WITH_APPROVAL, settlement: { from: dateOf(2) } };
  const house = await houseOf({ inLedger, daysAgo: 2, settings });
  const first = await house.run({ date: dateOf(2) });
  expect(first.summary.state).toBe('tied_out');
  expect(await instructionCounts(house.db)).toEqual({ 'capture held': 2, 'refund held': 1 });
  expect(await send(house)).toEqual([]);
  const [capture, refund] = [await oldest(house, 'capture'), await oldest(house, 'refund')];
  await decide(house, [capture, refund], { kind: 'approve', reason: null });
  const accountIds = house.accounts.map(({ accountId }) => accountId);
  const waits = (await stopNotices(await house.open(), accountIds)).map(({ text }) => text);
  expect(waits.length).toBeGreaterThan(0);
  for (const text of waits)
    expect(text).toMatch(/^\d instructions? waits? to be sent: nothing stops/);
  expect((await send(house)).map(({ operation, state }) => `${operation} ${state}`)).toEqual([
    'capture confirmed',
    'refund confirmed',
  ]);
  expect((await house.effects()).map((effect) => effect.operation).sort()).toEqual([
    'capture',
    'refund',
  ]);
  // Its business day and the book of settlement have it, before anybody asks for either.
  const { rows: booked } = await house.db.query<{ what: string }>(
    `select d.operation || ' ' || (d.posted_to = $1)::text || ' ' || (m.amount = d.amount)::text
       as what
     from tieout.day_movements d join tieout.movements m using (instruction_id) order by 1`,
    [dateOf(2)],
  );
  expect(booked.map(({ what }) => what)).toEqual(['capture true true', 'refund true true']);
  const after = await movedAfter(house.db, accountIds, dateOf(2));
  const moved = after.map(({ operation, countsOn }) => `${operation} ${countsOn}`);
  expect(moved.sort()).toEqual([`capture ${dateOf(2)}`, `refund ${dateOf(2)}`]);
  const run = await findRun(house.db, dateOf(2));
  if (run === null) throw new Error('no such run');
  const app = await house.open();
  const { config } = app;
  // A revision that is written now says what it is without, and leaves nothing unexplained.
  const ids = await queueReports(house.db, run.runId, ['reconciliation'], new Date());
  for (const id of ids) await writeReport(app, id);
  const [written] = await writtenByIds(house.db, ids);
  const sheet = worksheetOf(await openXlsx(written?.path ?? ''), 'Statement');
  const said: string[] = [];
  sheet.eachRow((row) => said.push(row.getCell(1).text));
  for (const { operation, amount, currency } of after) {
    const words = `${amount} ${currency} ${operation === 'capture' ? 'captured' : 'refunded'}`;
    expect(said.join('\n')).toMatch(
      new RegExp(`Moved after the night .*${words}.* on ${dateOf(2)}`),
    );
  }
  expect(said.filter((line) => line.startsWith('UNEXPLAINED'))).toEqual([]);
  const deps = { db: house.db, config, version: 'now', progress: () => {} };
  expect((await verifyRun(deps, run)).differences).toEqual([]);
  // Asked again, nothing waits any more.
  expect(await send(house)).toEqual([]);
  const { summary } = await house.run({ date: dateOf(1) });
  const sum = (operation: string, state: string): number =>
    summary.accounts.reduce(
      (count, account) => count + (account.instructions[operation]?.[state] ?? 0),
      0,
    );
  expect([sum('capture', 'carried'), sum('capture', 'confirmed')]).toEqual([2, 1]);
  expect([sum('refund', 'carried'), sum('refund', 'confirmed')]).toEqual([1, 1]);
  const totals = summary.accounts.flatMap((account) => account.totals);
  const effects = await house.effects();
  const captured = effects.find((effect) => effect.operation === 'capture')?.amount;
  expect(totals.map((total) => total.captured)).toContain(captured);
  const refunded = effects.find((effect) => effect.operation === 'refund')?.refund_amount;
  expect(totals.map((total) => total.refunded)).toContain(refunded);
  expect((await house.effects()).length).toBe(2);
});

test('what changed at the gateway after the approval is not sent', async () => {
  const house = await houseOf({ inLedger: kinds({ capture_due: 1 }, 'A1001') });
  await house.run();
  const id = await oldest(house, 'capture');
  await decide(house, [id], { kind: 'approve', reason: null });
  // The merchant changes the mind of the ledger; the approval was for a capture.
  await house.db.query(`update ledger.orders set expected = 'cancelled'`);
  expect(await send(house)).toMatchObject([{ state: 'withdrawn' }]);
  expect(await house.effects()).toEqual([]);
});

test('an approval of something else than what is there now goes back to a person', async () => {
  const house = await houseOf({ inLedger: kinds({ capture_due: 1 }, 'A1001') });
  await house.run();
  const id = await oldest(house, 'capture');
  await decide(house, [id], { kind: 'approve', reason: null });
  // Still the same need, but not the order that was looked at.
  await house.db.query(`update ledger.orders set placed_at = placed_at - interval '1 hour'`);
  expect(await send(house)).toMatchObject([{ state: 'held', reason: 'approval_void' }]);
  expect(await house.effects()).toEqual([]);
  await decide(house, [id], { kind: 'approve', reason: 'looked again' });
  expect(await send(house)).toMatchObject([{ state: 'confirmed' }]);
  expect(await house.effects()).toHaveLength(1);
});

test('a worker that runs sends it without being asked', async () => {
  const house = await houseOf({ inLedger: kinds({ cancel_due: 1 }, 'A1001') });
  await house.run();
  const workforce = await (await house.open()).workforce();
  await workforce.start();
  await decide(house, [await oldest(house, 'cancel')], { kind: 'approve', reason: null });
  await expect
    .poll(() => instructionCounts(house.db), { timeout: 20_000 })
    .toEqual({
      'cancel accepted': 1,
    });
  await workforce.stop();
  expect(await house.effects()).toHaveLength(1);
});

test('a refused capture that shows while its cancel waits for a person stops no night', async () => {
  const { house, front } = await houseBehind({
    orders: 900,
    daysAgo: 3,
    settings: { operations: { ...WITH_APPROVAL.operations, capture: 'auto' } },
    inLedger: kinds({ capture_due: 1 }, 'A1001'),
  });
  cleanups.push(() => house.end());
  let body = '';
  front.trouble = (call) => {
    if (call.operation !== 'capture') return false;
    body = call.body;
    const { capture_orders: sent, ...told } = JSON.parse(body) as Record<string, object[]>;
    const no = { capture_status: '0', error_message: 'E1004:not possible' };
    const capture_orders = sent?.map((entry) => ({ ...entry, ...no }));
    return answerJson(call, { ...told, return_status: '1', capture_orders });
  };
  const night = (daysAgo: number) =>
    house.run({ date: dateOf(daysAgo) }, new Date(`${dateOf(daysAgo - 1)}T04:15:00Z`));
  await night(3);
  await house.db.query(`update ledger.orders set expected = 'cancelled'`);
  await night(2);
  expect(await instructionCounts(house.db)).toEqual({ 'cancel held': 1, 'capture rejected': 1 });
  front.trouble = () => false;
  const sent = JSON.parse(body) as { capture_orders: Record<string, unknown>[] };
  const orders = sent.capture_orders;
  expect(await byHand(house, 'A1001', 'capture', { capture_orders: orders })).toBe('accepted');
  // What was refused is asked about by the snapshot after this one: the cancel goes first.
  expect((await night(1)).summary.state).toBe('broken');
  const counts = { 'cancel withdrawn': 1, 'capture rejected': 1 };
  expect(await instructionCounts(house.db)).toEqual(counts);
  expect((await night(1)).summary.state).toBe('broken');
  expect(await instructionCounts(house.db)).toMatchObject({ 'capture unknown': 1 });
});

test('what left while the night was still looking is looked at by that very night', async () => {
  const due = kinds({ cancel_due: 1 }, 'A1001');
  const plain = kinds({ plain: 1 }, 'A1002');
  const { house, front } = await houseBehind({
    orders: 900,
    settings: WITH_APPROVAL,
    inLedger: (order) => due(order) || plain(order),
  });
  cleanups.push(() => house.end());
  await house.run();
  const id = await oldest(house, 'cancel');
  let release = (): void => {};
  const sent = new Promise<void>((resolve) => {
    release = resolve;
  });
  const isOther = ({ operation, body }: Call): boolean =>
    operation === 'retrievalTrans' && body.includes('A1002');
  // The page of the other account is not answered before the cancel has left.
  front.trouble = async (call) => {
    if (isOther(call)) await sent;
    return false;
  };
  const asked = front.asked.get('retrievalTrans') ?? 0;
  const night = house.run();
  await expect
    .poll(() => front.asked.get('retrievalTrans') ?? 0, { timeout: 20_000 })
    .toBe(asked + 2);
  await decide(house, [id], { kind: 'approve', reason: null });
  await expect
    .poll(() => instructionCounts(house.db), { timeout: 20_000 })
    .toEqual({ 'cancel accepted': 1 });
  release();
  const { summary } = await night;
  expect(await instructionCounts(house.db)).toEqual({ 'cancel confirmed': 1 });
  expect(summary.state).toBe('tied_out');
  expect(await house.effects()).toHaveLength(1);
});

test('what was captured while the night looked, and matched, is in its money', async () => {
  const { house, front } = await houseBehind({
    orders: 900,
    settings: WITH_APPROVAL,
    inLedger: kinds({ capture_due: 3, plain: 2 }, 'A1001'),
  });
  cleanups.push(() => house.end());
  await house.run();
  expect(await instructionCounts(house.db)).toEqual({ 'capture held': 3 });
  // Who wants to capture asks nothing first: the snapshot of the night before is young enough.
  let holds = true;
  front.trouble = async ({ operation }) => {
    if (operation !== 'retrievalTrans' || !holds) return false;
    holds = false;
    await expect
      .poll(() => instructionCounts(house.db), { timeout: 20_000 })
      .toEqual({ 'capture accepted': 3 });
    return false;
  };
  const { rows } = await house.db.query<{ id: bigint }>(
    'select instruction_id as id from tieout.instructions',
  );
  const ids = rows.map((row) => row.id);
  await decide(house, ids, { kind: 'approve', reason: null });
  const { summary } = await house.run();
  const effects = await house.effects();
  expect(effects).toHaveLength(3);
  expect(await instructionCounts(house.db)).toEqual({ 'capture confirmed': 3 });
  const [account] = summary.accounts.filter(({ accountId }) => accountId === 'A1001');
  const cents = (amounts: readonly (string | undefined)[]): number =>
    amounts.reduce((sum, amount) => sum + Math.round(Number(amount) * 100), 0);
  expect(cents((account?.totals ?? []).map(({ captured }) => captured))).toBe(
    cents(effects.map(({ amount }) => amount)),
  );
  expect(account?.orders).toMatchObject({ ledger: 5, matched: 5, due: 0 });
  expect(summary.state).toBe('tied_out');
  const run = await findRun(house.db, dateOf(1));
  const { db, config, version } = await house.open();
  if (run === null) throw new Error('no run');
  const again = await verifyRun({ db, config, version, progress: () => {} }, run);
  expect(again.differences).toEqual([]);
});

test('what is accepted after the last snapshot of a night keeps it incomplete', async () => {
  const { house, front } = await houseBehind({
    orders: 900,
    settings: WITH_APPROVAL,
    inLedger: kinds({ capture_due: 1, cancel_due: 1 }, 'A1001'),
  });
  cleanups.push(() => house.end());
  await house.run();
  const [capture, cancel] = [await oldest(house, 'capture'), await oldest(house, 'cancel')];
  await decide(house, [capture], { kind: 'approve', reason: null });
  // The snapshot after sending asks for the capture alone; the cancel leaves meanwhile.
  let looks = 0;
  front.trouble = async ({ operation }) => {
    if (operation !== 'retrievalTrans') return false;
    looks += 1;
    if (looks !== 2) return false;
    await decide(house, [cancel], { kind: 'approve', reason: null });
    await expect
      .poll(() => instructionCounts(house.db), { timeout: 20_000 })
      .toMatchObject({ 'cancel accepted': 1 });
    return false;
  };
  const { summary } = await house.run();
  expect(await instructionCounts(house.db)).toEqual({
    'cancel accepted': 1,
    'capture confirmed': 1,
  });
  expect(summary.state).toBe('incomplete');
  expect(runSentence(summary)).toContain('1 instruction accepted and not shown yet');
  const again = await house.run();
  expect(again.summary.state).toBe('tied_out');
  expect(await house.effects()).toHaveLength(2);
  expect(await instructionCounts(house.db)).toMatchObject({ 'cancel confirmed': 1 });
});

test('an unknown partial refund: its sheet, a person’s finding, and the next night', async () => {
  let lost = true;
  const house = await houseOf({
    inLedger: kinds({ partial_refund_due: 1 }),
    daysAgo: 2,
    fault: ({ operation }) =>
      operation === 'refund' && lost ? { kind: 'drop', when: 'after' } : null,
  });
  await house.run({ date: dateOf(2) });
  const id = await oldest(house, 'refund');
  await decide(house, [id], { kind: 'approve', reason: null });
  expect(await send(house)).toMatchObject([{ state: 'unknown' }]);
  lost = false;
  const sheet = await sheetOf({ db: house.db, refundReasonTag: true }, id);
  expect(sheet).toMatchObject({ state: 'unknown', tag: `[tieout ${id}]` });
  expect(sheet?.stateBefore?.entries).toMatchObject([{ state: 'captured' }]);
  expect(sheet?.stateAfter?.entries).toMatchObject([{ state: 'partially_refunded' }]);
  expect(sheet?.attempts).toMatchObject([{ outcome: 'unanswered', answer: null }]);
  expect(sheet?.window?.until).not.toBeNull();
  const found = {
    kind: 'resolve',
    finding: 'happened',
    reason: 'found by its tag in the portal',
    reference: sheet?.nextReference ?? '',
  } as const;
  expect(await decide(house, [id], found)).toMatchObject([{ becomes: 'confirmed' }]);
  const { summary } = await house.run({ date: dateOf(1) });
  expect(summary.state).toBe('tied_out');
  const totals = summary.accounts.flatMap((account) => account.totals);
  const [effect] = await house.effects();
  expect(totals.map((total) => total.refunded)).toContain(effect?.refund_amount);
  expect(await house.effects()).toHaveLength(1);
});

async function oldest(house: House, operation: string): Promise<bigint> {
  const { rows } = await house.db.query<{ instruction_id: bigint }>(
    'select min(instruction_id) as instruction_id from tieout.instructions where operation = $1',
    [operation],
  );
  return rows[0]?.instruction_id ?? 0n;
}

async function decide(
  house: House,
  ids: readonly bigint[],
  decision: Decision,
): Promise<DecisionVerdict[]> {
  const deps = await (await house.open()).sendDeps();
  const who = { name: 'anna', isClaim: false };
  const rows = await decideInstructions(deps, { ids, decision, who });
  expect(rows.map((row) => row.kind)).toEqual(ids.map(() => 'done'));
  return rows;
}

async function send(house: House): Promise<SentInstruction[]> {
  const app = await house.open();
  const accountIds = house.accounts.map((account) => account.accountId);
  return sendApproved(await app.sendDeps(), accountIds, await app.workforce());
}
