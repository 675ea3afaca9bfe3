// `tieout export outcomes`: what a night did, in order, resumable, as NDJSON,
// CSV or one JSON document.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sayPutBack } from '../../src/send/journal/putBacksStore.js';
import { tieoutHere } from '../support/cliHere.js';
import type { House } from '../support/night.js';
import { buildHouse } from '../support/night.js';

interface Told {
  seq: number;
  account_id: string;
  order_no: string;
  operation: string;
  amount: string;
  state: string;
}

describe('tieout export outcomes', () => {
  let house: House;
  const run = (...args: string[]) =>
    tieoutHere(['export', 'outcomes', ...args], { cwd: house.folder });
  const lines = (text: string): Told[] =>
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Told);

  beforeAll(async () => {
    house = await buildHouse({ orders: 200, seed: 5 });
    await house.run();
  });
  afterAll(() => house.end());

  it('tells every movement of money that the gateway made, numbered from 1', async () => {
    const ended = await tieoutHere(['export', 'outcomes'], { cwd: house.folder });
    expect(ended.code, ended.stderr).toBe(0);
    const told = lines(ended.stdout);
    expect(told.map((row) => row.seq)).toEqual(told.map((_, index) => index + 1));
    const confirmed = told
      .filter((row) => row.state === 'confirmed' && row.operation !== 'review')
      .map((row) => `${row.operation} ${row.account_id} ${row.order_no} ${row.amount}`);
    const effects = (await house.effects())
      .filter((one) => ['capture', 'cancel', 'refund'].includes(one.operation))
      .map(
        (one) =>
          `${one.operation} ${one.account_id} ${one.order_no} ${one.refund_amount ?? one.amount}`,
      );
    expect(effects.length).toBeGreaterThan(5);
    expect(confirmed.sort()).toEqual(effects.sort());
  });

  it('goes on after the number it is given', async () => {
    const all = lines((await run()).stdout);
    const later = lines((await run('--after', '3')).stdout);
    expect(later).toEqual(all.slice(3));
    expect(lines((await run('--after', String(all.length))).stdout)).toEqual([]);
  });

  it('says so to a reader that is ahead of a database that was put back', async () => {
    const last = lines((await run()).stdout).length;
    const ahead = ['--after', String(last + 50)];
    expect(await run(...ahead)).toMatchObject({ code: 0, stdout: '' });
    // As versions before this one have it on record, from which nothing was skipped.
    await house.db.query(
      `insert into tieout.brakes (kind, is_on, reason, by, is_claim, found)
       values ('put_back', false, 'it changed over', 'tieout', false, '{"putBack": {}}')`,
    );
    const ended = await run(...ahead);
    expect([ended.code, ended.stdout]).toEqual([1, '']);
    expect(ended.stderr).toMatch(
      new RegExp(`next outcome is ${last + 1}\\. The database was put back .* --after ${last},`),
    );
    expect((await run('--after', String(last))).code).toBe(0);
  });

  it('prints one document with --json', async () => {
    const all = lines((await run()).stdout);
    const document = JSON.parse((await run('--json', '--after', '2')).stdout);
    expect(document).toEqual({ after: 2, last: all.length, outcomes: all.slice(2) });
  });

  it('writes a file, and never over one that is there', async () => {
    const ended = await run('--format', 'csv', '--out', 'told.csv');
    expect(ended.code, ended.stderr).toBe(0);
    const rows = parse(readFileSync(join(house.folder, 'told.csv')), { columns: true }) as Told[];
    expect(rows.map((row) => Number(row.seq))).toEqual(
      lines((await run()).stdout).map((row) => row.seq),
    );
    const again = await run('--format', 'csv', '--out', 'told.csv');
    expect(again.code).toBe(1);
    expect(again.stderr).toMatch(/^tieout: .*told\.csv exists already; [^\n]*\n$/);
    const nowhere = await run('--out', 'no-folder/told.csv');
    expect(nowhere.code).toBe(1);
    expect(nowhere.stderr).toMatch(/^tieout: .*told\.csv cannot be written: [^\n]*\n$/);
    expect(existsSync(join(house.folder, 'told.csv'))).toBe(true);
  });

  it.each(['x', '-1', '1.5', '1e3'])('refuses --after %s', async (after) => {
    const ended = await run(`--after=${after}`);
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain('--after');
  });

  it('goes on far behind what was lost: a reader who was ahead has nothing to do', async () => {
    const last = lines((await run()).stdout).length;
    const ahead = ['--after', String(last + 50)];
    await house.db.transaction((tx) => sayPutBack(tx, 'it changed over'));
    expect(await run(...ahead)).toMatchObject({ code: 0, stdout: '' });
    await house.db.query(
      `insert into tieout.outcome_rows (instruction_id, account_id, operation, state, at)
       select instruction_id, account_id, operation, 'unknown', now() from tieout.instructions
       order by instruction_id limit 2`,
    );
    const [first, second, ...more] = lines((await run(...ahead)).stdout);
    expect([first?.state, second?.state, more]).toEqual(['unknown', 'unknown', []]);
    expect(first?.seq).toBeGreaterThan(last + 1_000_000);
    expect(second?.seq).toBe((first?.seq ?? 0) + 1);
    // One that is ahead of that, too, reads another database.
    expect((await run('--after', String((second?.seq ?? 0) + 1))).code).toBe(1);
  });
});
