// An answer that is found after a person said that nothing had happened: on the disk of a host that
// was away. What it answers is not sent again before a person has read it.

import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { sandboxProfile } from '../../src/gateway/document/profile.js';
import type { Decision } from '../../src/instructions/decisions.js';
import { decideInstructions } from '../../src/instructions/decisions.js';
import type { SendDeps } from '../../src/send/deps.js';
import { recoverAttempts } from '../../src/send/recoverAttempts.js';
import { sendBatch } from '../../src/send/sendBatch.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf, instructionCounts, kinds, rewriteSettings } from '../support/night.js';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

const REQUEST = '00000000-0000-4000-8000-000000000001';

it('goes back to a person, and what was planned in its place is withdrawn', async () => {
  const { house, night, deps, comesBack } = await forgottenPayout();
  const words = { reason: 'not in the portal', reference: 'case 5' };
  await decide(house, 'anna', { kind: 'resolve', finding: 'not_happened', ...words });
  // The clock was a day ahead as she said so, and is set right: no clock tells what came first.
  await house.db.query(`begin; set local session_replication_role = replica;
    update tieout.decisions set at = at + interval '1 day' where finding is not null; commit`);
  await decide(house, 'bert', { kind: 'replan', reason: null });
  await night(2);
  expect(await instructionCounts(house.db)).toEqual({ 'payout held': 1, 'payout rejected': 1 });
  await decide(house, 'anna', { kind: 'approve', reason: null });
  // The host is back before the second one leaves.
  comesBack();
  payoutsBy(house, 'auto');
  const { summary } = await night(1);
  expect(summary.state).toBe('broken');
  expect(await instructionCounts(house.db)).toEqual({ 'payout unknown': 1, 'payout withdrawn': 1 });
  expect(await house.effects()).toHaveLength(1);
  // A person who has read it says so again, and is believed.
  const [first] = (await house.db.query<{ id: bigint }>(OLDEST)).rows;
  const again: Decision = { kind: 'resolve', finding: 'not_happened', ...words };
  await decide(house, 'anna', again, first?.id);
  await recoverAttempts(deps, ['A1001']);
  const ended = { 'payout rejected': 1, 'payout withdrawn': 1 };
  expect(await instructionCounts(house.db)).toEqual(ended);
  // Had the same effect been ours under another order, nothing could be unknown beside it.
  await house.db.query(`begin; set local session_replication_role = replica;
    update tieout.instructions set order_no = 'another', state = 'confirmed'
      where state = 'withdrawn';
    update tieout.decisions set answers_known = '{}' where finding is not null; commit`);
  await recoverAttempts(deps, ['A1001']);
  const beside = { 'payout confirmed': 1, 'payout rejected': 1 };
  expect(await instructionCounts(house.db)).toEqual(beside);
  // Of two that were said not to have happened, and are answered, the newer one is asked about.
  await house.db.query(`begin; set local session_replication_role = replica;
    update tieout.instructions i set state = 'rejected', order_no = first.order_no,
      batch_id = first.batch_id
      from tieout.instructions first
      where i.state = 'confirmed' and first.state = 'rejected';
    update tieout.attempts set entries = (
      select jsonb_agg(instruction_id::text) from tieout.instructions);
    update tieout.decisions set instruction_id = (select max(instruction_id)
        from tieout.instructions) where decision_id = (
      select min(decision_id) from tieout.decisions where finding = 'not_happened'); commit`);
  await recoverAttempts(deps, ['A1001']);
  const newest = { 'payout rejected': 1, 'payout unknown': 1 };
  expect(await instructionCounts(house.db)).toEqual(newest);
});

it.each([
  [
    'refused',
    'FAIL please',
    [/^1 instruction\(s\) .* refused after all: payout .*: made, said anna/],
  ],
  ['made', 'commission', []],
])('what a person found to have happened, and was %s', async (_, reference, told) => {
  const { house, night, comesBack } = await forgottenPayout(reference, 5);
  const words = { reason: 'seen in the portal', reference: 'case 5' };
  await decide(house, 'anna', { kind: 'resolve', finding: 'happened', ...words });
  const late = async (daysAgo: number) =>
    ((await night(daysAgo)).summary.notices ?? [])
      .filter(({ kind }) => kind === 'answered_late')
      .map(({ text }) => text);
  expect(await late(4)).toEqual([]);
  comesBack();
  expect(await late(3)).toEqual(told.map((one) => expect.stringMatching(one)));
  // Each night, until it has been told for long enough.
  expect(await late(2)).toEqual(told.map((one) => expect.stringMatching(one)));
  expect(await instructionCounts(house.db)).toEqual({ 'payout confirmed': 1 });
  await house.db.query(`begin; set local session_replication_role = replica;
    update tieout.answers set received_at = received_at - interval '15 days'; commit`);
  expect(await late(1)).toEqual([]);
});

/** Approved and sent; its answer is on the disk of a host that is away, and nowhere else. */
async function forgottenPayout(reference = '', first = 3) {
  const house = await buildHouse({ orders: 60, inLedger: kinds({}), daysAgo: first });
  cleanups.push(() => house.end());
  const night = (daysAgo: number) =>
    house.run({ date: dateOf(daysAgo) }, new Date(`${dateOf(daysAgo - 1)}T04:15:00Z`));
  payoutsBy(house, 'approve');
  await house.db.query(
    `insert into ledger.payout_requests (request_id, account_id, payload, requested_at)
     values ($1, 'A1001', $2, now() - interval '1 minute')`,
    [REQUEST, JSON.stringify({ payment_amount: '120', payment_currency: 'EUR', reference })],
  );
  await night(first);
  await decide(house, 'anna', { kind: 'approve', reason: null });
  const deps = await (await house.open()).sendDeps();
  const { rows } = await house.db.query<{ batch_id: bigint }>(
    `select batch_id from tieout.batches where state = 'queued'`,
  );
  // The answer is on the disk of the sender when its database goes, and its host with it.
  await expect(sendBatch(forgetful(deps), rows[0]?.batch_id ?? 0n)).rejects.toThrow('gone');
  const answers = join(deps.config.dataDir, 'journal', 'answers');
  renameSync(answers, `${answers}.away`);
  await recoverAttempts({ ...deps, isAlive: () => false }, ['A1001']);
  expect(await instructionCounts(house.db)).toEqual({ 'payout unknown': 1 });
  const comesBack = () => renameSync(`${answers}.away`, answers);
  return { house, night, deps, comesBack };
}

const OLDEST = 'select min(instruction_id) as id from tieout.instructions';

function payoutsBy(house: House, payout: 'approve' | 'auto'): void {
  const profile = join(house.folder, 'gateway-profile.yaml');
  writeFileSync(profile, JSON.stringify({ ...sandboxProfile(), payout: { unit: 'major' } }));
  rewriteSettings(house, {
    gateway: { baseUrl: house.gatewayUrl, profile },
    operations: { payout },
  });
}

/** Loses its database when it is about to write down what was answered. */
function forgetful(deps: SendDeps): SendDeps {
  const query: SendDeps['db']['query'] = async (text, ...more) => {
    if (text.includes('insert into tieout.answers')) throw new Error('gone');
    return deps.db.query(text, ...more);
  };
  const runner = { ...deps.runner, boot: 'another boot' };
  return { ...deps, db: { ...deps.db, query }, runner };
}

async function decide(house: House, name: string, decision: Decision, id?: bigint): Promise<void> {
  const deps = await (await house.open()).sendDeps();
  const { rows } = await house.db.query<{ newest: bigint }>(
    'select max(instruction_id) as newest from tieout.instructions',
  );
  const ids = [id ?? rows[0]?.newest ?? 0n];
  const done = await decideInstructions(deps, { ids, decision, who: { name, isClaim: false } });
  expect(done.map((row) => row.kind)).toEqual(['done']);
}
