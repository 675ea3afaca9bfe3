// Movements and the acquirer's lines find each other, what differs is a break, and every closing is the
// sum of its open items (docs/CONTRACT.md section 9).

import { describe, expect, it } from 'vitest';
import { SETTLEMENT_SENTENCES } from '../../src/core/breaks/settlementSentence.js';
import type { Db } from '../../src/database/db.js';
import { rolledBack } from '../../src/database/rolledBack.js';
import { settleAccounts } from '../../src/settlement/settlement.js';
import type { Given, Line } from './facts.js';
import {
  breaks,
  checkIdentities,
  db,
  doubtfulMatches,
  figures,
  matches,
  moved,
  ownFacts,
  rules,
  settle,
  settled,
} from './facts.js';

ownFacts();

describe('a line finds its movement', () => {
  it('also where its account is looked at later than others are', async () => {
    await moved({ order: '1', amount: '10.00' }, { order: '2', amount: '20.00' });
    await settled({ order: '1', amount: '10.00' });
    const others = { now: new Date('2026-11-21T02:30:00Z'), runId: null };
    expect(await settleAccounts(db, rules, ['A2'], others)).toBe(0);
    await settled({ order: '2', amount: '20.00' });
    expect(await settleAccounts(db, rules, ['A2', 'A1'], others)).toBe(2);
    expect(await settle()).toBe(0);
    expect(await matches()).toHaveLength(2);
  });

  it('by reference, else transaction, else order; and again changes nothing', async () => {
    await moved(
      { order: '1', amount: '100.00' },
      { order: '2', amount: '50.00' },
      { order: '3', amount: '30.00' },
      { order: '3', kind: 'refunded', amount: '5.00', reference: 'R1' },
      { order: '3', kind: 'refunded', amount: '5.00', reference: 'R2' },
    );
    await settled(
      { order: 'x', transaction: 'T1', amount: '100.00', fee: '1.50' },
      { order: '2', transaction: 'psp', amount: '50.00' },
      { order: '3', amount: '30.00' },
      { type: 'refunded', order: '3', reference: 'R2', amount: '-5.00' },
    );
    await settle();
    expect(await settle()).toBe(0);
    expect(await matches()).toEqual([
      '1 captured 100.00 = 100.00 transaction',
      '2 captured 50.00 = 50.00 order',
      '3 captured 30.00 = 30.00 order',
      '3 refunded 5.00 = -5.00 reference',
    ]);
    const { accounts, batches: listed } = await figures();
    expect(accounts).toEqual([
      {
        accountId: 'A1',
        atGateway: [
          {
            ...{ currency: 'EUR', captured: '180.00', refunded: '10.00', settled: '175.00' },
            ...{ closing: '-5.00', suspense: 0 },
          },
        ],
        payable: [
          {
            ...{ currency: 'EUR', gross: '175.00', fees: '1.50', chargebacks: '0.00' },
            ...{ other: '0.00', paidOut: '173.50', closing: '0.00' },
          },
        ],
        bank: [{ currency: 'EUR', paidOut: '173.50', arrived: '0.00', closing: '173.50' }],
        movements: { settled: 4, open: 1, overdue: 0, differs: 0 },
        breaks: {},
      },
    ]);
    expect(listed).toMatchObject([
      { accountId: 'A1', currency: 'EUR', lines: 4, payout: '173.50', state: 'expected' },
    ]);
    expect(await checkIdentities()).toMatchObject([
      { book: 'atGateway', amount: '-5.00', orderNo: '3', what: 'refunded' },
      { book: 'bank', amount: '173.50', what: 'payout' },
    ]);
  });

  it.each<[string, Partial<Line>, Partial<Line>]>([
    ['the second', { order: '1' }, { order: '1', transaction: 'T1' }],
    ['the first', { order: '1', transaction: 'T1' }, { order: '1' }],
  ])('whose transaction it names, though both say its amount: %s', async (_name, ...lines) => {
    await moved({ order: '1', amount: '10.00' });
    await settled(...lines.map((line) => ({ ...line, amount: '10.00' })));
    await settle();
    const { rows } = await db.query('select by, differs from tieout.settlement_matches order by 1');
    expect(rows).toEqual([
      { by: 'order', differs: true },
      { by: 'transaction', differs: false },
    ]);
  });

  it.each([
    ['two refunds, the one of its amount', ['3.00', '4.00'], ['-4.00'], ['4.00 = -4.00']],
    ['two equal refunds and one line: nobody can say', ['4.00', '4.00'], ['-4.00'], []],
    [
      'two equal refunds and two equal lines',
      ['4.00', '4.00'],
      ['-4.00', '-4.00'],
      ['4.00 = -4.00', '4.00 = -4.00'],
    ],
    ['no refund of its amount among several', ['3.00', '4.00'], ['-5.00'], []],
    ['the one in suspense, which learns its amount', [null], ['-6.00'], ['6.00 = -6.00']],
    ['the one in suspense beside a known one', ['3.00', null], ['-6.00'], ['6.00 = -6.00']],
    ['two in suspense', [null, null], ['-6.00'], []],
  ])('%s', async (_name, refunds, lines, expected) => {
    await moved(
      { order: '1', amount: '100.00' },
      ...refunds.map((amount) => ({ order: '1', kind: 'refunded' as const, amount })),
    );
    await settled(...lines.map((amount) => ({ type: 'refunded', order: '1', amount })));
    await settle();
    expect((await matches()).map((line) => line.split(' ').slice(2, 5).join(' '))).toEqual(
      expected,
    );
    await checkIdentities();
    expect(await breaks()).toEqual([]);
  });
});

describe('lines of orders that nobody knows', () => {
  it('are looked at once each, whatever the planner takes them for', async () => {
    const COUNT = 600;
    const orders = Array.from({ length: COUNT }, (_, at) => `${at}`);
    await moved(...orders.map((order) => ({ order, amount: '5.00', reference: `M${order}` })));
    await settled(
      ...orders.map((order) => ({ order: `N${order}`, reference: `R${order}`, amount: '1.00' })),
    );
    await settle();
    await settled({ order: '1', reference: 'M1', amount: '5.00' });
    await db.query('analyze tieout.movements');
    // As whoever counts while another transaction writes them: pages, and nothing in them.
    await db.query(
      `update pg_class set reltuples = 0 where oid in ('tieout.settlement_unmatched'::regclass,
         'tieout.settlement_lines'::regclass)`,
    );
    await db.transaction(async (tx) => {
      // The server goes on counting what this session did right before.
      const before = new Map(await rowsRead(tx));
      const when = { now: new Date('2026-11-21T02:30:00Z'), runId: null };
      expect(await settleAccounts(tx, rules, ['A1'], when)).toBe(1);
      for (const [table, rows] of await rowsRead(tx)) {
        expect(rows - (before.get(table) ?? 0), table).toBeLessThan(50 * COUNT);
      }
    });
  });

  async function rowsRead(tx: Db): Promise<[string, number][]> {
    const { rows } = await tx.query<{ table: string; rows: bigint }>(
      `select relname::text as table, seq_tup_read + coalesce(idx_tup_fetch, 0) as rows
       from pg_stat_xact_user_tables
       where schemaname = 'tieout' and relname in ('movements', 'settlement_lines')`,
    );
    return rows.map((row) => [row.table, Number(row.rows)]);
  }
});

describe('a break', () => {
  it('not_settled of an order that has both says what came in and what went out', async () => {
    await moved({ order: '1', amount: '100.00', on: '2026-11-12' });
    await moved({ order: '1', amount: '10.00', on: '2026-11-12', kind: 'refunded' });
    await settle();
    expect(await breaks()).toEqual(['1 not_settled 110.00 EUR']);
    const { rows } = await db.query('select expected, actual from tieout.breaks');
    expect(SETTLEMENT_SENTENCES.not_settled(rows[0] as never)).toBe(
      '100.00 EUR captured and 10.00 EUR refunded on 2026-11-12 are in no settlement file yet: ' +
        'import what is missing, or ask the acquirer',
    );
  });

  it('not_settled of several dates says from when to when', async () => {
    await moved({ order: '1', amount: '5.00', on: '2026-11-11', kind: 'refunded' });
    await moved({ order: '1', amount: '6.00', on: '2026-11-12', kind: 'refunded' });
    await settle();
    const { rows } = await db.query('select expected, actual from tieout.breaks');
    expect(SETTLEMENT_SENTENCES.not_settled(rows[0] as never)).toContain(
      '11.00 EUR refunded from 2026-11-11 to 2026-11-12 is in no settlement file yet: ',
    );
    // One from before the last date was kept is the same difference.
    await db.query(
      `update tieout.breaks set expected = expected - 'until',
         fingerprint = md5((expected - 'until')::text || actual::text)`,
    );
    await settle();
    const { rows: events } = await db.query('select event from tieout.break_events');
    expect(events).toEqual([{ event: 'opened' }]);
  });

  it('not_settled opens when it is overdue, and a late line heals it', async () => {
    await moved({ order: '1', amount: '100.00', on: '2026-11-12' });
    await moved({ order: '2', amount: '7.00', on: '2026-11-16' });
    await settle();
    expect(await breaks()).toEqual(['1 not_settled 100.00 EUR']);
    expect((await figures()).accounts[0]).toMatchObject({
      movements: { settled: 0, open: 1, overdue: 1, differs: 0 },
      breaks: { not_settled: 1 },
    });
    await settled({ order: '1', amount: '100.00' });
    await settle();
    expect(await breaks()).toEqual([]);
    const { rows } = await db.query(
      `select event, from_state, cause, run_id from tieout.break_events order by event_id`,
    );
    expect(rows).toEqual([
      { event: 'opened', from_state: null, cause: null, run_id: null },
      { event: 'resolved', from_state: 'open', cause: 'settlement', run_id: null },
    ]);
    await checkIdentities();
  });

  it.each<[string, Given[], Line[], string[]]>([
    [
      'settled_twice',
      [{ order: '1', amount: '10.00' }],
      [
        { order: '1', amount: '10.00' },
        { order: '1', amount: '10.00' },
      ],
      ['1 settled_twice 10.00 EUR'],
    ],
    [
      'none where parts make up the whole',
      [{ order: '1', amount: '10.00' }],
      [
        { order: '1', amount: '6.00' },
        { order: '1', amount: '4.00' },
      ],
      [],
    ],
    [
      'settlement_amount',
      [{ order: '1', amount: '10.00' }],
      [{ order: '1', amount: '9.00' }],
      ['1 settlement_amount 1.00 EUR'],
    ],
    [
      'settlement_amount in another currency',
      [{ order: '1', amount: '10.00' }],
      [{ order: '1', amount: '10.00', currency: 'USD' }],
      ['1 settlement_amount 10.00 EUR'],
    ],
    ['settled_unknown', [], [{ order: '9', amount: '10.00' }], ['9 settled_unknown 10.00 EUR']],
    [
      'settled_unknown of a batch, where a line names no order',
      [],
      [{ order: null, transaction: 'T9', amount: '10.00' }],
      [expect.stringMatching(/^batch B\d+ settled_unknown 10.00 EUR$/) as unknown as string],
    ],
    [
      'settled_not_captured',
      [],
      [{ order: 'in-ledger', amount: '10.00' }],
      ['in-ledger settled_not_captured 10.00 EUR'],
    ],
    [
      'settled_not_captured of a refund that the gateway does not show',
      [{ order: '1', amount: '10.00' }],
      [
        { order: '1', amount: '10.00' },
        { order: '1', type: 'refunded', amount: '-2.00' },
      ],
      ['1 settled_not_captured 2.00 EUR'],
    ],
    ['none of an order from before', [], [{ order: 'old', amount: '10.00' }], []],
    ['none of history', [{ order: '1', amount: '10.00', history: true }], [], []],
    [
      'none of history that is settled late',
      [{ order: '1', amount: '10.00', history: true }],
      [{ order: '1', amount: '9.00' }],
      [],
    ],
    ['none of a line from before', [], [{ order: '9', amount: '10.00', on: '2026-10-31' }], []],
    [
      'none of a line that no look came after',
      [],
      [{ order: '9', amount: '10.00', on: '2026-11-21' }],
      [],
    ],
    [
      'charged_back',
      [{ order: '1', amount: '10.00' }],
      [
        { order: '1', amount: '10.00' },
        { order: '1', type: 'chargeback', amount: '-10.00', fee: '15.00' },
      ],
      ['1 charged_back 10.00 EUR'],
    ],
    [
      'none of a chargeback that was reversed',
      [{ order: '1', amount: '10.00' }],
      [
        { order: '1', amount: '10.00' },
        { order: '1', type: 'chargeback', amount: '-10.00' },
        { order: '1', type: 'chargeback_reversed', amount: '10.00' },
      ],
      [],
    ],
  ])('%s', async (_name, movements, lines, expected) => {
    await db.query(
      `insert into ledger.orders (account_id, order_no, currency, amount, expected, placed_at)
       values ('A1', 'in-ledger', 'EUR', 10, 'captured', '2026-11-18T00:00:00Z'),
         ('A1', 'old', 'EUR', 10, 'captured', '2026-10-18T00:00:00Z')`,
    );
    await moved(...movements);
    if (lines.length > 0) await settled(...lines);
    await settle();
    expect(await breaks()).toEqual(expected);
    // What is listed as at stake is what the tie counts it with.
    const { rows: unlike } = await db.query(
      `select kind, amount from tieout.breaks
       where coalesce(tieout.break_money(kind, currency, expected, actual), amount) <> amount`,
    );
    expect(unlike).toEqual([]);
    await checkIdentities();
    // The same again is the same, and the next night opens nothing anew.
    await settle();
    const { rows } = await db.query<{ n: bigint }>('select count(*) as n from tieout.break_events');
    expect(Number(rows[0]?.n)).toBe(expected.length);
  });

  it('that was waived stays waived until what differs changes', async () => {
    await moved({ order: '1', amount: '10.00' });
    await settled({ order: '1', amount: '4.00' });
    await settle();
    await db.query(
      `update tieout.breaks set state = 'waived', waived_by = 'Anna', waived_reason = 'known',
         waived_limit = 100`,
    );
    await settle();
    expect(await breaks('waived')).toEqual(['1 settlement_amount 6.00 EUR']);
    await settled({ order: '1', amount: '5.00' });
    await settle();
    expect(await breaks()).toEqual(['1 settlement_amount 1.00 EUR']);
    await settled({ order: '1', amount: '1.00' });
    await settle();
    expect(await breaks('resolved')).toEqual(['1 settlement_amount 1.00 EUR']);
    await checkIdentities();
  });
});

describe('whoever owns the database and', () => {
  it.each([
    ['moves a match to another order', 'movement_id = m.movement_id', 'T1, and T2'],
    [
      'moves a match to another order, and says by what',
      `movement_id = m.movement_id, by = 'reference'`,
      'nothing, and nothing',
    ],
    [
      'moves a match to a refund',
      'movement_id = r.movement_id',
      'captured of A1, and refunded of A1',
    ],
    ['says that nothing differs', 'differs = false', '12.00 EUR, and 10.00 EUR', 2],
    ['gives a line no movement', 'movement_id = 0', 'no such movement'],
  ])('%s: verify names it', async (_name, change, told, line = 1) => {
    await moved({ order: '1', amount: '10.00' }, { order: '2', amount: '10.00' });
    await moved({ order: '3', amount: '10.00', kind: 'refunded' }, { order: '4', amount: '10.00' });
    await settled({ order: '1', transaction: 'T1', amount: '10.00' });
    await settled({ order: '4', amount: '12.00' });
    await settle();
    await checkIdentities();
    await rolledBack(db, async (tx) => {
      await tx.query('set local session_replication_role = replica');
      await tx.query(
        `update tieout.settlement_matches x set ${change}
         from tieout.movements m, tieout.movements r
         where m.order_no = '2' and r.order_no = '3' and x.settlement_line_id = (
           select settlement_line_id from tieout.settlement_lines
           order by settlement_line_id offset $1 limit 1)`,
        [line - 1],
      );
      expect(await doubtfulMatches(tx)).toMatchObject([expect.stringContaining(told)]);
    });
  });

  it('matches a second line as if it were all of a capture: verify names it', async () => {
    await moved({ order: '1', amount: '10.00' });
    await settled({ order: '1', amount: '10.00' });
    await settled({ order: '1', amount: '10.00' });
    await settle();
    await rolledBack(db, async (tx) => {
      await tx.query('set local session_replication_role = replica');
      await tx.query('update tieout.settlement_matches set differs = false');
      expect(await doubtfulMatches(tx)).toEqual(['1: by order: matched with another line as well']);
    });
  });
});
