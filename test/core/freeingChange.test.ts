// Which change of a setting frees something, and what is said of it, case by case:
// core/instructions/freeing/freeingChange.ts.

import { describe, expect, test } from 'vitest';
import type { MoneySettings } from '../../src/core/instructions/freeing/freeingChange.js';
import { changesOf, isOfMeaning } from '../../src/core/instructions/freeing/freeingChange.js';
import type { Policy } from '../../src/core/instructions/policy.js';

const POLICY: Policy = {
  operation: 'refund',
  policy: 'auto',
  above: null,
  maxCount: null,
  maxAmount: null,
};
const SETTINGS: MoneySettings = {
  environment: 'test',
  merchantId: 'M1',
  liveFrom: '2026-11-01T00:00:00.000Z',
  policies: [POLICY],
  resendAfterHours: null,
  statuses: { '2000': 'authorised', '3000': 'captured' },
  found: ['1'],
  currencies: {},
  partialCapture: false,
  payoutUnit: null,
  answers: { 'payout.statuses.pending': '' },
};

function changed(before: Partial<MoneySettings>, now: Partial<MoneySettings>) {
  return changesOf({ ...SETTINGS, ...before }, { ...SETTINGS, ...now });
}

function policy(change: Partial<Policy>): Partial<MoneySettings> {
  return { policies: [{ ...POLICY, ...change }] };
}

describe('a change that frees something is named', () => {
  test.each<[string, Partial<MoneySettings>, Partial<MoneySettings>, string]>([
    [
      'live_from',
      {},
      { liveFrom: '2026-10-01T00:00:00.000Z' },
      'accounts[].liveFrom: 2026-11-01T00:00:00.000Z before, then 2026-10-01T00:00:00.000Z',
    ],
    ['merchant', {}, { merchantId: 'M2' }, 'accounts[].merchantId: M1 before, then M2'],
    ['merchant', {}, { environment: 'live' }, 'environment: test before, then live'],
    [
      'payment_status',
      {},
      { statuses: { '2000': 'captured', '3000': 'authorised' } },
      'statuses.payment: 2000 meant authorised before, then captured; ' +
        '3000 meant captured before, then authorised',
    ],
    [
      'payment_status',
      {},
      { statuses: { ...SETTINGS.statuses, '2001': 'authorised' } },
      'statuses.payment: 2001 meant nothing before, then authorised',
    ],
    [
      'answer',
      {},
      { answers: { 'payout.statuses.pending': 'PROCESSING' } },
      'payout.statuses.pending: none before, then PROCESSING',
    ],
    ['query_result', {}, { found: ['1', '2'] }, 'query.found: 1 before, then 1, 2'],
    ['currency', {}, { currencies: { KWD: 3 } }, 'currencies: KWD: not given before, then 3'],
    ['partial_capture', {}, { partialCapture: true }, 'partialCapture: false before, then true'],
    ['payout_unit', {}, { payoutUnit: 'minor' }, 'payout.unit: not given before, then minor'],
    [
      'resend',
      {},
      { resendAfterHours: 0 },
      'operations.resendAfterHours: not given before, then 0',
    ],
    [
      'resend',
      { resendAfterHours: 48 },
      { resendAfterHours: 24 },
      'operations.resendAfterHours: 48 before, then 24',
    ],
    ['policy', policy({ policy: 'approve' }), {}, 'operations.refund: approve before, then auto'],
    ['policy', policy({ policy: 'off' }), {}, 'operations.refund: off before, then auto'],
    [
      'policy',
      policy({ above: { EUR: '5.00' } }),
      policy({ above: { EUR: '500.00' } }),
      'operations.approveAbove.refund: 5.00 EUR before, then 500.00 EUR',
    ],
    [
      'policy',
      policy({ above: { EUR: '5.00' } }),
      {},
      'operations.approveAbove.refund: 5.00 EUR before, then not given',
    ],
    [
      'limit',
      policy({ maxCount: 2, maxAmount: { EUR: '9.00' } }),
      policy({ maxCount: 3 }),
      'operations.maxPerRun.refund: 2, 9.00 EUR before, then 3',
    ],
  ])('%s', (kind, before, now, words) => {
    expect(changed(before, now).map((change) => [change.kind, change.words])).toEqual([
      [kind, words],
    ]);
  });

  test('every one of several', () => {
    const now = { partialCapture: true, payoutUnit: 'major' };
    expect(changed({}, now).map(({ kind }) => kind)).toEqual(['partial_capture', 'payout_unit']);
  });
});

test.each<[string, Partial<MoneySettings>, Partial<MoneySettings>]>([
  ['nothing', {}, {}],
  ['maps in another order', {}, { statuses: { '3000': 'captured', '2000': 'authorised' } }],
  ['an operation to approve', {}, policy({ policy: 'approve' })],
  ['an operation to off', {}, policy({ policy: 'off' })],
  ['less that counts as found', { found: ['1', '2'] }, {}],
  ['a longer wait', { resendAfterHours: 24 }, { resendAfterHours: 48 }],
  ['no second send any more', { resendAfterHours: 24 }, {}],
])('%s frees nothing', (_, before, now) => {
  expect(changed(before, now)).toEqual([]);
});

test('a sentence names at most five codes', () => {
  const statuses = Object.fromEntries(
    ['1', '2', '3', '4', '5', '6', '7'].map((c) => [c, 'pending']),
  );
  const [change] = changed({ statuses: {} }, { statuses });
  expect(change?.words).toMatch(/^statuses.payment: 1 .*; 5 [^;]*; 2 more$/);
});

test('what an answer means is told from what may go', () => {
  const meaning = changed({}, { partialCapture: true, currencies: { KWD: 3 } });
  expect(meaning.map(isOfMeaning)).toEqual([true, true]);
  const rights = changed({ ...policy({ policy: 'approve' }) }, { resendAfterHours: 0 });
  expect(rights.map(isOfMeaning)).toEqual([false, false]);
});
