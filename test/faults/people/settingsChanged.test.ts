// Settings that change between nights, while something waits. What nobody approved goes only while
// the settings of today let it go, whoever claims it; each time the gateway's effects say.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { letBrakeGo, pullBrake } from '../../../src/brake/brake.js';
import { sandboxProfile } from '../../../src/gateway/document/profile.js';
import { decideInstructions } from '../../../src/instructions/decisions.js';
import { cutBatches } from '../../../src/instructions/instructionsStore.js';
import { ownPolicies } from '../../../src/instructions/policies.js';
import { sendApproved } from '../../../src/night/sendApproved.js';
import { sendBatch } from '../../../src/send/sendBatch.js';
import { ensureBuilt, tieout } from '../../support/cli.js';
import type { House, HouseOptions } from '../../support/night.js';
import {
  buildHouse,
  dateOf,
  instructionCounts,
  kinds,
  rewriteSettings,
} from '../../support/night.js';

const houses: House[] = [];

beforeAll(ensureBuilt);
afterEach(async () => {
  for (const house of houses.splice(0)) await house.end();
});

const AUTO = { capture: 'auto', cancel: 'auto', refund: 'auto', review: 'auto' };

async function houseOf(options: HouseOptions = {}): Promise<House> {
  const house = await buildHouse({
    orders: 900,
    daysAgo: 3,
    inLedger: kinds({ capture_due: 2 }, 'A1001'),
    ...options,
  });
  houses.push(house);
  return house;
}

/** In the small hours after the date's end. */
async function runOf(house: House, daysAgo: number) {
  const at = new Date(`${dateOf(daysAgo - 1)}T04:15:00Z`);
  return (await house.run({ date: dateOf(daysAgo) }, at)).summary;
}

const BY_HAND = {
  accountId: null,
  reason: 'to see',
  who: { name: 'anna', isClaim: true },
};

/** Two captures wait in a batch behind the brake; the merchant becomes careful meanwhile. */
async function queuedThen(operations: Record<string, unknown>): Promise<House> {
  const house = await houseOf();
  await pullBrake(house, BY_HAND);
  await runOf(house, 3);
  expect(await instructionCounts(house.db)).toEqual({ 'capture queued': 2 });
  rewriteSettings(house, { operations: { ...AUTO, ...operations } });
  return house;
}

const CAREFUL: [string, Record<string, unknown>, string][] = [
  ['approve', { capture: 'approve' }, 'approval'],
  ['a lower approveAbove', { approveAbove: { capture: { EUR: '0.01' } } }, 'above_limit'],
  ['a lower maxPerRun', { maxPerRun: { capture: { count: 0 } } }, 'over_limit_of_run'],
];

describe('what is queued behind the brake', () => {
  test.each(CAREFUL)('waits after a change to %s, by the next run', async (_, change, reason) => {
    const house = await queuedThen(change);
    await runOf(house, 2);
    expect(await holdsOf(house)).toEqual([reason, reason]);
    await letBrakeGo(house, BY_HAND);
    await runOf(house, 1);
    expect(await holdsOf(house)).toEqual([reason, reason]);
    expect(await house.effects()).toEqual([]);
  });

  test.each(CAREFUL)('and after a change to %s, by any worker', async (_, change, reason) => {
    const house = await queuedThen(change);
    await letBrakeGo(house, BY_HAND);
    await workUntilNothingIsQueued(house);
    expect(await holdsOf(house)).toEqual([reason, reason]);
    expect(await house.effects()).toEqual([]);
  });

  test('and by `tieout send`, where another one of the batch was approved', async () => {
    const house = await queuedThen({ capture: 'approve' });
    await runOf(house, 2);
    const ids = await idsOf(house);
    const deps = await (await house.open()).sendDeps();
    const decision = { kind: 'approve', reason: null } as const;
    await decideInstructions(deps, { ids, decision, who: BY_HAND.who });
    rewriteSettings(house, { operations: AUTO });
    await runOf(house, 1);
    expect(await holdsOf(house)).toEqual(['queued', 'queued']);
    // One of them was never approved.
    await house.db.query('alter table tieout.instructions disable trigger guard_decided');
    await house.db.query(
      'update tieout.instructions set approval_id = null where instruction_id = $1',
      [ids[0]],
    );
    await house.db.query('alter table tieout.instructions enable trigger guard_decided');
    rewriteSettings(house, { operations: { ...AUTO, capture: 'approve' } });
    await letBrakeGo(house, BY_HAND);
    const app = await house.open();
    await sendApproved(await app.sendDeps(), ['A1001'], await app.workforce());
    expect(await instructionCounts(house.db)).toEqual({
      'capture confirmed': 1,
      'capture held': 1,
    });
    expect(await house.effects()).toHaveLength(1);
  });

  test('goes where the settings stayed as they were', async () => {
    const house = await queuedThen({});
    await letBrakeGo(house, BY_HAND);
    await runOf(house, 2);
    expect(await instructionCounts(house.db)).toEqual({ 'capture confirmed': 2 });
    expect(await house.effects()).toHaveLength(2);
  });
});

test('what an earlier run left queued makes each night after it incomplete', async () => {
  const house = await queuedThen({});
  expect((await runOf(house, 2)).state).toBe('incomplete');
  expect(
    (await runOf(house, 1)).accounts.map(({ accountId, state }) => [accountId, state]),
  ).toEqual([
    ['A1001', 'incomplete'],
    ['A1002', 'tied_out'],
  ]);
  await letBrakeGo(house, BY_HAND);
  expect((await runOf(house, 1)).state).toBe('tied_out');
});

test('an account whose liveFrom lies ahead is only observed until then, and says so', async () => {
  const house = await houseOf({ inLedger: kinds({ capture_due: 1, full_refund_due: 1 }) });
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
  const accounts = house.accounts.map((account) => ({ ...account, liveFrom: tomorrow }));
  rewriteSettings(house, { accounts });
  const { notices = [] } = await runOf(house, 3);
  expect(await house.effects()).toEqual([]);
  expect(await holdsOf(house)).toEqual(['observed']);
  const told = notices.filter(({ kind }) => kind === 'live_from_ahead');
  expect(told.map(({ accountId }) => accountId).sort()).toEqual(['A1001', 'A1002']);
  expect(told.map(({ text }) => text).join()).toMatch(/1 refund request\(s\) .* never sent/);
  expect(house.lines.join('\n')).toContain(`lies ahead: ${tomorrow}`);
  const status = await tieout(['status', '--json'], { cwd: house.folder });
  expect(status.stdout).toContain(`lies ahead: ${tomorrow}`);
  const doctor = await tieout(['doctor'], { cwd: house.folder });
  expect(doctor.stdout).toMatch(/lies ahead: [-\d]+ [:\d]+ [A-Z]\S+/);
});

test.each([
  ['lies ahead by now', new Date(Date.now() + 86_400_000).toISOString()],
  ['is taken away', null],
])('what was approved of an account whose liveFrom %s is not sent', async (_, liveFrom) => {
  const operations = { ...AUTO, capture: 'approve', cancel: 'approve' };
  const inLedger = kinds({ capture_due: 2, cancel_due: 1 }, 'A1001');
  const house = await houseOf({ settings: { operations }, inLedger });
  await runOf(house, 3);
  const app = await house.open();
  const decision = { kind: 'approve', reason: null } as const;
  await decideInstructions(await app.sendDeps(), {
    ids: await idsOf(house),
    decision,
    who: BY_HAND.who,
  });
  const { accounts } = app.config;
  const written = house.accounts.map((account, at) => ({
    ...account,
    liveFrom: accounts[at]?.liveFrom?.toISOString(),
  }));
  rewriteSettings(house, { accounts: written.map((account) => ({ ...account, liveFrom })) });
  const sent = await tieout(['send'], { cwd: house.folder });
  expect(sent.stdout).toMatch(
    /^A1001: sending is stopped: the account is only observed.*; 3 instructions wait$/m,
  );
  expect(sent.code).toBe(4);
  // Nor does a worker that has heard of the batches before.
  const worker = await (await house.open()).sendDeps();
  const { rows } = await house.db.query<{ batch_id: bigint }>(
    'select batch_id from tieout.batches order by batch_id',
  );
  for (const { batch_id: batchId } of rows) await sendBatch(worker, batchId);
  expect(await instructionCounts(house.db)).toEqual({ 'cancel queued': 1, 'capture queued': 2 });
  const status = await tieout(['brake', 'status'], { cwd: house.folder });
  expect(status.stdout).toMatch(/^Account A1001: the account is only observed/m);
  expect(await house.effects()).toEqual([]);
  rewriteSettings(house, { accounts: written });
  const again = await tieout(['send'], { cwd: house.folder });
  expect([again.code, (await house.effects()).length]).toEqual([0, 3]);
});

test('a worker with older settings sends nothing that those of the newest run hold', async () => {
  const house = await queuedThen({ capture: 'approve' });
  rewriteSettings(house, { operations: AUTO });
  const old = await house.open();
  await old.sendDeps();
  rewriteSettings(house, { operations: { ...AUTO, capture: 'approve' } });
  await runOf(house, 2);
  // As a claim finds it that began before the plan of this run.
  await house.db.query(
    `update tieout.instructions set state = 'planned', hold_reason = null where state = 'held'`,
  );
  await cutBatches(house.db, ['A1001'], new Date());
  await letBrakeGo(house, BY_HAND);
  await workUntilNothingIsQueued(house, old);
  expect(await holdsOf(house)).toEqual(['approval', 'approval']);
  expect(await house.effects()).toEqual([]);
});

test('a worker to which codes mean something else sends nothing that nobody approved', async () => {
  const house = await queuedThen({});
  rewriteSettings(house, { gateway: otherCodes(house) });
  await letBrakeGo(house, BY_HAND);
  await workUntilNothingIsQueued(house);
  expect(await holdsOf(house)).toEqual(['newly_freed', 'newly_freed']);
  expect(await house.effects()).toEqual([]);
  // The next plan sees that no order shows the new code.
  await runOf(house, 2);
  expect(await house.effects()).toHaveLength(2);
});

test('nor does `tieout send` there send, and settle by them, what somebody approved', async () => {
  const operations = { ...AUTO, capture: 'approve' };
  const house = await houseOf({ settings: { operations } });
  await runOf(house, 3);
  const decision = { kind: 'approve', reason: null } as const;
  const ids = await idsOf(house);
  const deps = await (await house.open()).sendDeps();
  await decideInstructions(deps, { ids, decision, who: BY_HAND.who });
  rewriteSettings(house, { gateway: otherCodes(house) });
  const other = await house.open();
  const there = sendApproved(await other.sendDeps(), ['A1001'], await other.workforce());
  await expect(there).rejects.toThrow(/^nothing is sent: .*A1001 .*2001 meant nothing before/);
  expect(await house.effects()).toEqual([]);
  rewriteSettings(house, { gateway: { baseUrl: house.gatewayUrl } });
  const app = await house.open();
  await sendApproved(await app.sendDeps(), ['A1001'], await app.workforce());
  expect(await instructionCounts(house.db)).toEqual({ 'capture confirmed': 2 });
});

describe('an operation that is off', () => {
  async function approvedHouse(): Promise<House> {
    const house = await houseOf({ settings: { operations: { ...AUTO, capture: 'approve' } } });
    await runOf(house, 3);
    const decision = { kind: 'approve', reason: null } as const;
    const deps = await (await house.open()).sendDeps();
    await decideInstructions(deps, { ids: await idsOf(house), decision, who: BY_HAND.who });
    return house;
  }
  const set = (house: House, capture: string): void =>
    rewriteSettings(house, { operations: { ...AUTO, capture } });
  const works = async (house: House): Promise<void> => {
    const { rows } = await house.db.query<{ batch_id: bigint }>(
      `select batch_id from tieout.batches where state = 'queued' order by batch_id`,
    );
    const deps = await (await house.open()).sendDeps();
    for (const { batch_id: batchId } of rows) await sendBatch(deps, batchId);
  };

  test('on one host is left to the others there, approval and all', async () => {
    const house = await approvedHouse();
    set(house, 'off');
    await works(house);
    expect(await instructionCounts(house.db)).toEqual({ 'capture queued': 2 });
    const { rows } = await house.db.query('select tries, reason from tieout.batches');
    const reason = 'operations.capture is off in the settings of this process';
    expect(rows).toEqual([{ tries: 0, reason }]);
    const sent = await tieout(['send'], { cwd: house.folder });
    expect(sent.stderr).toMatch(/nothing is sent: operations.capture is off .* reject it/s);
    expect([sent.code, await house.effects()]).toEqual([2, []]);
    set(house, 'approve');
    // The first one goes alone.
    await works(house);
    await works(house);
    expect(await house.effects()).toHaveLength(2);
  });

  test('by the newest run is sent by no worker of before, approved or not', async () => {
    const house = await approvedHouse();
    const old = await (await house.open()).sendDeps();
    set(house, 'off');
    const now = await (await house.open()).sendDeps();
    await house.db.query(`update tieout.runs set settings = $1, settings_sha256 = $2`, [
      JSON.stringify(ownPolicies(now).settings),
      ownPolicies(now).sha256,
    ]);
    const { rows } = await house.db.query<{ batch_id: bigint }>(
      'select batch_id from tieout.batches',
    );
    await sendBatch(old, rows[0]?.batch_id ?? 0n);
    expect(await holdsOf(house)).toEqual(['operation_off', 'operation_off']);
    expect(await house.effects()).toEqual([]);
  });

  test('is named by the night that withdraws what waits, not the ledger', async () => {
    const house = await approvedHouse();
    set(house, 'off');
    await runOf(house, 2);
    const { rows } = await house.db.query('select distinct state, reason from tieout.instructions');
    expect(rows).toEqual([{ state: 'withdrawn', reason: 'operations.capture is off' }]);
    set(house, 'approve');
    const { notices = [] } = await runOf(house, 1);
    expect(notices.filter(({ kind }) => kind === 'withdrawn_late')).toEqual([]);
  });
});

/** A profile by which a code means what it means to nobody else. */
function otherCodes(house: House): { baseUrl: string; profile: string } {
  const profile = join(house.folder, 'profile.yaml');
  const { statuses, ...others } = sandboxProfile();
  const payment = { ...statuses.payment, 2001: 'authorised' };
  writeFileSync(profile, JSON.stringify({ ...others, statuses: { payment } }));
  return { baseUrl: house.gatewayUrl, profile };
}

type App = Awaited<ReturnType<House['open']>>;

async function workUntilNothingIsQueued(house: House, app?: App): Promise<void> {
  const workforce = await (app ?? (await house.open())).workforce();
  await workforce.start();
  await expect
    .poll(() => instructionCounts(house.db), { timeout: 30_000 })
    .not.toHaveProperty('capture queued');
  await workforce.stop();
}

async function holdsOf(house: House): Promise<string[]> {
  const { rows } = await house.db.query<{ why: string }>(
    `select coalesce(hold_reason, state) as why from tieout.instructions order by instruction_id`,
  );
  return rows.map((row) => row.why);
}

async function idsOf(house: House): Promise<bigint[]> {
  const { rows } = await house.db.query<{ instruction_id: bigint }>(
    'select instruction_id from tieout.instructions order by instruction_id',
  );
  return rows.map((row) => row.instruction_id);
}
