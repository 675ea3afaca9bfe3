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
