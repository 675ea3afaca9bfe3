// A night of one account alone, and one that failed: reports of a period have each account by its
// own newest night, and a workbook names as its night before one that has figures.

import { afterAll, expect, test } from 'vitest';
import { openAsOf } from '../../src/report/periodRowsStore.js';
import { readPlainly } from '../reports/plainReader.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf } from '../support/night.js';

let house: House | null = null;
afterAll(() => house?.end());

test('the ageing has all accounts, and the night before is one with figures', async () => {
  house = await buildHouse({ orders: 160, daysAgo: 3 });
  const { db } = house;
  const first = (await house.run({ date: dateOf(3) })).summary;
  await db.query(
    `create function public.plant() returns trigger language plpgsql as $$
     begin raise exception 'planted'; end $$;
     create trigger plant before update of events_until on tieout.run_accounts
     for each row execute function public.plant()`,
  );
  await expect(house.run({ date: dateOf(2) })).rejects.toThrow('planted');
  await db.query('drop trigger plant on tieout.run_accounts');
  const last = (await house.run({ date: dateOf(1), accountIds: ['A1002'] })).summary;
  expect(last.accounts.map(({ accountId }) => accountId)).toEqual(['A1002']);

  const path = last.reports.find(({ kind }) => kind === 'reconciliation')?.path ?? '';
  const cells = (await readPlainly(path)).sheets.flatMap(({ rows }) => rows.flat());
  const said = cells.map(({ value }) => value);
  expect(said[said.indexOf('Previous run') + 1]).toBe(dateOf(3));
  expect(said.join('\n')).toContain(`after run ${dateOf(3)}`);

  const period = { name: 'these days', from: dateOf(3), to: dateOf(1) };
  const listed = await openAsOf(db, period, { at: new Date(), timezone: 'UTC' });
  const count = (id: string) => listed.filter(({ accountId }) => accountId === id).length;
  const openAfter = (of: typeof first, id: string) =>
    of.accounts.find(({ accountId }) => accountId === id)?.tie.openAfter;
  expect(count('A1001')).toBeGreaterThan(0);
  expect(count('A1001')).toBe(openAfter(first, 'A1001'));
  expect(count('A1002')).toBe(openAfter(last, 'A1002'));
}, 180_000);
