// A payout whose process died when its answer had been read, and before it said so: the night that
// made it counts it. On a real house; the rest of a payout's life stands in payouts.test.ts.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { PROFILE_TEMPLATE } from '../../src/config/templates.js';
import { runDate } from '../../src/night/run.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf, kinds, rewriteSettings } from '../support/night.js';

const REQUEST = '00000000-0000-4000-8000-000000000001';

let house: House;
afterEach(() => house.end());

test('a payout that was answered counts in its night, whoever died meanwhile', async () => {
  const settings = { operations: { payout: 'auto' } };
  house = await buildHouse({ orders: 60, inLedger: kinds({}), settings, daysAgo: 2 });
  const profile = join(house.folder, 'gateway-profile.yaml');
  writeFileSync(profile, PROFILE_TEMPLATE.replace('unit: null', 'unit: major'));
  rewriteSettings(house, { gateway: { baseUrl: house.gatewayUrl, profile } });
  await house.db.query(
    `insert into ledger.payout_requests (request_id, account_id, payload, requested_at)
     values ($1, 'A1001', $2, now() - interval '1 minute')`,
    [REQUEST, JSON.stringify({ payment_amount: '120', payment_currency: 'EUR' })],
  );
  const app = await house.open();
  const deps = await app.sendDeps();
  const { query } = deps.db;
  let hasDied = false;
  const dying: typeof query = (text, ...given) => {
    // The sender's: what the night itself asks goes by a fence of its own.
    if (text.includes('it is completed') && !hasDied) {
      hasDied = true;
      throw new Error('died');
    }
    return query(text, ...given);
  };
  Object.assign(deps, { db: { ...deps.db, query: dying } });
  const given = { date: dateOf(2), accountIds: [], isDry: false };
  const { summary } = await runDate(deps, given, await app.workforce());
  expect(hasDied).toBe(true);
  expect(await house.effects()).toMatchObject([{ operation: 'payout', order_no: REQUEST }]);
  const account = summary.accounts.find(({ accountId }) => accountId === 'A1001');
  expect(account?.totals).toMatchObject([{ currency: 'EUR', paidOut: '120.00' }]);
  expect(account?.instructions.payout).toEqual({ confirmed: 1 });
});
