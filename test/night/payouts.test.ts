// Payouts from the ledger's request to what the gateway answered, on a real house: policies and
// approval, one payout a request, an unknown one that only a person settles, what is refused.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { PROFILE_TEMPLATE } from '../../src/config/templates.js';
import type { RunSummary } from '../../src/core/runs/summary.js';
import { closeDay } from '../../src/days/days.js';
import { dayFigures, postMovements } from '../../src/days/daysStore.js';
import type { Decision } from '../../src/instructions/decisions.js';
import { decideInstructions } from '../../src/instructions/decisions.js';
import { sheetOf } from '../../src/instructions/instructionSheet.js';
import { sendApproved } from '../../src/night/sendApproved.js';
import { pullChunk } from '../../src/pull/pullChunk.js';
import { findRun } from '../../src/runs/runsStore.js';
import { recoverAttempts } from '../../src/send/recoverAttempts.js';
import { sendBatch } from '../../src/send/sendBatch.js';
import { verifyRun } from '../../src/verify/verifyRun.js';
import { byHand } from '../support/byHand.js';
import type { House, HouseOptions } from '../support/night.js';
import { buildHouse, dateOf, instructionCounts, kinds, rewriteSettings } from '../support/night.js';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

const ONE = '00000000-0000-4000-8000-000000000001';
const TWO = '00000000-0000-4000-8000-000000000002';
const THREE = '00000000-0000-4000-8000-000000000003';
const ACCOUNT = 'A1001';
const PAYLOAD = {
  payment_amount: '120',
  payment_currency: 'EUR',
  reference: 'commission 11/2026',
  beneficiary: { company_name: 'Nordlicht GmbH', bank_details: { iban: 'DE00123456780000000000' } },
};

async function houseOf(mode: 'auto' | 'approve' | 'off', more: HouseOptions = {}): Promise<House> {
  const house = await buildHouse({
    orders: 60,
    inLedger: kinds({}),
    settings: { operations: { payout: mode } },
    daysAgo: 2,
    ...more,
  });
  cleanups.push(() => house.end());
  return house;
}

const first = (house: House) => house.run({ date: dateOf(2) });
const second = (house: House) => house.run({ date: dateOf(1) });

describe('a payout request', () => {
  test('waits for approval while nobody knows the unit of its amount, whatever the policy', async () => {
    const house = await houseOf('auto');
    await request(house, ONE);
    expect((await first(house)).summary.state).toBe('tied_out');
    expect(await instructionCounts(house.db)).toEqual({ 'payout held': 1 });
    const id = await idOf(house, ONE);
    const sheet = await sheetOf({ db: house.db, refundReasonTag: true }, id);
    expect(sheet?.seen).toMatchObject({
      ledger: null,
      gateway: null,
      payout: { amount: '120', currency: 'EUR', beneficiary: 'Nordlicht GmbH' },
    });
    await decide(house, id, { kind: 'approve', reason: null });
    expect(await send(house)).toEqual(['payout confirmed']);
    expect(await house.effects()).toMatchObject([
      { operation: 'payout', order_no: ONE, amount: '120' },
    ]);
    const { summary } = await second(house);
    expect(summary.state).toBe('tied_out');
    expect(payouts(summary)).toEqual({ carried: 1, confirmed: 1 });
    // Of an amount without a unit no figure says a word.
    expect(JSON.stringify(summary.accounts.map((account) => account.totals))).not.toContain('120');
    const { rows } = await house.db.query(
      'select state, gateway_reference is not null as has_reference from tieout.instructions',
    );
    expect(rows).toEqual([{ state: 'confirmed', has_reference: true }]);
    expect(await house.effects()).toHaveLength(1);
  });

  test('whose unit is known stands in totals and day; both nights come out the same again', async () => {
    const house = await houseOf('auto');
    await request(house, ONE);
    await first(house);
    knowUnit(house);
    await decide(house, await idOf(house, ONE), APPROVE);
    expect(await send(house)).toEqual(['payout confirmed']);
    await request(house, TWO, { payload: { ...PAYLOAD, payment_amount: '7' } });
    expect(payouts((await second(house)).summary)).toMatchObject({ confirmed: 1, held: 1 });
    await decide(house, await idOf(house, TWO), APPROVE);
    const { summary } = await second(house);
    expect(payouts(summary)).toEqual({ carried: 1, confirmed: 2 });
    const account = summary.accounts.find(({ accountId }) => accountId === ACCOUNT);
    expect(account?.totals).toEqual([{ ...ZEROS, currency: 'EUR', paidOut: '7.00' }]);
    await postMovements(house.db, ACCOUNT);
    const figures = await dayFigures(house.db, [ACCOUNT], dateOf(1), dateOf(1));
    expect(figures).toMatchObject([
      { currency: 'EUR', opening: '0.00', closing: '0.00', paidOut: '7.00', payouts: 1 },
    ]);
    const order = { accountId: ACCOUNT, date: dateOf(1), who: { name: 'anna', isClaim: false } };
    expect(await closeDay(house.db, { ...order, reason: 'week', withEarlier: true })).toMatchObject(
      { kind: 'done' },
    );
    expect(await namedDifferences(house)).toEqual([[], []]);
  });

  test('older than liveFrom is history; of another account or off it is nothing', async () => {
    const house = await houseOf('approve');
    await request(house, ONE, { age: '30 days' });
    await first(house);
    expect(await instructionCounts(house.db)).toEqual({});
    const off = await houseOf('off');
    await request(off, ONE);
    await first(off);
    expect(await instructionCounts(off.db)).toEqual({});
  });

  test('that cannot be sent is held with the reason, and no approval helps', async () => {
    const house = await houseOf('approve');
    await request(house, ONE, { payload: { ...PAYLOAD, payment_amount: '12.50' } });
    await request(house, TWO, { payload: { ...PAYLOAD, request_id: ONE } });
    await first(house);
    const { rows } = await house.db.query<{ hold_reason: string; reason: string }>(
      'select hold_reason, reason from tieout.instructions order by transaction_id',
    );
    expect(rows.map((row) => row.hold_reason)).toEqual(['invalid_payout', 'invalid_payout']);
    expect(rows[1]?.reason).toContain('request_id');
    expect(await decide(house, await idOf(house, ONE), APPROVE)).toEqual(['refused']);
  });

  test('that leaves the ledger, or changes, is withdrawn before it is sent', async () => {
    const house = await houseOf('approve');
    await request(house, ONE);
    await request(house, TWO);
    await first(house);
    for (const id of [ONE, TWO]) await decide(house, await idOf(house, id), APPROVE);
    await house.db.query('delete from ledger.payout_requests where request_id = $1', [ONE]);
    await house.db.query(
      `update ledger.payout_requests set payload = payload || '{"payment_amount": "9999"}'`,
    );
    expect(await send(house)).toEqual(['payout withdrawn', 'payout withdrawn']);
    expect(await house.effects()).toEqual([]);
    // What it asks for now is a new thing, and waits for a new approval.
    await second(house);
    expect(await instructionCounts(house.db)).toEqual({ 'payout held': 1, 'payout withdrawn': 2 });
  });

  test('is paid once, whichever account the ledger names for it afterwards', async () => {
    const house = await houseOf('approve');
    await request(house, ONE);
    await first(house);
    await decide(house, await idOf(house, ONE), APPROVE);
    expect(await send(house)).toEqual(['payout confirmed']);
    await house.db.query(`update ledger.payout_requests set account_id = 'A1002'`);
    await second(house);
    const { rows } = await house.db.query<{ instruction_id: bigint; reason: string }>(
      `select instruction_id, account_id, hold_reason, reason from tieout.instructions
       where state = 'held'`,
    );
    expect(rows).toMatchObject([{ account_id: 'A1002', hold_reason: 'invalid_payout' }]);
    expect(rows[0]?.reason).toContain('account A1001 has this request or a payout of it');
    const id = rows[0]?.instruction_id ?? 0n;
    expect(await decide(house, id, APPROVE)).toEqual(['refused']);
    // Had the plan let it pass, the claim would not.
    await house.db.query(
      `update tieout.instructions set hold_reason = 'approval' where state = 'held'`,
    );
    expect(await decide(house, id, APPROVE)).toEqual(['done']);
    expect(await send(house)).toEqual(['payout withdrawn']);
    expect(await house.effects()).toHaveLength(1);
  });

  test('that was paid and is loaded anew under another number waits, as an equal one beside it', async () => {
    const house = await houseOf('auto');
    knowUnit(house);
    await request(house, ONE);
    await first(house);
    await house.db.query('update ledger.payout_requests set request_id = $1', [TWO]);
    await request(house, THREE, { age: '0 seconds' });
    await second(house);
    const { rows } = await house.db.query(
      `select transaction_id as id from tieout.instructions where hold_reason = 'twin_request'`,
    );
    expect(rows).toEqual([{ id: TWO }, { id: THREE }]);
    // Who looked it up may have it paid all the same.
    expect(await decide(house, await idOf(house, THREE), APPROVE)).toEqual(['done']);
    expect(await send(house)).toContain('payout confirmed');
    expect((await house.effects()).map((effect) => effect.order_no)).toEqual([ONE, THREE]);
  });

  test('that was paid by hand meanwhile is not paid again', async () => {
    const house = await houseOf('approve');
    await request(house, ONE);
    await first(house);
    await decide(house, await idOf(house, ONE), APPROVE);
    await byHand(house, ACCOUNT, 'payout', { ...PAYLOAD, request_id: ONE });
    expect(await send(house)).toEqual(['payout withdrawn']);
    await second(house);
    const { rows } = await house.db.query('select reason from tieout.instructions where is_open');
    expect(rows).toMatchObject([{ reason: expect.stringContaining('dora paid it by hand') }]);
    expect(await house.effects()).toHaveLength(1);
  });

  test('goes to no gateway of another environment, whose yes would be taken for paid', async () => {
    const house = await houseOf('approve', { orders: 900, inLedger: kinds({ capture_due: 1 }) });
    await request(house, ONE);
    await first(house);
    await decide(house, await idOf(house, ONE), APPROVE);
    rewriteSettings(house, { environment: 'live' });
    const profile = join(house.folder, 'gateway-profile.yaml');
    writeFileSync(profile, PROFILE_TEMPLATE);
    rewriteSettings(house, { gateway: { baseUrl: house.gatewayUrl, profile } });
    const why = 'environment is live in this process, and test in the run';
    await expect(send(house)).rejects.toThrow(why);
    // A worker of its own, as `tieout work` on another host.
    const otherShop = await (await house.open()).sendDeps();
    const { rows } = await house.db.query<{ batch_id: bigint; chunk_id: bigint }>(
      `select (select max(batch_id) from tieout.batches) as batch_id,
         (select max(chunk_id) from tieout.chunks) as chunk_id`,
    );
    await sendBatch(otherShop, rows[0]?.batch_id ?? 0n);
    await house.db.query(`update tieout.chunks set state = 'queued'`);
    await pullChunk(otherShop, rows[0]?.chunk_id ?? 0n);
    const left = await house.db.query(
      `select b.state, b.tries, b.reason, c.state as chunk from tieout.batches b
       cross join tieout.chunks c where c.chunk_id = $1`,
      [rows[0]?.chunk_id],
    );
    expect(left.rows).toEqual([{ state: 'queued', tries: 0, reason: why, chunk: 'queued' }]);
    expect(await house.effects()).toEqual([]);
    // Whoever goes on with the night decides which environment it is; a person has to see it.
    await first(house);
    expect(await send(house)).toEqual([]);
    expect(await decide(house, await idOf(house, ONE), APPROVE)).toEqual(['done']);
    expect(await send(house)).toEqual(['payout confirmed']);
  });
});

const APPROVE: Decision = { kind: 'approve', reason: null };

describe('what the gateway answers', () => {
  test('a failure is an outcome: rejected with its words, and not sent again by itself', async () => {
    const house = await houseOf('approve');
    await request(house, ONE, { payload: { ...PAYLOAD, reference: 'FAIL please' } });
    await first(house);
    await decide(house, await idOf(house, ONE), APPROVE);
    expect(await send(house)).toEqual(['payout rejected']);
    const { rows } = await house.db.query(
      'select outcome_code, outcome_message from tieout.instructions',
    );
    expect(rows).toMatchObject([{ outcome_code: 'BENEFICIARY_REJECTED' }]);
    await second(house);
    expect(await instructionCounts(house.db)).toEqual({ 'payout rejected': 1 });
    expect(await house.effects()).toEqual([]);
  });

  test('none: unknown, and only a person settles it; sent again takes a second one', async () => {
    let lost = true;
    const house = await houseOf('approve', {
      daysAgo: 3,
      fault: ({ operation }) =>
        operation === 'payout' && lost ? { kind: 'drop', when: 'before' } : null,
    });
    await request(house, ONE);
    await house.run({ date: dateOf(3) }, new Date(`${dateOf(2)}T04:15:00Z`));
    const id = await idOf(house, ONE);
    await decide(house, id, APPROVE);
    expect(await send(house)).toEqual(['payout unknown']);
    lost = false;
    const sheet = await sheetOf({ db: house.db, refundReasonTag: true }, id);
    expect(sheet).toMatchObject({
      ...{ state: 'unknown', money: '120.00 EUR', tag: null, nextReference: null },
      attempts: [{ outcome: 'unanswered', entries: 1, answer: null }],
      commands: [
        `tieout instructions resolve ${id} happened --reason "..." --reference "..."`,
        `tieout instructions resolve ${id} not-happened --reason "..." --reference "..."`,
      ],
    });
    expect(sheet?.attempts[0]?.request).toContain(ONE);
    expect(sheet?.window?.until).not.toBeNull();
    const { summary } = await first(house);
    expect(summary.state).toBe('broken');
    expect(payouts(summary)).toEqual({ carried: 1, unknown: 1 });
    expect(await house.effects()).toEqual([]);
    const finding = { kind: 'resolve', finding: 'not_happened' } as const;
    const words = { reason: 'not in the portal', reference: 'case 5' };
    expect(await decide(house, id, { ...finding, ...words })).toEqual(['done']);
    const again: Decision = { kind: 'replan', reason: null };
    expect(await decide(house, id, again)).toEqual(['refused']);
    expect(await decide(house, id, again, 'bert')).toEqual(['done']);
    const third = await second(house);
    expect(payouts(third.summary)).toMatchObject({ held: 1 });
    expect(await house.effects()).toEqual([]);
  });
});

describe('a payout whose process died between the storing and the reading of its answer', () => {
  test('has the outcome of that answer after the restart, and is not sent again', async () => {
    const house = await houseOf('approve');
    await request(house, ONE);
    await request(house, TWO, { payload: { ...PAYLOAD, reference: 'FAIL please' } });
    await first(house);
    for (const id of [ONE, TWO]) await decide(house, await idOf(house, id), APPROVE);
    const deps = await (await house.open()).sendDeps();
    const die = (): never => {
      throw new Error('died');
    };
    const gateway = { ...deps.gateway, readPayoutAnswer: die };
    const dying = { ...deps, gateway, runner: { ...deps.runner, boot: 'another boot' } };
    const { rows } = await house.db.query<{ batch_id: bigint }>(
      `select batch_id from tieout.batches where state = 'queued' order by batch_id`,
    );
    expect(rows.length).toBe(2);
    for (const { batch_id } of rows) {
      await expect(sendBatch(dying, batch_id)).rejects.toThrow('died');
      expect(await instructionCounts(house.db)).toMatchObject({ 'payout sending': 1 });
      await recoverAttempts(deps, [ACCOUNT]);
    }
    const settled = { 'payout confirmed': 1, 'payout rejected': 1 };
    expect(await instructionCounts(house.db)).toEqual(settled);
    await second(house);
    expect(await instructionCounts(house.db)).toEqual(settled);
    const attempts = await house.db.query('select outcome from tieout.attempts');
    expect(attempts.rows).toEqual([{ outcome: 'answered' }, { outcome: 'answered' }]);
    expect(await house.effects()).toMatchObject([{ operation: 'payout', order_no: ONE }]);
  });
});

async function request(
  house: House,
  requestId: string,
  { payload = PAYLOAD, age = '1 minute' }: { payload?: object; age?: string } = {},
): Promise<void> {
  await house.db.query(
    `insert into ledger.payout_requests (request_id, account_id, payload, requested_at)
     values ($1, $2, $3, now() - $4::interval)`,
    [requestId, ACCOUNT, JSON.stringify(payload), age],
  );
}

const ZEROS = Object.fromEntries(
  ['captured', 'cancelled', 'refunded', 'net', 'unknown'].map((name) => [name, '0.00']),
);

/** What anybody's profile says once the acquirer has answered. */
function knowUnit(house: House): void {
  const profile = join(house.folder, 'gateway-profile.yaml');
  writeFileSync(profile, PROFILE_TEMPLATE.replace('unit: null', 'unit: major'));
  rewriteSettings(house, { gateway: { baseUrl: house.gatewayUrl, profile } });
}

/** Of both nights: what comes out otherwise when it is worked out again. */
async function namedDifferences(house: House): Promise<unknown[]> {
  const { config, version } = await house.open();
  const found = [];
  for (const date of [dateOf(2), dateOf(1)]) {
    const run = await findRun(house.db, date);
    if (!run) throw new Error(`no run of ${date}`);
    const deps = { db: house.db, config, version, progress: () => {} };
    found.push((await verifyRun(deps, run)).differences);
  }
  return found;
}

async function idOf(house: House, requestId: string): Promise<bigint> {
  const { rows } = await house.db.query<{ instruction_id: bigint }>(
    `select instruction_id from tieout.instructions where transaction_id = $1
     order by instruction_id`,
    [requestId],
  );
  return rows[0]?.instruction_id ?? 0n;
}

async function decide(
  house: House,
  id: bigint,
  decision: Decision,
  name = 'anna',
): Promise<string[]> {
  const deps = await (await house.open()).sendDeps();
  const who = { name, isClaim: false };
  const rows = await decideInstructions(deps, { ids: [id], decision, who });
  return rows.map((row) => row.kind);
}

async function send(house: House): Promise<string[]> {
  const app = await house.open();
  const accountIds = house.accounts.map((account) => account.accountId);
  const sent = await sendApproved(await app.sendDeps(), accountIds, await app.workforce());
  return sent.map(({ operation, state }) => `${operation} ${state}`);
}

function payouts(summary: RunSummary): Partial<Record<string, number>> {
  const account = summary.accounts.find((one) => one.accountId === ACCOUNT);
  return account?.instructions.payout ?? {};
}
