// Nights at a gateway whose orders cannot be asked for by number: the pages of a window are scanned,
// and anything odd about them makes the snapshot incomplete, never an order missing.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { PROFILE_TEMPLATE } from '../../src/config/templates.js';
import type { FaultPlan } from '../../src/sandbox/faults/faults.js';
import { expectIdentities, expectMoney } from '../support/identities.js';
import type { House } from '../support/night.js';
import { buildHouse, openBreaksOf, rewriteSettings, sumOrders } from '../support/night.js';

const houses: House[] = [];
const NIGHT = { orders: 700, seed: 11 };

async function house(
  select: 'order_list' | 'window' | 'none',
  fault?: FaultPlan,
  settings: Record<string, unknown> = {},
): Promise<House> {
  const built = await buildHouse({ ...NIGHT, ...(fault ? { fault } : {}) });
  houses.push(built);
  const profile = parse(PROFILE_TEMPLATE) as Record<string, Record<string, unknown>>;
  profile.query = { ...profile.query, select };
  writeFileSync(join(built.folder, 'profile.yaml'), stringify(profile));
  rewriteSettings(built, {
    ...settings,
    gateway: { baseUrl: built.gatewayUrl, profile: './profile.yaml' },
  });
  return built;
}

afterEach(async () => {
  for (const built of houses.splice(0)) await built.end();
});

describe('a night by window', () => {
  it('comes to what the same night comes to when orders are asked for by number', async () => {
    const byNumber = await house('order_list');
    const byWindow = await house('window');
    const wanted = (await byNumber.run()).summary;
    const { summary } = await byWindow.run();
    expect(await openBreaksOf(byWindow.db)).toEqual(await openBreaksOf(byNumber.db));
    for (const figure of [
      'ledger',
      'matched',
      'due',
      'awaited',
      'broken',
      'notCompared',
    ] as const) {
      expect([figure, sumOrders(summary, figure)]).toEqual([figure, sumOrders(wanted, figure)]);
    }
    expect(summary.accounts.flatMap((account) => account.notSearched)).toEqual([]);
    await expectIdentities(byWindow.db, summary);
    await expectMoney(byWindow.db, [summary], await byWindow.effects());
  });

  it('calls nothing missing that a ledger view has forgotten, past the look-back', async () => {
    const reconcile = { lookbackDays: 1, graceHours: 1 };
    const { run, db } = await house('window', undefined, { reconcile });
    const start = `date_trunc('day', now(), 'UTC') - interval '1 day'`;
    // The oldest is kept, as an open one is, and widens the window.
    const { rowCount: forgotten } = await db.query(
      `delete from ledger.orders where placed_at < ${start}
         and placed_at > (select min(placed_at) from ledger.orders)`,
    );
    const { rows: lost } = await db.query<{ order_no: string }>(
      `delete from ledger.orders where order_no = (select order_no from ledger.orders
         where placed_at > ${start} + interval '1 hour' order by placed_at limit 1)
       returning order_no`,
    );
    const { summary } = await run();
    const missing = (await openBreaksOf(db)).filter((one) => one.includes('missing_in_ledger'));
    expect(forgotten).toBeGreaterThan(20);
    expect(missing).toEqual([`${lost[0]?.order_no} missing_in_ledger`]);
    expect(summary.accounts.flatMap((account) => account.notSearched)).toEqual([]);
  });

  it('calls nothing missing when a page fails for good', async () => {
    const { run, db, effects } = await house('window', () => ({ kind: 'html' }));
    const { summary } = await run();
    expect(summary.state).toBe('incomplete');
    expect(sumOrders(summary, 'notCompared')).toBe(NIGHT.orders);
    expect(await openBreaksOf(db)).toEqual([]);
    expect(await effects()).toEqual([]);
  });

  it.each(['page_repeated', 'page_shifted'] as const)('notices %s', async (kind) => {
    let queries = 0;
    const { run, db } = await house('window', ({ operation }) => {
      if (operation !== 'retrievalTrans') return null;
      queries += 1;
      return queries === 3 ? { kind } : null;
    });
    const { summary } = await run();
    const { rows } = await db.query<{ reason: string }>(
      `select reason from tieout.pages where stands_for_walk and state = 'failed'`,
    );
    expect([summary.state, rows.length]).toEqual(['incomplete', 1]);
  });
});

describe('a night without any selection', () => {
  it('does not take a full answer for all there is', async () => {
    const { run, db } = await house('none');
    const { summary } = await run();
    expect(summary.state).toBe('incomplete');
    expect(await openBreaksOf(db)).toEqual([]);
  });
});
