// The nightly workbook: what happened, what is different, which money moved, what still waits, and
// what the file was made from. Rows come in chunks and memory stays flat however many they are; a
// file goes out. It decides nothing. Neighbours: summarySheet.ts, plannedTable.ts, workbook.ts.

import { coverageText } from '../src/core/orders/coverage.js';
import type {
  AboutData,
  BreakRow,
  Chunks,
  InstructionRow,
  ReconciliationData,
  ReservationRow,
  WrittenReport,
} from '../src/core/runs/reporting.js';
import type { ItemSums, Statement } from '../src/core/runs/statement.js';
import {
  addLines,
  isExplained,
  leftOver,
  statementsOf,
  unexplainedNotices,
  withUnexplained,
} from '../src/core/runs/statement.js';
import type { BookLine, BookSums } from '../src/core/runs/statementBooks.js';
import { addBookLines, isBookLine } from '../src/core/runs/statementBooks.js';
import {
  addChanges,
  addOpenNow,
  CHANGES_NAME,
  changeFigures,
  changesChecks,
  changesSaid,
  writeChanges,
} from './changes/changesSheet.js';
import { changesTable } from './changes/changesTable.js';
import {
  BREAKS_SHEET,
  breaksSheet,
  COVERAGE,
  MOVED_SHEET,
  NOT_HERE_LIST,
  NOT_THERE_LIST,
  RESERVATIONS,
  STATE_LIST,
  WAITING_SHEET,
} from './columns.js';
import { sealedRows } from './decisions/decisionColumns.js';
import { addBreaks, addMoved, noFigures } from './runFigures.js';
import { BOOK_LINES_NAME, bookLinesTable } from './statement/bookLines.js';
import type { ListedNotSettled } from './statement/notSettled.js';
import { addNotSettledLines } from './statement/notSettled.js';
import { LINES_NAME, statementLinesTable } from './statement/statementLines.js';
import { writeStatement } from './statement/statementSheet.js';
import type { OtherSheets } from './summarySheet.js';
import {
  reachOf,
  SUMMARY_FROZEN_ROWS,
  SUMMARY_NAME,
  SUMMARY_REPEATED_ROWS,
  summaryPage,
} from './summarySheet.js';
import { freeText, idText, wallClock, wallText } from './xlsx/cells.js';
import { rowHeight } from './xlsx/columnWidths.js';
import type { BookProperties } from './xlsx/format/bookParts.js';
import { BOOK_TIES } from './xlsx/page.js';
import type { Planned, PlannedSpec } from './xlsx/plannedTable.js';
import { addPlanned, placesOf, planned, unreadIn, writePlanned } from './xlsx/plannedTable.js';
import { STYLES } from './xlsx/styles.js';
import { writeTable } from './xlsx/table.js';
import type { Book } from './xlsx/workbook.js';
import { closeSheet, openSheet, putRow, writeWorkbook } from './xlsx/workbook.js';
import { writePage } from './xlsx/writePage.js';

/** Goes through the rows twice: what stands above them has to be known before they are written. */
export async function writeReconciliation(
  path: string,
  given: ReconciliationData,
): Promise<WrittenReport> {
  const { about } = given;
  const run = await planSheets(given);
  const { breaks, changes, lists, moved, waiting, reserved, figures } = run;
  const kept = given.books === undefined ? null : { from: given.books.from, sums: run.bookSums };
  const statements = statementsOf(given.currencies, run.sums, kept);
  const notices = unexplainedNotices(statements.map(leftOver));
  const data = { ...given, summary: withUnexplained(given.summary, notices) };
  const dated = (title: string): string => `${title}: ${about.businessDate}`;
  const sealed = <R extends BreakRow | InstructionRow>(plan: Planned<R>, rows: Chunks<R>) =>
    sealedRows(plan.table, data.secret, plan.clock, rows);
  const written = await writeWorkbook(
    path,
    bookProperties('Reconciliation', about),
    async (book) => {
      const places = { breaks: placesOf(breaks).parts, moved: placesOf(moved).parts };
      const signed = await writeSigned(book, statements, data, run);
      const notSettled =
        run.booked === null
          ? null
          : { statements, listed: run.notSettled, parts: placesOf(run.booked).parts };
      const changed = changesChecks(run.changed);
      const checks = {
        terms: [signed, ...changed.terms],
        ties: changed.ties && statements.every(isExplained),
      };
      await writeSummary(book, data, { ...places, figures, checks, notSettled });
      const since = {
        title: dated('What became of breaks since the run before'),
        said: changesSaid(run.changed, data),
        ...{ figures: run.changed, breaks: places.breaks },
      };
      await writeChanges(book, changes, since, data.changes());
      const all = dated('All breaks that are open, one line each');
      await writePlanned(book, breaks, all, sealed(breaks, data.breaks()));
      for (const { plan, title, kinds } of lists) {
        await writePlanned(book, plan, dated(title), plan.rows === 0 ? [] : data.breaks(kinds));
      }
      await writePlanned(book, moved, dated('Instructions confirmed in this run'), data.moved());
      const stillWait = dated('Instructions that still wait for someone');
      await writePlanned(book, waiting, stillWait, sealed(waiting, data.waiting()));
      if (reserved !== null && data.reservations !== undefined) {
        const soon = dated('Money that is reserved, and lapses unless somebody takes it');
        await writePlanned(book, reserved, soon + unreadIn(reserved), data.reservations());
      }
      await writeCoverage(book, data);
      await writeAbout(book, about);
    },
  );
  return { ...written, statements };
}

/** What is signed, and under it the lines that it is the sum of; answers what must be 0. */
async function writeSigned(
  book: Book,
  statements: readonly Statement[],
  data: ReconciliationData,
  { lines, booked }: Awaited<ReturnType<typeof planSheets>>,
): Promise<string> {
  const { about, books, movedAfter, signings, signedFigures } = data;
  const dated = (title: string): string => `${title}: ${about.businessDate}`;
  const signed = await writeStatement(book, statements, {
    ...{ about, movedAfter, signings, signedFigures },
    parts: placesOf(lines).parts,
    bookParts: booked === null ? [] : placesOf(booked).parts,
  });
  const other = dated('Orders of which both sides say other money');
  await writePlanned(book, lines, other, data.lines());
  if (booked !== null && books !== undefined) {
    const open = dated('Captured and refunded, and not settled as it was made');
    await writePlanned(book, booked, open, listedLines(books.lines()));
  }
  return signed;
}

/** The first time through all rows. */
async function planSheets(data: ReconciliationData) {
  const { about } = data;
  const figures = noFigures();
  const { consoleAddress } = about;
  const breaks = planned({ ...BREAKS_PLAN, table: breaksSheet(consoleAddress) }, about);
  const linesTable = statementLinesTable(consoleAddress, data.movedAfter.length > 0);
  const lines = planned({ name: LINES_NAME, table: linesTable }, about);
  const changes = planned({ name: CHANGES_NAME, table: changesTable(consoleAddress) }, about);
  const changed = changeFigures(data.openBefore);
  const sums: ItemSums = new Map();
  const bookSums: BookSums = new Map();
  const notSettled: ListedNotSettled = new Map();
  const booked =
    data.books === undefined
      ? null
      : planned({ name: BOOK_LINES_NAME, table: bookLinesTable(consoleAddress) }, about);
  const lists = LISTS.map((list) => ({ ...list, plan: planned(list, about) }));
  const moved = planned(MOVED_PLAN, about);
  const waiting = planned(WAITING_PLAN, about);
  for await (const rows of data.breaks()) {
    addBreaks(figures, rows);
    addOpenNow(changed, rows);
    addPlanned(breaks, rows);
    for (const { plan, kinds } of lists) {
      addPlanned(
        plan,
        rows.filter(({ kind }) => kinds.includes(kind)),
      );
    }
  }
  for await (const rows of data.changes()) {
    addChanges(changed, rows);
    addPlanned(changes, rows);
  }
  for await (const rows of data.moved()) {
    addMoved(figures, rows);
    addPlanned(moved, rows);
  }
  for await (const rows of data.waiting()) addPlanned(waiting, rows);
  const reserved = data.reservations === undefined ? null : planned(RESERVED_PLAN, about);
  for await (const rows of data.reservations?.() ?? []) {
    if (reserved !== null) addPlanned(reserved, rows);
  }
  for await (const rows of data.lines()) {
    addLines(sums, rows);
    addPlanned(lines, rows);
  }
  for await (const rows of data.books?.lines() ?? []) {
    addBookLines(bookSums, rows);
    addNotSettledLines(notSettled, rows);
    if (booked !== null) addPlanned(booked, rows.filter(isBookLine));
  }
  return {
    ...{ figures, breaks, changes, changed, lists, moved, waiting, lines, reserved, sums },
    ...{ booked, bookSums, notSettled },
  };
}

/** What is settled is one sum: its lines are those of the acquirer's files. */
async function* listedLines(chunks: Chunks<BookLine>): AsyncGenerator<BookLine[]> {
  for await (const rows of chunks) yield rows.filter(isBookLine);
}

const BREAKS_PLAN: PlannedSpec<BreakRow> = {
  name: 'Breaks',
  table: BREAKS_SHEET,
  totals: { down: ['currency'], money: 'stake', ofThese: 'waiver' },
};
const MOVED_PLAN: PlannedSpec<InstructionRow> = {
  name: 'Money moved',
  table: MOVED_SHEET,
  totals: { down: ['currency'], across: 'operation', money: 'amount' },
};
const WAITING_PLAN: PlannedSpec<InstructionRow> = {
  name: 'Waiting for you',
  table: WAITING_SHEET,
  totals: { down: ['currency', 'state'], across: 'operation', money: 'amount' },
};

/** Only where somebody said how long reservations hold. */
const RESERVED_PLAN: PlannedSpec<ReservationRow> = {
  name: 'Reservations',
  table: RESERVATIONS,
  totals: { down: ['currency'], across: 'standing', money: 'amount' },
};

interface List extends PlannedSpec<BreakRow> {
  title: string;
  kinds: readonly string[];
}

/** What finance asks for first. Each line stands on the sheet Breaks too. */
const LISTS: readonly List[] = [
  {
    name: 'At gateway, not here',
    title: 'Orders that the gateway has and the ledger has not',
    table: NOT_HERE_LIST,
    kinds: ['missing_in_ledger'],
  },
  {
    name: 'Here, not at gateway',
    title: 'Orders that the ledger has and the gateway, fully asked, has not',
    table: NOT_THERE_LIST,
    kinds: ['missing_at_gateway'],
  },
  {
    name: 'State differs',
    title: 'Orders that stand differently here and there',
    table: STATE_LIST,
    kinds: ['state_mismatch', 'refund_mismatch', 'stale_authorisation', 'instruction_rejected'],
  },
];

/** What was asked and not plainly answered: of these nothing may be said to be missing. */
async function writeCoverage(book: Book, { about, summary, coverage }: ReconciliationData) {
  const totals = (summary.coverage ?? []).map(({ accountId, ...figures }) => [
    { value: idText(accountId), style: STYLES.text },
    { value: coverageText(figures), style: STYLES.text },
  ]);
  const top = [
    [
      {
        value: freeText(`What was asked of the gateway: ${about.businessDate}`),
        style: STYLES.title,
      },
    ],
    ...totals,
    [{ value: COVERAGE_WORDS, style: STYLES.quiet }],
    [],
  ];
  const clock = wallClock(about.timezone);
  const spec = { name: 'Coverage', table: COVERAGE, top, timezone: about.timezone, clock };
  await writeTable(book, spec, coverage);
}

const COVERAGE_WORDS = 'Below: each order that was not plainly asked and answered with an entry.';

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
  others: OtherSheets,
): Promise<void> {
  const { page, charts } = summaryPage(data, others);
  await writePage(book, {
    name: SUMMARY_NAME,
    page,
    charts,
    frozenRows: SUMMARY_FROZEN_ROWS,
    repeatedRows: SUMMARY_REPEATED_ROWS,
    ties: BOOK_TIES,
  });
}

const ABOUT_WIDTHS = [36, 120];

/** So many lines are still read well on one page; more go on to the next one. */
const ABOUT_PAGE_LINES_MAX = 70;

/** The last sheet of every workbook: enough to trust the file, and to work it out again. */
/** By which a workbook that comes back says whose it is (decisions/aboutSheet.ts). */
export const ABOUT_SHEET = 'About this run';
export const MANIFEST = 'Manifest: ';

export async function writeAbout(book: Book, about: AboutData): Promise<void> {
  const sections = aboutSections(about);
  const lines = sections.reduce((sum, [, pairs]) => sum + pairs.length + 2, 1);
  const sheet = await openSheet(book, ABOUT_SHEET, {
    widths: ABOUT_WIDTHS,
    frozenRows: 1,
    frozenColumns: 0,
    repeatedRows: '1:1',
    ...(lines <= ABOUT_PAGE_LINES_MAX ? { pagesHigh: 1 } : {}),
  });
  await putRow(sheet, [{ value: ABOUT_SHEET, style: STYLES.title }]);
  for (const [title, pairs] of sections) {
    await putRow(sheet, []);
    await putRow(sheet, [
      { value: title, style: STYLES.section },
      { value: '', style: STYLES.section },
    ]);
    for (const [name, value] of pairs) {
      const cells = [name, value].map((text) => ({ value: freeText(text), style: STYLES.wrapped }));
      await putRow(sheet, cells, { height: rowHeight(cells, ABOUT_WIDTHS) });
    }
  }
  await closeSheet(sheet);
}

type Pair = readonly [name: string, value: string];

function aboutSections(about: AboutData): [title: string, pairs: readonly Pair[]][] {
  return [
    ['What this file shows', aboutPairs(about)],
    ['What it was made from', madeFromPairs(about)],
    ['Settings that decided something', about.parameters],
    ['Words', GLOSSARY],
  ];
}

function aboutPairs(about: AboutData): Pair[] {
  const clock = wallClock(about.timezone);
  const zone = about.timezone;
  return [
    ['Environment', about.environment.toUpperCase()],
    ['Business date', about.businessDate],
    ['Business day', `from ${about.cutOff} to ${about.cutOff} of the next day, ${zone}`],
    ['Checked at', `${wallText(clock, about.asOf)} ${zone} (${about.asOf.toISOString()})`],
    ['Made', `${wallText(clock, about.createdAt)} ${zone} (${about.createdAt.toISOString()})`],
    ['Revision', String(about.revision)],
    ['Previous run', about.previousRun ?? 'none'],
    ['Workbook of that run (sha256)', about.previousWorkbook ?? 'none'],
    ['Chain of digests ends in', about.chainHead],
    ['Reach', reachOf(about)],
  ];
}

function madeFromPairs(about: AboutData): Pair[] {
  return [
    ['Digest of settings and profile', about.profileHash],
    ['Digest of the inputs', about.inputsHash],
    ...Object.entries(about.digests).map(([name, digest]) => [MANIFEST + name, digest] as const),
    ...about.versions,
  ];
}

const GLOSSARY: readonly Pair[] = [
  ['matched', 'ledger and gateway agree'],
  ['explained', 'a difference within the tolerance, or one that a person waived with a reason'],
  ['due', 'an instruction is on its way, or the next run makes the next step'],
  ['awaited', 'too young to be a difference: the gateway may still show it in time'],
  ['differs', 'a difference that no instruction is about to heal: a person has to look'],
  ['not compared', 'the gateway gave no complete answer about it; that says nothing of the order'],
  ['waiting for approval', 'an instruction that a person has to allow; nothing was sent'],
  ['held by a setting', 'an instruction that no approval frees; nothing was sent'],
  ['unknown', 'sent, and nobody can say yet whether the gateway did it; it is not sent again'],
  ['age', 'days from the date on which a night first saw the break; the order itself may be older'],
  ['not in ledger', 'an order at the gateway that the ledger does not have'],
];
