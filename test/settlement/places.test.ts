// A break of settlement stands on the order of ours that the line is about, by whatever the line names
// it, and its money is that of all of it (docs/CONTRACT.md section 9).

import { expect, it } from 'vitest';
import { rolledBack } from '../../src/database/rolledBack.js';
import { orderMoney } from '../../src/orders/orderMoneyStore.js';
import { openPage } from '../../src/settlement/openPage.js';
import { batchBreakIds } from '../../src/settlement/settlementPagesStore.js';
import { checkChain } from '../../src/verify/verifyChainStore.js';
import type { Given, Line } from './facts.js';
import {
  breaks,
  checkIdentities,
  db,
  matches,
  moved,
  ownFacts,
  rules,
  settle,
  settled,
} from './facts.js';

ownFacts();

const tariff = [
  {
    ...{ account_id: 'A1', type: 'captured', parts_per_million: '10000', fixed: {} },
    ...{ from: '2026-11-01', until: null, tolerance: '0.01' },
  },
];

it.each<[string, Given[], Line[], string[]]>([
  [
    'a fee, of a line that names the transaction alone',
    [{ order: '1', amount: '10.00' }],
    [{ order: null, transaction: 'T1', amount: '10.00', fee: '0.50' }],
    ['1 fee_variance 0.40 EUR'],
  ],
  [
    'a fee, of a line that calls the order something else',
    [{ order: '1', amount: '10.00' }],
    [{ order: 'psp 1', transaction: 'T1', amount: '10.00', fee: '0.50' }],
    ['1 fee_variance 0.40 EUR'],
  ],
  [
    'a chargeback that is reversed by another name',
    [{ order: '1', amount: '10.00' }],
    [
      { order: '1', amount: '10.00', fee: '0.10' },
      { type: 'chargeback', order: 'psp 1', transaction: 'T1', amount: '-10.00' },
      { type: 'chargeback_reversed', order: null, transaction: 'T1', amount: '4.00' },
      { type: 'chargeback_reversed', order: '1', amount: '1.00' },
    ],
    ['1 charged_back 5.00 EUR'],
  ],
  [
    'an order that only the ledger knows, by its transaction',
    [],
    [{ order: null, transaction: 'T-ledger', amount: '10.00', fee: '0.10' }],
    ['in-ledger settled_not_captured 10.00 EUR'],
  ],
  [
    'the same, called something else',
    [],
    [{ order: 'psp', transaction: 'T-ledger', amount: '10.00', fee: '0.10' }],
    ['in-ledger settled_not_captured 10.00 EUR'],
  ],
  [
    'an order of before, by its transaction: none',
    [],
    [{ order: null, transaction: 'T-old', amount: '10.00', fee: '0.10' }],
    [],
  ],
  [
    'an order that only the gateway shows, by its transaction',
    [],
    [{ order: null, transaction: 'T-shown', amount: '10.00', fee: '0.10' }],
    ['shown settled_not_captured 10.00 EUR'],
  ],
  [
    'capture and refund of an order, both settled twice: all of the money',
    [
      { order: '1', amount: '10.00' },
      { order: '1', kind: 'refunded', amount: '3.00' },
    ],
    [
      { order: '1', amount: '10.00', fee: '0.10' },
      { order: '1', amount: '10.00', fee: '0.10' },
      { type: 'refunded', order: '1', amount: '-3.00' },
      { type: 'refunded', order: '1', amount: '-3.00' },
    ],
    ['1 settled_twice 13.00 EUR'],
  ],
])('%s', async (_name, movements, lines, expected) => {
  await db.query(
    `insert into ledger.orders (account_id, order_no, currency, amount, expected, transaction_id,
       placed_at)
     values ('A1', 'in-ledger', 'EUR', 10, 'authorised', 'T-ledger', '2026-11-18T00:00:00Z'),
       ('A1', 'old', 'EUR', 10, 'captured', 'T-old', '2026-10-18T00:00:00Z')`,
  );
  await db.query(
    `with pull as (
       insert into tieout.pulls (run_id, kind, as_of, is_sealed)
       select run_id, 'night', now(), true from tieout.runs returning pull_id
     ), shown as (
       insert into tieout.look_entries (pull_id, account_id, page_no, position, order_no, is_extra,
         is_asked, transaction_id, currency, amount, state, found, fraud_rejected)
       select pull_id, 'A1', 1, 1, 'shown', false, true, 'T-shown', 'EUR', 10, 'authorised', true,
         false
       from pull
     )
     update tieout.run_accounts set pull_id = (select pull_id from pull)`,
  );
  await moved(...movements);
  const batch = await settled(...lines);
  await settle({ fees: { ...rules.fees, tariff } });
  expect(await breaks()).toEqual(expected);
  // The page of the batch has them all, whatever its lines call the order.
  expect(await batchBreakIds(db, 'A1', batch, 10)).toHaveLength(expected.length);
  await checkIdentities();
});

it('what a reference sets apart leaves one refund to the other line, at once', async () => {
  await moved(
    { order: '1', amount: '100.00' },
    { order: '1', kind: 'refunded', amount: '5.00', reference: 'R1' },
    { order: '1', kind: 'refunded', amount: '5.00' },
  );
  await settled(
    { type: 'refunded', order: '1', reference: 'R1', amount: '-5.00' },
    { type: 'refunded', order: '1', amount: '-5.00' },
  );
  expect(await settle()).toBe(2);
  expect(await matches()).toEqual([
    '1 refunded 5.00 = -5.00 reference',
    '1 refunded 5.00 = -5.00 order',
  ]);
});

it("an order's story has the chargeback that names its transaction and calls it something else", async () => {
  await moved({ order: '1', amount: '10.00' }, { order: '2', amount: '10.00' });
  await settled(
    { order: '1', amount: '10.00' },
    { type: 'chargeback', order: 'psp 1', transaction: 'T1', amount: '-10.00' },
    { type: 'chargeback_reversed', order: 'psp 1', transaction: 'T1', amount: '4.00' },
  );
  await settle();
  const typesOf = async (order: string) =>
    (await orderMoney(db, 'A1', order)).lines.map(({ type, amount }) => `${type} ${amount}`);
  const charged = ['chargeback -10.00', 'chargeback_reversed 4.00'];
  expect(await typesOf('1')).toEqual(['captured 10.00', ...charged]);
  expect(await typesOf('2')).toEqual([]);
});

it("an order's story has captures that a transaction of nobody's is named with, matched or waiting", async () => {
  await moved(
    { order: '1', amount: '10.00' },
    { order: '2', amount: '20.00' },
    { order: '3', kind: 'refunded', amount: '5.00', reference: 'R3' },
  );
  await settled(
    { order: '1', transaction: 'psp 1', amount: '10.00' },
    { order: '1', transaction: 'psp 2', amount: '10.00' },
    { order: '2', transaction: 'T2', amount: '20.00' },
    { order: 'shop 4', transaction: 'psp 4', amount: '40.00' },
    { type: 'refunded', order: 'psp 3', transaction: 'psp 3', reference: 'R3', amount: '-5.00' },
  );
  await settle();
  const storyOf = async (order: string) =>
    (await orderMoney(db, 'A1', order)).lines.map(
      ({ amount, matchedBy }) => `${amount} ${matchedBy}`,
    );
  expect(await storyOf('1')).toEqual(['10.00 order', '10.00 order']);
  expect(await storyOf('2')).toEqual(['20.00 transaction']);
  expect(await storyOf('3')).toEqual(['-5.00 reference']);
  expect(await storyOf('shop 4')).toEqual(['40.00 null']);
  await checkIdentities();
  await rolledBack(db, async (tx) => {
    await tx.query(`update tieout.settlement_unmatched set order_no = '1'`);
    const { disagreements } = await checkChain(tx, () => {});
    expect(disagreements.map(({ state, history }) => `${state}; ${history}`)).toContain(
      'without its movement, of order 1; no match, of order shop 4',
    );
  });
});

it.each([
  ['Asia/Tokyo', '2026-11-25T23:00:00Z', '8-30'],
  ['UTC', '2026-11-25T23:00:00Z', '2-7'],
  ['America/New_York', '2026-11-26T01:00:00Z', '2-7'],
])('what is open is as old in %s as the dates there say', async (timezone, at, age) => {
  await moved({ order: '1', amount: '10.00', on: '2026-11-18' });
  const asked = { accountId: 'A1', currency: 'EUR', book: 'atGateway', age: null } as const;
  const page = { ...asked, at: new Date(at), limit: 9, offset: 0 };
  const { ages } = await openPage(db, page, { ...rules.times, timezone });
  expect(ages.filter(({ found }) => found > 0).map((one) => one.age.name)).toEqual([age]);
});
