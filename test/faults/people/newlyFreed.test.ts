// What a changed setting newly frees waits for a person, once: the nights before and after the
// change, on a sandbox gateway whose effects say what went. Neighbour: settingsChanged.test.ts,
// where the merchant becomes more careful.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { RunSummary } from '../../../src/core/runs/summary.js';
import { sandboxProfile } from '../../../src/gateway/document/profile.js';
import { decideInstructions } from '../../../src/instructions/decisions.js';
import { sendApproved } from '../../../src/night/sendApproved.js';
import type { FaultPlan } from '../../../src/sandbox/faults/faults.js';
import type { House, HouseOptions } from '../../support/night.js';
import { buildHouse, dateOf, kinds, rewriteSettings } from '../../support/night.js';

const houses: House[] = [];

afterEach(async () => {
  for (const house of houses.splice(0)) await house.end();
});

const AUTO = { capture: 'auto', cancel: 'auto', refund: 'auto', review: 'auto', payout: 'auto' };
const ONE = '00000000-0000-4000-8000-000000000001';
const TWO = '00000000-0000-4000-8000-000000000002';

async function houseOf(
  wanted: Record<string, number>,
  operations: Record<string, unknown> = {},
  options: HouseOptions = {},
): Promise<House> {
  const house = await buildHouse({
    orders: 300,
    daysAgo: 4,
    inLedger: kinds(wanted),
    settings: { operations: { ...AUTO, ...operations } },
    ...options,
  });
  houses.push(house);
  return house;
}

/** In the small hours after the date's end. */
async function runOf(house: House, daysAgo: number, isDry = false): Promise<RunSummary> {
  const at = new Date(`${dateOf(daysAgo - 1)}T04:15:00Z`);
  return (await house.run({ date: dateOf(daysAgo), isDry }, at)).summary;
}

function setOperations(house: House, operations: Record<string, unknown>): void {
  rewriteSettings(house, { operations: { ...AUTO, ...operations } });
}

function liveFrom(house: House, daysAgo: number): void {
  const accounts = house.accounts.map((account) => {
    return { ...account, liveFrom: `${dateOf(daysAgo)}T00:00:00Z` };
  });
  rewriteSettings(house, { accounts });
}

function setProfile(house: House, change: Record<string, unknown>): void {
  const profile = join(house.folder, 'profile.yaml');
  writeFileSync(profile, JSON.stringify({ ...sandboxProfile(), ...change }));
  rewriteSettings(house, { gateway: { baseUrl: house.gatewayUrl, profile } });
}

/** "capture held newly_freed", in the order in which they were planned. */
async function states(house: House): Promise<string[]> {
  const { rows } = await house.db.query<{ what: string }>(
    `select concat_ws(' ', operation, state, hold_reason) as what from tieout.instructions
     order by instruction_id`,
  );
  return rows.map((row) => row.what);
}

async function reasons(house: House): Promise<(string | null)[]> {
  const { rows } = await house.db.query<{ freed_by: string | null }>(
    'select distinct freed_by from tieout.instructions',
  );
  return rows.map((row) => row.freed_by);
}

async function approveAll(house: House): Promise<void> {
  const { rows } = await house.db.query<{ instruction_id: bigint }>(
    `select instruction_id from tieout.instructions where state = 'held'`,
  );
  const ids = rows.map((row) => row.instruction_id);
  const who = { name: 'anna', isClaim: true };
  const deps = await (await house.open()).sendDeps();
  const found = await decideInstructions(deps, {
    ids,
    decision: { kind: 'approve', reason: null },
    who,
  });
  expect(found.map(({ kind }) => kind)).toEqual(ids.map(() => 'done'));
}

/** Takes an order out of the ledger; the answer puts it back. */
async function takeOut(house: House): Promise<() => Promise<void>> {
  const { rows } = await house.db.query<{ row: unknown }>(
    `delete from ledger.orders o where order_no = (select max(order_no) from ledger.orders)
     returning to_jsonb(o) as row`,
  );
  return async () => {
    await house.db.query(
      'insert into ledger.orders select * from jsonb_populate_record(null::ledger.orders, $1)',
      [JSON.stringify(rows[0]?.row)],
    );
  };
}

describe('an operation to auto, a limit raised', () => {
  test.each<[string, Record<string, unknown>, string, RegExp]>([
    [
      'approve',
      { capture: 'approve' },
      'approval',
      /operations.capture: approve before, then auto/,
    ],
    [
      'a low approveAbove',
      { approveAbove: { capture: { EUR: '0.01' } } },
      'above_limit',
      /approveAbove.capture: 0.01 EUR before, then not given/,
    ],
    [
      'a low maxPerRun',
      { maxPerRun: { capture: { count: 0 } } },
      'over_limit_of_run',
      /maxPerRun.capture: 0 before, then not given/,
    ],
  ])('%s: what it held waits once; what comes later goes', async (_, before, was, words) => {
    const house = await houseOf({ capture_due: 2 }, before);
    const putBack = await takeOut(house);
    await runOf(house, 4);
    expect(await states(house)).toEqual([`capture held ${was}`]);
    setOperations(house, {});
    await runOf(house, 3);
    expect(await states(house)).toEqual(['capture held newly_freed']);
    expect((await reasons(house))[0]).toMatch(words);
    await putBack();
    await runOf(house, 2);
    expect(await states(house)).toEqual(['capture held newly_freed', 'capture confirmed']);
    expect(await house.effects()).toHaveLength(1);
    await approveAll(house);
    await runOf(house, 1);
    expect(await states(house)).toEqual(['capture confirmed', 'capture confirmed']);
    expect(await house.effects()).toHaveLength(2);
  });

  test('neither a dry run nor a night without a snapshot uses the change up', async () => {
    let isAway = false;
    const fault: FaultPlan = ({ operation }) =>
      isAway && operation === 'retrievalTrans'
        ? { kind: 'status', status: 503, when: 'before' }
        : null;
    const house = await houseOf({ capture_due: 1 }, { capture: 'approve' }, { fault });
    await runOf(house, 4);
    setOperations(house, {});
    await runOf(house, 3, true);
    isAway = true;
    expect((await runOf(house, 3)).state).toBe('incomplete');
    isAway = false;
    await runOf(house, 2);
    expect(await states(house)).toEqual(['capture held newly_freed']);
    expect(await house.effects()).toEqual([]);
  });

  test('the same date again, with other settings, is compared with itself', async () => {
    const house = await houseOf({ capture_due: 1 }, { capture: 'approve' });
    await runOf(house, 4);
    setOperations(house, {});
    await runOf(house, 4);
    await runOf(house, 4);
    expect(await states(house)).toEqual(['capture held newly_freed']);
    expect(await house.effects()).toEqual([]);
  });
});

describe('liveFrom earlier', () => {
  test('each refund request that was history waits, also when its turn comes later', async () => {
    const house = await houseOf({ two_refunds_due: 1 });
    await house.db.query(
      `update ledger.refund_requests set requested_at = requested_at - interval '20 days'`,
    );
    await runOf(house, 4);
    expect(await house.effects()).toEqual([]);
    liveFrom(house, 60);
    await runOf(house, 3);
    expect(await states(house)).toEqual(['refund held newly_freed']);
    expect((await reasons(house))[0]).toMatch(/liveFrom: requests before .* were history/);
    await approveAll(house);
    await runOf(house, 2);
    expect(await house.effects()).toHaveLength(1);
    await runOf(house, 1);
    expect(await states(house)).toEqual(['refund confirmed', 'refund held newly_freed']);
    expect(await house.effects()).toHaveLength(1);
  });

  test('each payout request that was history waits, also after an edit', async () => {
    const house = await houseOf({});
    setProfile(house, { payout: { unit: 'minor' } });
    await request(house, ONE, 30);
    await request(house, TWO, 0);
    await runOf(house, 4);
    expect(await states(house)).toEqual(['payout confirmed']);
    liveFrom(house, 60);
    await runOf(house, 3);
    expect(await states(house)).toEqual(['payout confirmed', 'payout held newly_freed']);
    await house.db.query(
      `update ledger.payout_requests set payload = payload || '{"reference": "another"}'
       where request_id = $1`,
      [ONE],
    );
    await runOf(house, 2);
    await runOf(house, 1);
    expect(await states(house)).toEqual([
      'payout confirmed',
      'payout withdrawn',
      'payout held newly_freed',
    ]);
    expect(await house.effects()).toHaveLength(1);
  });

  test('nor does an account pay at once what was asked for while it was only observed', async () => {
    const house = await houseOf({});
    setProfile(house, { payout: { unit: 'minor' } });
    rewriteSettings(house, { accounts: house.accounts });
    await request(house, ONE, 0);
    await runOf(house, 4);
    liveFrom(house, 5);
    await runOf(house, 3);
    expect((await states(house)).at(-1)).toBe('payout held newly_freed');
    expect(await house.effects()).toEqual([]);
  });
});

describe('an account that is only observed', () => {
  test('says night after night that it is, and of no setting that changed, until one does', async () => {
    const house = await houseOf({ two_refunds_due: 1 });
    rewriteSettings(house, { accounts: house.accounts });
    for (const daysAgo of [4, 3]) {
      const { notices = [] } = await runOf(house, daysAgo);
      expect(await states(house)).toEqual(['refund held observed']);
      expect(await reasons(house)).toEqual([null]);
      expect(notices.filter(({ kind }) => kind === 'newly_freed')).toEqual([]);
    }
    liveFrom(house, 60);
    await runOf(house, 2);
    expect(await states(house)).toEqual(['refund held newly_freed']);
    expect(await house.effects()).toEqual([]);
  });
});

describe('liveFrom later', () => {
  test('an approved payout that is history now is withdrawn by name, and waits when it is none again', async () => {
    const house = await houseOf({}, { payout: 'approve' });
    await request(house, ONE, 0);
    await runOf(house, 4);
    await approveAll(house);
    liveFrom(house, 2);
    const summary = await runOf(house, 3);
    expect(await states(house)).toEqual(['payout withdrawn']);
    const [told, ...others] = historyOf(summary);
    expect(others).toEqual([]);
    expect(told).toMatch(/1 instruction that waited was withdrawn, 1 of them approved/);
    expect(told).toMatch(/accounts\[\]\.liveFrom: \S+ before, then \S+/);
    expect(told).toContain(`payout ${ONE} (120 EUR as written, approved)`);
    expect(house.lines.join('\n')).toContain(told);
    // Told once: the night after has nothing new to say.
    expect(historyOf(await runOf(house, 2))).toEqual([]);
    liveFrom(house, 60);
    await runOf(house, 1);
    expect((await states(house)).at(-1)).toBe('payout held newly_freed');
    expect(await house.effects()).toEqual([]);
  });

  test('so is a held refund, beside the break that it becomes', async () => {
    const house = await houseOf({ full_refund_due: 1 }, { refund: 'approve' });
    await runOf(house, 4);
    expect(await states(house)).toEqual(['refund held approval']);
    liveFrom(house, 2);
    const [told] = historyOf(await runOf(house, 3));
    const { rows } = await house.db.query<{ refund_id: string; order_no: string }>(
      'select refund_id, order_no from ledger.refund_requests',
    );
    expect(told).toContain(`refund ${rows[0]?.refund_id} of order ${rows[0]?.order_no}`);
    expect(told).not.toMatch(/approved/);
    expect(await states(house)).toEqual(['refund withdrawn']);
    expect(await house.effects()).toEqual([]);
  });

  test('what is withdrawn as it is about to be sent between two nights is told by the next', async () => {
    const house = await houseOf({}, { payout: 'approve' });
    await request(house, ONE, 0);
    await runOf(house, 4);
    await approveAll(house);
    liveFrom(house, 2);
    const app = await house.open();
    const accountIds = house.accounts.map(({ accountId }) => accountId);
    await sendApproved(await app.sendDeps(), accountIds, await app.workforce());
    expect(await states(house)).toEqual(['payout withdrawn']);
    const summary = await runOf(house, 3);
    expect(historyOf(summary)[0]).toContain(`payout ${ONE} (120 EUR as written, approved)`);
    const [account] = summary.accounts;
    expect(account?.instructions.payout).toMatchObject({ carried: 1, withdrawn: 1 });
    expect(await house.effects()).toEqual([]);
  });

  test.each([
    { account: 'the same account', rename: null, count: 1 },
    { account: 'an account that is called otherwise since then', rename: {}, count: 1 },
    { account: 'no account of another merchant', rename: { merchantId: 'M9' }, count: 0 },
  ])(
    'a request for which nothing was planned yet is told, too, of $account',
    async ({ rename, count }) => {
      const house = await houseOf({}, { payout: 'off' });
      const [first] = house.accounts;
      await request(house, ONE, 0);
      await runOf(house, 4);
      liveFrom(house, 2);
      if (rename !== null) {
        await house.db.query(`update ledger.payout_requests set account_id = 'B1'`);
        const others = house.accounts.filter((one) => one !== first);
        const accounts = [...others, { ...first, accountId: 'B1', ...rename }].map((account) => {
          return { ...account, liveFrom: `${dateOf(2)}T00:00:00Z` };
        });
        rewriteSettings(house, { accounts });
      }
      setOperations(house, {});
      const told = [expect.stringMatching(`^1 request .* counts as done by now.*: payout ${ONE}`)];
      expect(historyOf(await runOf(house, 3))).toEqual(told.slice(0, count));
      // A night that died before it could tell has told nothing.
      await house.db.query(
        `update tieout.runs set state = 'failed', summary = null where business_date = $1`,
        [dateOf(3)],
      );
      expect(historyOf(await runOf(house, 2))).toEqual(told.slice(0, count));
      // Told once: the night after has nothing new to say.
      expect(historyOf(await runOf(house, 1))).toEqual([]);
      expect(await house.effects()).toEqual([]);
    },
  );
});

function historyOf({ notices = [] }: RunSummary): string[] {
  return notices.filter(({ kind }) => kind === 'now_history').map(({ text }) => text);
}

describe('what the gateway’s words mean', () => {
  test('two meanings swapped capture nothing', async () => {
    const house = await houseOf({ plain: 2 });
    await house.db.query(`delete from ledger.orders where expected <> 'captured'`);
    await runOf(house, 4);
    const { payment } = sandboxProfile().statuses;
    setProfile(house, {
      statuses: { payment: { ...payment, 2000: 'captured', 3000: 'authorised' } },
    });
    await house.db.query(`update ledger.orders set placed_at = placed_at + interval '1 second'`);
    await runOf(house, 3);
    const found = await states(house);
    expect(found.length).toBeGreaterThan(0);
    expect(new Set(found)).toEqual(new Set(['capture held newly_freed']));
    await runOf(house, 2);
    expect(await states(house)).toEqual(found);
    expect(await house.effects()).toEqual([]);
  });

  test('an unknown capture is not sent again for resendAfterHours newly given', async () => {
    let isLost = true;
    const fault: FaultPlan = ({ operation }) =>
      isLost && operation === 'capture' ? { kind: 'drop', when: 'before' } : null;
    const house = await houseOf({ capture_due: 1 }, {}, { fault });
    await runOf(house, 4);
    expect(await states(house)).toEqual(['capture unknown']);
    isLost = false;
    setOperations(house, { resendAfterHours: 0 });
    for (const daysAgo of [3, 2, 1]) await runOf(house, daysAgo);
    expect(await states(house)).toEqual(['capture unknown']);
    expect((await reasons(house))[0]).toMatch(/resendAfterHours: not given before, then 0/);
    expect(await house.effects()).toEqual([]);
  });
});

async function request(house: House, id: string, daysBefore: number): Promise<void> {
  const payload = {
    payment_amount: '120',
    payment_currency: 'EUR',
    reference: 'commission 11/2026',
    beneficiary: {
      company_name: 'Nordlicht GmbH',
      bank_details: { iban: 'DE00123456780000000000' },
    },
  };
  await house.db.query(
    `insert into ledger.payout_requests (account_id, request_id, payload, requested_at)
     values ('A1001', $1, $2, $3::timestamptz - make_interval(days => $4))`,
    [id, JSON.stringify(payload), `${dateOf(4)}T12:00:00Z`, daysBefore],
  );
}
