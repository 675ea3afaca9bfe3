// The table of all keys of settings and profile, held three ways: it has every key and no other,
// what it says to free is compared with the settings of the last plan, and what such a change
// frees is held. Neighbours: core/freeingChange.test.ts has the words, faults/people/newlyFreed.test.ts
// whole nights.

import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/config.js';
import { configHash, describeConfig, NOT_OF_THE_NIGHT } from '../../src/config/view.js';
import type { FreeingChange } from '../../src/core/instructions/freeing/freeingChange.js';
import { PROFILE_KEYS, SETTING_KEYS } from '../../src/core/instructions/freeing/freeingKeys.js';
import type { Policy } from '../../src/core/instructions/policy.js';
import type { Rules } from '../../src/core/orders/facts.js';
import type { Database } from '../../src/database/db.js';
import { profileOrigins } from '../../src/gateway/document/profile.js';
import { changesSince } from '../../src/instructions/changedSettings.js';
import { holdFreed } from '../../src/instructions/freedStore.js';
import { planInstructions } from '../../src/plan/planStore.js';
import { keepProfile } from '../../src/runs/runRecordStore.js';
import type { FreshDatabase } from '../support/database.js';
import { freshDatabase } from '../support/database.js';
import { EVERY_KEY, everyKeyFolder, PROFILE_FILE } from '../support/everyKey.js';
import type { OrderText } from '../support/orders.js';
import { orderOf, SNAPSHOT_AT } from '../support/orders.js';
import { policies, snapshotAndPlan } from '../support/planning.js';
import { storeInstructions, storeRun } from '../support/snapshotStore.js';

let fresh: FreshDatabase;
let db: Database;
beforeAll(async () => {
  fresh = await freshDatabase();
  db = fresh.db;
});
afterAll(() => fresh.drop());
const folder = everyKeyFolder();
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const PROFILE = 'profile: ';
const TABLE = {
  ...SETTING_KEYS,
  ...Object.fromEntries(Object.entries(PROFILE_KEYS).map(([key, one]) => [PROFILE + key, one])),
};
const FREEING = new Map(
  Object.entries(TABLE).flatMap(([key, one]) => ('frees' in one ? [[key, one.frees]] : [])),
);

function load(text = EVERY_KEY, profile = PROFILE_FILE) {
  writeFileSync(join(folder, 'tieout.yaml'), text);
  writeFileSync(join(folder, 'profile.yaml'), profile);
  return loadConfig({ env: {}, cwd: folder });
}

/** As the table names them: it says where names of accounts or operations stand, and where a list
 * or a map is one key. */
function keysOf(value: unknown, path: string): string[] {
  if (path in SETTING_KEYS) return [path];
  const known = Object.keys(SETTING_KEYS);
  if (Array.isArray(value)) return value.flatMap((one) => keysOf(one, `${path}[]`));
  const isInside = known.some((key) => key.startsWith(`${path}.`));
  if (value === null && isInside) return [];
  if (typeof value !== 'object' || value === null) return [path];
  const isNamed = known.some((key) => key === `${path}.*` || key.startsWith(`${path}.*.`));
  return Object.entries(value).flatMap(([name, part]) => {
    return keysOf(part, [path, isNamed ? '*' : name].filter(Boolean).join('.'));
  });
}

describe('the table has every key, and no other', () => {
  test('of the settings as a run keeps them', () => {
    const plain = EVERY_KEY.replace(/^(database|queue): .*\n/gm, '');
    const found = [load(), load(plain)].flatMap((config) => keysOf(describeConfig(config), ''));
    expect([...new Set(found)].sort()).toEqual(Object.keys(SETTING_KEYS).sort());
  });

  test('of the profile', () => {
    const found = profileOrigins(PROFILE_FILE, 'profile.yaml').map(({ key }) => key);
    expect(found.sort()).toEqual(Object.keys(PROFILE_KEYS).sort());
  });

  test('and what frees is in the hash by which settings are told apart', () => {
    const unseen = [...FREEING.keys()].filter((key) =>
      NOT_OF_THE_NIGHT.some((path) => key === path || key.startsWith(`${path}.`)),
    );
    expect(unseen).toEqual([]);
  });
});

/** Of each key that frees: what stands in the file, and what stood there at the last plan. */
const BEFORE: Readonly<Record<string, readonly [now: string, before: string]>> = {
  environment: ['environment: test', 'environment: live'],
  'accounts[].merchantId': ['merchantId: M1', 'merchantId: M2'],
  'accounts[].liveFrom': ['liveFrom: "2026-11-01', 'liveFrom: "2026-11-02'],
  'operations.mode.*': ['refund: auto', 'refund: approve'],
  'operations.approveAbove.*': ['EUR: "500.00"', 'EUR: "5.00"'],
  'operations.maxPerRun.*.count': ['count: 500', 'count: 5'],
  'operations.maxPerRun.*.amount': ['EUR: "20000.00"', 'EUR: "2.00"'],
  'operations.resendAfterHours': ['resendAfterHours: 48', 'resendAfterHours: null'],
  'profile: query.found': ['query: { found: ["1"] }', 'query: { found: ["7"] }'],
  'profile: statuses.payment': ['"2000": authorised', '"2000": pending'],
  'profile: partialCapture': ['partialCapture: true', 'partialCapture: false'],
  'profile: currencies': ['KWD: 3', 'KWD: 2'],
  'profile: payout.unit': ['unit: major', 'unit: minor'],
};

const PROFILE_NOW = `${PROFILE_FILE}query: { found: ["1"] }
partialCapture: true
currencies: { KWD: 3 }
payout: { unit: major }
`;

describe('each key that frees is compared with the last plan', () => {
  test('there is a case of each', () => {
    expect(Object.keys(BEFORE).sort()).toEqual([...FREEING.keys()].sort());
  });

  test.each(Object.entries(BEFORE))('%s', async (key, [now, before]) => {
    const runId = await storeRun(db, 'A1');
    const isOfProfile = key.startsWith(PROFILE);
    expect((isOfProfile ? PROFILE_NOW : EVERY_KEY).split(now)).toHaveLength(2);
    const planned = isOfProfile
      ? load(EVERY_KEY, PROFILE_NOW.replace(now, before))
      : load(EVERY_KEY.replace(now, before), PROFILE_NOW);
    await keepProfile(db, planned.gateway.profileText);
    await db.query(
      `with kept as (
         insert into tieout.run_settings (run_id, settings, settings_sha256, version)
         values ($1, $2, $3, '0') returning settings_id)
       update tieout.run_accounts set weighed_by = settings_id from kept where run_id = $1`,
      [runId, JSON.stringify(describeConfig(planned)), configHash(planned)],
    );
    const config = load(EVERY_KEY, PROFILE_NOW);
    const found = await changesSince({ config }, { db, accounts: config.accounts });
    expect(found.map(({ change }) => change.kind)).toEqual([FREEING.get(key)]);
    expect(found[0]?.change.words).toContain(key.replace(/^profile: |\.mode|\.\*.*$/g, ''));
  });
});

const AUTHORISED = { ledger: 'captured 10.00 EUR', gateway: ['T1 authorised 10.00'] };
const REFUND = {
  ledger: 'captured 10.00 EUR',
  gateway: ['T1 captured 10.00'],
  refunds: ['R1 4.00'],
};
const POLICY: Policy = {
  ...{ operation: 'capture', policy: 'auto' },
  ...{ above: null, maxCount: null, maxAmount: null },
};
const [DAY_BEFORE, AT] = ['2026-11-01T00:00:00Z', SNAPSHOT_AT.toISOString()];
const words = 'a setting: so before, then so';

interface Case {
  change: FreeingChange;
  /** null: a payout */
  order: OrderText | null;
  rules?: Partial<Rules>;
  is?: string;
}

/** Of each kind of change, something that would go without a person, and is held. */
const FREED: Readonly<Record<FreeingChange['kind'], Case>> = {
  merchant: { change: { kind: 'merchant', words }, order: AUTHORISED },
  live_from: {
    change: { kind: 'live_from', from: DAY_BEFORE, until: AT, words },
    order: REFUND,
  },
  payment_status: {
    change: { kind: 'payment_status', values: ['2000'], words },
    order: AUTHORISED,
  },
  query_result: { change: { kind: 'query_result', values: ['1'], words }, order: AUTHORISED },
  currency: { change: { kind: 'currency', values: ['EUR'], words }, order: AUTHORISED },
  partial_capture: {
    change: { kind: 'partial_capture', words },
    order: { ...AUTHORISED, ledger: 'captured 10.00 EUR take=8.00' },
    rules: { partialCapture: true },
  },
  payout_unit: { change: { kind: 'payout_unit', words }, order: null },
  policy: {
    change: { kind: 'policy', before: { ...POLICY, policy: 'approve' }, now: POLICY, words },
    order: AUTHORISED,
  },
  limit: {
    change: { kind: 'limit', before: { ...POLICY, maxCount: 0 }, now: POLICY, words },
    order: AUTHORISED,
  },
  // It is not sent again, and bears the words for whoever settles it.
  resend: {
    change: { kind: 'resend', words },
    order: { ...AUTHORISED, did: ['capture T1 unknown'] },
    is: 'unknown',
  },
};

describe('what each kind of change frees is held', () => {
  test('there is a case of each', () => {
    expect(Object.keys(FREED).sort()).toEqual([...new Set(FREEING.values())].sort());
  });

  test.each(Object.entries(FREED))('%s', async (kind, { change, order, rules, is }) => {
    const accountId = `A ${kind}`;
    const runId = await storeRun(db, accountId);
    const night = { runId, accountId, ...(rules === undefined ? {} : { rules }) };
    const orders = order === null ? [] : [orderOf('O1', order)];
    await storeInstructions(db, runId, accountId, orders);
    const { pullId } = await snapshotAndPlan(db, night, orders);
    if (order === null) await planPayout(accountId, runId);
    const state = async () => {
      const { rows } = await db.query<{ what: string }>(
        `select concat_ws(' ', state, hold_reason, freed_by) as what from tieout.instructions
         where account_id = $1`,
        [accountId],
      );
      return rows.map(({ what }) => what);
    };
    expect(await state()).toEqual([is ?? 'planned']);
    await holdFreed(db, runId, pullId, [{ accountId, change }]);
    expect(await state()).toEqual([`${is ?? 'held newly_freed'} ${words}`]);
  });
});

async function planPayout(accountId: string, runId: bigint): Promise<void> {
  const payout = {
    ...{ accountId, requestId: '00000000-0000-4000-8000-000000000001' },
    ...{ currency: 'EUR', amount: '120.00', requestedAt: SNAPSHOT_AT, problem: null },
    ...{ payload: { payment_amount: '120' }, source: null, isInTotals: true, doubled: null },
  };
  const [rule] = policies('auto');
  if (rule === undefined) throw new Error('no policy');
  const given = [{ ...rule, operation: 'payout' as const }];
  await planInstructions(db, runId, SNAPSHOT_AT, given, false, [payout]);
}
