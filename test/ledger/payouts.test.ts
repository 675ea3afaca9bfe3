// Imports of payout requests on a real database: by key, all lines or none, nothing ever changes.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { sandboxProfile } from '../../src/gateway/document/profile.js';
import { importPayouts } from '../../src/ledger/imports/importPayouts.js';
import type { ImportResult } from '../../src/ledger/imports/importResult.js';
import { formatImport } from '../../src/ledger/imports/importResult.js';
import { freshDatabase } from '../support/database.js';

const folder = mkdtempSync(join(tmpdir(), 'tieout-payouts-'));
const fresh = await freshDatabase();
const { db } = fresh;
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await fresh.drop();
});
beforeEach(() => db.query('truncate ledger.payout_requests, tieout.imported_files'));

const deps = {
  db,
  profile: sandboxProfile(),
  accounts: [{ merchantId: 'M1', accountId: 'A1', signingKey: 'k' }],
};
const ID = 'AAAAAAAA-0000-4000-8000-000000000001';
const PAYLOAD = { payment_amount: '120', beneficiary: { company_name: 'Süd: GmbH, "Co"' } };
const LINE = {
  request_id: ID,
  account_id: 'A1',
  payload: JSON.stringify(PAYLOAD),
  requested_at: '2026-11-19T08:30:00Z',
};

function payouts(...lines: Partial<Record<keyof typeof LINE, string>>[]): Promise<ImportResult> {
  const path = join(folder, 'payouts.ndjson');
  const texts = lines.map((line) => `${JSON.stringify({ ...LINE, ...line })}\n`);
  writeFileSync(path, texts.join(''));
  return importPayouts(deps, [path], { check: false });
}

const rows = async () =>
  (await db.query('select request_id, account_id, payload from ledger.payout_requests')).rows;

describe('tieout import payouts', () => {
  it('takes each request once, its payload as it is', async () => {
    expect(await payouts({})).toMatchObject({ kind: 'imported', inserted: 1 });
    expect(await payouts({})).toMatchObject({ inserted: 0, unchanged: 1 });
    expect(await rows()).toEqual([
      { request_id: ID.toLowerCase(), account_id: 'A1', payload: PAYLOAD },
    ]);
  });

  it('takes a payload that stands there as it is, to the last digit', async () => {
    const path = join(folder, 'nested.ndjson');
    const payload =
      '{ "amount" : 900000000000000010.10, "to": {"a,b": ["x:}", {"payload": null}]} }';
    const line = JSON.stringify({ ...LINE, payload: 0 }).replace(
      '"payload":0',
      `"payload":${payload}`,
    );
    writeFileSync(path, line);
    expect(await importPayouts(deps, [path], { check: false })).toMatchObject({ inserted: 1 });
    const kept = await db.query('select payload::text as text from ledger.payout_requests');
    expect(kept.rows).toEqual([
      { text: '{"to": {"a,b": ["x:}", {"payload": null}]}, "amount": 900000000000000010.10}' },
    ]);
  });

  it.each([
    ['of a number without bound', '{"iban":"DE00","amount":1e200000}', 'a number beyond'],
    ['of a number next to nothing', '{"iban":"DE00","amount":[-1.5E-30000]}', 'a number beyond'],
    ['of a number without end', `{"amount":1.${'0'.repeat(20_000)}1}`, 'a number beyond'],
    ['nested without end', `{"to":${'['.repeat(30_000)}${']'.repeat(30_000)}}`, 'nested'],
    ['an array', '["DE00"]', 'JSON of one object'],
    ['a number', '4900', 'JSON of one object'],
    ['given twice', '{"iban":"DE00"},"payload":{"iban":"DE00"}', 'gives a key twice'],
    ['of half a character', '{"iban":"DE00","reason":"\\ud83d"}', 'half a character'],
    ['named by half a character', '{"to":{"DE00\\ude00":"x"}}', 'half a character'],
    ['with a NUL in it', '{"to":[{"iban":"DE00\\u0000"}]}', 'has a NUL'],
    ['no JSON', '{"iban":"DE00"', 'is not valid JSON'],
  ])('refuses a payload that is %s, and does not show it', async (_, payload, reason) => {
    const path = join(folder, 'odd.ndjson');
    const line = JSON.stringify({ ...LINE, payload: 0 }).replace(
      '"payload":0',
      `"payload":${payload}`,
    );
    writeFileSync(path, line);
    const words = formatImport(await importPayouts(deps, [path], { check: false }));
    expect(words).toContain(reason);
    expect(words).not.toMatch(/DE00|4900/);
  });

  it('reads CSV too', async () => {
    const path = join(folder, 'payouts.csv');
    const quoted = `"${LINE.payload.replaceAll('"', '""')}"`;
    const text = `request_id,account_id,payload,requested_at\n${ID},A1,${quoted},2026-11-19 08:30Z\n`;
    writeFileSync(path, text);
    expect(await importPayouts(deps, [path], { check: false })).toMatchObject({ inserted: 1 });
    expect(await rows()).toMatchObject([{ payload: PAYLOAD }]);
  });

  it('refuses a change of what a request pays, and takes no line with it', async () => {
    await payouts({});
    const result = await payouts({ request_id: ID.replace(/1$/, '2') }, { payload: '{}' });
    expect(result).toMatchObject({ kind: 'refused', problems: [{ line: 2, column: 'payload' }] });
    expect(formatImport(result)).toContain('payload "(not shown)": a payout request never changes');
    expect(await rows()).toHaveLength(1);
  });

  it.each([
    ['request_id', '17', 'must be a UUID'],
    ['account_id', 'A 1 ', 'space'],
    ['payload', '[1]', 'JSON of one object'],
    ['payload', '{"iban": "DE00', 'JSON of one object'],
    ['requested_at', 'yesterday', 'ISO 8601'],
  ])('refuses %s %s', async (column, value, reason) => {
    const result = await payouts({ [column]: value });
    expect(result.kind).toBe('refused');
    const words = formatImport(result);
    expect(words).toContain(reason);
    // What a payload holds is nobody's business.
    expect(words).not.toContain('DE00');
  });
});
