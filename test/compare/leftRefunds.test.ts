// Refund requests of an account that left the configuration: what its last look had matched as done
// is no break, nor is a refund of ours of which nobody knows the end, which is told already. What is
// still asked for is one, with its money. Neighbours: night/unconfigured.test.ts, the books of it.

import { afterEach, expect, test } from 'vitest';
import type { RunResult } from '../../src/night/run.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf, kinds, rewriteSettings } from '../support/night.js';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

type Options = Parameters<typeof buildHouse>[0];

function night(house: House, daysAgo: number): Promise<RunResult> {
  return house.run({ date: dateOf(daysAgo) }, new Date(`${dateOf(daysAgo - 1)}T04:15:00Z`));
}

/** A night with both accounts, then one with the first alone. */
async function leave(
  kind: string,
  options: Partial<Options> = {},
): Promise<{ house: House; last: RunResult }> {
  const inLedger = kinds({ [kind]: 1 }, 'A1002');
  const house = await buildHouse({ orders: 900, inLedger, daysAgo: 4, ...options });
  cleanups.push(() => house.end());
  // Recent enough for an account that nobody configured.
  await house.db.query('update ledger.refund_requests set requested_at = $1', [
    `${dateOf(4)}T12:00:00Z`,
  ]);
  await night(house, 4);
  rewriteSettings(house, { accounts: house.accounts.slice(0, 1) });
  return { house, last: await night(house, 3) };
}

async function breaksOf(house: House) {
  const { rows } = await house.db.query<Record<'kind' | 'money' | 'currency', string | null>>(
    `select b.kind, w.stake::text as money, b.currency
     from tieout.breaks b join tieout.break_facts w using (break_id)
     where b.account_id = 'A1002' and b.state = 'open'`,
  );
  return rows;
}

test('what was matched as refunded elsewhere is no break, and the account has no books', async () => {
  const { house, last } = await leave('refund_done_elsewhere');
  expect(await breaksOf(house)).toEqual([]);
  expect(last.summary.accounts.map(({ accountId }) => accountId)).toEqual(['A1001']);
  // A request more was in no look.
  await house.db.query(
    `insert into ledger.refund_requests
     select account_id, 'one-more', order_no, 1.00, reason, requested_by, requested_at
     from ledger.refund_requests`,
  );
  await night(house, 2);
  expect(await breaksOf(house)).toMatchObject([{ kind: 'refund_without_order', money: '1.00' }]);
});

test('what nobody knows the end of is told once', async () => {
  const { house } = await leave('partial_refund_due', {
    settings: { operations: { refund: 'auto' } },
    fault: ({ operation }) => (operation === 'refund' ? { kind: 'drop', when: 'after' } : null),
  });
  expect(await breaksOf(house)).toMatchObject([{ kind: 'outcome_unknown' }]);
});

test('what is still asked for is at stake in the currency of its order', async () => {
  const { house } = await leave('partial_refund_due', {
    settings: { operations: { refund: 'off' } },
  });
  const { rows } = await house.db.query<{ currency: string; money: string }>(
    `select o.currency, r.refund_amount::text as money
     from ledger.refund_requests r join ledger.orders o using (account_id, order_no)`,
  );
  const [asked] = rows;
  expect(await breaksOf(house)).toContainEqual({ kind: 'refund_without_order', ...asked });
});
