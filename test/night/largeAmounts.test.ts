// Amounts as large as a row may hold, and more of them than one row could: sums have room for any
// number, in every figure of a night and in its workbook, and a corrected ledger heals it.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runImport } from '../../src/cli/ledger/import.js';
import { AMOUNT_MAX, exactAmount, formatAmount } from '../../src/core/money.js';
import type { RunSummary } from '../../src/core/runs/summary.js';
import { auditRun } from '../faults/audit.js';
import { expectIdentities } from '../support/identities.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf, kinds, openBreaksOf } from '../support/night.js';

const LARGEST = formatAmount(AMOUNT_MAX);
const HUGE = ['HUGE-1', 'HUGE-2', 'HUGE-3'];

let house: House;

async function bring(amount: string, updatedAt: string): Promise<void> {
  const at = new Date(Date.parse(dateOf(2)) - 30 * 3_600_000).toISOString();
  const lines = HUGE.map((no) => `A1001,${no},EUR,${amount},captured,${at},${updatedAt}`);
  const file = join(house.folder, `orders-${amount}.csv`);
  const head = 'account_id,order_no,currency,amount,expected,placed_at,updated_at';
  writeFileSync(file, `${[head, ...lines].join('\n')}\n`);
  const { db, config } = await house.open();
  const result = await runImport(db, config, 'orders', [file], { check: false });
  expect(result).toMatchObject({ kind: 'imported' });
}

function stakeOf(summary: RunSummary): string {
  const account = summary.accounts.find(({ accountId }) => accountId === 'A1001');
  return JSON.stringify(account?.breaks);
}

beforeAll(async () => {
  house = await buildHouse({
    orders: 900,
    seed: 3,
    daysAgo: 2,
    inLedger: kinds({ capture_due: 12 }),
  });
}, 60_000);
afterAll(() => house.end());

it('three orders of the largest amount: night after night ties, and the others are captured', async () => {
  await bring(LARGEST, '2026-01-01T00:00:00Z');
  for (const daysAgo of [2, 1]) {
    const { summary } = await house.run({ date: dateOf(daysAgo) });
    expect(summary.state).toBe('broken');
    expect(stakeOf(summary)).toContain('"missing_at_gateway":3');
    expect(summary.reports.length).toBeGreaterThan(0);
    await expectIdentities(house.db, summary);
  }
  const open = await openBreaksOf(house.db);
  expect(open).toEqual(HUGE.map((no) => `${no} missing_at_gateway`));
  const { rows } = await house.db.query<{ stake: string }>(
    `select stake_after ->> 'EUR' as stake from tieout.run_accounts where account_id = 'A1001'
     order by run_id desc limit 1`,
  );
  expect(exactAmount(rows[0]?.stake ?? '')).toBe(3n * AMOUNT_MAX);
  expect((await house.effects()).length).toBe(house.seeded.length);
  expect(house.seeded.length).toBeGreaterThan(3);
}, 60_000);

it('a corrected ledger heals it', async () => {
  await bring('10.00', '2026-01-02T00:00:00Z');
  await house.db.query(
    `update ledger.orders set expected = 'declined' where order_no like 'HUGE%'`,
  );
  const { summary } = await house.run({ date: dateOf(1) });
  expect(summary.state).toBe('tied_out');
  await expectIdentities(house.db, summary);
  expect(await openBreaksOf(house.db)).toEqual([]);
  expect(await auditRun(house.db, await house.effects())).toEqual([]);
}, 60_000);
