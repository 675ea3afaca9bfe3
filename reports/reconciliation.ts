// The nightly workbook: what happened, what is different, which money moved, what still waits, and
// what the file was made from. Rows come in whole (breaks and instructions of one night), a file
// goes out. It decides nothing. Neighbours: summarySheet.ts, table.ts, workbook.ts.

import type { AboutData, ReconciliationData, WrittenReport } from '../src/core/reporting.js';
import { freeText, wallClock, wallText } from './cells.js';
import type { Table } from './columns.js';
import { BREAKS, MOVEMENTS } from './columns.js';
import { SUMMARY_WIDTHS } from './page.js';
import { STYLES } from './styles.js';
import { REACH, SUMMARY_FROZEN_ROWS, summaryPage, TIES } from './summarySheet.js';
import { writeTable } from './table.js';
import { shownCount, totalLines } from './totals.js';
import type { Book, BookProperties, Cell } from './workbook.js';
import { closeSheet, openSheet, putRow, writeWorkbook } from './workbook.js';

export async function writeReconciliation(
  path: string,
  data: ReconciliationData,
): Promise<WrittenReport> {
  const breaks = planned('Breaks', BREAKS, data.breaks, ['currency'], 'difference');
  const moved = planned('Money moved', MOVEMENTS, data.moved, ['operation', 'currency'], 'amount');
  const waitingGroups = ['operation', 'state', 'currency'];
  const waiting = planned('Waiting', MOVEMENTS, data.waiting, waitingGroups, 'amount');
  return writeWorkbook(path, bookProperties('Reconciliation', data.about), async (book) => {
    await writeSummary(book, data, { breaks: breaks.parts, moved: moved.parts });
    await writePlanned(book, data.about, breaks, 'All breaks that are open, one line each');
    await writePlanned(book, data.about, moved, 'Instructions confirmed in this run');
    await writePlanned(book, data.about, waiting, 'Instructions that still wait for someone');
    await writeAbout(book, data.about);
  });
}

export function bookProperties(title: string, about: AboutData): BookProperties {
  return {
    title: `${title} ${about.businessDate}`,
    environment: about.environment,
    businessDate: about.businessDate,
    createdAt: about.createdAt,
  };
}

async function writeSummary(
  book: Book,
  data: ReconciliationData,
  parts: Parameters<typeof summaryPage>[1],
): Promise<void> {
  const page = summaryPage(data, parts);
  const sheet = openSheet(book, 'Summary', {
    widths: SUMMARY_WIDTHS,
    frozenRows: SUMMARY_FROZEN_ROWS,
    frozenColumns: 0,
  });
  for (const line of page.lines) await putRow(sheet, line);
  await closeSheet(sheet, {
    zeroOrRed: page.checks,
    textOrRed: { ref: page.verdict, text: TIES },
  });
}

interface Planned<R> {
  name: string;
  table: Table<R>;
  rows: readonly R[];
  lines: (Cell | null)[][];
  parts: ReturnType<typeof totalLines>['parts'];
}

function planned<R>(
  name: string,
  table: Table<R>,
  rows: readonly R[],
  groupBy: readonly string[],
  money: string,
): Planned<R> {
  return { name, table, rows, ...totalLines(table, name, rows, groupBy, money) };
}

async function writePlanned<R>(
  book: Book,
  about: AboutData,
  { name, table, rows, lines, parts }: Planned<R>,
  title: string,
): Promise<void> {
  const top: (Cell | null)[][] = [
    [{ value: freeText(`${title}: ${about.businessDate}`), style: STYLES.title }],
    [{ value: 'Lines shown', style: STYLES.totalText }, shownCount(parts, rows.length)],
    ...lines,
    [],
  ];
  const clock = wallClock(about.timezone);
  await writeTable(book, { name, table, top, timezone: about.timezone, clock }, [rows]);
}

/** The last sheet of every workbook: enough to trust the file, and to work it out again. */
export async function writeAbout(book: Book, about: AboutData): Promise<void> {
  const sheet = openSheet(book, 'About this run', {
    widths: [34, 110],
    frozenRows: 1,
    frozenColumns: 0,
  });
  await putRow(sheet, [
    { value: 'About this run', style: STYLES.head },
    { value: '', style: STYLES.head },
  ]);
  for (const [name, value] of aboutPairs(about)) {
    await putRow(sheet, [
      { value: freeText(name), style: STYLES.text },
      { value: freeText(value), style: STYLES.wrapped },
    ]);
  }
  await closeSheet(sheet);
}

function aboutPairs(about: AboutData): (readonly [string, string])[] {
  const clock = wallClock(about.timezone);
  const zone = about.timezone;
  return [
    ['Environment', about.environment.toUpperCase()],
    ['Business date', about.businessDate],
    ['Business day', `from ${about.cutOff} to ${about.cutOff} of the next day, ${zone}`],
    ['As of', `${wallText(clock, about.asOf)} ${zone} (${about.asOf.toISOString()})`],
    ['Made', `${wallText(clock, about.createdAt)} ${zone} (${about.createdAt.toISOString()})`],
    ['Revision', String(about.revision)],
    ['Previous run', about.previousRun ?? 'none'],
    ['Reach', REACH],
    ['Digest of the gateway profile', about.profileHash],
    ['Digest of the inputs', about.inputsHash],
    ...about.versions.map(([name, version]) => [`Version of ${name}`, version] as const),
    ...about.parameters,
    ...GLOSSARY,
  ];
}

const GLOSSARY: readonly (readonly [string, string])[] = [
  ['matched', 'ledger and gateway agree'],
  ['explained', 'a difference within the tolerance, or one that a person waived with a reason'],
  ['due', 'an instruction is on its way, or the next run makes the next step'],
  ['awaited', 'too young to be a difference: the gateway may still show it in time'],
  ['broken', 'a difference that no instruction is about to heal: a person has to look'],
  ['not compared', 'the gateway gave no complete answer about it; that says nothing of the order'],
  ['held', 'an instruction that waits for approval; nothing was sent'],
  ['unknown', 'sent, and nobody can say yet whether the gateway did it; it is not sent again'],
  ['stranger', 'an order at the gateway that the ledger does not have'],
];
