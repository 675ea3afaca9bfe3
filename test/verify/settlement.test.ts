// What the acquirer said is sealed with the import that took it: whoever owns the database and edits,
// removes or adds a line, a batch or a file behind the program's back is found by `verify`.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadColumnMap } from '../../src/config/mapFile.js';
import { copyText } from '../../src/database/copy/copyText.js';
import type { Tx } from '../../src/database/db.js';
import { rolledBack } from '../../src/database/rolledBack.js';
import { sandboxProfile } from '../../src/gateway/document/profile.js';
import { importSettlement, takeSettlement } from '../../src/ledger/settlement/importSettlement.js';
import { HOUSE_CHAIN, sealAccounts } from '../../src/runs/runRecordStore.js';
import { checkChain, isWhole } from '../../src/verify/verifyChainStore.js';
import { freshDatabase } from '../support/database.js';

const folder = mkdtempSync(join(tmpdir(), 'tieout-sealed-'));
const fresh = await freshDatabase();
const { db } = fresh;
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await fresh.drop();
});

const COLUMNS = [
  ...['account_id', 'batch', 'type', 'booked_at', 'currency', 'amount', 'net', 'fee'],
  ...['line_id', 'order_no', 'transaction_id'],
];
const ACCOUNTS = ['A1', 'A2'];
const DAY = '2026-11-19T10:00:00Z';

/** A batch of a capture and a refund in each currency, which pays out its sum. */
function batch(account: string, name: string, ...currencies: string[]): string[] {
  const head = `${account},${name}`;
  return currencies.flatMap((currency, at) => [
    `${head},captured,${DAY},${currency},100.00,98.00,2.00,c${at},1${at},T${at}`,
    `${head},refunded,${DAY},${currency},-10.00,-10.00,0.00,r${at},1${at},T${at}`,
  ]);
}

async function take(name: string, lines: readonly string[], inside?: Tx): Promise<void> {
  const file = join(folder, name);
  writeFileSync(file, [COLUMNS.join(','), ...lines, ''].join('\n'));
  const mapFile = join(folder, 'map.yaml');
  const columns = Object.fromEntries(COLUMNS.map((column) => [column, { from: column }]));
  writeFileSync(mapFile, JSON.stringify({ table: 'settlement', columns }));
  const deps = {
    ...{ db, profile: sandboxProfile(), accounts: ACCOUNTS.map((accountId) => ({ accountId })) },
    since: { from: '2026-11-01', cutOff: '00:00', timezone: 'UTC' },
  };
  const map = loadColumnMap(mapFile, 'settlement');
  const options = { map, check: false };
  const result = inside
    ? await takeSettlement(deps, inside, [file], options)
    : await importSettlement(deps, [file], options);
  expect(result).toMatchObject({ kind: 'imported', inserted: lines.length });
}

beforeAll(async () => {
  await take('one.csv', [...batch('A1', '1', 'EUR', 'USD'), ...batch('A1', '2', 'EUR')]);
  await take('two.csv', [...batch('A1', '3', 'EUR'), ...batch('A2', '1', 'EUR')]);
});

const check = (tx: Pick<Tx, 'query'> = db) => checkChain(tx as never, () => {});

/** What `verify` finds after statements of an owner who has switched the guards off. */
function tampered(statement: string) {
  return rolledBack(db, async (tx) => {
    await tx.query('set local session_replication_role = replica');
    await tx.query(statement);
    return check(tx);
  });
}

it('is sealed as soon as it is taken: a link for each file, and one for its batches', async () => {
  const found = await check();
  expect(found).toMatchObject({ broken: [], unsealed: [], disagreements: [] });
  expect(isWhole(found)).toBe(true);
  const { rows } = await db.query<{ link: string }>(
    `select concat_ws(' ', account_id, what, facts) as link from tieout.chain_links
     order by account_id, link_no`,
  );
  expect(rows.map(({ link }) => link)).toEqual([
    ...[' file 1', ' file 1', 'A1 settlement 3', 'A1 settlement 1', 'A2 settlement 1'],
  ]);
});

const LINE = `where batch = '1' and account_id = 'A1' and line_id = 'c0'`;

describe('with the guards switched off', () => {
  it.each([
    // What it comes to stays the same.
    ...['order_no', 'transaction_id', 'line_id'].map((column) => [
      `the ${column} of a line is another`,
      `update tieout.settlement_lines set ${column} = 'x' ${LINE}`,
    ]),
    ['a line has a reference', `update tieout.settlement_lines set reference = 'R' ${LINE}`],
    ['a line is of another type', `update tieout.settlement_lines set type = 'reserve' ${LINE}`],
    [
      'a line was booked later',
      `update tieout.settlement_lines set booked_at = booked_at + '1us' ${LINE}`,
    ],
    ['a line stood elsewhere', `update tieout.settlement_lines set line_no = line_no + 1 ${LINE}`],
    ['an order was charged more', `update tieout.settlement_lines set amount = 101 ${LINE}`],
    [
      'two fees changed places',
      `update tieout.settlement_lines set fee = 2.00 - fee, net = gross - 2.00 + fee
       where account_id = 'A1' and batch = '1' and settle_currency = 'EUR'`,
    ],
    ['the digest of a batch is another', `update tieout.settlement_batches set digest = 'x'`],
    ['a payout is another', 'update tieout.settlement_batches set payout = payout + 1'],
  ])('%s: found', async (_name, statement) => {
    const found = await tampered(statement);
    expect(isWhole(found)).toBe(false);
    expect(found.broken[0]).toMatchObject({ accountId: 'A1', linkNo: 1n, what: 'settlement' });
    expect(found.broken[0]?.reason).toMatch(/at least one was changed$/);
    expect(found.disagreements).toEqual([]);
  });

  const WAS = '2 lines: 90.00 less fees of 2.00';
  it.each([
    [
      'a fee is smaller',
      `update tieout.settlement_lines set fee = 1, net = 99 ${LINE}`,
      ...['2 lines: 90.00 less fees of 1.00', WAS],
    ],
    [
      'a line is gone',
      `delete from tieout.settlement_lines ${LINE}`,
      ...['1 lines: -10.00 less fees of 0.00', WAS],
    ],
    [
      'all lines are gone',
      `delete from tieout.settlement_lines
       where account_id = 'A1' and batch = '1' and currency = 'EUR'`,
      ...['without lines', WAS],
    ],
    [
      'a line was added',
      `insert into tieout.settlement_lines (account_id, batch, line_id, line_no, type, booked_at,
         currency, amount, settle_currency, gross, fee, net)
       select account_id, batch, 'new', 9, type, booked_at, currency, amount, settle_currency,
         gross, fee, net from tieout.settlement_lines ${LINE}`,
      ...['3 lines: 190.00 less fees of 4.00', WAS],
    ],
  ])('%s: found, with the batch', async (_name, statement, state, history) => {
    const found = await tampered(statement);
    expect(found.broken).toMatchObject([{ accountId: 'A1', linkNo: 1n, what: 'settlement' }]);
    expect(found.disagreements).toEqual([
      { accountId: 'A1', orderNo: null, what: 'batch 1 in EUR', state, history },
    ]);
  });

  it('lines of a batch that was never taken are found', async () => {
    const found = await tampered(
      `insert into tieout.settlement_lines (account_id, batch, line_id, line_no, type, booked_at,
         currency, amount, settle_currency, gross, fee, net)
       select account_id, 'X', line_id, 9, type, booked_at, currency, amount, settle_currency,
         gross, fee, net from tieout.settlement_lines ${LINE}`,
    );
    expect(found.broken).toEqual([]);
    expect(found.disagreements).toMatchObject([{ what: 'batch X in EUR', history: null }]);
    expect(isWhole(found)).toBe(false);
  });

  it.each([
    ['a batch is gone', `delete from tieout.settlement_batches where batch = '2'`, 'A1'],
    [
      'a batch and all that is of it is gone',
      `delete from tieout.settlement_batches where batch = '2';
       delete from tieout.settlement_lines where batch = '2'`,
      'A1',
    ],
    ['a file has another name', `update tieout.settlement_files set name = 'x.csv'`, HOUSE_CHAIN],
    ['a file has other bytes', `update tieout.settlement_files set sha256 = ''`, HOUSE_CHAIN],
    ['a file is gone', `delete from tieout.settlement_files where name = 'one.csv'`, HOUSE_CHAIN],
  ])('%s: found', async (_name, statement, accountId) => {
    const found = await tampered(statement);
    expect(found.broken).toMatchObject([{ accountId, linkNo: 1n }]);
    expect(isWhole(found)).toBe(false);
  });
});

it.each(['settlement_files', 'settlement_batches', 'settlement_lines'])(
  'with the guards on %s is refused any change',
  async (relation) => {
    const change = relation === 'settlement_files' ? 'lines = 7' : `account_id = 'A3'`;
    await expect(db.query(`update tieout.${relation} set ${change}`)).rejects.toThrow(/history/);
    await expect(db.query(`delete from tieout.${relation}`)).rejects.toThrow(/history/);
  },
);

/** Times of other zones and of less than a second, ids that COPY escapes, lines between each other's. */
function oddLines(): string[] {
  const times = [
    '2026-11-19T12:00:00.25+02:00',
    '2026-11-19T23:30:00-05:30',
    `${DAY.slice(0, 16)}Z`,
  ];
  return Array.from({ length: 2_101 }, (_, at) => {
    const [head, booked] = [`A1,${at % 3 === 0 ? 'o\\N' : 'ö|1'}`, times[at % 3]];
    const currency = at % 2 === 0 ? 'EUR' : 'USD';
    const order = at % 5 === 0 ? '' : `\\${at}é`;
    return `${head},captured,${booked},${currency},1.5,1.50,-0.00,\\t${at},${order},T${at}`;
  });
}

it('the digest of lines as they came is that of the lines that are there', async () => {
  await rolledBack(db, async (tx) => {
    await take('odd.csv', oddLines(), tx);
    const { rows } = await tx.query<{ digest: string; found: string }>(
      `select digest, tieout.copied_lines_sha256(account_id, batch, currency) as found
       from tieout.settlement_batches where lines > 2`,
    );
    expect(rows).toHaveLength(4);
    for (const { digest, found } of rows) expect(digest).toBe(found);
    // An editor makes no line of two, nor two of one, by what parts lines and columns.
    const odd = 'a\\b\bc\td\ne\vf\fg\r';
    const { rows: copied } = await tx.query('select tieout.copied($1) as text', [odd]);
    expect(copied).toEqual([{ text: copyText(odd) }]);
    expect(await check(tx)).toMatchObject({ broken: [], unsealed: [], disagreements: [] });
    await tx.query('set local session_replication_role = replica');
    await tx.query(`update tieout.settlement_lines set line_id = 'x' where line_id = '\\t2100'`);
    expect((await check(tx)).broken).toMatchObject([{ accountId: 'A1', what: 'settlement' }]);
  });
});

it('of very many batches some are sealed as their lines are read again', async () => {
  const lines = Array.from({ length: 1_003 }, (_, at) => batch('A1', `many${at}`, 'EUR')[0] ?? '');
  await rolledBack(db, async (tx) => {
    await take('many.csv', lines, tx);
    const { rows } = await tx.query<{ none: number }>(
      `select (count(*) filter (where digest = ''))::int as none from tieout.settlement_batches`,
    );
    expect(rows).toEqual([{ none: 3 }]);
    expect(await check(tx)).toMatchObject({ broken: [], unsealed: [], disagreements: [] });
  });
});

it('a batch that was sealed before digests were made as lines come is still worked out', async () => {
  await rolledBack(db, async (tx) => {
    await tx.query('set local session_replication_role = replica');
    await tx.query(`delete from tieout.chain_links; delete from tieout.chain_heads;
      update tieout.settlement_files set link_id = null;
      update tieout.settlement_batches set link_id = null, digest = ''`);
    await tx.query('set local session_replication_role = origin');
    await sealAccounts(tx as never, [...ACCOUNTS, HOUSE_CHAIN], '2026-11-20');
    expect(await check(tx)).toMatchObject({ links: 3, broken: [], unsealed: [] });
    await tx.query('set local session_replication_role = replica');
    await tx.query(`update tieout.settlement_lines set order_no = 'x' ${LINE}`);
    expect((await check(tx)).broken).toMatchObject([{ accountId: 'A1', what: 'settlement' }]);
  });
});

it('what was taken before there were links is told, and sealed by the next run', async () => {
  await rolledBack(db, async (tx) => {
    await tx.query('set local session_replication_role = replica');
    await tx.query(`delete from tieout.chain_links; delete from tieout.chain_heads;
      update tieout.settlement_files set link_id = null;
      update tieout.settlement_batches set link_id = null`);
    await tx.query('set local session_replication_role = origin');
    const before = await check(tx);
    expect(before.unsealed).toMatchObject([
      { accountId: HOUSE_CHAIN, what: 'file', facts: 2, strayed: 0 },
      { accountId: 'A1', what: 'settlement', facts: 4, strayed: 0 },
      { accountId: 'A2', what: 'settlement', facts: 1, strayed: 0 },
    ]);
    expect(isWhole(before)).toBe(true);
    await sealAccounts(tx as never, [...ACCOUNTS, HOUSE_CHAIN], '2026-11-20');
    expect(await check(tx)).toMatchObject({ links: 3, broken: [], unsealed: [] });
  });
});
