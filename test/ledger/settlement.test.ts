// `tieout import settlement` on a real database: files of acquirers through maps, whole batches or
// nothing, and every bad file refused by name (docs/CONTRACT.md section 9).

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { loadColumnMap } from '../../src/config/mapFile.js';
import { packageRoot } from '../../src/database/statements.js';
import { sandboxProfile } from '../../src/gateway/document/profile.js';
import { importSettlement } from '../../src/ledger/settlement/importSettlement.js';
import {
  formatSettlement,
  type SettlementImport,
} from '../../src/ledger/settlement/settlementResult.js';
import { freshDatabase } from '../support/database.js';

const folder = mkdtempSync(join(tmpdir(), 'tieout-settlement-'));
const fresh = await freshDatabase();
const { db } = fresh;
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await fresh.drop();
});
beforeEach(() =>
  // What the acquirer said is never emptied, save by whoever owns the server.
  db.query(`set session_replication_role = replica;
    truncate tieout.settlement_files, tieout.settlement_batches, tieout.settlement_lines;
    set session_replication_role = origin`),
);

const deps = {
  db,
  profile: sandboxProfile(),
  accounts: [{ accountId: 'A1001' }, { accountId: 'A1002' }],
  since: { from: '2026-11-01', cutOff: '00:00', timezone: 'Europe/Berlin' },
};

const OWN = ['account_id', 'batch', 'type', 'booked_at', 'currency', 'amount', 'net', 'fee'];
const LINKS = ['line_id', 'order_no', 'transaction_id', 'reference'];
const HEADER = [...OWN, ...LINKS].join(',');
const DAY = '2026-11-19T10:00:00Z';
const CAPTURED = `A1001,134,captured,${DAY},EUR,100.00,98.35,1.65,L1,1001,T1,`;
const REFUNDED = `A1001,134,refunded,${DAY},EUR,-10.00,-10.00,,L2,1001,T1,R1`;
const FEE = `A1001,134,fee,${DAY},EUR,,-5.00,,L3,,,`;
const PAYOUT = `A1001,134,payout,${DAY},EUR,,-83.35,,L4,,,`;
const BATCH = [CAPTURED, REFUNDED, FEE, PAYOUT];

const mapFile = join(folder, 'own.yaml');
const columns = Object.fromEntries([...OWN, ...LINKS].map((name) => [name, { from: name }]));
writeFileSync(mapFile, JSON.stringify({ table: 'settlement', columns }));
const map = loadColumnMap(mapFile, 'settlement');

function file(name: string, ...lines: string[]): string {
  const path = join(folder, name);
  writeFileSync(path, [HEADER, ...lines, ''].join('\n'));
  return path;
}

const take = (...files: string[]): Promise<SettlementImport> =>
  importSettlement(deps, files, { map, check: false });

async function kept(): Promise<string[]> {
  const { rows } = await db.query<{ line: string }>(
    `select concat_ws(' ', batch, line_id, type, order_no, amount, gross, fee, net) as line
     from tieout.settlement_lines order by settlement_line_id`,
  );
  return rows.map(({ line }) => line);
}

async function counts(): Promise<number[]> {
  const { rows } = await db.query<{ files: bigint; batches: bigint; lines: bigint }>(
    `select (select count(*) from tieout.settlement_files) as files,
       (select count(*) from tieout.settlement_batches) as batches,
       (select count(*) from tieout.settlement_lines) as lines`,
  );
  return Object.values(rows[0] ?? {}).map(Number);
}

const refused = (line: number, column: string | null, reason: string) => ({
  kind: 'refused',
  problems: [expect.objectContaining({ line, column, reason: expect.stringContaining(reason) })],
});

describe('a batch', () => {
  it('is kept line by line with what it pays out, and again changes nothing', async () => {
    const first = await take(file('a.csv', ...BATCH));
    expect(first).toMatchObject({
      ...{ kind: 'imported', inserted: 4, updated: 0, unchanged: 0, skipped: 0, batchCount: 1 },
      warnings: [],
      batches: [
        {
          ...{ accountId: 'A1001', batch: '134', currency: 'EUR', payout: '83.35' },
          fate: 'inserted',
          sums: {
            captured: { lines: 1, gross: '100.00', fee: '1.65', net: '98.35' },
            payout: { lines: 1, net: '-83.35' },
          },
        },
      ],
    });
    expect(await kept()).toEqual([
      '134 L1 captured 1001 100.00 100.00 1.65 98.35',
      '134 L2 refunded 1001 -10.00 -10.00 0.00 -10.00',
      '134 L3 fee -5.00 -5.00 0.00 -5.00',
      '134 L4 payout -83.35 -83.35 0.00 -83.35',
    ]);
    // In another order, under another name: the same lines.
    const again = await take(file('b.csv', PAYOUT, FEE, CAPTURED, REFUNDED));
    expect(again).toMatchObject({ inserted: 0, unchanged: 4, batches: [{ fate: 'unchanged' }] });
    expect(await counts()).toEqual([1, 1, 4]);
    const { rows } = await db.query(
      'select name, accounts, lines, totals from tieout.settlement_files',
    );
    expect(rows).toEqual([
      {
        ...{ name: 'a.csv', accounts: ['A1001'], lines: 4n },
        totals: { EUR: { lines: 4, gross: '1.65', fees: '1.65', payout: '83.35' } },
      },
    ]);
  });

  it('whose lines have each other’s ids is another one', async () => {
    const one = (id: string, order: string) =>
      `A1001,7,captured,${DAY},EUR,10.00,10.00,,${id},${order},T${order},`;
    await take(file('a.csv', one('c1', '1001'), one('c2', '1002')));
    const again = await take(file('b.csv', one('c2', '1001'), one('c1', '1002')));
    expect(again).toMatchObject({ kind: 'refused' });
    expect(await counts()).toEqual([1, 1, 2]);
  });

  it.each([0, 10_001])('pays out its sum, some known, beside %i others', async (others) => {
    await take(file('a.csv', ...BATCH));
    await db.query(
      `insert into tieout.settlement_batches select 'A1', n, currency, file_id, 1, 0, 0, 0, false,
         $2, $2, '' from tieout.settlement_batches, generate_series(1, $1::int) n`,
      [others, DAY],
    );
    const other = CAPTURED.replace('A1001,134', 'A1002,134');
    const usd = CAPTURED.replace('134', '135').replace('EUR', 'USD').replace('L1', '');
    const result = await take(file('b.csv', ...BATCH, other, usd, usd));
    expect(result).toMatchObject({ inserted: 3, unchanged: 4, batchCount: 3 });
    const { rows } = await db.query<{ line: string }>(
      `select concat_ws(' ', account_id, batch, currency, lines, gross, fees, payout, has_payout)
         as line from tieout.settlement_batches where account_id <> 'A1' order by 1`,
    );
    expect(rows.map(({ line }) => line)).toEqual([
      'A1001 134 EUR 4 1.65 1.65 83.35 t',
      'A1001 135 USD 2 200.00 3.30 196.70 f',
      'A1002 134 EUR 1 100.00 1.65 98.35 f',
    ]);
    // Lines without an id of their own are numbered within their batch.
    expect((await kept()).slice(-2)).toEqual([
      '135 1 captured 1001 100.00 100.00 1.65 98.35',
      '135 2 captured 1001 100.00 100.00 1.65 98.35',
    ]);
    // A row of 135 twice is two lines, and one of them alone is another batch.
    expect(await take(file('c.csv', usd))).toMatchObject(refused(2, 'batch', 'was taken on'));
  });

  it('that was booked before settlement is kept is taken, and told as history', async () => {
    const old = BATCH.map((line) => line.replaceAll('2026-11-19T10:00', '2026-10-31T22:59'));
    const result = await take(file('old.csv', ...old));
    expect(result).toMatchObject({ inserted: 4 });
    expect(JSON.stringify(result)).toContain('4 booked before 2026-11-01 (settlement.from)');
    const [edge] = BATCH.map((line) => line.replaceAll('2026-11-19T10:00', '2026-10-31T23:00'));
    const next = (edge ?? '').replace('134', '136');
    expect(await take(file('new.csv', next))).toMatchObject({ warnings: [] });
  });

  it('is told by --check, and nothing is written', async () => {
    const result = await importSettlement(deps, [file('a.csv', ...BATCH)], { map, check: true });
    const text = formatSettlement(result);
    expect(text).toContain('check only, nothing was written: lines inserted 4');
    expect(text).toMatch(/A1001 batch 134: 4 lines, pays out 83\.35 EUR \(.*\); new$/m);
    expect(text).toContain('refunded 1: net -10.00');
    expect(await counts()).toEqual([0, 0, 0]);
  });

  it('is never altered afterwards', async () => {
    await take(file('a.csv', ...BATCH));
    for (const table of ['files', 'batches', 'lines']) {
      const change = db.query(`delete from tieout.settlement_${table}`);
      await expect(change).rejects.toThrow('is history');
    }
  });
});

describe('an import that dies', () => {
  it('at any statement has taken nothing, and goes through when it is tried again', async () => {
    const path = file('a.csv', ...BATCH);
    let deaths = 0;
    for (let last = 1; ; last += 1) {
      if ((await takeAndDie(path, last)) !== 'died') break;
      deaths += 1;
      expect(await counts()).toEqual([0, 0, 0]);
    }
    expect(deaths).toBeGreaterThan(5);
    expect(await counts()).toEqual([1, 1, 4]);
  });

  /** The statement of this number is not said any more, and the transaction is given up. */
  async function takeAndDie(path: string, number: number): Promise<string> {
    let said = 0;
    const dying: typeof db = {
      ...db,
      transaction: (work, limits) =>
        db.transaction(async (tx) => {
          const step = async (): Promise<void> => {
            said += 1;
            if (said === number) throw new Error('killed');
          };
          return work({
            ...tx,
            query: async (...given) => {
              await step();
              return tx.query(...given);
            },
            copy: async (...given) => {
              await step();
              return tx.copy(...given);
            },
          });
        }, limits),
    };
    const taken = importSettlement({ ...deps, db: dying }, [path], { map, check: false });
    return taken.then(
      ({ kind }) => kind,
      () => 'died',
    );
  }
});

describe('a file is refused whole', () => {
  it.each([
    ['another batch of the same name', [CAPTURED], refused(2, 'batch', 'from first.csv with 4')],
    [
      'a line more of a known batch',
      [...BATCH, FEE.replace('L3', 'L5')],
      {
        kind: 'refused',
        problems: [
          { line: 2, column: 'batch' },
          { line: 5, column: 'net' },
        ],
      },
    ],
  ])('with %s', async (_name, lines, expected) => {
    await take(file('first.csv', ...BATCH));
    const good = CAPTURED.replace('134', '200');
    const result = await take(file('second.csv', ...lines, good));
    expect(result).toMatchObject(expected);
    expect(await counts()).toEqual([1, 1, 4]);
  });

  it.each([
    ['that does not come to 0.00', [CAPTURED, PAYOUT], 3, 'net', 'come to 15.00, payout included'],
    ['with a line twice', [CAPTURED, CAPTURED], 3, 'line_id', 'is already in line 2'],
    ['with a line again', [CAPTURED, FEE, CAPTURED], 4, 'line_id', 'is already in line 2'],
    ['of an account not ours', [CAPTURED.replace('A1001', 'A9')], 2, 'account_id', 'is no'],
    ['with a bad sign', [CAPTURED.replace('100.00', '-100.00')], 2, 'amount', 'above 0'],
    ['of dinars', [CAPTURED.replace('EUR', 'KWD')], 2, 'currency', '3 decimals'],
    ['of yen with decimals', [CAPTURED.replace('EUR', 'JPY')], 2, 'net', 'no decimals'],
    ['with a huge cell', [CAPTURED.replace('L1', 'x'.repeat(1e6))], 2, 'line_id', 'longer than'],
    ['with a word that is no type', [CAPTURED.replace('captured', 'x')], 2, 'type', 'must be'],
    ['with a NUL', [CAPTURED.replace('L1', 'L\0')], 2, 'line_id', 'control'],
  ])('%s', async (_name, lines, line, column, reason) => {
    expect(await take(file('bad.csv', ...lines))).toMatchObject(refused(line, column, reason));
    expect(await counts()).toEqual([0, 0, 0]);
  });

  it('with a batch in two files', async () => {
    const one = file('one.csv', CAPTURED);
    const two = file('two.csv', REFUNDED);
    expect(await take(one, two)).toMatchObject(
      refused(2, 'batch', 'a batch comes whole in one file'),
    );
    expect(await counts()).toEqual([0, 0, 0]);
  });

  it('with the place in the second of two files, which go in many pieces', async () => {
    const ids = Array.from({ length: 2_600 }, (_, at) => `c${at}`);
    const one = file('one.csv', ...ids.map((id) => FEE.replace('L3', id)));
    const two = file('two.csv', ...[CAPTURED, CAPTURED].map((line) => line.replace('134', '9')));
    expect(await take(one, two)).toMatchObject(refused(3, 'line_id', 'is already in line 2'));
    expect(await take(one)).toMatchObject({ inserted: 2_600 });
    expect((await kept()).map((line) => line.split(' ')[1])).toEqual(ids);
  });

  it.each([
    ['empty', '', 'the file is empty'],
    ['of another acquirer', 'Company,Merchant\nx,y\n', 'names "Company", "Merchant": is the map'],
    ['an archive by its bytes', gzipSync('0'.repeat(1e7)), 'is compressed (gzip): unpack it'],
    ['a ZIP archive', Buffer.from('PK\x03\x04rest'), 'a ZIP archive or an Excel workbook'],
    ['an old workbook', Buffer.from('d0cf11e0a1b11ae1', 'hex'), 'is an Excel workbook'],
    ['a PDF', '%PDF-1.4\n', 'is a PDF'],
    ['UTF-16', Buffer.from(`\ufeff${HEADER}\n`, 'utf16le'), 'is UTF-16 text'],
    ['of a first line alone', `${HEADER}\n`, 'line 1: has no line below the first'],
    ['a page', '\n<!DOCTYPE html><html>sign in</html>\n', 'is a web page'],
    ['UTF-16 without a mark', Buffer.from(`${HEADER}\n`, 'utf16le'), 'encoding in a map: utf-16le'],
    ['another separator', `${HEADER.replaceAll(',', ';')}\n`, 'separator'],
  ])('that is %s', async (_name, content, reason) => {
    const path = join(folder, 'odd.csv');
    writeFileSync(path, content);
    const result = await take(path);
    expect(result.kind).toBe('refused');
    expect(formatSettlement(result)).toContain(reason);
  });

  it('and names at most twenty lines', async () => {
    const lines = Array.from({ length: 30 }, () => CAPTURED.replace('EUR', 'euro'));
    const result = await take(file('many.csv', ...lines));
    expect(formatSettlement(result)).toContain('stopped at 20 problems');
  });

  it('while lines that are booked far ahead are told', async () => {
    const ahead = CAPTURED.replace(/\d{4}-\d\d-\d\dT/, '2199-01-01T');
    expect(ahead).not.toBe(CAPTURED);
    expect(await take(file('ahead.csv', ahead, ...BATCH.slice(1)))).toMatchObject({
      kind: 'imported',
      warnings: ['1 booked more than 31 days ahead: is the year right?'],
    });
  });

  it('while one of which the map leaves every line out is told', async () => {
    const onlyWhen = { account_id: ['A1002'] };
    const result = await importSettlement(deps, [file('none.csv', CAPTURED)], {
      ...{ map: { ...map, onlyWhen }, check: false },
    });
    expect(result).toMatchObject({
      kind: 'imported',
      warnings: ['the file has no line to take', '1 left out by the map: account_id is A1001'],
    });
  });

  it('with one of two that has its first line alone, and then takes neither', async () => {
    expect(await take(file('full.csv', ...BATCH), file('none.csv'))).toMatchObject(
      refused(1, null, 'has no line below the first'),
    );
    expect(await counts()).toEqual([0, 0, 0]);
  });
});

describe('a file with lines about itself', () => {
  const trailer = { starts: '<END>', lines: 2, totals: { net: 3 } };
  const path = join(folder, 'framed.csv');
  const framedMap = join(folder, 'framed.yaml');
  const content = { ...{ table: 'settlement', headerLine: 3, trailer }, columns };
  writeFileSync(framedMap, JSON.stringify(content));
  const read = (...below: string[]) => {
    writeFileSync(path, ['Acquirer "X" Inc.', 'made,2026-11-20', HEADER, ...below, ''].join('\n'));
    const framed = loadColumnMap(framedMap, 'settlement');
    return importSettlement(deps, [path], { map: framed, check: false });
  };

  it('is taken where they hold', async () => {
    expect(await read(...BATCH, '<END>,4,0.00')).toMatchObject({ kind: 'imported', inserted: 4 });
    expect(await read('<END>,0,0.00')).toMatchObject({ kind: 'imported', inserted: 0 });
  });

  it.each([
    ['a line is missing', [CAPTURED, '<END>,2,98.35'], 5, '2', '1 were read'],
    ['the sum is another', [CAPTURED, '<END>,1,98.30'], 5, '98.30', 'it comes to 98.35'],
    ['a value of it is missing', [CAPTURED, '<END>,1'], 5, null, 'it comes to 98.35'],
    ['it is missing', [CAPTURED], 4, null, 'the file was cut off'],
    ['a line is below it', ['<END>,0,0.00', CAPTURED], 5, null, 'should be the last'],
  ])('and not where %s', async (_name, below, line, value, reason) => {
    const result = await read(...below);
    expect(result).toMatchObject({ kind: 'refused' });
    const said = result.kind === 'refused' ? result.problems : [];
    expect(said).toContainEqual(
      expect.objectContaining({
        line,
        value: value ?? said[0]?.value,
        reason: expect.stringContaining(reason),
      }),
    );
    expect(await counts()).toEqual([0, 0, 0]);
  });
});

describe('the maps of docs/maps', () => {
  const here = (...parts: string[]): string => join(packageRoot(), ...parts);
  it.each([
    ['adyen-settlement', ['A1001 134 EUR 9 payout 151.42']],
    ['stripe-payouts', ['A1001 po_1Q EUR 4 payout 100.00']],
    ['shopify-payments', ['A1001 140769394954 EUR 3 payout 100.00']],
  ])('read %s', async (name, batches) => {
    const options = { map: loadColumnMap(here('docs', 'maps', `${name}.yaml`), 'settlement') };
    const source = here('test', 'fixtures', 'settlement', `${name}.csv`);
    const result = await importSettlement(deps, [source], { ...options, check: false });
    expect(formatSettlement(result)).not.toContain('refused');
    const { rows } = await db.query<{ line: string }>(
      `select concat_ws(' ', account_id, batch, currency, lines, 'payout', payout) as line
       from tieout.settlement_batches order by 1`,
    );
    expect(rows.map(({ line }) => line)).toEqual(batches);
  });
});
