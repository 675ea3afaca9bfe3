// The settlement report over facts as nights and imports write them: every figure of its first
// sheet against the figures of `tieout settlement`, every formula worked out again, months that lead
// from one to the next, and a check that turns red for each thing that may be wrong. Read by a
// reader that shares no code with what wrote it.

import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { addAmounts } from '../../src/core/money.js';
import { periodOf } from '../../src/core/period.js';
import type { OpenItemRow } from '../../src/core/settlement/settlementReport.js';
import { openItemsOf, settlementBreaks } from '../../src/report/settlement/settlementRowsStore.js';
import { writeSettlementReport } from '../../src/report/settlement/writeSettlementReport.js';
import { evaluateAll } from '../reports/evaluate.js';
import { openXlsx } from '../reports/openXlsx.js';
import type { PlainBook } from '../reports/plainReader.js';
import { readPlainly } from '../reports/plainReader.js';
import { ABOUT } from '../reports/sampleRun.js';
import {
  ACCOUNTS,
  db,
  figures,
  moved,
  ownFacts,
  rules,
  settle,
  settled,
} from '../settlement/facts.js';

ownFacts();

const folder = mkdtempSync(join(tmpdir(), 'tieout-settlement-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

const TARIFF = [
  {
    ...{ account_id: 'A1', type: 'captured', parts_per_million: '14000', fixed: { EUR: '0.25' } },
    ...{ from: '2026-11-01', until: null, tolerance: '0.01' },
  },
];
const RULES = { ...rules, fees: { ...rules.fees, tariff: TARIFF } };

let files = 0;

async function report(name: string, over: Partial<typeof RULES> = {}): Promise<string> {
  files += 1;
  const path = join(folder, `${files}.xlsx`);
  const period = periodOf(name);
  if (period === null) throw new Error(name);
  const about = { ...ABOUT, businessDate: '2026-11-20', timezone: 'UTC' };
  const asked = { rules: { ...RULES, ...over }, accountIds: ACCOUNTS, left: [], period, about };
  await writeSettlementReport(db, path, asked);
  return path;
}

/** The lines of a section of the first sheet by heading, until the next empty one. */
function section(book: PlainBook, title: string): Record<string, string>[] {
  const rows = book.sheets[0]?.rows ?? [];
  const at = rows.findIndex((row) => row[0]?.value.startsWith(title));
  if (at < 0) throw new Error(`no section ${title}`);
  const heads = rows[at + 1]?.map(({ value }) => value) ?? [];
  const found: Record<string, string>[] = [];
  for (const row of rows.slice(at + 2)) {
    const line = new Map(row.map((cell) => [cell.ref.replace(/\d+/, ''), cell.value]));
    if (row.length < 3 || line.get('B') === '') break;
    found.push(Object.fromEntries(heads.map((head, i) => [head, line.get(letter(i)) ?? ''])));
  }
  return found;
}

const letter = (index: number): string => String.fromCharCode(65 + index);

async function checked(path: string): Promise<PlainBook> {
  const wrong = evaluateAll(await openXlsx(path)).filter((one) => one.stored !== one.workedOut);
  expect(wrong).toEqual([]);
  return readPlainly(path);
}

const verdict = (book: PlainBook): string =>
  book.sheets[0]?.rows.flat().find(({ formula }) => formula?.includes('All checks'))?.value ?? '';
const cents = (text: string | undefined): string => Number(text).toFixed(2);

/** Two months with everything that a book may hold. */
async function twoMonths(): Promise<void> {
  await moved(
    { order: '1', amount: '100.00', on: '2026-11-03' },
    { order: '2', amount: '50.00', on: '2026-11-05' },
    { order: '3', amount: '70.00', on: '2026-11-18' },
    { order: '4', amount: '30.00', on: '2026-12-01' },
    { order: '5', amount: '900', on: '2026-11-19', currency: 'JPY' },
    { order: '1', kind: 'refunded', amount: '10.00', on: '2026-11-19', reference: 'R1' },
    { order: '2', kind: 'refunded', amount: null, on: '2026-11-19', reference: 'R2' },
    { order: '9', amount: '999.00', on: '2026-11-01', history: true },
  );
  await settled(
    { order: '1', amount: '100.00', fee: '1.65', on: '2026-11-06' },
    { order: '2', amount: '49.00', fee: '3.00', on: '2026-11-06' },
    { type: 'chargeback', order: '1', amount: '-100.00', fee: '15.00', on: '2026-11-07' },
    { type: 'reserve', order: null, amount: '-5.00', on: '2026-11-07' },
  );
  // Settled before the look that saw it, and in the next month only then.
  await settled({ order: '4', amount: '30.00', fee: '0.67', on: '2026-11-30' });
  await settled(
    { type: 'refunded', order: '1', amount: '-10.00', reference: 'R1', on: '2026-12-02' },
    { order: 'nowhere', amount: '7.00', on: '2026-12-02' },
  );
  await settle(RULES);
}

describe('the settlement report', () => {
  test('of a date comes to what tieout settlement says, in every book', async () => {
    await twoMonths();
    const book = await checked(await report('2026-12-31'));
    const [account] = (await figures()).accounts;
    const gateway = section(book, 'At the gateway');
    expect(
      gateway.map((row) => ({
        currency: row.Currency,
        captured: addAmounts(cents(row['Captured here']), cents(row['Captured elsewhere'])),
        refunded: addAmounts(cents(row['Refunded here']), cents(row['Refunded elsewhere'])),
        settled: cents(row.Settled),
        closing: cents(row.Closing),
        suspense: Number(row['In suspense']),
      })),
    ).toEqual(account?.atGateway);
    expect(gateway.every((row) => cents(row.Opening) === '0.00')).toBe(true);
    expect(
      section(book, 'Payable').map((row) => ({
        currency: row.Currency,
        ...{ gross: cents(row.Gross), fees: cents(row.Fees), other: cents(row.Other) },
        ...{ chargebacks: cents(row.Chargebacks), paidOut: cents(row['Paid out']) },
        closing: cents(row.Closing),
      })),
    ).toEqual(account?.payable);
    expect(
      section(book, 'To arrive').map((row) => ({
        ...{ currency: row.Currency, paidOut: cents(row['Paid out']) },
        ...{ arrived: cents(row.Arrived), closing: cents(row.Closing) },
      })),
    ).toEqual(account?.bank);
    expect(verdict(book)).toBe('All checks on this sheet tie');
  });

  test('lists a batch that is settled and not paid out at the end of a date', async () => {
    await settled(
      { order: '1', amount: '100.00', fee: '1.65', on: '2026-11-06' },
      { order: '2', amount: '50.00', fee: '0.95', on: '2026-11-09' },
    );
    const before = await checked(await report('2026-11-06'));
    const [payable] = section(before, 'Payable');
    expect(payable).toMatchObject({ Gross: '100', 'Paid out': '0', Closing: '98.35' });
    expect(section(before, 'At the gateway')[0]).toMatchObject({ Settled: '100' });
    const after = await checked(await report('2026-11-09'));
    expect(section(after, 'Payable')[0]).toMatchObject({ 'Paid out': '147.4', Closing: '0' });
    expect([before, after].map(verdict)).toEqual(Array(2).fill('All checks on this sheet tie'));
  });

  test('of a month opens with what the month before closed with', async () => {
    await twoMonths();
    const november = await checked(await report('2026-11'));
    const december = await checked(await report('2026-12'));
    for (const title of ['At the gateway', 'Payable', 'To arrive']) {
      const closings = section(november, title).map((row) => [row.Currency, cents(row.Closing)]);
      const openings = section(december, title).map((row) => [row.Currency, cents(row.Opening)]);
      expect(openings, title).toEqual(closings);
    }
    const whole = await checked(await report('2026-12-31'));
    for (const title of ['At the gateway', 'Payable', 'To arrive']) {
      const closings = (book: PlainBook) => section(book, title).map((row) => row.Closing);
      expect(closings(december), title).toEqual(closings(whole));
    }
    expect([november, december].map(verdict)).toEqual(
      Array(2).fill('All checks on this sheet tie'),
    );
    // The line that came before the look counts with what it settles: no month opens below zero.
    const items = await listed('2026-11-30');
    expect(items.filter((item) => item.startsWith('4 '))).toEqual([]);
    const [opened] = section(december, 'At the gateway');
    expect(opened).toMatchObject({ Opening: '61', 'Captured elsewhere': '30' });
    expect((await listed('2026-12-31')).filter((item) => item.startsWith('4 '))).toEqual([]);
  });

  test('lists each open item with its age, and its sums by age are the closing', async () => {
    await twoMonths();
    expect(await listed('2026-12-31')).toEqual([
      '2 captured 1.00 2026-11-05',
      '3 captured 70.00 2026-11-18',
      '2 refunded 0.00 2026-11-19 suspense',
      'nowhere settled captured -7.00 2026-12-02',
      '5 captured 900.00 2026-11-19',
    ]);
    const book = await checked(await report('2026-12-31'));
    const [eur] = section(book, 'Open items by age');
    expect(eur).toMatchObject({ Book: 'At the gateway', '2 to 7 days': '70', All: '64' });
    const sheet = book.sheets.find(({ name }) => name === 'Open items');
    expect(sheet?.rows.flat().filter(({ value }) => value === 'overdue')).toEqual([]);
  });

  test('says what the fees were, what was agreed, and draws them', async () => {
    await twoMonths();
    const path = await report('2026-12-31');
    const book = await checked(path);
    const [eur] = section(book, 'Fees and chargebacks');
    // 1.65 and 0.67 are as agreed; of 49.00 0.94 was, and 3.00 was taken.
    expect(eur).toMatchObject({
      ...{ 'Captured gross': '186', 'Fees listed': '20.32', Agreed: '3.61' },
      ...{
        'Effective rate (%)': '10.92',
        Variance: '1.71',
        'No tariff': '15',
        'Chargebacks listed': '100',
      },
    });
    expect([...book.parts.keys()].filter((name) => name.includes('chart'))).not.toEqual([]);
  });

  test('counts a payout of a file in a column of its own, never in its gross', async () => {
    await settled(
      { order: '1', amount: '100.00', fee: '1.65', on: '2026-11-06' },
      { type: 'payout', order: null, amount: '-98.35', on: '2026-11-07' },
    );
    await settled({ order: '2', amount: '50.00', fee: '0.95', on: '2026-11-09' });
    const book = await checked(await report('2026-11-30'));
    expect(section(book, 'Imported files')).toMatchObject([
      {
        ...{ 'Gross taken': '150', 'Gross kept': '150', 'Fees taken': '2.6', 'Fees kept': '2.6' },
        ...{ 'Payout taken': '147.4', 'Payout kept': '147.4' },
      },
    ]);
    expect(verdict(book)).toBe('All checks on this sheet tie');
  });

  test.each([
    [
      'a batch whose lines and payout part',
      `update tieout.settlement_batches set payout = payout + 1 where batch = $1`,
      ['Payable'],
    ],
    [
      'a line that is lost',
      `delete from tieout.settlement_lines where batch = $1 and type = 'chargeback'`,
      ['Payable', 'Imported files'],
    ],
    [
      'a line that was changed',
      `update tieout.settlement_lines set gross = gross + 1, net = net + 1
       where batch = $1 and type = 'reserve'`,
      ['Payable', 'Imported files'],
    ],
  ])('turns red for %s', async (_, change, titles) => {
    await twoMonths();
    const { rows } = await db.query<{ batch: string }>(
      `select min(batch) as batch from tieout.settlement_lines where type = 'reserve'`,
    );
    await db.transaction(async (tx) => {
      await tx.query('set local session_replication_role = replica');
      await tx.query(change, [rows[0]?.batch]);
    });
    const book = await checked(await report('2026-12-31'));
    expect(verdict(book)).toMatch(/^DOES NOT TIE/);
    for (const title of titles) {
      const red = (row: Record<string, string>) => Number(row.Difference) !== 0;
      expect(section(book, title).some(red), title).toBe(true);
    }
  });

  test('with nothing since settlement.from is a whole workbook all the same', async () => {
    const book = await checked(await report('2026-11'));
    expect(verdict(book)).toBe('All checks on this sheet tie');
    expect(book.sheets.map(({ name }) => name)).toEqual([
      ...['Settlement', 'Open items', 'Day by day', 'Batches', 'Fees', 'Chargebacks', 'Disputes'],
      ...['Breaks', 'Files', 'About this run'],
    ]);
  });
});

test('a break bears the money that its sentence tells of, after a later look too', async () => {
  await moved({ order: '8', amount: '110.00', on: '2026-11-03' });
  await settled({ order: '8', amount: '103.00', fee: '1.69', on: '2026-11-06' });
  await settle(RULES);
  await db.query(
    `insert into tieout.movement_amounts (movement_id, amount, known_by, business_date, change,
       suspense)
     select movement_id, 104.00, 'look', date '2026-11-07', -6.00, 0 from tieout.movements
     where order_no = '8'`,
  );
  await settle(RULES);
  const period = periodOf('2026-11');
  if (period === null) throw new Error('no period');
  const asked = { accountIds: ACCOUNTS, period, times: RULES.times };
  const told: string[] = [];
  for await (const rows of settlementBreaks(db, asked, new Date('2026-12-01T00:00:00Z'))) {
    told.push(...rows.map(({ stake, expected }) => `${stake}: ${expected}`));
  }
  expect(told).toEqual(['1.00: captured 104.00 EUR']);
});

async function listed(date: string): Promise<string[]> {
  const period = periodOf(date);
  if (period === null) throw new Error(date);
  const asked = { accountIds: ACCOUNTS, period, times: RULES.times };
  const items: OpenItemRow[] = [];
  for await (const rows of openItemsOf(db, asked, RULES, '2026-11-20')) items.push(...rows);
  return items
    .filter(({ book }) => book === 'atGateway')
    .map(({ orderNo, what, amount, since, inSuspense }) =>
      [orderNo, what, amount, since, ...(inSuspense ? ['suspense'] : [])].join(' '),
    );
}
