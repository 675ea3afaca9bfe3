// Whatever comes first, the line or the look that shows its refund: in the end the books say the same.
// Neighbour: matching.test.ts has what comes at once.

import { describe, expect, it } from 'vitest';
import { SETTLEMENT_SENTENCES } from '../../src/core/breaks/settlementSentence.js';
import { statement } from '../../src/database/statements.js';
import { settledAccounts } from '../../src/settlement/settlement.js';
import { oldestOpen } from '../../src/settlement/settlementStore.js';
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
  rules,
  settle,
  settled,
} from './facts.js';

ownFacts();

const back = (over: Partial<Given> = {}): Given => ({
  ...{ order: '1', kind: 'refunded', amount: '5.00', ...over },
});
const line = (over: Partial<Line> = {}): Line => ({
  ...{ order: '1', type: 'refunded', amount: '-5.00', ...over },
});
type Step = { moves: Given[] } | { lines: Line[] };
const moves = (...given: Given[]): Step => ({ moves: given });
const lines = (...given: Line[]): Step => ({ lines: given });
/** Of the next date: no look came after it yet. */
const fresh = (over: Partial<Line>): Line => line({ on: '2026-11-21', ...over });

async function taken(steps: readonly Step[]): Promise<void> {
  await moved({ order: '1', amount: '20.00' });
  await settled({ order: '1', amount: '20.00' });
  for (const step of steps) {
    if ('moves' in step) await moved(...step.moves);
    else await settled(...step.lines);
    await settle();
  }
}

describe('each refund has its line in the end, and nothing is told', () => {
  it.each<[string, Step[]]>([
    ['both lines before the second refund', [moves(back()), lines(line(), line()), moves(back())]],
    [
      'both lines before the second refund, one by one, by transaction',
      [
        moves(back()),
        lines(line({ transaction: 'T1' })),
        lines(line({ transaction: 'T1' })),
        moves(back()),
      ],
    ],
    [
      'three lines, and the second and third refund',
      [moves(back()), lines(line(), line(), line()), moves(back()), moves(back())],
    ],
    [
      'the second line bears a name of its own',
      [
        moves(back({ reference: 'R1' })),
        lines(line({ reference: 'R1' })),
        lines(line({ reference: 'R2' })),
        moves(back({ reference: 'R2' })),
      ],
    ],
    [
      'the acquirer has names of its own',
      [
        moves(back({ reference: 'R1' }), back()),
        lines(line({ reference: 'X1' }), line({ reference: 'X2' })),
      ],
    ],
    [
      'the second one is in suspense, and learns its amount',
      [moves(back()), lines(line(), line()), moves(back({ amount: null }))],
    ],
    [
      'a name that nobody knows comes before that of the refund which was shown',
      [
        moves(back({ reference: 'R1' })),
        lines(fresh({ reference: 'X1' })),
        lines(fresh({ reference: 'R1' })),
        moves(back()),
      ],
    ],
    [
      'one of two equal lines names the transaction, the other the order alone',
      [moves(back(), back()), lines(line({ transaction: 'T1' }), line())],
    ],
    [
      'one of two equal lines names the transaction, and comes before the other',
      [moves(back(), back()), lines(line({ transaction: 'T1' })), lines(line())],
    ],
    [
      'one of two equal lines names the transaction, and both come before the refunds',
      [lines(line({ transaction: 'T1' }), line()), moves(back()), moves(back())],
    ],
    [
      'one refund of ten in two lines',
      [
        moves(back({ amount: '10.00' })),
        lines(line({ amount: '-4.00' }), line({ amount: '-6.00' })),
      ],
    ],
    [
      'one refund of ten in two files',
      [
        moves(back({ amount: '10.00' })),
        lines(line({ amount: '-4.00' })),
        lines(line({ amount: '-6.00' })),
      ],
    ],
    [
      'one refund of ten, of which the lines came before',
      [
        lines(line({ amount: '-4.00' })),
        lines(line({ amount: '-6.00' })),
        moves(back({ amount: '10.00' })),
      ],
    ],
    [
      'the line of the smaller one comes before the look that shows it',
      [
        moves(back({ amount: '10.00' })),
        lines(fresh({ amount: '-4.00' })),
        moves(back({ amount: '4.00' })),
        lines(fresh({ amount: '-10.00' })),
      ],
    ],
    [
      'two refunds of four and six, of which one was seen',
      [
        moves(back({ amount: '7.00' })),
        lines(line({ amount: '-4.00' }), line({ amount: '-7.00' })),
        moves(back({ amount: '4.00' })),
      ],
    ],
  ])('%s', async (_name, steps) => {
    await taken(steps);
    expect(await breaks()).toEqual([]);
    expect((await figures()).accounts[0]?.movements).toMatchObject({ open: 0, differs: 0 });
    expect((await checkIdentities()).filter(({ book }) => book === 'atGateway')).toEqual([]);
    expect(await settle()).toBe(0);
  });
});

describe('a line too many', () => {
  it('is told with those before it, as long as no other refund explains it', async () => {
    await taken([moves(back()), lines(line(), line(), line())]);
    expect(await breaks()).toEqual(['1 settled_twice 10.00 EUR']);
    expect(await matches()).toHaveLength(2);
    const { rows } = await db.query('select expected, actual from tieout.breaks');
    expect(SETTLEMENT_SENTENCES.settled_twice(rows[0] as never)).toMatch(
      /^5.00 EUR was refunded, and the acquirer settled 15.00 EUR in 3 lines/,
    );
    await checkIdentities();
    // What is open keeps what it opened with.
    await moved(back());
    await settle();
    expect(await breaks()).toEqual(['1 settled_twice 10.00 EUR']);
    await moved(back());
    await settle();
    expect(await breaks('resolved')).toEqual(['1 settled_twice 10.00 EUR']);
  });

  it('that names a refund is of that one, whichever line comes first', async () => {
    await taken([moves(back({ reference: 'R1' })), lines(line(), line({ reference: 'R1' }))]);
    expect(await breaks()).toEqual(['1 settled_twice 5.00 EUR']);
    await moved(back());
    await settle();
    expect(await breaks()).toEqual([]);
    await settled(line({ reference: 'R1', order: null }));
    await settle();
    expect(await breaks()).toEqual(['1 settled_twice 5.00 EUR']);
    expect(await matches()).toHaveLength(4);
    await checkIdentities();
  });

  it('of three for two refunds leaves none of these open', async () => {
    await taken([moves(back(), back()), lines(line(), line(), line())]);
    expect(await breaks()).toEqual(['1 settled_twice 5.00 EUR']);
    expect(await matches()).toHaveLength(3);
  });

  it('that was the only one in its file is told at once, whatever no look has shown', async () => {
    await taken([moves(back()), lines(line()), lines(fresh({}))]);
    expect(await breaks()).toEqual(['1 settled_twice 5.00 EUR']);
    expect((await figures()).accounts[0]?.movements).toMatchObject({ open: 0, differs: 1 });
    expect(await matches()).toHaveLength(2);
    await checkIdentities();
  });

  it('of another amount is told at once, and stays where the next look shows no other', async () => {
    await taken([
      moves(back({ amount: '10.00', on: '2026-11-02' })),
      lines(fresh({ amount: '-4.00' })),
    ]);
    const differs = { movements: { settled: 1, open: 0, overdue: 0, differs: 1 } };
    expect(await breaks()).toEqual(['1 settlement_amount 6.00 EUR']);
    expect(await matches()).toHaveLength(1);
    expect((await figures()).accounts[0]).toMatchObject(differs);
    await checkIdentities();
    await aRun('2026-11-21');
    await settle();
    expect(await breaks()).toEqual(['1 settlement_amount 6.00 EUR']);
    expect(await matches()).toHaveLength(2);
    expect((await figures()).accounts[0]).toMatchObject(differs);
    await checkIdentities();
  });

  it('of another amount waits for a look that came to its order', async () => {
    await taken([moves(back({ amount: '10.00' })), lines(fresh({ amount: '-4.00' }))]);
    await aRun('2026-11-21');
    await look('failed', [{ order: '1', state: 'partially_refunded' }]);
    await settle();
    expect(await matches()).toHaveLength(1);
    expect(await breaks()).toEqual(['1 settlement_amount 6.00 EUR']);
    await moved(back({ amount: '4.00', on: '2026-11-22' }));
    await settled(fresh({ amount: '-10.00' }));
    await settle();
    expect(await breaks()).toEqual([]);
    expect((await figures()).accounts[0]?.movements).toMatchObject({ open: 0, differs: 0 });
  });

  it('of another amount is not said to be without a line', async () => {
    await taken([
      moves(back({ amount: '10.00', on: '2026-11-02' })),
      lines(fresh({ amount: '-4.00' })),
    ]);
    const accounts = await settledAccounts(db, rules, ['A1'], null);
    expect(await oldestOpen(db, accounts)).toEqual([]);
  });

  it('is told of a refund as long as that was shown', async () => {
    await taken([moves(back()), lines(fresh({ amount: '-4.00' }))]);
    expect(await breaks()).toEqual(['1 settlement_amount 1.00 EUR']);
    await db.query(
      `insert into tieout.movement_amounts (movement_id, amount, known_by, business_date, run_id)
       select movement_id, 0, 'look', '2026-11-20', run_id from tieout.movements
       where kind = 'refunded'`,
    );
    await settle();
    expect(await breaks()).toEqual([]);
    await checkIdentities();
  });

  it.each([
    ['of another amount', [moves(back({ amount: '10.00', history: true })), lines(fresh({}))]],
    ['of its amount', [moves(back({ history: true })), lines(line()), lines(fresh({}))]],
  ])('beside a refund from before the books, %s, is that of the next one', async (_, steps) => {
    await taken(steps);
    expect(await breaks()).toEqual([]);
    await moved(back({ on: '2026-11-21' }));
    await settle();
    await aRun('2026-12-10');
    await settle();
    expect(await breaks()).toEqual([]);
    await checkIdentities();
  });

  it('costs no more where there are many', async () => {
    const COUNT = 1_000;
    const orders = Array.from({ length: COUNT }, (_, at) => `${at}`);
    await moved(...orders.map((order) => back({ order })));
    await settled(...orders.map((order) => line({ order })));
    await settle();
    await settled(...orders.map((order) => line({ order })));
    await settle();
    const { rows } = await db.query<{ 'QUERY PLAN': string }>(
      `explain (analyze, timing off) ${statement('settlement/matchLines')}`,
      [['A1'], ['2026-11-20'], '00:00', 'UTC'],
    );
    const plan = rows.map((row) => row['QUERY PLAN']);
    const removed = plan.flatMap((row) => /Removed by Join Filter: (\d+)/.exec(row)?.[1] ?? []);
    expect(plan.join()).toContain(`rows=${COUNT}`);
    for (const count of removed) expect(Number(count)).toBeLessThan(10 * COUNT);
  });

  it('of a refund from before the books is no difference', async () => {
    await taken([moves(back({ history: true })), lines(line()), lines(line())]);
    expect(await breaks()).toEqual([]);
    expect(await matches()).toHaveLength(3);
    await checkIdentities();
  });

  it('waits while there is another refund that it may mean', async () => {
    await taken([moves(back()), lines(line(), line())]);
    expect(await breaks()).toEqual(['1 settled_twice 5.00 EUR']);
    // Which of the two it may mean is left open, as long as one of them has no line.
    await moved(back({ amount: '7.00' }));
    await settle();
    expect(await breaks()).toEqual([]);
    await settled(line({ amount: '-7.00' }));
    await settle();
    expect(await breaks()).toEqual(['1 settled_twice 5.00 EUR']);
    await checkIdentities();
  });
});
