// Lines that no movement is left for, and what a night could not see of them (docs/CONTRACT.md
// section 9): told where they are surplus, waiting where they may still mean something, never
// guessed. Neighbour: matching.test.ts.

import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { findBreaks } from '../../src/breaks/breaksStore.js';
import { decideBreaks } from '../../src/breaks/decideBreaks.js';
import { SETTLEMENT_SENTENCES } from '../../src/core/breaks/settlementSentence.js';
import { checkChain } from '../../src/verify/verifyChainStore.js';
import type { Given, Line } from './facts.js';
import {
  aRun,
  breaks,
  checkIdentities,
  db,
  figures,
  look,
  matches,
  moved,
  ownFacts,
  settle,
  settled,
} from './facts.js';

ownFacts();

const refund = (amount: string | null, over: Partial<Given> = {}): Given => {
  return { order: '1', kind: 'refunded', amount, ...over };
};
const back = (amount: string, over: Partial<Line> = {}): Line => {
  return { order: '1', type: 'refunded', amount, ...over };
};
const TWO = [{ order: '1', amount: '100.00' }, refund('10.00'), refund('20.00')];
const SETTLED = [{ order: '1', amount: '100.00' }, back('-10.00'), back('-20.00')];

it.each<[string, Given[], Line[][], string[]]>([
  [
    'after all refunds are settled: one that was is told as twice, another as never shown',
    TWO,
    [SETTLED, [back('-10.00'), back('-7.00')]],
    ['1 settled_not_captured 7.00 EUR', '1 settled_twice 10.00 EUR'],
  ],
  [
    'twice, and its capture as well: all of the money',
    TWO,
    [SETTLED, [{ order: '1', amount: '100.00' }, back('-20.00'), back('-20.00')]],
    ['1 settled_twice 140.00 EUR'],
  ],
  [
    'one refund, settled, and a line of another amount',
    [{ order: '1', amount: '100.00' }, refund('10.00')],
    [SETTLED.slice(0, 2), [back('-7.00')]],
    ['1 settled_not_captured 7.00 EUR'],
  ],
  [
    'one that may still mean an open refund waits',
    TWO,
    [SETTLED.slice(0, 2), [back('-7.00', { amount: '-10.00' })]],
    [],
  ],
  [
    'captures of one order, all settled, and one more',
    [
      { order: '1', amount: '10.00' },
      { order: '1', amount: '20.00', transaction: 'T2' },
    ],
    [
      [
        { order: '1', amount: '10.00' },
        { order: '1', amount: '20.00' },
      ],
      [{ order: '1', amount: '20.00' }],
    ],
    ['1 settled_twice 20.00 EUR'],
  ],
])('surplus lines: %s', async (_name, movements, batches, expected) => {
  await moved(...movements);
  for (const lines of batches) {
    await settled(...lines);
    await settle();
  }
  expect(await breaks()).toEqual(expected);
  await checkIdentities();
  const events = () => db.query('select event_id from tieout.break_events');
  const before = (await events()).rows.length;
  await settle();
  expect((await events()).rows.length).toBe(before);
});

it.each<[string, Line[], string[]]>([
  ['the only line that may mean it', [back('-3.00')], ['1 refunded 3.00 = -3.00 order']],
  ['of several lines none', [back('-3.00'), back('-4.00')], []],
  ['of several equal lines none', [back('-3.00'), back('-3.00')], []],
  [
    'of several lines the one that bears its reference',
    [back('-3.00'), back('-4.00', { reference: 'R1' })],
    ['1 refunded 4.00 = -4.00 reference'],
  ],
])('a refund in suspense gets its amount from %s', async (_name, lines, expected) => {
  await moved(refund(null, { reference: 'R1' }));
  await settled(...lines);
  await settle();
  expect(await matches()).toEqual(expected);
  await checkIdentities();
});

it('a refund in suspense that is settled in another currency differs, and stays in suspense', async () => {
  await moved(refund(null));
  await settled(back('-3.00', { currency: 'USD' }));
  await settle();
  expect(await breaks()).toEqual(['1 settlement_amount EUR']);
  const [account] = (await figures()).accounts;
  expect(account?.movements).toMatchObject({ settled: 0, differs: 1 });
  const [sides] = (await db.query('select expected, actual from tieout.breaks')).rows;
  expect(SETTLEMENT_SENTENCES.settlement_amount(sides as never)).toMatch(
    /^an unknown amount of EUR was refunded, and the acquirer settled 3.00 USD /,
  );
  await checkIdentities();
});

it.each<[string | null, string[]]>([
  ['cancelled', ['old settled_not_captured 10.00 EUR']],
  ['authorised', ['old settled_not_captured 10.00 EUR']],
  ['captured', []],
  [null, []],
])('an order of before that the gateway shows %s', async (state, expected) => {
  await order('old', '2026-10-18');
  await look('answered', state === null ? [] : [{ order: 'old', state }]);
  await settled({ order: 'old', amount: '10.00' });
  await settle();
  expect(await breaks()).toEqual(expected);
});

it('where the night could not look nothing opens, and what is open stays', async () => {
  await order('1', '2026-11-18');
  await order('2', '2026-11-18');
  await look('failed', [
    { order: '1', state: 'captured' },
    { order: '2', state: 'captured' },
  ]);
  await settled({ order: '1', amount: '10.00' }, { order: 'nobody', amount: '9.00' });
  await settle();
  expect(await breaks()).toEqual([]);
  await look('answered', [{ order: '1', state: 'authorised' }]);
  await settle();
  const told = ['1 settled_not_captured 10.00 EUR', 'nobody settled_unknown 9.00 EUR'];
  expect(await breaks()).toEqual(told);
  await look('failed', [{ order: '1', state: 'captured' }]);
  await settle();
  expect(await breaks()).toEqual(told);
  const { rows } = await db.query('select event_id from tieout.break_events');
  expect(rows).toHaveLength(2);
});

it('where the night could not look each of two breaks of an order stays what it was', async () => {
  await moved(...TWO);
  await settled(...SETTLED);
  await settle();
  await settled(back('-10.00'), back('-7.00'));
  const told = ['1 settled_not_captured 7.00 EUR', '1 settled_twice 10.00 EUR'];
  for (const page of ['answered', 'failed'] as const) {
    await look(page, [{ order: '1', state: 'partially_refunded' }]);
    await settle();
    expect(await breaks(), page).toEqual(told);
  }
  const { rows } = await db.query('select event from tieout.break_events');
  expect(rows).toEqual([{ event: 'opened' }, { event: 'opened' }]);
});

it('a batch of before that settles what was captured since is in all books', async () => {
  await moved({ order: '1', amount: '10.00' });
  await settled({ order: '1', amount: '10.00', fee: '0.10', on: '2026-10-31' });
  await settled({ order: 'of before', amount: '7.00', on: '2026-10-31' });
  await settle();
  const [account] = (await figures()).accounts;
  expect(account?.atGateway).toMatchObject([{ settled: '10.00', closing: '0.00' }]);
  expect(account?.payable).toMatchObject([{ gross: '10.00', fees: '0.10', paidOut: '9.90' }]);
  expect(account?.bank).toMatchObject([{ paidOut: '9.90', closing: '9.90' }]);
  await checkIdentities();
});

async function order(orderNo: string, placedOn: string): Promise<void> {
  await db.query(
    `insert into ledger.orders (account_id, order_no, currency, amount, expected, placed_at)
     values ('A1', $1, 'EUR', 10, 'captured', $2)`,
    [orderNo, `${placedOn}T00:00:00Z`],
  );
}

it('what nobody knows is at stake as a whole: captures and refunds of it are not netted', async () => {
  await order('1', '2026-11-18');
  await moved({ order: '2', amount: '10.00' }, { order: '2', kind: 'refunded', amount: '3.00' });
  await settled({ order: '2', amount: '10.00' }, back('-3.00', { order: '2' }));
  await settle();
  expect(await breaks()).toEqual([]);
  await settled(
    ...[{ order: 'nobody', amount: '100.00' }, back('-100.00', { order: 'nobody' })],
    ...[{ order: null, amount: '70.00' }, back('-60.00', { order: null })],
    ...[{ order: '1', amount: '20.00' }, back('-5.00', { order: '1' })],
    ...[{ order: '2', amount: '10.00' }, back('-3.00', { order: '2' })],
  );
  await settle();
  expect(await breaks()).toEqual([
    '1 settled_not_captured 25.00 EUR',
    '2 settled_twice 13.00 EUR',
    expect.stringMatching(/^batch B\d+ settled_unknown 130.00 EUR$/),
    'nobody settled_unknown 200.00 EUR',
  ]);
  const { rows } = await db.query<{ kind: 'settled_unknown'; sides: never; stake: string }>(
    `select kind, jsonb_build_object('expected', expected, 'actual', actual) as sides,
       tieout.waiver_stake(kind, currency, amount, expected, actual)::text as stake
     from tieout.breaks order by order_no`,
  );
  // What one person may waive alone is held against all of it.
  expect(rows.map(({ stake }) => stake)).toEqual(['25.00', '13.00', '130.00', '200.00']);
  const told = rows.map(({ kind, sides }) => SETTLEMENT_SENTENCES[kind](sides));
  expect(told).toEqual([
    expect.stringContaining('settled 20.00 EUR as captured and 5.00 EUR as refunded (batch B'),
    expect.stringContaining('13.00 EUR was captured and refunded, and the acquirer settled 26.00'),
    expect.stringContaining('settled 70.00 EUR as captured and 60.00 EUR as refunded (batch B'),
    expect.stringContaining('settled 100.00 EUR as captured and 100.00 EUR as refunded (batch B'),
  ]);
  await checkIdentities();
});

it('what was waived when it had become smaller stays what was waived, night after night', async () => {
  await moved({ order: '1', amount: '10.00' });
  await settled({ order: '1', amount: '4.00' });
  await settle();
  await settled({ order: '1', amount: '5.00' });
  await settle();
  const { rows } = await db.query<{ break_id: bigint }>('select break_id from tieout.breaks');
  const [verdict] = await decideBreaks(
    {
      ...{ db, now: () => new Date('2026-11-21T09:00:00Z'), newId: randomUUID },
      config: { operations: { approveAbove: { refund: null } } } as never,
    },
    {
      ids: rows.map((row) => String(row.break_id)),
      action: { kind: 'waive', reason: 'paid by cheque' },
      who: { name: 'anna', isClaim: true } as never,
      over: null,
    },
  );
  expect(verdict?.kind).toBe('waived');
  const differing = async () => {
    const { disagreements } = await checkChain(db, () => {});
    return disagreements.filter(({ what }) => what.startsWith('break')).length;
  };
  await settle({}, await aRun('2026-11-21'));
  expect(await differing()).toBe(0);
  // As the nights of before left it, and what an update makes of it.
  await db.query(`update tieout.breaks set amount = 1`);
  expect(await differing()).toBe(1);
  const file = '../../migrations/1385_waived_at_what_was_waived.sql';
  const [up = ''] = readFileSync(resolve(import.meta.dirname, file), 'utf8').split('-- Down');
  await db.query(up);
  expect(await differing()).toBe(0);
});

it('lines that come to more than a break can hold are told without an amount', async () => {
  // A map that reads a reference as the amount: each line can be held, and their sum cannot.
  const huge = '999999999999999999.99';
  await settled({ order: null, amount: huge }, { order: null, amount: huge });
  await settle();
  expect(await breaks()).toEqual([expect.stringMatching(/^batch B\d+ settled_unknown EUR$/)]);
  const [found] = await findBreaks(db, { states: ['open'] }, { limit: 10, offset: 0 });
  expect([found?.stake, found?.currency]).toEqual([null, 'EUR']);
  await checkIdentities();
});
