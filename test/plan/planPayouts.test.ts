// Payout requests through plan.sql: the same policies and limits as for everything else.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { FreeingChange } from '../../src/core/instructions/freeing/freeingChange.js';
import type { Policy } from '../../src/core/instructions/policy.js';
import type { Database } from '../../src/database/db.js';
import { statement } from '../../src/database/statements.js';
import type { Account } from '../../src/gateway/account.js';
import { preparePayout } from '../../src/gateway/batches/preparePayout.js';
import type { Payout } from '../../src/gateway/document/payoutMessages.js';
import { type Profile, sandboxProfile } from '../../src/gateway/document/profile.js';
import { holdFreed } from '../../src/instructions/freedStore.js';
import { cutBatches } from '../../src/instructions/instructionsStore.js';
import { waitingPayouts } from '../../src/instructions/payoutsStore.js';
import { payoutsToPlan } from '../../src/plan/payouts.js';
import type { PlannedPayout } from '../../src/plan/planStore.js';
import { notePayoutsLeft, planInstructions } from '../../src/plan/planStore.js';
import type { Run } from '../../src/runs/deps.js';
import { withdrawnLate } from '../../src/total/anomaliesStore.js';
import type { FreshDatabase } from '../support/database.js';
import { freshDatabase } from '../support/database.js';
import { SNAPSHOT_AT } from '../support/orders.js';
import { claimQueued, instructionTexts, policies } from '../support/planning.js';
import { storeRun } from '../support/snapshotStore.js';

let fresh: FreshDatabase;
let db: Database;
let accountId = '';
let runId = 0n;
let accounts = 0;
beforeAll(async () => {
  fresh = await freshDatabase();
  db = fresh.db;
});
afterAll(() => fresh.drop());
beforeEach(async () => {
  accounts += 1;
  accountId = `A${accounts}`;
  runId = await storeRun(db, accountId);
});

const LIMITS = { EUR: '120.00', USD: '130.00' };
const usd = (amount: string | null) => ({ currency: 'USD', amount });

describe('payouts are weighed by the same policies', () => {
  const payout = (changes: Partial<PlannedPayout> = {}): PlannedPayout => ({
    accountId,
    requestId: '00000000-0000-4000-8000-000000000001',
    currency: 'EUR',
    amount: '120.00',
    requestedAt: SNAPSHOT_AT,
    problem: null,
    payload: { payment_amount: '120' },
    source: null,
    isInTotals: true,
    doubled: null,
    ...changes,
  });

  test.each<[string, Policy['policy'], Partial<Policy>, Partial<PlannedPayout>, string]>([
    ['let go', 'auto', {}, {}, 'planned'],
    ['approved first', 'approve', {}, {}, 'held: approval'],
    ['without a unit', 'auto', {}, { isInTotals: false }, 'held: approval'],
    ['large', 'auto', { above: { EUR: '119.99' } }, {}, 'held: above_limit'],
    ['one too many', 'auto', { maxCount: 0 }, {}, 'held: over_limit_of_run'],
    ['from a small sum', 'auto', { above: LIMITS }, { source: usd('130.00') }, 'planned'],
    ['from a large sum', 'auto', { above: LIMITS }, { source: usd('130.01') }, 'held: above_limit'],
    [
      'from a currency without a limit',
      'auto',
      { above: { EUR: '120.00' } },
      { source: usd('1.00') },
      'held: above_limit',
    ],
    [
      'from a sum nobody knows',
      'auto',
      { above: LIMITS },
      { source: usd(null) },
      'held: above_limit',
    ],
    [
      'within the sums of a run',
      'auto',
      { maxAmount: LIMITS },
      { source: usd('130.00') },
      'planned',
    ],
    [
      'past the sum of a run in the currency of its source',
      'auto',
      { maxAmount: LIMITS },
      { source: usd('130.01') },
      'held: over_limit_of_run',
    ],
    [
      'from more than arrives, in one currency',
      'auto',
      { maxAmount: LIMITS },
      { source: { currency: 'EUR', amount: '120.01' } },
      'held: over_limit_of_run',
    ],
    ['of no shape', 'auto', {}, { problem: 'no amount', amount: '0' }, 'held: invalid_payout'],
  ])('%s', async (_, policy, changes, request, outcome) => {
    const rules = policies(policy, changes).map((rule) => ({ ...rule }));
    const all = [...rules, { ...rules[0], operation: 'payout' } as Policy];
    await planInstructions(db, runId, SNAPSHOT_AT, all, false, [payout(request)]);
    await planInstructions(db, runId, SNAPSHOT_AT, all, false, [payout(request)]);
    const [text, ...more] = await instructionTexts(db, accountId);
    expect(text).toMatch(new RegExp(`payout \\S+ ${outcome}$`));
    expect(more).toEqual([]);
  });

  test('what one takes counts for the next that pays in its currency', async () => {
    const rules = policies('auto', { maxAmount: { USD: '150.00' } });
    const all = rules.map((rule) => ({ ...rule, operation: 'payout' as const })).slice(0, 1);
    const [one, two] = [
      '00000000-0000-4000-8000-00000000000a',
      '00000000-0000-4000-8000-00000000000b',
    ];
    const first = payout({ requestId: one, source: usd('100.00') });
    const next = payout({ requestId: two, currency: 'USD', amount: '60.00' });
    await planInstructions(db, runId, SNAPSHOT_AT, all, false, [first, next]);
    const texts = await instructionTexts(db, accountId);
    expect(texts.map((text) => text.split(' ').slice(3).join(' '))).toEqual([
      'planned',
      'held: over_limit_of_run',
    ]);
  });

  const eur = (amount: string) => ({ currency: 'EUR', amount });
  test.each<[string, Partial<Policy>, (PlannedPayout['source'] | undefined)[], string[]]>([
    ['enough for both sums', { maxAmount: LIMITS }, [usd('130.00')], ['planned']],
    ['too low for the source', { maxAmount: LIMITS }, [usd('130.01')], ['held: newly_freed']],
    [
      'too low for the source, in one currency',
      { maxAmount: LIMITS },
      [eur('120.01')],
      ['held: newly_freed'],
    ],
    ['of what arrives alone', { maxAmount: { EUR: '120.00' } }, [usd('900.00')], ['planned']],
    [
      'used up by the one before',
      { maxAmount: { USD: '150.00' } },
      [usd('100.00'), usd('60.00')],
      ['planned', 'held: newly_freed'],
    ],
    ['of one, which counts once', { maxCount: 1 }, [usd('1.00')], ['planned']],
    ['of none', { maxCount: 0 }, [undefined], ['held: newly_freed']],
  ])('a raised limit of a run, before %s', async (_, before, sources, outcomes) => {
    const all = policies('auto', {}).slice(0, 1) as Policy[];
    const [policy] = all.map((rule) => ({ ...rule, operation: 'payout' as const }));
    if (!policy) throw new Error('no policy');
    const wanted = sources.map((source, at) =>
      payout({
        requestId: `00000000-0000-4000-8000-0000000000${at}a`,
        source: source ?? null,
        requestedAt: new Date(SNAPSHOT_AT.getTime() + at),
      }),
    );
    await planInstructions(db, runId, SNAPSHOT_AT, [policy], false, wanted);
    const words = 'maxPerRun';
    const change = { kind: 'limit', before: { ...policy, ...before }, now: policy, words } as const;
    await holdFreed(db, runId, runId, [{ accountId, change }]);
    const texts = await instructionTexts(db, accountId);
    expect(texts.map((text) => text.split(' ').slice(3).join(' '))).toEqual(outcomes);
  });

  test('a second setting that frees what waits for the first is said beside it, once', async () => {
    const all = policies('approve', {}).slice(0, 1) as Policy[];
    const [before] = all.map((rule) => ({ ...rule, operation: 'payout' as const }));
    if (!before) throw new Error('no policy');
    await planInstructions(db, runId, SNAPSHOT_AT, [before], false, [payout({})]);
    const now = { ...before, policy: 'auto' as const };
    const changes = [
      { kind: 'policy', before, now, words: 'payout: auto now' },
      { kind: 'currency', values: ['EUR'], words: 'EUR: 3 now' },
      { kind: 'currency', values: ['USD'], words: 'USD: 3 now' },
    ] as const;
    const said: (string | undefined)[] = [];
    for (const nights of [changes.slice(0, 1), changes, changes]) {
      const given = nights.map((change) => ({ accountId, change: { ...change } as FreeingChange }));
      await holdFreed(db, runId, runId, given);
      const { rows } = await db.query<{ what: string }>(
        `select concat_ws(': ', hold_reason, freed_by) as what from tieout.instructions
         where account_id = $1`,
        [accountId],
      );
      said.push(rows[0]?.what);
    }
    const both = 'newly_freed: payout: auto now; EUR: 3 now';
    expect(said).toEqual(['newly_freed: payout: auto now', both, both]);
  });
});

interface Plan {
  'QUERY PLAN': readonly [{ Plan: { 'Shared Hit Blocks': number; 'Shared Read Blocks': number } }];
}

describe('requests that wait long, with all that was paid since', () => {
  const PAID = 2_000;
  const blocksRead = async (): Promise<number> => {
    const now = new Date();
    const { rows } = await db.query<Plan>(
      `explain (analyze, buffers, format json) ${statement('instructions/waitingPayouts')}`,
      [
        JSON.stringify([{ account_id: accountId, live_from: null }]),
        1_000,
        512,
        now,
        '3 days',
        '1 hour',
      ],
    );
    const plan = rows[0]?.['QUERY PLAN'][0].Plan;
    if (plan === undefined) throw new Error('no plan');
    return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
  };
  const asked = (from: number, to: number) =>
    db.query(
      `insert into ledger.payout_requests (request_id, account_id, payload, requested_at)
       select ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, $1,
         jsonb_build_object('payment_amount', '100.00', 'reference', n), $2
       from generate_series($3::int, $4::int) n`,
      [accountId, SNAPSHOT_AT, from, to],
    );

  test('do not each read all of that', async () => {
    await asked(1, PAID);
    await db.query('alter table tieout.instructions disable trigger user');
    await db.query(
      `insert into tieout.instructions (run_id, account_id, order_no, operation, from_state,
         transaction_id, currency, amount, state, payload, created_at, settled_at, done_states)
       select $1, $2, request_id::text, 'payout', 'requested', request_id::text, 'EUR', 100,
         'confirmed', payload, requested_at + interval '1 hour', now(), '{done}'
       from ledger.payout_requests where account_id = $2`,
      [runId, accountId],
    );
    await db.query('alter table tieout.instructions enable trigger user');
    await asked(PAID + 1, PAID + 2);
    await db.query('analyze tieout.instructions, ledger.payout_requests');
    const few = await blocksRead();
    await asked(PAID + 3, PAID + 60);
    expect(await blocksRead()).toBeLessThan(few * 2);
  });
});

describe('a request of what did not happen, under another number', () => {
  const [ONE, TWO] = [1, 2].map((n) => `00000000-0000-4000-9000-00000000000${n}`);
  const only = async (id: string | undefined, amount = '7', remark = accountId) => {
    await db.query('delete from ledger.payout_requests');
    await db.query(
      `insert into ledger.payout_requests (request_id, account_id, payload, requested_at)
       values ($1, $2, jsonb_build_object('payment_amount', $3::text, 'remark', $4::text),
         clock_timestamp())`,
      [id, accountId, amount, remark],
    );
    const now = new Date();
    await notePayoutsLeft(db, now);
    const rules = [{ account_id: accountId, live_from: null }];
    const waiting = await waitingPayouts(db, rules, { limit: 9, now });
    return waiting.requests.map(({ requestId, isTwin }) => ({ requestId, isTwin }));
  };
  const made = async (state: string) => {
    const all = policies('auto').slice(0, 1) as Policy[];
    const rules = all.map((rule) => ({ ...rule, operation: 'payout' as const }));
    const request = {
      accountId,
      requestId: String(ONE),
      currency: 'EUR',
      amount: '7.00',
      requestedAt: SNAPSHOT_AT,
      problem: null,
      payload: { payment_amount: '7', remark: accountId },
      source: null,
      isInTotals: true,
      doubled: null,
    };
    await planInstructions(db, runId, SNAPSHOT_AT, rules, false, [request]);
    if (state !== 'withdrawn') await cutBatches(db, [accountId], SNAPSHOT_AT);
    if (state === 'queued') return;
    if (state === 'rejected') await claimQueued(db, runId, accountId);
    await db.query(
      `update tieout.instructions set state = $2, settled_at = now(), reason = 'r', is_refused = $3
       where account_id = $1`,
      [accountId, state.split(' ')[0], state.endsWith('by a person')],
    );
  };

  test.each([
    ['rejected', true],
    ['withdrawn by a person', true],
    ['withdrawn', false],
  ])('%s', async (state, isTwin) => {
    await only(ONE);
    await made(state);
    expect(await only(TWO)).toEqual([{ requestId: TWO, isTwin }]);
    expect(await only(TWO, '8')).toEqual([{ requestId: TWO, isTwin: false }]);
    // Nor does it go under another account, by its own number whatever it asks for, or by another.
    if (!isTwin) return;
    const own = accountId;
    accountId = `${own}b`;
    expect(await only(ONE, '9')).toEqual([{ requestId: ONE, isTwin: true }]);
    expect(await only(TWO, '7', own)).toEqual([{ requestId: TWO, isTwin: true }]);
  });

  test('that a person refused waits for one when it asks for something else', async () => {
    await only(ONE);
    await made('withdrawn by a person');
    expect(await only(ONE)).toEqual([]);
    expect(await only(ONE, '7.00')).toEqual([{ requestId: ONE, isTwin: true }]);
  });

  test.each([
    [ONE, [{ accountId: 'A', instructions: 1, approved: 0, sample: ONE, isPayout: true }]],
    [TWO, []],
  ])('as it was to be sent the ledger was empty, and has %s again', async (id, told) => {
    await only(ONE);
    await made('queued');
    await db.query(
      `update tieout.instructions set state = 'withdrawn', reason = 'no longer asked for',
         settled_at = now() where account_id = $1`,
      [accountId],
    );
    await only(id);
    expect(await withdrawnLate(db, runId)).toEqual(told.map((one) => ({ ...one, accountId })));
  });

  test('it was withdrawn, and a person paid it by hand', async () => {
    await only(ONE);
    await made('withdrawn');
    await db.query(
      `insert into tieout.gateway_calls (account_id, operation, called_by, is_claim, host,
         body_sha256, entries, outcome, ended_at)
       values ($1, 'payout', 'anna', true, 'h', '', jsonb_build_array(jsonb_build_object(
         'request_id', $2::text)), 'accepted', now())`,
      [accountId, ONE],
    );
    expect(await only(TWO)).toEqual([{ requestId: TWO, isTwin: true }]);
    await db.query('delete from tieout.payouts_left where account_id = $1', [accountId]);
  });

  test('the ledger is loaded anew in the middle of a plan', async () => {
    await only(ONE);
    await made('rejected');
    const deps = depsWith(sandboxProfile());
    const seen: string[] = [];
    // Behind the first statement that bears on requests the ledger has come to be another one.
    const query = async (text: string, values?: readonly unknown[]) => {
      const answer = await db.query(text, values);
      const isNext = text.includes('ledger_payouts') && !text.includes('update');
      if (isNext && seen.push(text) === 1) await only(TWO).then(forget);
      return answer;
    };
    const forget = () => db.query('delete from tieout.payouts_left');
    const planned = await payoutsToPlan(deps, runOn({ ...db, query }), new Date());
    expect(planned.payouts.map(({ doubled }) => doubled)).toEqual(['twin_request']);
  });
});

function depsWith(profile: Profile): Parameters<typeof payoutsToPlan>[0] {
  return {
    config: { operations: { mode: { payout: 'auto' } }, gateway: { profile }, accounts: [] },
    gateway: {
      preparePayout: (...[to, payout]: [Account, Payout]) => preparePayout(profile, to, payout),
    },
  } as unknown as Parameters<typeof payoutsToPlan>[0];
}

function runOn(database: object): Run {
  const account = { accountId, merchantId: 'M1', signingKey: 'k', liveFrom: null };
  return { runId, accounts: [account], db: database } as unknown as Run;
}

test('of a currency that nobody knows nothing is paid, in neither unit', async () => {
  const { payout, ...profile } = sandboxProfile();
  await db.query(
    `insert into ledger.payout_requests (request_id, account_id, payload, requested_at)
     values (gen_random_uuid(), $1, '{"payment_currency": "BTC", "payment_amount": "10"}', $2)`,
    [accountId, SNAPSHOT_AT],
  );
  for (const unit of ['major', 'minor'] as const) {
    const deps = depsWith({ ...profile, payout: { ...payout, unit } });
    const { payouts } = await payoutsToPlan(deps, runOn(db), SNAPSHOT_AT);
    expect(payouts).toMatchObject([{ amount: '0', isInTotals: false }]);
    expect(payouts[0]?.problem).toMatch(/^payment_currency BTC is no currency of ISO 4217/);
  }
});
