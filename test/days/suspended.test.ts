// A refund made elsewhere whose amount nobody knows: the checklist of a day names its order, as it
// stood at the end of that day.

import { expect, it } from 'vitest';
import { NOT_ANSWERED, shownDay } from '../../src/days/shownDay.js';
import { db, moved, ownFacts } from '../settlement/facts.js';

ownFacts();

async function about(date: string) {
  const { day } = await shownDay(db, 'A1', date, NOT_ANSWERED);
  return day.lines.find(({ topic }) => topic === 'suspense')?.about;
}

/** An amount that becomes known, or unknown again. */
async function known(order: string, amount: string | null, on: string): Promise<void> {
  await db.query(
    `insert into tieout.movement_amounts (movement_id, amount, known_by, business_date)
     select movement_id, $2, 'settlement', $3 from tieout.movements where order_no = $1`,
    [order, amount, on],
  );
}

it('names the orders in suspense at the end of the day, and counts as many', async () => {
  const refund = { kind: 'refunded', amount: null, on: '2026-11-18' } as const;
  await moved(
    { order: 'STAYS', ...refund },
    { order: 'BECOMES-KNOWN', ...refund },
    { order: 'BEFORE-BOOKS', ...refund, history: true },
    { order: 'KNOWN', kind: 'refunded', amount: '1.00', on: '2026-11-18' },
    { order: 'LATER', ...refund, on: '2026-11-21' },
  );
  const of = (...orders: string[]) => ({
    named: orders.map((orderNo) => ({ orderNo, refundId: null })),
    count: orders.length,
  });
  expect(await about('2026-11-20')).toEqual(of('BECOMES-KNOWN', 'STAYS'));
  await known('BECOMES-KNOWN', '2.00', '2026-11-19');
  await known('KNOWN', null, '2026-11-20');
  expect(await about('2026-11-18')).toEqual(of('BECOMES-KNOWN', 'STAYS'));
  expect(await about('2026-11-19')).toEqual(of('STAYS'));
  expect(await about('2026-11-20')).toEqual(of('KNOWN', 'STAYS'));
});
