// The merchant's views may have columns of other types than our tables, and rows that are none of
// what a column should hold: texts that are no number, times without a zone, keys that are integers
// or UUIDs, requests that name nothing. Each harms itself alone, by name; a view that cannot be read
// at all is said with its column and row.

import { afterEach, describe, expect, it } from 'vitest';
import { auditRun } from '../faults/audit.js';
import { tieoutHere } from '../support/cliHere.js';
import { expectIdentities } from '../support/identities.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf, kinds } from '../support/night.js';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function houseOf(amounts: number, orders = 900): Promise<House> {
  const inLedger = kinds({ capture_due: amounts });
  const house = await buildHouse({ orders, seed: 9, daysAgo: 2, inLedger });
  cleanups.push(() => house.end());
  return house;
}

function numbersOf(house: House): string[] {
  return house.seeded.map(({ ledger }) => ledger.order_no ?? '');
}

async function saidOf(house: House): Promise<Record<string, string>> {
  const { rows } = await house.db.query<{ order_no: string; said: string }>(
    `select order_no, kind || ': ' || coalesce(expected ->> 'problem', '') as said
     from tieout.breaks where state = 'open'`,
  );
  return Object.fromEntries(rows.map(({ order_no: orderNo, said }) => [orderNo, said]));
}

/** What stands in a text column of a view in place of the order's own value, and what is said. */
const TEXTS: [column: string, value: string, says: string][] = [
  ['amount', '', 'no number'],
  ['amount', 'abc', 'abc is no number'],
  ['amount', '1e5', '1e5 is no number'],
  ['amount', '+10.00', 'no number'],
  ['amount', ' 10.00', 'no number'],
  ['amount', '10.00 ', 'no number'],
  ['amount', '10,00', '10,00 is no number'],
  ['amount', '１０.00', 'no number'],
  ['amount', '-5.00', 'not above zero'],
  ['amount', '9'.repeat(31), 'no number'],
  ['amount', '999999999999999999.999', 'two decimals'],
  ['amount', 'x'.repeat(100_000), 'no number'],
  ['amount', 'NaN', 'NaN is no number'],
  ['capture_amount', 'all', 'capture_amount all'],
  ['placed_at', 'yesterday', 'placed_at yesterday is no time'],
  ['placed_at', '', 'is no time'],
  ['placed_at', '2026-02-30T10:00:00Z', 'is no time'],
  ['placed_at', '2025-02-29T10:00:00Z', 'is no time'],
  ['placed_at', '2026-01-01 10:00:00', 'is no time'],
  ['placed_at', '0000-01-01T00:00:00Z', 'is no time'],
  ['placed_at', '99999-01-01T00:00:00Z', 'is no time'],
  ['placed_at', 'infinity', 'is no time'],
];

const ZONELESS =
  'ledger.orders.placed_at: a time without a zone is read as UTC. Where the shop means another ' +
  "zone, a view has to say so (`placed_at::timestamp at time zone 'Europe/Berlin' as placed_at`); " +
  "where it means UTC, `::timestamp at time zone 'UTC'` says that, too";

describe('columns that are texts', () => {
  it('harm the orders they are no number or time of, by name, until they are mended', async () => {
    const house = await houseOf(40, 3000);
    const numbers = numbersOf(house);
    expect(numbers.length).toBeGreaterThan(TEXTS.length + 2);
    const odd = (column: string): string => {
      const cases = TEXTS.flatMap(([name, value], at) =>
        name === column ? [`when '${numbers[at]}' then '${value}'`] : [],
      );
      const own =
        column === 'placed_at'
          ? `to_char(placed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
          : `${column}::text`;
      return `case order_no ${cases.join(' ')} else ${own} end as ${column}`;
    };
    await house.db.query(`
      alter table ledger.orders rename to shop_orders;
      create view ledger.orders as select account_id::varchar(40), order_no::varchar(64),
        currency::char(3), ${odd('amount')}, expected::varchar(20), transaction_id,
        ${odd('capture_amount')}, review_decision, ${odd('placed_at')},
        updated_at::text from ledger.shop_orders`);
    const good = numbers.slice(TEXTS.length).sort();
    for (const daysAgo of [2, 1]) {
      const { summary } = await house.run({ date: dateOf(daysAgo) });
      expect(summary.state).toBe('broken');
      await expectIdentities(house.db, summary);
      const said = await saidOf(house);
      expect(Object.keys(said).sort()).toEqual(numbers.slice(0, TEXTS.length).sort());
      TEXTS.forEach(([, , says], at) => {
        expect(said[numbers[at] ?? '']).toMatch(/^invalid_record: /);
        expect(said[numbers[at] ?? '']).toContain(says);
        expect((said[numbers[at] ?? ''] ?? '').length).toBeLessThan(250);
      });
      const effects = await house.effects();
      expect(effects.map(({ order_no: orderNo }) => orderNo).sort()).toEqual(good);
      expect(await auditRun(house.db, effects)).toEqual([]);
    }
    await house.db.query(
      'drop view ledger.orders; alter table ledger.shop_orders rename to orders',
    );
    expect((await house.run({ date: dateOf(1) })).summary.state).toBe('tied_out');
    const effects = await house.effects();
    expect(effects.map(({ order_no: orderNo }) => orderNo).sort()).toEqual([...numbers].sort());
    expect(await auditRun(house.db, effects)).toEqual([]);
  }, 90_000);

  it.each([
    ['double precision', 'timestamp', 'text'],
    ['numeric(20, 4)', 'timestamptz', 'ledger.citext_like'],
    ['real', 'timestamptz(0)', 'char(64)'],
  ])(
    'of amounts as %s and times as %s change nothing',
    async (amount, time, key) => {
      const house = await houseOf(10);
      await house.db.query(`
      create domain ledger.citext_like as text check (length(value) < 1000);
      alter table ledger.orders rename to shop_orders;
      update ledger.shop_orders set amount = round(amount, 0) where '${amount}' = 'real';
      create view ledger.orders as select account_id::${key}, order_no::${key}, currency::${key},
        amount::${amount}, expected::${key}, transaction_id::${key},
        capture_amount::${amount}, review_decision::${key}, placed_at::${time},
        updated_at::${time} from ledger.shop_orders`);
      const { summary } = await house.run({ date: dateOf(2) });
      if (amount !== 'real') expect(summary.state).toBe('tied_out');
      await expectIdentities(house.db, summary);
      if (amount !== 'real') expect(await house.effects()).toHaveLength(house.seeded.length);
      const told = (summary.notices ?? []).filter(({ kind }) => kind === 'ledger_zone');
      expect([...new Set(told.map(({ text }) => text))]).toEqual(
        time === 'timestamp' ? [ZONELESS] : [],
      );
      const { stdout } = await tieoutHere(['doctor'], { cwd: house.folder });
      expect(stdout.includes(ZONELESS)).toBe(time === 'timestamp');
    },
    60_000,
  );
});

describe('requests as texts, and such as name nothing', () => {
  it('are told each night, and those beside them are done once', async () => {
    const inLedger = kinds({ partial_refund_due: 3, capture_due: 3 }, 'A1002');
    const house = await buildHouse({ orders: 900, daysAgo: 2, inLedger });
    cleanups.push(() => house.end());
    const good = numbersOf(house).length;
    await house.db.query(`
      alter table ledger.orders rename to shop_orders;
      alter table ledger.refund_requests rename to shop_refunds;
      alter table ledger.payout_requests rename to shop_payouts;
      create view ledger.orders as select * from ledger.shop_orders
        union all select account_id, null, currency, amount, expected, null, null, null, placed_at,
          null from ledger.shop_orders where order_no = '${numbersOf(house)[0]}'
        union all select null, 'nobody', currency, amount, expected, null, null, null, placed_at,
          null from ledger.shop_orders where order_no = '${numbersOf(house)[0]}';
      create view ledger.refund_requests as
        select account_id, refund_id, order_no, refund_amount::text,
          reason, requested_by,
          to_char(requested_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as requested_at
        from ledger.shop_refunds
        union all select 'A1002', 'no-order', null, '1.00', null, null, '2999-01-01T00:00:00Z'
        union all select 'A1002', 'empty-order', '', '1.00', null, null, '2999-01-01T00:00:00Z'
        union all select null, 'no-account', 'x', '1.00', null, null, '2999-01-01T00:00:00Z';
      create view ledger.payout_requests as
        select null::text as request_id, 'A1002' as account_id, '{}' as payload,
          '2026-01-01T00:00:00Z' as requested_at
        union all select 'no uuid', 'A1002', '{}', '2999-01-01T00:00:00Z'
        union all select '0b7e7a52-0000-4000-8000-00000000000A', 'A1002', '{"a": "\\u0000"}',
          '2999-01-01T00:00:00Z'
        union all select '0b7e7a52-0000-4000-8000-00000000000B', 'A1002', 'no json', 'never'`);
    for (const daysAgo of [2, 1]) {
      const { summary } = await house.run({ date: dateOf(daysAgo) });
      expect(summary.state).toBe('broken');
      await expectIdentities(house.db, summary);
      const notices = summary.notices?.map(({ text }) => text).join('\n') ?? '';
      expect(notices).toMatch(/1 row of ledger.orders .*EUR placed at/);
      expect(notices).toMatch(/1 row of ledger.orders .*nobody/);
      expect(notices).toMatch(/1 row of ledger.refund_requests .*no-account/);
      expect(notices).toMatch(/1 row of ledger.payout_requests .*requested at/);
      expect(Object.entries(await saidOf(house))).toEqual([
        ['(none)', expect.stringMatching(/^refund_without_order: 2 refund requests, such as/)],
      ]);
      expect(await house.effects()).toHaveLength(good);
      expect(await auditRun(house.db, await house.effects())).toEqual([]);
      const { rows } = await house.db.query<{ reason: string }>(
        `select hold_reason || ': ' || coalesce(reason, '') as reason from tieout.instructions
         where operation = 'payout' and state = 'held' order by 1`,
      );
      expect(rows.map(({ reason }) => reason)).toEqual([
        expect.stringContaining('its payload is not the JSON of one object'),
        expect.stringContaining('its payload is not the JSON of one object'),
        expect.stringContaining('its request_id is no UUID'),
      ]);
    }
    await house.db.query(`
      drop view ledger.orders, ledger.refund_requests, ledger.payout_requests;
      alter table ledger.shop_orders rename to orders;
      alter table ledger.shop_refunds rename to refund_requests;
      alter table ledger.shop_payouts rename to payout_requests`);
    expect((await house.run({ date: dateOf(1) })).summary.state).toBe('tied_out');
    expect(await house.effects()).toHaveLength(good);
  }, 90_000);
});

describe('a view that cannot be read', () => {
  it('names relation, column and row, and the night goes on once it is mended', async () => {
    const house = await houseOf(10);
    const numbers = numbersOf(house);
    await house.db.query(`
      alter table ledger.orders rename to shop_orders;
      create view ledger.orders as select account_id, order_no, currency,
        case order_no when '${numbers[3]}' then expected::numeric else amount end as amount,
        expected, transaction_id, capture_amount, review_decision, placed_at, updated_at
        from ledger.shop_orders`);
    await expect(house.run({ date: dateOf(2) })).rejects.toThrow(
      `the view ledger.orders fails for its column amount of order_no ${numbers[3]}: ` +
        'invalid input syntax for type numeric: "captured"',
    );
    const { rows } = await house.db.query('select failure from tieout.runs');
    expect(JSON.stringify(rows)).toContain(numbers[3]);
    await house.db.query(
      'drop view ledger.orders; create view ledger.orders as select * from ledger.shop_orders',
    );
    expect((await house.run({ date: dateOf(2) })).summary.state).toBe('tied_out');
    expect(await house.effects()).toHaveLength(numbers.length);
  }, 60_000);

  it.each([
    ['is gone', 'alter table ledger.orders rename to away', 'relation "ledger.orders" does not'],
    [
      'is read by the rights of an owner who has none',
      `alter table ledger.orders rename to away;
       create view ledger.orders as select * from ledger.away;
       create role tieout_no_rights; alter view ledger.orders owner to tieout_no_rights`,
      'permission denied for table away',
    ],
  ])(
    '%s: status says of the last night what it said, doctor goes on, and who needs it is told why',
    async (_, change, says) => {
      const house = await houseOf(2);
      cleanups.push(async () => {
        await house.db.query(`drop view if exists ledger.orders`).catch(() => {});
        await house.db.query('drop role if exists tieout_no_rights');
      });
      await house.run({ date: dateOf(2) });
      await house.db.query(change);
      const told = new RegExp(`ledger.orders cannot be read: ${says}`);
      const at = { cwd: house.folder };
      const status = await tieoutHere(['status'], at);
      expect(status).toMatchObject({ code: 0, stdout: expect.stringMatching(told) });
      expect(status.stdout).toContain(`Business date ${dateOf(2)} tied out: 2 orders compared`);
      const document = JSON.parse((await tieoutHere(['status', '--json'], at)).stdout);
      expect(document).toMatchObject({ state: 'tied_out', ledger: expect.stringMatching(told) });
      const doctor = await tieoutHere(['doctor'], at);
      expect(doctor).toMatchObject({ code: 1, stdout: expect.stringMatching(told) });
      expect(doctor.stdout).toContain('Gateway profile');
      const order = await tieoutHere(['order', 'A1001', numbersOf(house)[0] ?? ''], at);
      expect(order).toMatchObject({ code: 1, stderr: expect.stringMatching(told) });
      await expect(house.run({ date: dateOf(2) })).rejects.toThrow(told);
    },
    60_000,
  );

  it('a refund request without an amount is said to have none', async () => {
    const house = await houseOf(1);
    const [order = ''] = numbersOf(house);
    await house.db.query('alter table ledger.refund_requests alter refund_amount drop not null');
    await house.db.query(
      `insert into ledger.refund_requests (account_id, refund_id, order_no, requested_at)
       values ('A1001', 'R1', $1, now())`,
      [order],
    );
    const { stdout } = await tieoutHere(['order', 'A1001', order], { cwd: house.folder });
    expect(stdout).toMatch(/refund R1 +no amount +requested/);
  }, 60_000);

  it.each([
    ['amount::money', 'its column amount must be a number, or the text of one'],
    ['1 as worth', 'its column amount must be a number'],
  ])(
    'says what a column has to be: %s',
    async (amount, says) => {
      const house = await houseOf(2);
      await house.db.query(`
      alter table ledger.orders rename to shop_orders;
      create view ledger.orders as select account_id, order_no, currency, ${amount}, expected,
        transaction_id, capture_amount, review_decision, placed_at, updated_at
        from ledger.shop_orders`);
      await expect(house.run({ date: dateOf(2) })).rejects.toThrow(says);
    },
    60_000,
  );
});

describe('a view that is empty', () => {
  const told = ({ summary }: Awaited<ReturnType<House['run']>>, kind: string) =>
    (summary.notices ?? []).filter((one) => one.kind === kind).map(({ text }) => text);

  it('while the night sends is told with what was withdrawn for it, and made good by the next', async () => {
    const house = await houseOf(3);
    await house.db.query(`
      alter table ledger.orders rename to shop_orders;
      create view ledger.orders as select * from ledger.shop_orders
        where not exists (select from tieout.instructions where state = 'queued')`);
    const night = await house.run({ date: dateOf(2) });
    expect(night.summary.accounts[0]).toMatchObject({
      orders: { due: 3 },
      instructions: { capture: { withdrawn: 3 } },
    });
    const words =
      /^3 instructions withdrawn as they were to be sent, such as that of order \S+: the/;
    expect(told(night, 'withdrawn_late')).toEqual([expect.stringMatching(words)]);
    await house.db.query(
      'drop view ledger.orders; alter table ledger.shop_orders rename to orders',
    );
    const next = await house.run({ date: dateOf(1) });
    expect(told(next, 'withdrawn_late')).toEqual([]);
    expect(await house.effects()).toHaveLength(3);
  }, 60_000);

  it('or fails while the night sends: what waits says which view, and goes once it is mended', async () => {
    const house = await houseOf(3);
    const bad = numbersOf(house)[1] ?? '';
    await house.db.query(`
      alter table ledger.orders rename to shop_orders;
      create view ledger.orders as select account_id, order_no, currency,
        amount / case when order_no = '${bad}'
          and exists (select from tieout.instructions where state = 'queued')
          then 0 else 1 end as amount,
        expected, transaction_id, capture_amount, review_decision, placed_at, updated_at
      from ledger.shop_orders`);
    const night = await house.run({ date: dateOf(2) });
    expect(night.summary.state).toBe('incomplete');
    const { rows } = await house.db.query<{ reason: string }>(
      `select reason from tieout.batches where state = 'queued'`,
    );
    expect(rows.map(({ reason }) => reason)).toEqual([
      expect.stringMatching(
        `^tieout failed: the view ledger.orders fails for its column amount of order_no ${bad}: division by zero`,
      ),
    ]);
    await house.db.query(
      'drop view ledger.orders; alter table ledger.shop_orders rename to orders',
    );
    const again = await house.run({ date: dateOf(2) });
    expect(again.summary.state).toBe('tied_out');
    expect(await house.effects()).toHaveLength(3);
  }, 60_000);

  it('and whole when the same date is run again: its orders did not leave the ledger', async () => {
    const house = await houseOf(3);
    await house.run({ date: dateOf(2) });
    await house.db.query(`
      alter table ledger.orders rename to shop_orders;
      create view ledger.orders as select * from ledger.shop_orders where false`);
    const empty = await house.run({ date: dateOf(1) });
    expect(told(empty, 'left_ledger')).toEqual([
      expect.stringMatching(/^3 orders left the ledger/),
    ]);
    expect(empty.summary.accounts[0]?.breaks).toEqual({ missing_in_ledger: 3 });
    await house.db.query(
      'drop view ledger.orders; alter table ledger.shop_orders rename to orders',
    );
    const whole = await house.run({ date: dateOf(1) });
    expect(whole.summary.state).toBe('tied_out');
    expect(told(whole, 'left_ledger')).toEqual([]);
    expect(await house.effects()).toHaveLength(3);
  }, 60_000);
});
