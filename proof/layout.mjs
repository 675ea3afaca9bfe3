// What one schedule is about: an account with one to three orders, each of which needs something
// done at the gateway. Laid out from the schedule's seed, for the simulator and the campaign alike.

import { randomOf } from './random.mjs';

const CURRENCIES = ['EUR', 'USD', 'GBP'];
const DAY_MS = 86_400_000;

/** What an order needs, and how often it is drawn. */
const KINDS = [
  [4, { name: 'capture', expected: 'captured', state: 'authorised' }],
  [2, { name: 'cancel', expected: 'cancelled', state: 'authorised' }],
  [2, { name: 'refund', expected: 'captured', state: 'captured', parts: 'whole' }],
  [2, { name: 'partial refund', expected: 'captured', state: 'captured', parts: 'one' }],
  [1, { name: 'two refunds', expected: 'captured', state: 'captured', parts: 'two' }],
  [1, { name: 'review', expected: 'captured', state: 'in_review', decision: 'accept' }],
  [0.5, { name: 'rejection', expected: 'cancelled', state: 'in_review', decision: 'reject' }],
];

export function accountIdOf(number) {
  return `A${String(number).padStart(6, '0')}`;
}

/** `firstNight` is the time of the first run; everything was placed before it. */
export function layOut(seed, number, firstNight) {
  const random = randomOf(seed, number, 1);
  const accountId = accountIdOf(number);
  const orders = Array.from(
    {
      length: random.weighted([
        [3, 1],
        [2, 2],
        [1, 3],
      ]),
    },
    (_, at) => {
      const kind = random.weighted(KINDS);
      const cents = random.between(200, 99_999);
      return {
        account_id: accountId,
        order_no: `${accountId}-${at + 1}`,
        transaction_id: `T${accountId}${at + 1}`,
        currency: random.pick(CURRENCIES),
        amount: text(cents),
        expected: kind.expected,
        review_decision: kind.decision ?? null,
        placed_at: new Date(firstNight.getTime() - random.between(2, 4) * DAY_MS),
        state: kind.state,
        kind: kind.name,
        refunds: refundsOf(random, kind.parts, cents),
      };
    },
  );
  const payout = {
    request_id: `${number.toString(16).padStart(8, '0')}-0000-4000-8000-000000000001`,
    account_id: accountId,
    payload: {
      payment_amount: String(random.between(5, 5_000)),
      payment_currency: random.pick(CURRENCIES),
      reference: 'commission',
    },
    requested_at: new Date(firstNight.getTime() - DAY_MS / 4),
  };
  return {
    accountId,
    payouts: random.chance(0.2) ? [payout] : [],
    merchantId: 'M1',
    signingKey: `key-${accountId}`,
    orders: orders.map((order) => ({
      ...order,
      refunds: order.refunds.map((refund_amount, at) => ({
        account_id: accountId,
        refund_id: `R${order.order_no}-${at + 1}`,
        order_no: order.order_no,
        refund_amount,
        reason: 'returned',
        requested_at: new Date(firstNight.getTime() - DAY_MS / 2 + at * 1000),
      })),
    })),
  };
}

function refundsOf(random, parts, cents) {
  if (parts === undefined) return [];
  if (parts === 'whole') return [text(cents)];
  const first = random.between(1, Math.floor(cents / 2));
  // Two equal ones look alike at the gateway: the worst case is a common one here.
  const second = random.chance(0.5) ? first : random.between(1, Math.floor(cents / 2));
  return parts === 'one' ? [text(first)] : [text(first), text(second)];
}

function text(cents) {
  return `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;
}

/** Puts the ledger's side of many schedules into a database; `query` runs one statement. */
export async function fillLedger(query, worlds) {
  const orders = worlds.flatMap((world) => world.orders);
  await query(
    `insert into ledger.orders (account_id, order_no, currency, amount, expected, transaction_id,
       review_decision, placed_at)
     select account_id, order_no, currency, amount, expected, transaction_id, review_decision,
       placed_at
     from jsonb_to_recordset($1::jsonb) as o (account_id text, order_no text, currency text,
       amount numeric, expected text, transaction_id text, review_decision text,
       placed_at timestamptz)`,
    [JSON.stringify(orders)],
  );
  await query(
    `insert into ledger.refund_requests (account_id, refund_id, order_no, refund_amount, reason,
       requested_at)
     select * from jsonb_to_recordset($1::jsonb) as r (account_id text, refund_id text,
       order_no text, refund_amount numeric, reason text, requested_at timestamptz)`,
    [JSON.stringify(orders.flatMap((order) => order.refunds))],
  );
  await query(
    `insert into ledger.payout_requests (request_id, account_id, payload, requested_at)
     select * from jsonb_to_recordset($1::jsonb) as p (request_id uuid, account_id text,
       payload jsonb, requested_at timestamptz)`,
    [JSON.stringify(worlds.flatMap((world) => world.payouts))],
  );
}

/** The settings of tieout for these schedules; JSON is YAML too. */
export function settingsFor(worlds, firstNight, more) {
  return {
    accounts: worlds.map(({ merchantId, accountId, signingKey }) => ({
      merchantId,
      accountId,
      signingKey,
      liveFrom: new Date(firstNight.getTime() - 2 * DAY_MS).toISOString(),
    })),
    schedule: { timezone: 'UTC' },
    reconcile: { lookbackDays: 1, staleAuthorisationDays: 30, graceHours: 1 },
    // The book of movements is kept, for the auditor; no file comes, and nothing is missed.
    settlement: { from: dateBefore(firstNight), settleDays: 365 },
    operations: {
      ...{ capture: 'auto', cancel: 'auto', refund: 'auto', review: 'auto' },
      payout: 'auto',
    },
    ...more,
  };
}

function dateBefore(firstNight) {
  return new Date(firstNight.getTime() - 2 * DAY_MS).toISOString().slice(0, 10);
}
