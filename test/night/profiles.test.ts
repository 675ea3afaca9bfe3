// Whole nights at a gateway that answers every open point of the document differently from the
// sandbox, with a profile that says so: nothing of those points may live anywhere but the profile.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Double, DoubleOrder, Wire } from '../support/gatewayDouble.js';
import { startDouble } from '../support/gatewayDouble.js';
import { expectIdentities } from '../support/identities.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf, openBreaksOf, rewriteSettings } from '../support/night.js';

const ACCOUNT = { merchantId: 'Händler 7', accountId: 'K-7', signingKey: 'sëcret key' };

const HMAC: Wire = {
  algorithm: 'hmac-sha512',
  keyPlace: 'append',
  separator: '|',
  signed: {
    retrievalTrans: ['orders', 'account_id', 'merchant_id'],
    capture: ['account_id', 'capture_orders[].order_no', 'capture_orders[].amount'],
    cancel: ['account_id', 'cancel_orders[].order_no', 'cancel_orders[].currency'],
    review: ['account_id', 'review_orders[].order_no', 'review_orders[].review_flag'],
    refund: ['account_id', 'refund_orders[].refund_amount', 'refund_orders[].refund_reason'],
  },
  signedAnswer: ['return_status', 'account_id'],
  answers: 'signed',
  body: {
    retrievalTrans: 'json',
    capture: 'json-as-form',
    cancel: 'form',
    review: 'json',
    refund: 'form',
  },
  listField: 'orders',
  listSeparator: ';',
  found: 'Y',
  codes: {
    in_review: 'RV',
    authorised: '0012',
    captured: 'OK ',
    cancelled: 'VD',
    declined: '-1',
    partially_refunded: 'PR',
    refunded: 'RF',
  },
  accepted: '00',
  refused: '99',
  flags: { accept: 'A', reject: 'D' },
  site: 'shop url',
};

const PREFIXED: Wire = {
  ...HMAC,
  algorithm: 'sha512',
  keyPlace: 'prepend',
  separator: '&',
  answers: 'echo',
  body: {
    retrievalTrans: 'form',
    capture: 'form',
    cancel: 'json-as-form',
    review: 'form',
    refund: 'json-as-form',
  },
};

const HMAC_PLAIN: Wire = { ...HMAC, algorithm: 'hmac-sha256', separator: '', answers: 'nothing' };

/** The profile that a merchant would write for such a gateway. */
function profileOf(wire: Wire, more: object = {}): object {
  const swap = Object.fromEntries(Object.entries(wire.codes).map(([state, code]) => [code, state]));
  return {
    signing: {
      algorithm: wire.algorithm,
      key: wire.keyPlace,
      separator: wire.separator,
      fields: { default: ['merchant_id'], ...wire.signed },
      responses: wire.answers === 'nothing' ? 'off' : 'enforce',
      responseMode: wire.answers === 'echo' ? 'echo' : 'signed',
      responseFields: { default: wire.signedAnswer },
    },
    query: {
      orderList: { field: wire.listField, separator: wire.listSeparator },
      found: [wire.found],
    },
    statuses: { payment: swap },
    results: { accepted: ['77', wire.accepted] },
    bodies: { default: 'json', ...wire.body },
    siteField: wire.site,
    transactionDate: { timezone: 'America/New_York' },
    reviewFlags: wire.flags,
    partialCapture: true,
    currencies: { KWD: 3, JPY: 0 },
    ...more,
  };
}

/** order, currency, ledger amount, amount on the wire, state there, expected, and what is due */
const ORDERS = `
capture   EUR      120.50      120.50 authorised captured   capture capture 120.50
part      EUR      100.00      100.00 authorised captured   capture part 80.25
dinar     KWD       12.34      12.340 authorised captured   capture dinar 12.340
yen       JPY     1200.00        1200 authorised captured   capture yen 1200
cancel    USD       10.00       10.00 authorised cancelled  cancel cancel 10.00
accept    EUR       55.00       55.00 in_review  authorised review accept A
reject    EUR       56.00       56.00 in_review  declined   review reject D
refund    JPY      900.00         900 captured   captured   refund refund 300
whole     KWD        1.50       1.500 captured   captured   refund whole 1.500
fine      EUR        1.00        1.00 captured   captured
gone      EUR        2.00        2.00 declined   declined
odd       KWD        3.00        3.00 captured   captured
`
  .trim()
  .split('\n')
  .map((line) => {
    const [orderNo = '', currency = '', amount = '', wire = '', state = '', expected = '', ...due] =
      line.split(/\s+/);
    return { orderNo, currency, amount, wire, state, expected, due: due.join(' ') };
  });

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function houseAt(
  wire: Wire,
  options: { profile?: object; orders?: readonly DoubleOrder[]; delayMs?: number } = {},
): Promise<{ house: House; double: Double }> {
  const doubles: Double[] = [];
  const house = await buildHouse({
    orders: 0,
    through: async () => {
      const { orders = gatewayOrders(), delayMs = 0 } = options;
      const double = await startDouble({ wire, account: ACCOUNT, orders, delayMs });
      doubles.push(double);
      return double;
    },
  });
  cleanups.push(() => house.end());
  const file = join(house.folder, 'gateway-profile.yaml');
  writeFileSync(file, JSON.stringify(profileOf(wire, options.profile)));
  rewriteSettings(house, {
    gateway: { baseUrl: house.gatewayUrl, profile: file },
    accounts: [{ ...ACCOUNT, liveFrom: `${dateOf(1)}T00:00:00Z` }],
  });
  const [double] = doubles as [Double];
  return { house, double };
}

function gatewayOrders(): DoubleOrder[] {
  return ORDERS.map(({ orderNo, currency, wire, state }) => ({
    orderNo,
    transactionId: `T-${orderNo}`,
    currency,
    amount: wire,
    state,
    date: `${dateOf(1).replaceAll('-', '')}103000`,
  }));
}

async function writeLedger(house: House): Promise<void> {
  const { accountId } = ACCOUNT;
  for (const { orderNo, currency, amount, expected } of ORDERS) {
    await house.db.query(
      `insert into ledger.orders (account_id, order_no, currency, amount, expected, placed_at,
         capture_amount, review_decision)
       values ($1, $2, $3, $4, $5, $6, $7, $8)`,
      [
        accountId,
        orderNo,
        currency,
        amount,
        expected,
        `${dateOf(1)}T12:00:00Z`,
        orderNo === 'part' ? '80.25' : null,
        orderNo === 'accept' || orderNo === 'reject' ? orderNo : null,
      ],
    );
  }
  await house.db.query(
    `insert into ledger.refund_requests (account_id, refund_id, order_no, refund_amount,
       requested_at, reason)
     values ($1, 'R1', 'refund', 300, $2, 'zwrot ąę & co'), ($1, 'R2', 'whole', 1.50, $2, null)`,
    [accountId, `${dateOf(1)}T13:00:00Z`],
  );
}

describe('a gateway with other open points', () => {
  for (const [name, wire] of Object.entries({
    'hmac-sha512 with a separator, three spellings, signed answers': HMAC,
    'sha512 with the key in front, forms, echoed answers': PREFIXED,
    'hmac-sha256 without a separator, unsigned answers': HMAC_PLAIN,
  })) {
    it(`${name}: gets what is due and nothing else`, async () => {
      const { house, double } = await houseAt(wire);
      await writeLedger(house);
      const { summary } = await house.run();
      expect(double.complaints).toEqual([]);
      const due = ORDERS.map((order) => order.due).filter((text) => text !== '');
      expect(double.moved.toSorted()).toEqual(due.toSorted());
      // An amount in the shape of another currency is not read as one.
      expect(await openBreaksOf(house.db)).toEqual(['odd invalid_record']);
      await expectIdentities(house.db, summary);
      expect(summary.accounts[0]?.totals).toEqual([
        total('EUR', { captured: '200.75', net: '200.75' }),
        total('JPY', { captured: '1200.00', refunded: '300.00', net: '900.00' }),
        total('KWD', { captured: '12.34', refunded: '1.50', net: '10.84' }),
        total('USD', { cancelled: '10.00' }),
      ]);
      const again = await house.run();
      expect(double.moved.length).toBe(due.length);
      expect(again.summary.accounts[0]?.totals).toEqual(summary.accounts[0]?.totals);
    });
  }

  it('gets all others where a currency cannot express an amount, and the order is named', async () => {
    const { house, double } = await houseAt(HMAC);
    await writeLedger(house);
    await house.db.query(
      `update ledger.orders set capture_amount = 1000.50 where order_no = 'yen'`,
    );
    const { summary } = await house.run();
    expect(double.complaints).toEqual([]);
    const due = ORDERS.map((order) => order.due).filter((text) => text !== '');
    const others = due.filter((text) => !text.startsWith('capture yen'));
    expect(double.moved.toSorted()).toEqual(others.toSorted());
    expect(summary.state).toBe('broken');
    expect(await openBreaksOf(house.db)).toEqual(['odd invalid_record', 'yen invalid_record']);
  });

  it('is asked for no order whose number holds the separator, and the order is named', async () => {
    const { house, double } = await houseAt(HMAC);
    await house.db.query(
      `insert into ledger.orders (account_id, order_no, currency, amount, expected, placed_at)
       values ($1, 'a;b', 'EUR', 1, 'captured', $2), ($1, 'fine', 'EUR', 1, 'captured', $2)`,
      [ACCOUNT.accountId, `${dateOf(1)}T12:00:00Z`],
    );
    const { summary } = await house.run();
    expect(double.complaints).toEqual([]);
    expect(summary.accounts[0]?.orders).toMatchObject({ ledger: 2, matched: 1, broken: 1 });
    expect(summary.state).toBe('broken');
  });

  it('shows its dates in its own zone', async () => {
    const { house } = await houseAt(HMAC);
    await writeLedger(house);
    await house.run();
    const { rows } = await house.db.query<{ local: string }>(
      `select distinct to_char(transaction_at at time zone 'America/New_York', 'YYYY-MM-DD HH24:MI')
         as local from tieout.look_entries`,
    );
    expect(rows).toEqual([{ local: `${dateOf(1)} 10:30` }]);
  });

  it('moves no money on a code that the profile gives no meaning', async () => {
    const { house, double } = await houseAt(
      {
        ...HMAC,
        codes: { ...HMAC.codes, authorised: '0012', captured: 'NEW' },
      },
      { profile: { statuses: { payment: { '12': 'authorised', RV: 'in_review' } } } },
    );
    await writeLedger(house);
    const { summary } = await house.run();
    // 0012 is not 12.
    expect(double.moved.filter((what) => !what.startsWith('review'))).toEqual([]);
    expect(summary.accounts[0]?.breaks.unknown_status).toBeGreaterThanOrEqual(5);
  });

  it('believes no answer with a wrong signature where that is enforced', async () => {
    const wire = { ...HMAC, signedAnswer: ['account_id'] };
    const { house, double } = await houseAt(wire, {
      profile: { signing: { ...signingOf(HMAC), fields: { default: [], ...HMAC.signed } } },
    });
    await writeLedger(house);
    const { summary } = await house.run();
    expect(double.complaints).toEqual([]);
    expect(summary.state).toBe('incomplete');
    const { rows } = await house.db.query<{ state: string }>(
      `select distinct to_state as state from tieout.instruction_events
       where from_state = 'sending'`,
    );
    expect(rows).toEqual([{ state: 'unknown' }]);
  });
});

describe('the limits of a profile', () => {
  it('hold for snapshots and money together', async () => {
    const limits = { concurrency: 2, requestsPerSecond: 50 };
    const orders = Array.from({ length: 900 }, (_, index) => manyOrder(index));
    const { house, double } = await houseAt(HMAC, { profile: { limits }, orders, delayMs: 15 });
    await house.db.query(
      `insert into ledger.orders (account_id, order_no, currency, amount, expected, placed_at)
       select $1, 'N' || n, 'EUR', 10,
         case when n % 20 = 0 then 'cancelled' else 'captured' end, $2
       from generate_series(0, 899) as n`,
      [ACCOUNT.accountId, `${dateOf(1)}T12:00:00Z`],
    );
    await house.db.query(
      `insert into ledger.refund_requests (account_id, refund_id, order_no, refund_amount,
         requested_at)
       select $1, 'R' || n, 'N' || n, 3, $2 from generate_series(1, 899, 90) as n`,
      [ACCOUNT.accountId, `${dateOf(1)}T13:00:00Z`],
    );
    const { summary } = await house.run();
    expect(double.complaints).toEqual([]);
    expect(summary.state).toBe('tied_out');
    expect(double.moved.length).toBe(45 + 45 + 10);
    expect(double.mostAtOnce).toBeLessThanOrEqual(limits.concurrency);
    // A small block of places is taken at once, so that a few may come together.
    const { cameAt } = double;
    const seconds = ((cameAt.at(-1) ?? 0) - (cameAt[0] ?? 0)) / 1_000;
    expect(cameAt.length).toBeGreaterThan(12);
    expect(cameAt.length / (seconds + 0.2)).toBeLessThanOrEqual(limits.requestsPerSecond);
  });
});

function manyOrder(index: number): DoubleOrder {
  const isDue = index % 10 === 0;
  return {
    orderNo: `N${index}`,
    transactionId: `T-${index}`,
    currency: 'EUR',
    amount: '10.00',
    state: isDue ? 'authorised' : 'captured',
    date: `${dateOf(1).replaceAll('-', '')}103000`,
  };
}

function signingOf(wire: Wire): object {
  return (profileOf(wire) as { signing: object }).signing;
}

function total(currency: string, given: Record<string, string>): object {
  const none = { captured: '0.00', cancelled: '0.00', refunded: '0.00', net: '0.00' };
  return { currency, ...none, unknown: '0.00', ...given };
}
