// The sandbox's settlement file as an acquirer's: read through the map that comes along, taken by the
// real import, batches that come to nothing, the same file again, and what is planted in it.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadColumnMap } from '../../src/config/mapFile.js';
import { sandboxProfile } from '../../src/gateway/document/profile.js';
import { importSettlement } from '../../src/ledger/settlement/importSettlement.js';
import type { Sandbox } from '../../src/sandbox/server.js';
import { freshDatabase } from '../support/database.js';
import { ACCOUNT, ACCOUNTS, startHere } from './startedSandbox.js';
import { batch, pay } from './wireClient.js';

const MAP = resolve(import.meta.dirname, '../../docs/maps/sandbox-settlement.yaml');
const folder = mkdtempSync(join(tmpdir(), 'tieout-settled-'));
const fresh = await freshDatabase();
let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startHere();
});
afterAll(async () => {
  await sandbox.close();
  rmSync(folder, { recursive: true, force: true });
  await fresh.drop();
});

async function fileOf(query = ''): Promise<string> {
  const answer = await fetch(`${sandbox.baseUrl}/_sandbox/settlement${query}`);
  expect(answer.status).toBe(200);
  return answer.text();
}

function take(text: string, check = false) {
  const file = join(folder, 'settlement.csv');
  writeFileSync(file, text);
  const since = { from: '2026-01-01', cutOff: '00:00', timezone: 'UTC' };
  const deps = { db: fresh.db, profile: sandboxProfile(), accounts: ACCOUNTS, since };
  return importSettlement(deps, [file], { map: loadColumnMap(MAP, 'settlement'), check });
}

type Line = Record<'account' | 'type' | 'order' | 'transaction' | 'currency' | 'amount', string>;

function linesOf(text: string): Line[] {
  return text
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => {
      const [
        account = '',
        ,
        ,
        type = '',
        ,
        order = '',
        transaction = '',
        ,
        currency = '',
        amount = '',
      ] = line.split(',');
      return { account, type, order, transaction, currency, amount };
    });
}

describe('GET /_sandbox/settlement', () => {
  it('is taken as a whole, again without a change, and goes on with the next day', async () => {
    const before = await fileOf();
    expect(await take(before)).toMatchObject({
      kind: 'imported',
      inserted: before.trimEnd().split('\n').length - 1,
      warnings: [],
    });
    const entry = await pay(sandbox.baseUrl, ACCOUNT, 'X-1', '10.00');
    await batch(sandbox.baseUrl, ACCOUNT, 'capture', [entry]);
    await batch(sandbox.baseUrl, ACCOUNT, 'refund', [{ ...entry, refund_amount: '2.50' }]);
    expect(await fileOf()).toBe(before);
    const later = await fileOf('?until=2026-11-20');
    const mine = linesOf(later).filter(({ order }) => order === 'X-1');
    expect(mine.map(({ type, amount }) => `${type} ${amount}`)).toEqual([
      'captured 10.00',
      'refunded -2.50',
    ]);
    expect(await take(later)).toMatchObject({ kind: 'imported', inserted: 3 });
  });

  it('plants each kind of difference, the same again, and is still a file that is taken', async () => {
    const [sound, spoilt] = [await fileOf(), await fileOf('?differences=1')];
    expect(await fileOf('?differences=1')).toBe(spoilt);
    expect(await take(spoilt, true)).toMatchObject({ kind: 'refused' });
    const counts = new Map<string, number>();
    for (const { transaction } of linesOf(sound)) {
      counts.set(transaction, (counts.get(transaction) ?? 0) + 1);
    }
    const strange = linesOf(spoilt).filter(({ transaction }) => !counts.has(transaction));
    expect(strange.length).toBeGreaterThan(0);
    expect(linesOf(spoilt).some(({ type }) => type === 'chargeback')).toBe(true);
    await fresh.db.query(
      `alter table tieout.settlement_lines disable trigger all;
       alter table tieout.settlement_batches disable trigger all;
       alter table tieout.settlement_files disable trigger all;
       delete from tieout.settlement_lines; delete from tieout.settlement_batches;
       delete from tieout.settlement_files`,
    );
    expect(await take(spoilt, true)).toMatchObject({ kind: 'imported', warnings: [] });
  });

  it('takes the fee that the demo has as its tariff, half up', async () => {
    const lines = (await fileOf()).split('\n').map((line) => line.split(','));
    const captured = lines.filter(([, , , type]) => type === 'captured');
    const whole = captured.filter(([, , , , , , , , currency]) => currency === 'JPY');
    const agreed = (amount = '') => Math.round(Number(amount) * 1.4 + 1e-6);
    const wrong = captured.filter((line) => {
      const [amount, fee] = [line[9], Math.round(Number(line[10]) * 100)];
      return whole.includes(line)
        ? fee !== Math.round(agreed(amount) / 100 + 1e-6) * 100
        : fee !== agreed(amount) + 25;
    });
    expect(captured.length).toBeGreaterThan(100);
    expect(whole.length).toBeGreaterThan(0);
    expect(wrong).toEqual([]);
  });

  it('has whole units alone where the currency has no decimals', async () => {
    const whole = (await fileOf()).split('\n').filter((line) => line.includes(',JPY,'));
    for (const line of whole) expect(line).toMatch(/\.00,-?\d+\.00,-?\d+\.00$/);
  });

  it('refuses what is no date', async () => {
    const answer = await fetch(`${sandbox.baseUrl}/_sandbox/settlement?until=tomorrow`);
    expect(answer.status).toBe(400);
  });
});
