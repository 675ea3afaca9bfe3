// The sheet 'Since the run before': by account and currency what was open then, what became of it,
// and what is open now, in money and in number, over the lines that say it break by break. What is
// open now is summed over the sheet Breaks, so both sheets are held against each other; a
// difference turns red. It decides nothing. Neighbours: changesTable.ts (the lines),
// reconciliation.ts.

import type { Change, OpenBefore } from '../../src/core/breaks/change.js';
import {
  CHANGE_WORDS,
  CHANGES,
  comparedWords,
  reopenedWords,
} from '../../src/core/breaks/change.js';
import type { Hundredths } from '../../src/core/money.js';
import { formatAmount } from '../../src/core/money.js';
import type {
  BreakRow,
  ChangeRow,
  Chunks,
  ReconciliationData,
} from '../../src/core/runs/reporting.js';
import { BREAKS_SHEET } from '../columns.js';
import { fitsNumber, freeText, hundredthsOf } from '../xlsx/cells.js';
import type { Cell } from '../xlsx/format/cellXml.js';
import { columnLetters } from '../xlsx/format/cellXml.js';
import type { OtherChecks } from '../xlsx/page.js';
import { count, formula, id, money, moneyFormula, text, zeroTerm } from '../xlsx/page.js';
import type { Planned } from '../xlsx/plannedTable.js';
import { writePlannedUnder } from '../xlsx/plannedTable.js';
import { moneyStyle, STYLES } from '../xlsx/styles.js';
import type { Part } from '../xlsx/totals.js';
import { matchingCount, matchingSum, plannedParts } from '../xlsx/totals.js';
import type { Book } from '../xlsx/workbook.js';
import { CHANGES_TABLE } from './changesTable.js';

export const CHANGES_NAME = 'Since the run before';

interface Sum {
  breaks: number;
  money: Hundredths;
  /** One of its amounts that stands in its cell as text; no formula can add that. */
  tooLong: string | null;
}

interface Line {
  accountId: string;
  currency: string | null;
  before: Sum;
  moves: Record<Change, Sum>;
  open: Sum;
}

/** By account and currency, added up while the rows are gone through the first time. */
type ChangeFigures = Map<string, Line>;

export function changeFigures(openBefore: readonly OpenBefore[]): ChangeFigures {
  const figures: ChangeFigures = new Map();
  for (const { accountId, currency, breaks, money: amount } of openBefore) {
    add(lineOf(figures, accountId, currency).before, breaks, amount);
  }
  return figures;
}

export function addChanges(figures: ChangeFigures, rows: readonly ChangeRow[]): void {
  for (const { accountId, currency, change, moved } of rows) {
    add(lineOf(figures, accountId, currency).moves[change], 1, moved);
  }
}

export function addOpenNow(figures: ChangeFigures, rows: readonly BreakRow[]): void {
  for (const { accountId, currency, stake } of rows) {
    add(lineOf(figures, accountId, currency).open, 1, stake ?? '0.00');
  }
}

function lineOf(figures: ChangeFigures, accountId: string, currency: string | null): Line {
  const key = JSON.stringify([accountId, currency]);
  const found = figures.get(key);
  if (found !== undefined) return found;
  const none = (): Sum => ({ breaks: 0, money: 0n, tooLong: null });
  const moves = {
    ...{ new: none(), reopened: none(), grown: none() },
    ...{ shrunk: none(), waived: none(), resolved: none() },
  };
  const line = { accountId, currency, before: none(), moves, open: none() };
  figures.set(key, line);
  return line;
}

function add(sum: Sum, breaks: number, amount: string): void {
  sum.breaks += breaks;
  sum.money += hundredthsOf(amount);
  if (!fitsNumber(amount)) sum.tooLong ??= amount;
}

/** Title, number of lines, an empty line, what it is counted from, an empty line. */
const LINES_BEFORE = 6;

interface Since {
  title: string;
  /** what the changes are counted from, and what is not among them */
  said: readonly string[];
  figures: ChangeFigures;
  breaks: readonly Part[];
}

/** Two lines: the second may be empty. */
export function changesSaid(
  figures: ChangeFigures,
  { summary, comparedWith }: Pick<ReconciliationData, 'summary' | 'comparedWith'>,
): [base: string, passed: string] {
  const tied = summary.accounts.reduce((sum, { tie }) => sum + tie.reopened, 0);
  const listed = [...figures.values()].reduce((sum, { moves }) => sum + moves.reopened.breaks, 0);
  return [comparedWords(comparedWith), reopenedWords(tied, listed) ?? ''];
}

export async function writeChanges(
  book: Book,
  plan: Planned<ChangeRow>,
  { title, said, figures, breaks }: Since,
  chunks: Chunks<ChangeRow>,
): Promise<void> {
  const { lines, inMoney } = linesOf(figures);
  // Each block has its heading and an empty line after it.
  const height = blockHeight(inMoney) + blockHeight(lines);
  const places = { changes: plannedParts(plan.name, plan.rows, LINES_BEFORE + height), breaks };
  const blocks = [
    ...said.map((words) => [{ value: freeText(words), style: STYLES.quiet }]),
    [],
    ...block(inMoney, LINES_BEFORE + 1, 'Money', (line, row, head) =>
      moneyCells(line, { row, head }, places),
    ),
    ...block(lines, LINES_BEFORE + 1 + blockHeight(inMoney), 'Breaks', (line, row, head) =>
      countCells(line, { row, head }, places),
    ),
  ];
  const checks = refsOf(figures);
  await writePlannedUnder(book, plan, { title, blocks, parts: places.changes, checks }, chunks);
}

function linesOf(figures: ChangeFigures): { lines: Line[]; inMoney: Line[] } {
  const lines = [...figures.values()].sort(byAccountAndCurrency);
  return { lines, inMoney: lines.filter(({ currency }) => currency !== null) };
}

/** What must be 0 on the sheet, and whether it is. */
export function changesChecks(figures: ChangeFigures): OtherChecks {
  const terms = refsOf(figures).map((ref) => zeroTerm(`'${CHANGES_NAME}'!${ref}`));
  const { lines, inMoney } = linesOf(figures);
  const ties =
    inMoney.every((line) => workedOutMoney(line) === line.open.money) &&
    lines.every((line) => workedOutBreaks(line) === line.open.breaks);
  return { terms, ties };
}

function workedOutMoney({ before, moves }: Line): bigint {
  return CHANGES.reduce((sum, change) => sum + moves[change].money, before.money);
}

function workedOutBreaks({ before, moves }: Line): number {
  return CHANGES.reduce((sum, change) => sum + STEPS[change] * moves[change].breaks, before.breaks);
}

function refsOf(figures: ChangeFigures): string[] {
  const { lines, inMoney } = linesOf(figures);
  return [
    ...checksOf(inMoney, LINES_BEFORE + 2),
    ...checksOf(lines, LINES_BEFORE + 2 + blockHeight(inMoney)),
  ];
}

function blockHeight(lines: readonly Line[]): number {
  return lines.length === 0 ? 0 : lines.length + 2;
}

function checksOf(lines: readonly Line[], first: number): string[] {
  const column = DIFFERENCE;
  return lines.length === 0 ? [] : [`${column}${first}:${column}${first + lines.length - 1}`];
}

function byAccountAndCurrency(a: Line, b: Line): number {
  if (a.accountId !== b.accountId) return a.accountId < b.accountId ? -1 : 1;
  // What bears no currency stands last.
  return (a.currency ?? '\uffff') < (b.currency ?? '\uffff') ? -1 : 1;
}

/** The columns of a block: account, currency, open before, the changes, and three more. */
const BEFORE = 'C';
const FIRST_CHANGE = 4;
const LAST_CHANGE = columnLetters(FIRST_CHANGE + CHANGES.length - 1);
const [WORKED_OUT, NOW, DIFFERENCE] = [0, 1, 2].map((at) =>
  columnLetters(FIRST_CHANGE + CHANGES.length + at),
) as [string, string, string];

function block(
  lines: readonly Line[],
  heading: number,
  what: string,
  cellsOf: (line: Line, row: number, heading: number) => Cell[],
): (Cell | null)[][] {
  if (lines.length === 0) return [];
  const words = [
    ...[`${what} open before`, ...CHANGES.map((change) => CHANGE_WORDS[change])],
    ...['Worked out', `${what} open now`, 'Difference'],
  ];
  return [
    [
      ...['Account', 'Currency'].map((value) => ({ value, style: STYLES.blockHead })),
      ...words.map((value) => ({ value, style: STYLES.blockHeadRight })),
    ],
    ...lines.map((line, at) => [
      id(line.accountId),
      text(line.currency ?? ''),
      ...cellsOf(line, heading + 1 + at, heading),
    ]),
    [],
  ];
}

interface At {
  row: number;
  head: number;
}

interface Places {
  changes: readonly Part[];
  breaks: readonly Part[];
}

/** What was open before is read of the history; all else is summed over the lines of two sheets. */
function moneyCells(line: Line, at: At, places: Places): Cell[] {
  const { currency, before, moves, open } = line;
  const moved = CHANGES.map((change) => moves[change]);
  const workedOut = workedOutMoney(line);
  const all = [before, ...moved, open];
  const inputs = [
    ...all.map((sum) => formatAmount(sum.money)),
    ...all.flatMap(({ tooLong }) => tooLong ?? []),
  ];
  const style = moneyStyle(currency, inputs);
  const keys = { account_id: `$A${at.row}`, currency: `$B${at.row}` };
  const { row, head } = at;
  const summed = (text: string, { money: sum, tooLong }: Sum): Cell =>
    moneyFormula(text, sum, tooLong === null ? [] : [tooLong], style);
  return [
    money(formatAmount(before.money), style),
    ...moved.map((sum, index) => {
      const change = `${columnLetters(FIRST_CHANGE + index)}$${head}`;
      const lines = { ...keys, change };
      return summed(matchingSum(CHANGES_TABLE, places.changes, 'moved', lines), sum);
    }),
    moneyFormula(`ROUND(SUM(${BEFORE}${row}:${LAST_CHANGE}${row}),2)`, workedOut, inputs, style),
    summed(matchingSum(BREAKS_SHEET, places.breaks, 'stake', keys), open),
    moneyFormula(
      `ROUND(${NOW}${row}-${WORKED_OUT}${row},2)`,
      open.money - workedOut,
      inputs,
      style,
    ),
  ];
}

/** By how many a change makes more or fewer of them open. */
const STEPS: Readonly<Record<Change, 1 | 0 | -1>> = {
  ...{ new: 1, reopened: 1, grown: 0, shrunk: 0, waived: -1, resolved: -1 },
};

function countCells(line: Line, at: At, places: Places): Cell[] {
  const { before, moves, open } = line;
  const { row, head } = at;
  const keys = { account_id: `$A${row}`, currency: `$B${row}` };
  const letters = CHANGES.map((_, index) => columnLetters(FIRST_CHANGE + index));
  const steps = CHANGES.map((change, index) => {
    const sign = { '1': '+', '0': null, '-1': '-' }[STEPS[change]];
    return sign === null ? '' : `${sign}${letters[index]}${row}`;
  }).join('');
  const workedOut = workedOutBreaks(line);
  return [
    count(before.breaks),
    ...CHANGES.map((change, index) => {
      const lines = { ...keys, change: `${letters[index]}$${head}` };
      return formula(matchingCount(CHANGES_TABLE, places.changes, lines), moves[change].breaks);
    }),
    formula(`${BEFORE}${row}${steps}`, workedOut),
    formula(matchingCount(BREAKS_SHEET, places.breaks, keys), open.breaks),
    formula(`${NOW}${row}-${WORKED_OUT}${row}`, open.breaks - workedOut),
  ];
}
