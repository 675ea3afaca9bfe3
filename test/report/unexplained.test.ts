// Money that no line of the statement explains: the night that finds it has not tied, whatever its
// breaks say, and tells it by account and currency. Neighbour: statement.test.ts, the statement
// itself.

import { afterEach, expect, test } from 'vitest';
import type { House } from '../support/night.js';
import { buildHouse, kinds } from '../support/night.js';

let house: House;
afterEach(() => house.end());

test('a night whose statement leaves money unexplained is broken, and says which', async () => {
  house = await buildHouse({ orders: 900, inLedger: kinds({ capture_due: 2 }, 'A1001') });
  // As if a figure had been summed wrongly.
  await house.db.query(
    `create function public.plant() returns trigger language plpgsql as $$
     begin new.unexplained_captured = 5.00; return new; end $$;
     create trigger plant before insert on tieout.statements
     for each row execute function public.plant()`,
  );
  const { summary } = await house.run();
  expect(summary.accounts.flatMap(({ breaks }) => Object.values(breaks))).toEqual([]);
  expect(summary.state).toBe('broken');
  const told = (summary.notices ?? []).filter(({ kind }) => kind === 'unexplained');
  expect(told).not.toEqual([]);
  expect(told[0]?.text).toContain('5.00');
});

test('a night that is gone on with knows what it has given back itself', async () => {
  let isAway = true;
  house = await buildHouse({
    inLedger: kinds({ partial_refund_due: 1 }),
    fault: ({ operation }) =>
      isAway && operation === 'retrievalTrans'
        ? { kind: 'status', status: 503, when: 'before' }
        : null,
  });
  expect((await house.run()).summary.state).toBe('incomplete');
  isAway = false;
  const { summary } = await house.run();
  expect(summary.accounts.flatMap(({ totals }) => totals).map(({ refunded }) => refunded)).toEqual(
    expect.arrayContaining([expect.not.stringMatching(/^0\.00$/)]),
  );
  expect((summary.notices ?? []).filter(({ kind }) => kind === 'unexplained')).toEqual([]);
  expect(summary.state).toBe('tied_out');
});
