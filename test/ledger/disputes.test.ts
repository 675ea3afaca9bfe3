// Imports of disputes on a real database: by key, all lines or none, a line that is older than its row
// is skipped. Neighbour: import.test.ts, orders and refund requests.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { sandboxProfile } from '../../src/gateway/document/profile.js';
import { importDisputes } from '../../src/ledger/imports/importDisputes.js';
import type { ImportResult } from '../../src/ledger/imports/importResult.js';
import { freshDatabase } from '../support/database.js';

const folder = mkdtempSync(join(tmpdir(), 'tieout-disputes-'));
const fresh = await freshDatabase();
const { db } = fresh;
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await fresh.drop();
});
beforeEach(async () => {
  await db.query('truncate ledger.orders, ledger.disputes, tieout.imported_files');
  await db.query(
    `insert into ledger.orders (account_id, order_no, currency, amount, expected, placed_at)
     values ('A1', '0001', 'EUR', 10.00, 'captured', '2026-11-01Z')`,
  );
});

const deps = {
  db,
  profile: sandboxProfile(),
  accounts: [{ merchantId: 'M1', accountId: 'A1', signingKey: 'k' }],
};
const DAY = '2026-11-19T00:00:00Z';
const NEXT = '2026-11-20T00:00:00Z';
const HEAD = 'account_id,dispute_id,order_no,transaction_id,currency,amount,stage,at';

function line(stage: string, at: string, more: Record<string, string> = {}): string {
  const usual = { id: 'D1', order: '0001', transaction: 'T1', currency: 'EUR', amount: '10.00' };
  const { id, order, transaction, currency, amount } = { ...usual, ...more };
  return ['A1', id, order, transaction, currency, amount, stage, at].join(',');
}

function take(lines: string[], options = {}): Promise<ImportResult> {
  const path = join(folder, 'disputes.csv');
  writeFileSync(path, `${[HEAD, ...lines].join('\n')}\n`);
  return importDisputes(deps, [path], { check: false, ...options });
}

async function stages(): Promise<string[]> {
  const { rows } = await db.query<{ dispute_id: string; stage: string }>(
    'select dispute_id, stage from ledger.disputes order by 1',
  );
  return rows.map((row) => `${row.dispute_id} ${row.stage}`);
}

const imported = (inserted: number, updated: number, unchanged: number, skipped: number) => ({
  kind: 'imported',
  inserted,
  updated,
  unchanged,
  skipped,
});

it('inserts, updates by key, skips what is older, and the same bytes change nothing', async () => {
  expect(await take([line('opened', DAY)])).toMatchObject(imported(1, 0, 0, 0));
  expect(await take([line('lost', NEXT)])).toMatchObject(imported(0, 1, 0, 0));
  expect(await take([line('lost', NEXT)])).toMatchObject({
    ...imported(0, 0, 1, 0),
    warnings: [expect.stringContaining('the same bytes')],
  });
  expect(await take([line('won', '2026-11-19T23:00:00Z')])).toMatchObject(imported(0, 0, 0, 1));
  const sameInstant = line('lost', '2026-11-20T01:00:00+01:00');
  expect(await take([sameInstant])).toMatchObject(imported(0, 0, 1, 0));
  expect(await stages()).toEqual(['D1 lost']);
  const older = line('won', '2026-11-19T23:30:00Z');
  expect(await take([older], { allowOlder: true })).toMatchObject(imported(0, 1, 0, 0));
  const another = line('opened', NEXT, { id: 'D2' });
  expect(await take([another], { check: true })).toMatchObject({ check: true, inserted: 1 });
  expect(await stages()).toEqual(['D1 won']);
});

it.each([
  ['stage', 'arbitration', line('arbitration', DAY), 'must be opened'],
  ['at', 'today', line('opened', 'today'), 'ISO 8601'],
  ['amount', '10.555', line('opened', DAY, { amount: '10.555' }), ''],
  ['currency', 'XXQ', line('opened', DAY, { currency: 'XXQ' }), ''],
  ['order_no', null, line('opened', DAY, { order: '' }), 'must not be empty'],
  ['dispute_id', 'D9', line('opened', DAY, { id: 'D9' }), 'already in line 2'],
])('refuses a line for its %s, and takes none', async (column, value, bad, reason) => {
  const good = line('opened', DAY, { id: 'D9' });
  expect(await take([good, bad])).toMatchObject({
    kind: 'refused',
    problems: [{ line: 3, column, value, reason: expect.stringContaining(reason) }],
  });
  expect(await stages()).toEqual([]);
});

it('says what names an order that the ledger does not have, and takes it', async () => {
  expect(await take([line('opened', DAY, { order: 'X9' })])).toMatchObject({
    inserted: 1,
    warnings: ['1 name an order that the ledger does not have'],
  });
});
