// What no verdict tells of and a person has to know all the same: every one is told or counted, and
// what both sides have dropped is not taken for settled. On a real PostgreSQL.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { capturedByHandNotice, refundedByHandNotice } from '../../src/core/orders/movedByHand.js';
import { toLookAt } from '../../src/instructions/payoutsStore.js';
import { newestDates } from '../../src/settlement/settlementStore.js';
import { capturedByHand, refundedByHand } from '../../src/total/byHand/movedByHandStore.js';
import type { FreshDatabase } from '../support/database.js';
import { freshDatabase } from '../support/database.js';
import { orderOf } from '../support/orders.js';
import { storeInstructions, storeLedger, storeRun } from '../support/snapshotStore.js';

let fresh: FreshDatabase;
beforeAll(async () => {
  fresh = await freshDatabase();
});
afterAll(() => fresh.drop());

test('refunds by hand beyond those that are named are counted, the newest are named', async () => {
  const { db } = fresh;
  const accounts = ['H1', 'H2'];
  for (const [accountId, calls] of [
    ['H1', 23],
    ['H2', 2],
  ] as const) {
    const orders = Array.from({ length: calls }, (_, at) =>
      orderOf(`O${String(at).padStart(2, '0')}`, {
        ledger: 'captured 10.00 EUR',
        gateway: ['T1 partially_refunded 10.00'],
      }),
    );
    await storeLedger(db, accountId, orders);
    await db.query(
      `insert into tieout.gateway_calls (account_id, operation, called_by, is_claim, host, at,
         body_sha256, entries, outcome, ended_at)
       select $1, 'refund', 'kim', true, 'a', now() - make_interval(hours => $2 - n), '\\x00',
         jsonb_build_array(jsonb_build_object('order_no', 'O' || lpad(n::text, 2, '0'),
           'currency', 'EUR', 'refund_amount', case n when 3 then '1' else '1.00' end, 'transaction_id', 'T' || n)), 'accepted',
         now()
       from generate_series(0, $2 - 1) n`,
      [accountId, calls],
    );
  }
  const told = await refundedByHand(db, accounts);
  expect(told.map(({ accountId }) => accountId)).toEqual([
    ...Array.from({ length: 20 }, () => 'H1'),
    ...['H2', 'H2'],
  ]);
  expect([told[0]?.orderNo, told[19]?.orderNo]).toEqual(['O22', 'O03']);
  expect(told.map(({ more }) => more).filter((more) => more > 0)).toEqual([3]);
  const last = told[19];
  if (last === undefined) throw new Error('there are twenty');
  expect(refundedByHandNotice(last).text).toMatch(
    /\. And 3 more orders of the account like this one$/,
  );
});

test('a capture by hand of another amount is told, in the decimals that the gateway prints', async () => {
  const { db } = fresh;
  await db.query(
    `insert into ledger.orders (account_id, order_no, currency, amount, expected, capture_amount,
       placed_at)
     select 'C1', o, currency, amount, expected, part, now()
     from (values ('yen', 'JPY', 10000, 'captured', null), ('dinar', 'KWD', 5, 'captured', null),
       ('in-parts', 'EUR', 5, 'captured', null), ('a-part', 'EUR', 9, 'captured', 5),
       ('refused', 'EUR', 5, 'captured', null), ('unanswered', 'EUR', 5, 'captured', null),
       ('mixed', 'EUR', 5, 'captured', null), ('broken', 'EUR', 5, 'captured', null),
       ('called-again', 'EUR', 5, 'captured', null),
       ('to-cancel', 'EUR', 5, 'cancelled', null)) v (o, currency, amount, expected, part)`,
  );
  const call = (order: string, amount: string, outcome: string | null = 'accepted') =>
    db.query(
      `insert into tieout.gateway_calls (account_id, operation, called_by, is_claim, host,
         body_sha256, entries, outcome, ended_at)
       select 'C1', 'capture', 'kim', true, 'a', '\\x00', jsonb_build_array(jsonb_build_object(
         'order_no', o.order_no, 'currency', o.currency, 'amount', $2::text,
         'transaction_id', 'T')), $3::text, case when $3::text is not null then now() end
       from ledger.orders o where o.account_id = 'C1' and o.order_no = $1`,
      [order, amount, outcome],
    );
  await call('yen', '100');
  await call('dinar', '1.000');
  await call('in-parts', '2.00');
  await call('in-parts', '3.00');
  await call('a-part', '5.00');
  await call('refused', '1.00', 'rejected');
  await call('unanswered', '1.00', null);
  await call('mixed', '1.00', 'mixed');
  await call('called-again', '5.00', 'mixed');
  await call('called-again', '5.00');
  await call('to-cancel', '1.00');
  await call('broken', '1.00');
  const runId = await storeRun(db, 'C1');
  await db.query(
    `insert into tieout.breaks (account_id, order_no, kind, state, first_seen, first_run_id,
       last_run_id, expected, actual, fingerprint)
     values ('C1', 'broken', 'amount_mismatch', 'open', now(), $1, $1, '{}', '{}', 'f')`,
    [runId],
  );
  const told = await capturedByHand(db, ['C1', 'C2']);
  expect(told).toMatchObject([
    { orderNo: 'mixed', byHand: '1.00', isSure: false },
    { orderNo: 'dinar', currency: 'KWD', byHand: '1.00', asked: '5.00', isSure: true },
    { orderNo: 'yen', currency: 'JPY', byHand: '100.00', asked: '10000.00' },
  ]);
  const texts = told.map(capturedByHandNotice).map(({ text }) => text);
  expect(texts[0]).toContain('(tieout gateway capture), or another amount: an answer took some');
  expect(texts[2]).toMatch(/a capture of 10,000 JPY of order yen; 100 JPY was captured by hand/);
});

test('an unknown of an earlier night that both sides have dropped is looked at by a person', async () => {
  const { db } = fresh;
  const accountId = 'U1';
  const order = orderOf('O1', {
    ledger: 'captured 10.00 EUR',
    gateway: ['T1 captured 10.00'],
    refunds: ['R1 4.00'],
    did: ['refund T1 R1 4.00 unknown'],
  });
  const first = await storeRun(db, accountId);
  await storeInstructions(db, first, accountId, [order]);
  // Of its own night it makes that incomplete, by itself.
  expect((await toLookAt(db, first)).get(accountId)).toBeUndefined();
  const next = await storeRun(db, accountId);
  expect((await toLookAt(db, next)).get(accountId)).toBe(1);
  const breakOf = (kind: string) =>
    db.query(
      `insert into tieout.breaks (account_id, order_no, kind, state, first_seen, first_run_id,
         last_run_id, expected, actual, fingerprint)
       select $1, order_no, $3, 'open', now(), $2, $2, '{}', '{}', 'f'
       from tieout.instructions where account_id = $1`,
      [accountId, next, kind],
    );
  // One of the settlement says nothing of what became of the refund.
  await breakOf('not_settled');
  expect((await toLookAt(db, next)).get(accountId)).toBe(1);
  await breakOf('outcome_unknown');
  expect((await toLookAt(db, next)).get(accountId)).toBeUndefined();
});

test('a date that is run again stays the newest one for what is imported meanwhile', async () => {
  const { db } = fresh;
  const accountId = 'S1';
  const dateOf = async (runId: bigint): Promise<string | undefined> => {
    const { rows } = await db.query<{ date: string }>(
      'select business_date::text as date from tieout.runs where run_id = $1',
      [runId],
    );
    return rows[0]?.date;
  };
  const close = (runId: bigint) =>
    db.query(
      `update tieout.run_accounts set state = 'broken', events_until = 0 where run_id = $1`,
      [runId],
    );
  const [before, newest] = [await storeRun(db, accountId), await storeRun(db, accountId)];
  const known = async () => (await newestDates(db, [accountId], null)).get(accountId);
  expect(await known()).toBeUndefined();
  await close(before);
  // The first try of the newest date has not ended yet.
  expect(await known()).toBe(await dateOf(before));
  await close(newest);
  await db.query(`update tieout.run_accounts set state = 'running' where run_id = $1`, [newest]);
  expect(await known()).toBe(await dateOf(newest));
});
