// A payout that the gateway took and has not done yet: it waits as accepted, its money is unknown
// and told every night, and a person settles it; what it cost is told with it.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROFILE_TEMPLATE } from '../../src/config/templates.js';
import type { Finding } from '../../src/core/instructions/decision.js';
import { candidateWords } from '../../src/core/instructions/hints.js';
import type { RunSummary } from '../../src/core/runs/summary.js';
import { runSentence } from '../../src/core/runs/summary.js';
import type { Database } from '../../src/database/db.js';
import type { Decision } from '../../src/instructions/decisions.js';
import { decideInstructions } from '../../src/instructions/decisions.js';
import { sheetOf } from '../../src/instructions/instructionSheet.js';
import { pendingPayouts } from '../../src/instructions/payoutsStore.js';
import { noteHints } from '../../src/ledger/notificationsStore.js';
import { sendApproved } from '../../src/night/sendApproved.js';
import { orderHistory } from '../../src/orders/historyStore.js';
import { waitingCounts } from '../../src/report/consoleRunsStore.js';
import { findRun } from '../../src/runs/runsStore.js';
import { sendBatch } from '../../src/send/sendBatch.js';
import { verifyRun } from '../../src/verify/verifyRun.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf, kinds, rewriteSettings } from '../support/night.js';

const ACCOUNT = 'A1001';
const IDS = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002'];
const ZEROS = { captured: '0.00', cancelled: '0.00', refunded: '0.00', net: '0.00' };

/** As the door for notifications does it, of a text that the sandbox sends with --notify. */
function notified(db: Database, now: Date, id: string, accountIds = [ACCOUNT]) {
  const words = candidateWords(JSON.stringify({ account_id: ACCOUNT, id, status: 'COMPLETED' }));
  return noteHints(db, accountIds, words, now);
}

/** A house whose gateway takes payouts and calls them pending. */
async function houseOfPending(): Promise<House> {
  const settings = { operations: { payout: 'approve' } };
  const house = await buildHouse({ orders: 60, inLedger: kinds({}), settings, daysAgo: 2 });
  const profile = join(house.folder, 'gateway-profile.yaml');
  const known = PROFILE_TEMPLATE.replace('unit: null', 'unit: major');
  writeFileSync(profile, known.replace('pending: []', 'pending: ["PENDING"]'));
  rewriteSettings(house, { gateway: { baseUrl: house.gatewayUrl, profile } });
  return house;
}

test('a pending payout waits as accepted until a person settles it', async () => {
  const house = await houseOfPending();
  const decide = async (ids: readonly bigint[], decision: Decision) => {
    const deps = await (await house.open()).sendDeps();
    const who = { name: 'anna', isClaim: false };
    return (await decideInstructions(deps, { ids, decision, who })).map(({ kind }) => kind);
  };
  const settle = (id: bigint, finding: Finding) =>
    decide([id], { kind: 'resolve', finding, reason: 'seen', reference: 'R 1' });
  const totals = (of: RunSummary) =>
    of.accounts.find(({ accountId }) => accountId === ACCOUNT)?.totals;
  try {
    await house.db.query(
      `insert into ledger.payout_requests (request_id, account_id, payload, requested_at)
       select id::uuid, $2, jsonb_build_object('payment_currency', 'EUR',
         'reference', 'PENDING FEE', 'payment_amount', n::text), now()
       from unnest($1::text[], array[120, 7]) as r (id, n)`,
      [IDS, ACCOUNT],
    );
    await house.run({ date: dateOf(2) });
    const { rows } = await house.db.query<{ instruction_id: bigint }>(
      'select instruction_id from tieout.instructions order by transaction_id',
    );
    const [one = 0n, two = 0n] = rows.map((row) => row.instruction_id);
    await decide([one, two], { kind: 'approve', reason: null });
    const app = await house.open();
    await sendApproved(await app.sendDeps(), [ACCOUNT], await app.workforce());
    const sheet = await sheetOf({ db: house.db, refundReasonTag: true }, one);
    expect(sheet).toMatchObject({ state: 'accepted', reason: null });
    expect(sheet?.payout).toMatchObject({ meaning: 'pending', status: 'PENDING', fee: '12.50' });
    expect(sheet?.payout).toMatchObject({ amount_payer_pays: '132.5', fee_currency: 'EUR' });
    expect(sheet?.commands).toHaveLength(2);
    expect(await notified(house.db, new Date(), IDS[1] ?? '')).toEqual({ orders: 0, payouts: 1 });
    // By what the gateway calls it; of another account nobody is told.
    const reference = sheet?.payout?.short_reference_id ?? '';
    expect(await notified(house.db, new Date(), reference, ['A1002'])).toMatchObject({
      payouts: 0,
    });
    expect(await notified(house.db, new Date(), sheet?.gatewayReference ?? '')).toMatchObject({
      payouts: 1,
    });
    expect(await notified(house.db, new Date(), reference)).toMatchObject({ payouts: 1 });
    // Kept as long as it helps, however long that is.
    await house.db.query("update tieout.payout_hints set hinted_at = now() - interval '90 days'");
    const { summary } = await house.run({ date: dateOf(1) });
    expect(summary.state).toBe('tied_out');
    const notice = summary.notices?.find(({ kind }) => kind === 'payout_pending');
    expect(notice?.text).toContain('2 payout(s) were taken by the gateway and are not done yet');
    // Nothing heals them: they are no instruction that is on its way.
    expect(await waitingCounts(house.db, [ACCOUNT])).toMatchObject({
      onTheirWay: 0,
      pendingPayouts: 2,
    });
    expect(runSentence({ ...summary, state: 'incomplete' })).not.toContain('not shown yet');
    expect(notice?.text).toContain(`A notification has named #${one}, #${two}`);
    const told = await sheetOf({ db: house.db, refundReasonTag: true }, one);
    expect(told?.hintedAt).not.toBeNull();
    const story = await orderHistory(house.db, ACCOUNT, IDS[0] ?? '');
    expect(story?.instructions[0]?.hintedAt).not.toBeNull();
    expect(totals(summary)).toEqual([{ ...ZEROS, currency: 'EUR', unknown: '127.00' }]);
    expect(await settle(one, 'happened')).toEqual(['done']);
    expect(await settle(two, 'not_happened')).toEqual(['done']);
    // Who found that it did not happen cannot have it sent again.
    expect(await decide([two], { kind: 'replan', reason: null })).toEqual(['refused']);
    const after = (await house.run({ date: dateOf(1) })).summary;
    expect(totals(after)).toEqual([
      { ...ZEROS, currency: 'EUR', unknown: '0.00', paidOut: '120.00', payoutFees: '12.50' },
    ]);
    for (const date of [dateOf(2), dateOf(1)]) {
      const { config, version } = await house.open();
      const run = await findRun(house.db, date);
      if (!run) throw new Error(`no run of ${date}`);
      const deps = { db: house.db, config, version, progress: () => {} };
      expect((await verifyRun(deps, run)).differences).toEqual([]);
    }
    expect(await house.effects()).toHaveLength(2);
    const settled = await sheetOf({ db: house.db, refundReasonTag: true }, one);
    expect(settled?.hintedAt).toBeNull();
    expect((await house.db.query('select from tieout.payout_hints')).rowCount).toBe(0);
    expect(await notified(house.db, new Date(), IDS[0] ?? '')).toMatchObject({ payouts: 0 });
  } finally {
    await house.end();
  }
});

test('one that a claim before it had not sent is one, since the claim that sent it', async () => {
  const house = await houseOfPending();
  try {
    await house.db.query(
      `insert into ledger.payout_requests (request_id, account_id, payload, requested_at)
       values ($1::uuid, $2, jsonb_build_object('payment_currency', 'EUR', 'reference', 'PENDING',
         'payment_amount', '120'), now())`,
      [IDS[0], ACCOUNT],
    );
    await house.run({ date: dateOf(2) });
    const app = await house.open();
    const deps = await app.sendDeps();
    const { rows } = await house.db.query<{ instruction_id: bigint }>(
      'select instruction_id from tieout.instructions',
    );
    const ids = rows.map((row) => row.instruction_id);
    const decision = { kind: 'approve' as const, reason: null };
    await decideInstructions(deps, { ids, decision, who: { name: 'anna', isClaim: false } });
    const batches = await house.db.query<{ batch_id: bigint }>(
      'select max(batch_id) as batch_id from tieout.instructions',
    );
    await deps.journal.keep();
    const append = () => Promise.reject(new Error('no space is left'));
    const full = { ...deps, journal: { ...deps.journal, append } };
    await sendBatch(full, batches.rows[0]?.batch_id ?? 0n);
    await house.db.transaction(async (tx) => {
      await tx.query('set local session_replication_role = replica');
      await tx.query(`update tieout.attempts set claimed_at = claimed_at - interval '3 days'`);
    });
    await sendApproved(deps, [ACCOUNT], await app.workforce());
    const { rows: tried } = await house.db.query<{ outcome: string }>(
      'select outcome from tieout.attempts order by attempt_no',
    );
    expect(tried.map(({ outcome }) => outcome)).toEqual(['not_sent', 'answered']);
    const since = new Date().toISOString().slice(0, 10);
    expect(await pendingPayouts(house.db, [ACCOUNT])).toMatchObject([{ payouts: 1, since }]);
    expect(await house.effects()).toHaveLength(1);
  } finally {
    await house.end();
  }
});
