// An export of yesterday after one of today: it must not roll the ledger back. The same bytes change
// nothing, whenever they come; a line that steps back is refused by name, unless somebody asks for it.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { ExpectedState } from '../../src/core/orders/order.js';
import { EXPECTED_STATES } from '../../src/core/orders/order.js';
import { sandboxProfile } from '../../src/gateway/document/profile.js';
import { importOrders } from '../../src/ledger/imports/importOrders.js';
import { importPayouts } from '../../src/ledger/imports/importPayouts.js';
import { importRefunds } from '../../src/ledger/imports/importRefunds.js';
import type { ImportResult } from '../../src/ledger/imports/importResult.js';
import { formatImport } from '../../src/ledger/imports/importResult.js';
import { freshDatabase } from '../support/database.js';

const folder = mkdtempSync(join(tmpdir(), 'tieout-older-'));
const fresh = await freshDatabase();
const { db } = fresh;
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await fresh.drop();
});
beforeEach(() =>
  db.query(
    `truncate ledger.orders, ledger.refund_requests, ledger.payout_requests,
       tieout.imported_files`,
  ),
);

const deps = {
  db,
  profile: sandboxProfile(),
  accounts: [{ merchantId: 'M1', accountId: 'A1', signingKey: 'k' }],
};
const BACK: readonly [ExpectedState, ExpectedState][] = [
  ['captured', 'authorised'],
  ['cancelled', 'authorised'],
  ['cancelled', 'captured'],
  ['declined', 'authorised'],
  ['captured', 'declined'],
  ['cancelled', 'declined'],
];

const HEADER = 'account_id,order_no,currency,amount,expected,placed_at,updated_at';
const PLACED = '2026-11-19T08:30:00Z';
const REFUNDS = 'account_id,refund_id,order_no,refund_amount,reason,requested_by,requested_at';
const PAYOUTS = 'request_id,account_id,payload,requested_at';
const REQUEST = '3f1c2a55-8a3e-4f0e-9a55-0d1f7a6b2c01';

let written = 0;
function file(...lines: string[]): string {
  written += 1;
  const path = join(folder, `${written}.csv`);
  writeFileSync(path, `${lines.join('\n')}\n`);
  return path;
}

const row = (expected: string, updatedAt = '', orderNo = '0001'): string =>
  `A1,${orderNo},EUR,10.00,${expected},${PLACED},${updatedAt}`;
const orders = (path: string, allowOlder = false): Promise<ImportResult> =>
  importOrders(deps, [path], { check: false, allowOlder });

async function expected(): Promise<string[]> {
  const { rows } = await db.query<{ expected: string }>(
    'select expected from ledger.orders order by order_no',
  );
  return rows.map((one) => one.expected);
}

describe('day 1, day 2, day 1 again', () => {
  it('changes nothing, and says when the file was imported first', async () => {
    const day1 = file(HEADER, row('authorised'), row('captured', '', '0002'));
    await orders(day1);
    await orders(file(HEADER, row('captured'), row('captured', '', '0002')));
    const again = await orders(day1);
    expect(again).toMatchObject({ inserted: 0, updated: 0, unchanged: 2, skipped: 0 });
    expect(formatImport(again)).toMatch(/the same bytes were imported on \d{4}-\d\d-\d\d/);
    expect(formatImport(again)).toContain('--allow-older');
    expect(await expected()).toEqual(['captured', 'captured']);
  });

  it('under another name, too, beside a file that is new', async () => {
    await orders(file(HEADER, row('authorised')));
    await orders(file(HEADER, row('captured')));
    const files = [file(HEADER, row('authorised')), file(HEADER, row('captured', '', '0002'))];
    const result = await importOrders(deps, files, { check: false });
    expect(result).toMatchObject({ inserted: 1, updated: 0, unchanged: 1 });
    expect(await expected()).toEqual(['captured', 'captured']);
  });

  it('takes it where it is asked for', async () => {
    const day1 = file(HEADER, row('authorised'));
    await orders(day1);
    await orders(file(HEADER, row('captured')));
    expect(await orders(day1, true)).toMatchObject({ updated: 1, warnings: [] });
    expect(await expected()).toEqual(['authorised']);
  });

  it('remembers no file that was refused or only checked', async () => {
    const bad = file(HEADER, row('authorised'), 'A1');
    await orders(bad);
    const checked = file(HEADER, row('authorised'));
    await importOrders(deps, [checked], { check: true });
    expect(await orders(checked)).toMatchObject({ inserted: 1, warnings: [] });
    expect(await orders(bad)).toMatchObject({ kind: 'refused' });
  });
});

describe('a line that steps back', () => {
  it('in expected is refused with line, column and value, and no line is taken', async () => {
    await orders(file(HEADER, row('captured'), row('authorised', '', '0002')));
    const older = file(HEADER, row('captured', '', '0002'), row('authorised'));
    expect(await orders(older)).toMatchObject({
      kind: 'refused',
      problems: [
        {
          line: 3,
          column: 'expected',
          value: 'authorised',
          reason: expect.stringMatching(/captured.*--allow-older/),
        },
      ],
    });
    expect(await expected()).toEqual(['captured', 'authorised']);
    expect(await orders(older, true)).toMatchObject({ updated: 2 });
    expect(await expected()).toEqual(['authorised', 'captured']);
  });

  it('is taken where a newer time proves that it is the later word', async () => {
    await orders(file(HEADER, row('captured', '2026-11-19T09:00:00Z')));
    const newer = file(HEADER, row('authorised', '2026-11-19T10:00:00Z'));
    expect(await orders(newer)).toMatchObject({ updated: 1 });
  });

  it('is refused at the same time as the row, and without one', async () => {
    await orders(file(HEADER, row('captured', '2026-11-19T09:00:00Z')));
    const same = file(HEADER, row('authorised', '2026-11-19T09:00:00Z'));
    expect(await orders(same)).toMatchObject({ problems: [{ column: 'expected' }] });
    const short = HEADER.replace(',updated_at', '');
    const timeless = file(short, row('authorised').slice(0, -1));
    expect(await orders(timeless)).toMatchObject({ problems: [{ column: 'expected' }] });
  });

  it('is skipped and counted where its time is older; taken where that is asked for', async () => {
    await orders(file(HEADER, row('captured', '2026-11-19T09:00:00Z')));
    const older = file(HEADER, row('authorised', '2026-11-19T08:59:00Z'));
    expect(await orders(older)).toMatchObject({ skipped: 1, updated: 0 });
    expect(await orders(older, true)).toMatchObject({ skipped: 0, updated: 1 });
  });

  it('in updated_at, from a time to none, is refused', async () => {
    await orders(file(HEADER, row('captured', '2026-11-19T09:00:00Z')));
    const before = file(HEADER, row('captured').replace('10.00', '11.00'));
    expect(await orders(before)).toMatchObject({
      problems: [{ line: 2, column: 'updated_at', value: null }],
    });
    expect(await orders(before, true)).toMatchObject({ updated: 1 });
  });

  it.each(EXPECTED_STATES.flatMap((from) => EXPECTED_STATES.map((to) => [from, to] as const)))(
    'from %s to %s is refused where it is one',
    async (from, to) => {
      await orders(file(HEADER, row(from)));
      const result = await orders(file(HEADER, row(to).replace('10.00', '12.00')));
      const isBack = BACK.some(([later, earlier]) => from === later && to === earlier);
      expect(result.kind).toBe(isBack ? 'refused' : 'imported');
    },
  );
});

describe('refunds and payouts', () => {
  const refund = (by: string, at: string): string => `A1,R1,0001,3.00,,${by},${at}`;
  const LATER = '2026-11-20T08:30:00Z';

  it('the same bytes of a refund change nothing, whenever', async () => {
    const day1 = file(REFUNDS, refund('Anna', PLACED));
    const run = (path: string) => importRefunds(deps, [path], { check: false });
    await run(day1);
    await run(file(REFUNDS, refund('Bert', PLACED)));
    expect(await run(day1)).toMatchObject({ updated: 0, unchanged: 1 });
    const { rows } = await db.query('select requested_by from ledger.refund_requests');
    expect(rows).toEqual([{ requested_by: 'Bert' }]);
  });

  it('an earlier requested_at is refused, or a refund would become history', async () => {
    await importRefunds(deps, [file(REFUNDS, refund('Anna', LATER))], { check: false });
    const older = [file(REFUNDS, refund('Anna', PLACED))];
    expect(await importRefunds(deps, older, { check: false })).toMatchObject({
      problems: [{ line: 2, column: 'requested_at' }],
    });
    expect(await importRefunds(deps, older, { check: false, allowOlder: true })).toMatchObject({
      updated: 1,
    });
  });

  it('the same of a payout', async () => {
    const payout = (at: string): string => `${REQUEST},A1,"{""payment_amount"":""1.00""}",${at}`;
    const day1 = [file(PAYOUTS, payout(LATER))];
    await importPayouts(deps, day1, { check: false });
    expect(await importPayouts(deps, day1, { check: false })).toMatchObject({ unchanged: 1 });
    const older = [file(PAYOUTS, payout(PLACED))];
    expect(await importPayouts(deps, older, { check: false })).toMatchObject({
      problems: [{ line: 2, column: 'requested_at' }],
    });
    expect(await importPayouts(deps, older, { check: false, allowOlder: true })).toMatchObject({
      updated: 1,
    });
  });

  it('a later requested_at changes nothing, or what counts as history would be paid', async () => {
    const payout = (at: string): string => `${REQUEST},A1,"{""payment_amount"":""1.00""}",${at}`;
    await importPayouts(deps, [file(PAYOUTS, payout(PLACED))], { check: false });
    await importRefunds(deps, [file(REFUNDS, refund('Anna', PLACED))], { check: false });
    for (const allowOlder of [false, true]) {
      const how = { check: false, allowOlder };
      expect(await importPayouts(deps, [file(PAYOUTS, payout(LATER))], how)).toMatchObject({
        updated: 0,
        unchanged: 1,
      });
      await importRefunds(deps, [file(REFUNDS, refund(`Bert ${allowOlder}`, LATER))], how);
    }
    const { rows } = await db.query(
      `select requested_by, requested_at from ledger.refund_requests
       union all select null, requested_at from ledger.payout_requests`,
    );
    const requested_at = new Date(PLACED);
    expect(rows).toEqual([
      { requested_by: 'Bert true', requested_at },
      { requested_by: null, requested_at },
    ]);
  });
});
