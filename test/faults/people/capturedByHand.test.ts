// Nights after a person captured a part of an order by hand (`tieout gateway capture`), where the
// gateway shows the authorised amount: nothing but the call tells that it was a part.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { sandboxProfile } from '../../../src/gateway/document/profile.js';
import type { RunResult } from '../../../src/night/run.js';
import { byHand } from '../../support/byHand.js';
import type { House } from '../../support/night.js';
import { dateOf, kinds, openBreaksOf, rewriteSettings } from '../../support/night.js';
import { showing } from '../front.js';
import { houseBehind } from '../houseBehind.js';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

const OPERATIONS = { capture: 'approve', cancel: 'auto', refund: 'auto', review: 'auto' };

/** One order that is due and waits for a person, and how much of it is captured by hand. */
async function captured(part: (amount: string) => string) {
  const inLedger = kinds({ capture_due: 1 }, 'A1001');
  const settings = { operations: OPERATIONS };
  const { house, front } = await houseBehind({ orders: 900, inLedger, daysAgo: 5, settings });
  cleanups.push(() => house.end());
  await night(house, 5);
  const { rows } = await house.db.query<Record<string, string>>(
    `select transaction_id, order_no, currency, amount::text as amount from tieout.instructions`,
  );
  const { amount = '', ...named } = rows[0] ?? {};
  const capture_orders = [{ ...named, amount: part(amount) }];
  expect(await byHand(house, 'A1001', 'capture', { capture_orders })).toBe('accepted');
  showing(front, () => ({ amount }));
  return { house, orderNo: named.order_no };
}

test('a part that was captured by hand is told until the ledger asks for no more', async () => {
  const { house, orderNo } = await captured(() => '1.00');
  for (const daysAgo of [4, 3]) {
    const { summary } = await night(house, daysAgo);
    expect(told(summary)).toMatchObject([
      {
        accountId: 'A1001',
        names: [orderNo],
        text: expect.stringMatching(
          /asks for a capture of .* of order .*; 1\.00 \w+ was captured by hand .*capture_amount/,
        ),
      },
    ]);
    // Told as what went back by hand is: no verdict and no exit code tells of it.
    expect(summary.state).toBe('tied_out');
  }
  await house.db.query('update ledger.orders set capture_amount = 1.00');
  rewriteSettings(house, { gateway: partial(house) });
  expect(told((await night(house, 2)).summary)).toEqual([]);
  expect(await openBreaksOf(house.db)).toEqual([]);
  expect(await moved(house)).toEqual([['capture', '1.00']]);
});

test('of all that was to be captured nothing is told', async () => {
  const { house } = await captured((amount) => amount);
  const { summary } = await night(house, 4);
  expect([summary.state, told(summary)]).toEqual(['tied_out', []]);
});

function told({ notices = [] }: RunResult['summary']) {
  return notices.filter(({ kind }) => kind === 'captured_by_hand');
}

/** After a capture of a part the gateway may show either amount. */
function partial(house: House) {
  const profile = join(house.folder, 'profile.yaml');
  writeFileSync(profile, JSON.stringify({ ...sandboxProfile(), partialCapture: true }));
  return { baseUrl: house.gatewayUrl, profile };
}

function night(house: House, daysAgo: number): Promise<RunResult> {
  return house.run({ date: dateOf(daysAgo) }, new Date(`${dateOf(daysAgo - 1)}T04:15:00Z`));
}

async function moved(house: House) {
  return (await house.effects()).map(({ operation, amount }) => [operation, amount]);
}
