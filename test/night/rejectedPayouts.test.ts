// A payout that did not happen is told in every night until somebody acts, whenever it was refused
// and by whom: a break of its request, on a real house.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { decideBreaks } from '../../src/breaks/decideBreaks.js';
import { PROFILE_TEMPLATE } from '../../src/config/templates.js';
import { breakSentence } from '../../src/core/breaks/sentence.js';
import type { BreakKind } from '../../src/core/orders/verdict.js';
import type { RunSummary } from '../../src/core/runs/summary.js';
import { runSentence } from '../../src/core/runs/summary.js';
import type { Decision } from '../../src/instructions/decisions.js';
import { decideInstructions } from '../../src/instructions/decisions.js';
import { sendApproved } from '../../src/night/sendApproved.js';
import { findRun } from '../../src/runs/runsStore.js';
import { verifyRun } from '../../src/verify/verifyRun.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf, instructionCounts, kinds, rewriteSettings } from '../support/night.js';

let house: House;
afterEach(() => house.end());

const REQUEST = '00000000-0000-4000-8000-000000000001';
const ACCOUNT = 'A1001';
const REFUSED = { payment_amount: '120', payment_currency: 'EUR', reference: 'FAIL please' };
const CORRECTED = { ...REFUSED, reference: 'commission 11/2026' };
const APPROVE: Decision = { kind: 'approve', reason: null };
const REPLAN: Decision = { kind: 'replan', reason: null };

async function houseOf(payout: 'auto' | 'approve'): Promise<void> {
  const settings = { operations: { payout } };
  house = await buildHouse({ orders: 60, inLedger: kinds({}), settings, daysAgo: 6 });
  const profile = join(house.folder, 'gateway-profile.yaml');
  writeFileSync(profile, PROFILE_TEMPLATE.replace('unit: null', 'unit: major'));
  rewriteSettings(house, { gateway: { baseUrl: house.gatewayUrl, profile } });
  await house.db.query(
    `insert into ledger.payout_requests (request_id, account_id, payload, requested_at)
     values ($1, $2, $3, $4)`,
    [REQUEST, ACCOUNT, JSON.stringify(REFUSED), `${dateOf(6)}T12:00:00Z`],
  );
}

/** The first one in time: else the account would begin without a history. */
async function night(daysAgo: number): Promise<RunSummary> {
  const at = daysAgo === 6 ? new Date(`${dateOf(5)}T04:15:00Z`) : undefined;
  return (await house.run({ date: dateOf(daysAgo) }, at)).summary;
}

test('a payout that is refused between two nights is told in all that follow, until it is paid', async () => {
  await houseOf('approve');
  expect((await night(6)).state).toBe('tied_out');
  await decide(1n, APPROVE);
  expect(await send()).toEqual(['payout rejected']);
  const second = await night(5);
  expect(second.state).toBe('broken');
  expect(runSentence(second)).toContain('(1 payout rejected)');
  const books = second.accounts.find(({ accountId }) => accountId === ACCOUNT);
  expect(books?.breaks).toEqual({ payout_rejected: 1 });
  expect(books?.tie).toMatchObject({ openBefore: 0, new: 1, openAfter: 1 });
  expect(await openBreaks()).toEqual([
    `${REQUEST} 120.00 EUR: payout #1 did not happen (the beneficiary's bank refused the ` +
      'payment): nothing is paid until `tieout instructions replan 1`',
  ]);
  await correct();
  expect((await night(4)).state).toBe('broken');
  expect((await openBreaks())[0]).toContain('and its request was changed since: nothing is paid');
  expect(await instructionCounts(house.db)).toEqual({ 'payout rejected': 1 });
  expect(await decide(1n, REPLAN)).toEqual(['done']);
  expect((await night(3)).state).toBe('tied_out');
  expect(await openBreaks()).toEqual([]);
  const { rows } = await house.db.query<{ instruction_id: bigint }>(
    `select instruction_id from tieout.instructions where state = 'held'`,
  );
  expect(await decide(rows[0]?.instruction_id ?? 0n, APPROVE, 'bert')).toEqual(['done']);
  expect(await send()).toEqual(['payout confirmed']);
  expect((await night(2)).state).toBe('tied_out');
  expect(await differences([6, 5, 4, 3, 2])).toEqual([[], [], [], [], []]);
});

test('one that is refused in the night stands open in it; its break goes with its request', async () => {
  await houseOf('auto');
  await night(6);
  expect(await openBreaks()).toHaveLength(1);
  expect((await night(5)).state).toBe('broken');
  await house.db.query('delete from ledger.payout_requests');
  expect((await night(4)).state).toBe('tied_out');
  expect(await openBreaks()).toEqual([]);
  expect(await differences([6, 5, 4])).toEqual([[], [], []]);
  const { rows } = await house.db.query(
    `select e.event, e.cause, e.amount::text as amount from tieout.break_events e order by event_id`,
  );
  expect(rows).toEqual([
    { event: 'opened', cause: null, amount: '120.00' },
    { event: 'resolved', cause: 'ledger', amount: '120.00' },
  ]);
});

test('one that is refused between two nights is told once where its request has left', async () => {
  await houseOf('approve');
  await night(6);
  await decide(1n, APPROVE);
  expect(await send()).toEqual(['payout rejected']);
  await house.db.query('delete from ledger.payout_requests');
  const second = await night(5);
  expect(second.state).toBe('broken');
  expect(runSentence(second)).toContain('1 payout rejected');
  expect(await openBreaks()).toEqual([]);
  expect((await night(4)).state).toBe('tied_out');
  expect(await differences([6, 5, 4])).toEqual([[], [], []]);
});

test('a waived one is silent until its request is changed', async () => {
  await houseOf('auto');
  await night(6);
  const who = { name: 'anna', isClaim: false };
  const action = { kind: 'waive', reason: 'asked the bank' } as const;
  const deps = await (await house.open()).sendDeps();
  expect(await decideBreaks(deps, { ids: ['1'], action, who, over: null })).toMatchObject([
    { kind: 'waived' },
  ]);
  expect((await night(5)).state).toBe('tied_out');
  await correct();
  expect((await night(4)).state).toBe('broken');
  expect(await openBreaks()).toHaveLength(1);
});

function correct(): Promise<unknown> {
  const payload = JSON.stringify(CORRECTED);
  return house.db.query('update ledger.payout_requests set payload = $1', [payload]);
}

/** Number, money and words. */
async function openBreaks(): Promise<string[]> {
  const { rows } = await house.db.query<{
    order_no: string;
    kind: BreakKind;
    money: string;
    expected: object;
  }>(
    `select order_no, kind, amount || ' ' || currency as money, expected
     from tieout.breaks where state = 'open'`,
  );
  return rows.map(
    ({ order_no, kind, money, expected }) =>
      `${order_no} ${money}: ${breakSentence(kind, expected, {})}`,
  );
}

async function decide(id: bigint, decision: Decision, name = 'anna'): Promise<string[]> {
  const deps = await (await house.open()).sendDeps();
  const who = { name, isClaim: false };
  const rows = await decideInstructions(deps, { ids: [id], decision, who });
  return rows.map((row) => row.kind);
}

async function send(): Promise<string[]> {
  const app = await house.open();
  const accountIds = house.accounts.map((account) => account.accountId);
  const sent = await sendApproved(await app.sendDeps(), accountIds, await app.workforce());
  return sent.map(({ operation, state }) => `${operation} ${state}`);
}

/** What comes out otherwise when nights are worked out again. */
async function differences(nights: readonly number[]): Promise<unknown[]> {
  const { config, version } = await house.open();
  const found = [];
  for (const daysAgo of nights) {
    const run = await findRun(house.db, dateOf(daysAgo));
    if (!run) throw new Error(`no run of ${dateOf(daysAgo)}`);
    const deps = { db: house.db, config, version, progress: () => {} };
    found.push((await verifyRun(deps, run)).differences);
  }
  return found;
}
