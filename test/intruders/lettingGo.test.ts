// What is held is let go behind the program's back, by the statements of whoever may write in the
// tables: no decision, held becomes planned becomes queued, or a new instruction stands beside one
// that was refused. Nothing of it is sent: the claim asks what is on record of a movement, which
// nobody changes.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { PROFILE_TEMPLATE } from '../../src/config/templates.js';
import { decideInstructions } from '../../src/instructions/decisions.js';
import { sheetOf } from '../../src/instructions/instructionSheet.js';
import { sendApproved } from '../../src/night/sendApproved.js';
import { sendBatch } from '../../src/send/sendBatch.js';
import { checkChain } from '../../src/verify/verifyChainStore.js';
import { APPROVE } from '../support/deciding.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf, kinds, rewriteSettings } from '../support/night.js';

let house: House;
afterEach(() => house.end());

const ACCOUNT = 'A1001';
const ANNA = { name: 'anna', isClaim: false };
const PUT_BACK = `insert into tieout.brakes (kind, is_on, reason, by, is_claim, found)
  values ('freeze', true, 'x', 'tieout', false, '{"restoredFrom": {}}'),
    ('freeze', false, 'x', 'anna', false, null)`;
const FRESH = `insert into tieout.instructions (run_id, account_id, order_no, operation,
    transaction_id, currency, amount, from_state, done_states, state, created_at, payload)
  select run_id, account_id, order_no, operation, transaction_id, currency, amount, from_state,
    done_states, 'planned', now(), payload from tieout.instructions where instruction_id = $1
  returning instruction_id as id`;

interface Payout {
  id: bigint;
  state: string;
  why: string | null;
}

async function payoutsHeld(count: number, operations: object, before = ''): Promise<Payout[]> {
  const settings = { operations: { payout: 'auto', ...operations } };
  house = await buildHouse({ orders: 60, inLedger: kinds({}), settings, daysAgo: 2 });
  const profile = join(house.folder, 'gateway-profile.yaml');
  writeFileSync(profile, PROFILE_TEMPLATE.replace('unit: null', 'unit: major'));
  rewriteSettings(house, { gateway: { baseUrl: house.gatewayUrl, profile } });
  await house.db.query(
    `insert into ledger.payout_requests (request_id, account_id, payload, requested_at)
     select ('00000000-0000-4000-8000-00000000000' || n)::uuid, $1, jsonb_build_object('payment_amount',
       n || '0', 'payment_currency', 'EUR', 'beneficiary',
       '{"company_name": "Nordlicht GmbH"}'::jsonb), now() - interval '1 hour'
     from generate_series(1, $2::int) n`,
    [ACCOUNT, count],
  );
  if (before !== '') await house.db.query(before);
  await house.run({ date: dateOf(2) });
  return payouts();
}

async function payouts(): Promise<Payout[]> {
  const { rows } = await house.db.query<Payout>(
    `select instruction_id as id, state, coalesce(hold_reason, reason) as why
     from tieout.instructions where operation = 'payout' order by 1`,
  );
  return rows;
}

/** Into a batch of its own, as the program would put it there; and what a worker does then. */
async function queueAndSend(id: bigint): Promise<void> {
  const { rows } = await house.db.query<{ batch_id: bigint }>(
    `insert into tieout.batches (run_id, account_id, operation, state, created_at)
     select run_id, account_id, operation, 'queued', now() from tieout.instructions
     where instruction_id = $1 returning batch_id`,
    [id],
  );
  const batch = rows[0]?.batch_id ?? 0n;
  await house.db.query(
    `update tieout.instructions set state = 'queued', batch_id = $2 where instruction_id = $1`,
    [id, batch],
  );
  await sendBatch(await (await house.open()).sendDeps(), batch);
}

async function letGo(id: bigint | undefined): Promise<void> {
  await house.db.query(
    `update tieout.instructions set state = 'planned', hold_reason = null
     where instruction_id = $1 and state = 'held'`,
    [id],
  );
  await queueAndSend(id ?? 0n);
}

/** On its own page. */
async function decide(id = 0n, decision = APPROVE): Promise<string[]> {
  const deps = await (await house.open()).sendDeps();
  const sheet = await sheetOf({ db: house.db, refundReasonTag: true }, id);
  const seen = new Map([[id, sheet?.seenSha256 ?? '']]);
  const request = { ids: [id], decision, who: ANNA, isAlone: true, seen };
  return (await decideInstructions(deps, request)).map(({ kind }) => kind);
}

async function send(): Promise<void> {
  const app = await house.open();
  await sendApproved(await app.sendDeps(), [ACCOUNT], await app.workforce());
}

async function namedByVerify(): Promise<string[]> {
  const { disagreements } = await checkChain(house.db, () => {});
  const letGoAt = disagreements.filter(({ state }) => state.startsWith('let go on '));
  return letGoAt.map(({ what }) => what);
}

async function paid(): Promise<number> {
  return (await house.effects()).filter(({ operation }) => operation === 'payout').length;
}

test('what a database that was put back may have sent: held again, in any disguise', async () => {
  const [held] = await payoutsHeld(1, {}, PUT_BACK);
  expect(held).toMatchObject({ state: 'held', why: 'restored' });
  expect(await namedByVerify()).toEqual([]);
  await letGo(held?.id);
  expect(await payouts()).toMatchObject([{ state: 'held', why: 'restored' }]);
  expect(await namedByVerify()).toEqual([`instruction ${held?.id}`]);
  // Withdrawn, and planned as if it were new.
  await house.db.query(
    `update tieout.instructions set state = 'withdrawn', hold_reason = null, reason = 'x',
       settled_at = now() where instruction_id = $1`,
    [held?.id],
  );
  const { rows } = await house.db.query<{ id: bigint }>(FRESH, [held?.id]);
  const anew = rows[0]?.id;
  await queueAndSend(anew ?? 0n);
  expect((await payouts())[1]).toMatchObject({ state: 'held', why: 'restored' });
  // Whoever approves is shown less than there is.
  await house.db.query(
    `update tieout.instructions set hold_reason = 'approval' where instruction_id = $1`,
    [anew],
  );
  expect(await decide(anew)).toEqual(['done']);
  await send();
  expect((await payouts())[1]).toMatchObject({ state: 'held', why: 'restored' });
  expect(await paid()).toBe(0);
  // In sight of it, it goes.
  expect(await decide(anew)).toEqual(['done']);
  await send();
  expect(await paid()).toBe(1);
});

test('what is past the limits of a run waits on, and goes by the plan that has room', async () => {
  const maxPerRun = { payout: { count: 1 } };
  const found = await payoutsHeld(3, { maxPerRun });
  expect(found.map(({ why }) => why)).toEqual([
    expect.stringContaining('completed'),
    ...['over_limit_of_run', 'over_limit_of_run'],
  ]);
  for (const { id } of found.slice(1)) await letGo(id);
  expect((await payouts()).slice(1).map(({ state }) => state)).toEqual(['held', 'held']);
  expect(await paid()).toBe(1);
  expect(await namedByVerify()).toEqual(found.slice(1).map(({ id }) => `instruction ${id}`));
  await house.run({ date: dateOf(1) });
  expect(await paid()).toBe(2);
  expect(await namedByVerify()).toHaveLength(2);
  expect((await payouts()).map(({ state }) => state)).toEqual(['confirmed', 'confirmed', 'held']);
  // What a person approves goes as ever.
  expect(await decide(found[2]?.id)).toEqual(['done']);
  await send();
  expect(await paid()).toBe(3);
});

test('what a person refused, or may have been paid, is paid by no row beside it', async () => {
  const [held] = await payoutsHeld(1, { payout: 'approve' });
  expect(await decide(held?.id, { kind: 'reject', reason: 'no' })).toEqual(['done']);
  rewriteSettings(house, { operations: { payout: 'auto' } });
  await expect(
    house.db.query('update tieout.instructions set is_refused = false where is_refused'),
  ).rejects.toThrow('that a person refused it stays');
  const { rows } = await house.db.query<{ id: bigint }>(FRESH, [held?.id]);
  const anew = rows[0]?.id ?? 0n;
  await queueAndSend(anew);
  expect((await payouts())[1]).toMatchObject({ state: 'withdrawn', why: 'no longer asked for' });
  expect(await paid()).toBe(0);
});

test('that a payout is unknown ends by what a person found alone', async () => {
  house = await buildHouse({ orders: 60, inLedger: kinds({}), daysAgo: 2 });
  await house.run({ date: dateOf(2) });
  const { rows } = await house.db.query<{ id: bigint }>(
    `insert into tieout.instructions (run_id, account_id, order_no, operation, transaction_id,
       currency, amount, from_state, done_states, state, created_at, payload)
     select run_id, 'A1001', 'P', 'payout', 'P', 'EUR', 1, 'requested', '{completed}', 'planned',
       now(), '{}' from tieout.runs returning instruction_id as id`,
  );
  const move = (state: string, more = '') =>
    house.db.query(
      `update tieout.instructions set state = $2, reason = 'x' ${more} where instruction_id = $1`,
      [rows[0]?.id, state],
    );
  await move('unknown');
  await expect(move('rejected', ', settled_at = now()')).rejects.toThrow('nobody found that');
  const forged = `, created_at = now() + interval '1 day'`;
  await expect(move('unknown', forged)).rejects.toThrow('what it moves cannot be changed');
});
