// Nights after a part of an order was captured: what the ledger says of it later is held against
// what we captured, since the gateway may show the whole. Neighbour:
// faults/people/editedLedger.test.ts.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { sandboxProfile } from '../../src/gateway/document/profile.js';
import type { RunResult } from '../../src/night/run.js';
import { findRun } from '../../src/runs/runsStore.js';
import { verifyRun } from '../../src/verify/verifyRun.js';
import { showing } from '../faults/front.js';
import { houseBehind } from '../faults/houseBehind.js';
import type { House } from '../support/night.js';
import { dateOf, kinds, openBreaksOf, rewriteSettings } from '../support/night.js';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

test.each([
  ['raised', '2.00'],
  ['removed', 'null'],
])(
  'a part was captured and capture_amount is %s: the order differs, and nothing more is captured',
  async (_, to) => {
    const inLedger = kinds({ capture_due: 1 }, 'A1001');
    const { house, front } = await houseBehind({ orders: 900, inLedger, daysAgo: 4 });
    cleanups.push(() => house.end());
    const profile = join(house.folder, 'profile.yaml');
    writeFileSync(profile, JSON.stringify({ ...sandboxProfile(), partialCapture: true }));
    rewriteSettings(house, { gateway: { baseUrl: house.gatewayUrl, profile } });
    const { rows } = await house.db.query<{ amount: string }>(
      'update ledger.orders set capture_amount = 1.00 returning amount::text as amount',
    );
    const amount = rows[0]?.amount ?? '';
    // After a capture of a part the gateway may show either amount: here always the whole.
    showing(front, () => ({ amount }));
    await night(house, 4);
    expect((await night(house, 3)).summary.state).toBe('tied_out');
    await house.db.query(`update ledger.orders set capture_amount = ${to}`);
    const { summary } = await night(house, 2);
    expect(summary.state).toBe('broken');
    const found = await house.db.query<{ expected: unknown; actual: unknown; amount: string }>(
      `select expected, actual, amount::text as amount from tieout.breaks where kind = 'amount_mismatch'`,
    );
    const wanted = to === 'null' ? amount : to;
    expect(found.rows).toMatchObject([
      { expected: { amount: wanted }, actual: { amount: '1.00' } },
    ]);
    expect(Number(found.rows[0]?.amount)).toBeCloseTo(Number(wanted) - 1, 2);
    const run = await findRun(house.db, dateOf(2));
    if (run === null) throw new Error('no run');
    const { config, version } = await (await house.open()).sendDeps();
    const again = await verifyRun({ db: house.db, config, version, progress: () => {} }, run);
    expect(again.differences).toEqual([]);
    // Put back, it heals; nothing was captured a second time.
    await house.db.query('update ledger.orders set capture_amount = 1.00');
    expect((await night(house, 1)).summary.state).toBe('tied_out');
    expect(await openBreaksOf(house.db)).toEqual([]);
    expect((await house.effects()).map(({ operation, amount }) => [operation, amount])).toEqual([
      ['capture', '1.00'],
    ]);
  },
);

function night(house: House, daysAgo: number): Promise<RunResult> {
  return house.run({ date: dateOf(daysAgo) }, new Date(`${dateOf(daysAgo - 1)}T04:15:00Z`));
}
