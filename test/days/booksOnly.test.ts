// An account that left the configuration stands in the books of the nights after it, which looked at
// nothing of it: none of them is a night that it can be signed on, or whose word on its sending counts.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { closingFacts, openDates } from '../../src/days/daysStore.js';
import { sendingStatuses } from '../../src/send/batches/sendingStatusStore.js';
import { newestDates } from '../../src/settlement/settlementStore.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf, rewriteSettings } from '../support/night.js';

const LEFT = 'A1002';
const [OWN, AWAY] = [dateOf(2), dateOf(1)];

let house: House;
beforeAll(async () => {
  house = await buildHouse({ orders: 200, daysAgo: 2 });
  const { accounts } = house;
  await house.run({ date: OWN });
  await house.db.query(
    `update tieout.run_accounts set sending = 'stopped', sending_reason = 'two batches in a row'
     where account_id = $1`,
    [LEFT],
  );
  rewriteSettings(house, { accounts: accounts.slice(0, 1) });
  await house.run({ date: AWAY });
  rewriteSettings(house, { accounts });
});
afterAll(() => house.end());

it('has a row in the books of the night that was without it', async () => {
  const { rows } = await house.db.query(
    `select merchant_id is null as is_away from tieout.run_accounts where account_id = $1
     order by business_date`,
    [LEFT],
  );
  expect(rows).toEqual([{ is_away: false }, { is_away: true }]);
});

it('has that date as one that no night covered, and not as one to be signed', async () => {
  const facts = (await closingFacts(house.db, [LEFT], AWAY)).get(LEFT);
  expect(facts).toMatchObject({ runState: null, gaps: [AWAY] });
  expect(await openDates(house.db, LEFT, AWAY)).toEqual([OWN]);
});

it('has had its last look in its last own night', async () => {
  expect((await newestDates(house.db, [LEFT], null)).get(LEFT)).toBe(OWN);
});

it('is stopped as its last own night left it', async () => {
  const [status] = await sendingStatuses(house.db, [LEFT]);
  expect(status).toMatchObject({ state: 'stopped', reason: 'two batches in a row' });
});
