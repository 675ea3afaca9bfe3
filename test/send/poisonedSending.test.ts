// One bad row harms itself alone, where money is about to move: a ledger that is spoilt after its
// orders were approved, payout requests that are none, an order number that cannot be asked for,
// and control totals that are no figures.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { runImport } from '../../src/cli/ledger/import.js';
import { PROFILE_TEMPLATE } from '../../src/config/templates.js';
import { decideInstructions } from '../../src/instructions/decisions.js';
import { sendApproved } from '../../src/night/sendApproved.js';
import { auditRun } from '../faults/audit.js';
import { tieoutHere } from '../support/cliHere.js';
import { expectIdentities } from '../support/identities.js';
import type { House, HouseOptions } from '../support/night.js';
import { buildHouse, dateOf, kinds, openBreaksOf, rewriteSettings } from '../support/night.js';
import { POISON_CASES, poisonViews } from '../support/poisonCases.js';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function houseOf(options: HouseOptions): Promise<House> {
  const house = await buildHouse({ seed: 9, daysAgo: 2, ...options });
  cleanups.push(() => house.end());
  return house;
}

describe('a ledger that is spoilt after the approval', () => {
  it('keeps only its own orders from being sent, and only those are no longer asked for', async () => {
    const house = await houseOf({
      orders: 3000,
      inLedger: kinds({ capture_due: 40 }),
      settings: { operations: { capture: 'approve' } },
    });
    await house.run({ date: dateOf(2) });
    expect(await house.effects()).toEqual([]);
    await approveAll(house);
    const numbers = house.seeded.map(({ ledger }) => ledger.order_no ?? '');
    const cases = POISON_CASES.filter(({ says }) => says !== '');
    await house.db.query(poisonViews(new Map(cases.map((one, at) => [numbers[at] ?? '', one]))));
    await send(house);
    const good = numbers.slice(cases.length).sort();
    const effects = await house.effects();
    expect(effects.map(({ order_no: orderNo }) => orderNo).sort()).toEqual(good);
    const { summary } = await house.run({ date: dateOf(1) });
    expect(summary.state).toBe('broken');
    await expectIdentities(house.db, summary);
    expect(await openBreaksOf(house.db)).toHaveLength(cases.length);
    expect(await auditRun(house.db, await house.effects())).toEqual([]);
  }, 90_000);
});

/** Each as SQL: the id, the payload, the time. */
const PAYOUTS: Record<string, [string, string, string]> = {
  'JSON null': [uuid(1), `'null'`, 'now()'],
  nothing: [uuid(2), 'null', 'now()'],
  'a list': [uuid(3), `'[1]'`, 'now()'],
  'a text': [uuid(4), `'"x"'`, 'now()'],
  huge: [uuid(5), `jsonb_build_object('reason', repeat('x', 100000))`, 'now()'],
  'nested deep': [uuid(6), `(repeat('{"a":', 900) || '1' || repeat('}', 900))::jsonb`, 'now()'],
  'asked at no time': [uuid(7), `'{"payment_amount": "5"}'`, 'null'],
  'asked at the end of time': [uuid(8), `'{"payment_amount": "5"}'`, `'infinity'`],
  'an amount of 40 digits': [
    uuid(9),
    `jsonb_build_object('payment_amount', repeat('9', 40), 'payment_currency', 'EUR')`,
    'now()',
  ],
  'no id': ['null', `'{"payment_amount": "5"}'`, 'now()'],
};

describe('payout requests that are none', () => {
  it('are held by name each night; the good one is paid once', async () => {
    const house = await houseOf({
      orders: 60,
      inLedger: kinds({}),
      settings: { operations: { payout: 'auto' } },
    });
    const profile = join(house.folder, 'gateway-profile.yaml');
    writeFileSync(profile, PROFILE_TEMPLATE.replace('unit: null', 'unit: major'));
    rewriteSettings(house, { gateway: { baseUrl: house.gatewayUrl, profile } });
    const good = `jsonb_build_object('payment_amount', '120', 'payment_currency', 'EUR',
      'beneficiary', jsonb_build_object('company_name', 'Nordlicht GmbH'))`;
    const rows: [string, string, string][] = [
      ...Object.values(PAYOUTS),
      [uuid(20), good, 'now()'],
      [uuid(21), good, 'now()'],
      [uuid(21), `${good} || '{"payment_amount": "121"}'`, 'now()'],
    ];
    const values = rows.map(
      ([id, payload, at]) => `(${id}::uuid, 'A1001', (${payload})::jsonb, ${at}::timestamptz)`,
    );
    await house.db.query(`alter table ledger.payout_requests rename to shop_payouts;
      create view ledger.payout_requests (request_id, account_id, payload, requested_at)
      as values ${values.join(', ')}`);
    for (const daysAgo of [2, 1]) {
      const { summary } = await house.run({ date: dateOf(daysAgo) });
      await expectIdentities(house.db, summary);
      const { rows: held } = await house.db.query<{ id: string; reason: string }>(
        `select transaction_id as id, reason from tieout.instructions
         where state = 'held' and hold_reason = 'invalid_payout' order by 1`,
      );
      expect(held).toHaveLength(Object.keys(PAYOUTS).length - 1 + 1);
      for (const { reason } of held) expect(reason.length).toBeLessThan(200);
      const effects = await house.effects();
      expect(effects).toMatchObject([{ operation: 'payout', amount: '120' }]);
    }
    const { rows: made } = await house.db.query('select 1 from tieout.instructions');
    expect(made).toHaveLength(rows.length - 2);
  }, 60_000);
});

describe('an order number that contains the separator of the list', () => {
  it('is a break of its own, no gap: the night ties, and mending it ends it', async () => {
    const house = await houseOf({ orders: 600, inLedger: kinds({ capture_due: 40 }) });
    const file = join(house.folder, 'orders.csv');
    const placedAt = new Date(Date.parse(dateOf(2)) - 36 * 3_600_000).toISOString();
    writeFileSync(
      file,
      'account_id,order_no,currency,amount,expected,placed_at\n' +
        `A1001,"SO-1,2",EUR,10.00,captured,${placedAt}\n`,
    );
    const { db, config } = await house.open();
    const result = await runImport(db, config, 'orders', [file], { check: false });
    expect(result.kind === 'imported' ? result.warnings.join() : '').toMatch(
      /^line 2 \(SO-1,2\): .*query\.orderList\.separator/,
    );
    const doctor = await tieoutHere(['doctor', '--json', '--config', house.file], {
      cwd: house.folder,
    });
    const { checks } = JSON.parse(doctor.stdout) as { checks: { name: string; words: string }[] };
    expect(checks.find(({ name }) => name === 'order numbers')?.words).toContain('SO-1,2');
    for (const daysAgo of [2, 1]) {
      const { summary } = await house.run({ date: dateOf(daysAgo) });
      expect(summary.state).toBe('broken');
      const account = summary.accounts.find(({ accountId }) => accountId === 'A1001');
      expect(account?.orders).toMatchObject({ broken: 1, notCompared: 0 });
      expect(account?.breaks).toEqual({ invalid_record: 1 });
      await expectIdentities(house.db, summary);
    }
    const { rows } = await house.db.query<{ problem: string }>(
      `select expected ->> 'problem' as problem from tieout.breaks`,
    );
    expect(rows[0]?.problem).toContain('query.orderList.separator');
    expect(await house.effects()).toHaveLength(house.seeded.length);
    await house.db.query(`delete from ledger.orders where order_no = 'SO-1,2'`);
    const { summary } = await house.run({ date: dateOf(1) });
    expect(summary.state).toBe('tied_out');
    await expectIdentities(house.db, summary);
    expect(await openBreaksOf(house.db)).toEqual([]);
  }, 60_000);
});

describe('control totals that are no figures', () => {
  it('stop no night: the ledger is not known to be whole', async () => {
    const house = await houseOf({ orders: 600, inLedger: kinds({ capture_due: 40 }) });
    await house.db.query(`alter table ledger.control_totals rename to shop_totals;
      create view ledger.control_totals (account_id, business_date, currency, count, amount,
        complete_at) as values
        ('A1001', date '${dateOf(2)}', 'EUR', 1::bigint, 'NaN'::numeric, now()),
        ('A1001', date '${dateOf(2)}', 'USD', 1, 1e30, now()),
        ('A1001', date '${dateOf(2)}', 'GBP', 1, 1, 'infinity'),
        ('A1001', date '${dateOf(2)}', 'GBP', 2, 2, now()),
        ('A1001', date '${dateOf(2)}', null, 2, 2, now()),
        ('A1001', date '${dateOf(2)}', repeat('x', 4000), 2, 2, now());
      alter table ledger.orders rename to shop_orders;
      create view ledger.orders as select * from ledger.shop_orders
        union all select 'A1001', 'NO-MONEY', null, 'NaN', 'captured', null, null, null,
          timestamptz '${dateOf(2)} 10:00+00', null`);
    const { summary } = await house.run({ date: dateOf(2) });
    expect(summary.state).toBe('incomplete');
    expect(summary.notices?.map(({ text }) => text).join('\n')).toContain('is not');
    await expectIdentities(house.db, summary);
    expect(await house.effects()).toHaveLength(house.seeded.length);
  }, 60_000);
});

function uuid(number: number): string {
  return `'00000000-0000-4000-8000-${String(number).padStart(12, '0')}'`;
}

async function approveAll(house: House): Promise<void> {
  const { rows } = await house.db.query<{ instruction_id: bigint }>(
    `select instruction_id from tieout.instructions where state = 'held'`,
  );
  const ids = rows.map((row) => row.instruction_id);
  const deps = await (await house.open()).sendDeps();
  const decision = { kind: 'approve', reason: null } as const;
  await decideInstructions(deps, { ids, decision, who: { name: 'anna', isClaim: false } });
}

async function send(house: House): Promise<void> {
  const app = await house.open();
  const accountIds = house.accounts.map(({ accountId }) => accountId);
  await sendApproved(await app.sendDeps(), accountIds, await app.workforce());
}
