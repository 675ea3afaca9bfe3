// The lines of a sheet that is made in memory before it is written: sections, figures, formulas
// with their values, and the list of cells that must be 0. It must never compute a money formula
// that a double cannot hold. Pure; neighbours: summarySheet.ts says what stands in it.

import { formatAmount } from '../../src/core/money.js';
import { fitsNumber, freeText, idText, moneyCell } from './cells.js';
import { wantedHeadingWidth, wantedWidth } from './columnWidths.js';
import type { Cell } from './format/cellXml.js';
import { columnLetters } from './format/cellXml.js';
import type { CellStyle } from './format/styleSheet.js';
import { STYLES } from './styles.js';

/** Account, then a second key, then figures: as many as the widest section has. */
export const PAGE_COLUMNS = 13;
const COLUMN_WIDTH_MIN = 12;

export interface Page {
  lines: (Cell | null)[][];
  /** Lines of one text that reaches over all columns, by number. */
  wide: Set<number>;
  /** The lines of the titles of sections, by number. */
  sections: number[];
  /** Cells of differences: red unless 0. */
  checks: string[];
  /** Whether every difference is 0 at the time of writing. */
  ties: boolean;
  /** The cell with the verdict over all checks. */
  verdict: string;
}

export function emptyPage(): Page {
  return { lines: [], wide: new Set(), sections: [], checks: [], ties: true, verdict: '' };
}

export const TIES = 'All checks on this sheet tie';
export const BOOK_TIES = 'All checks of this workbook tie';
export const DOES_NOT_TIE = 'DOES NOT TIE: see the red cells';

/** Keeps a line for the verdict, which is known once all checks are. */
export function addVerdict(page: Page): void {
  addWide(page, '', STYLES.verdict);
  page.verdict = `A${page.lines.length}`;
}

/** What must be 0 on the other sheets of a workbook: terms of a formula, and whether they are. */
export interface OtherChecks {
  terms: readonly string[];
  ties: boolean;
}

/** A term that is 0 where every cell of the range is. */
export function zeroTerm(ref: string): string {
  return `SUMPRODUCT(ABS(${ref}))`;
}

/**
 * Says over all checks of the page whether it ties, as a live formula; with `others` over those of
 * the whole workbook.
 */
export function settleVerdict(page: Page, others?: OtherChecks): Page {
  const words = others === undefined ? TIES : BOOK_TIES;
  const sums = [...page.checks.map(zeroTerm), ...(others?.terms ?? [])].join('+');
  const verdict = `IF(${sums === '' ? '0' : sums}=0,"${words}","${DOES_NOT_TIE}")`;
  const ties = page.ties && (others?.ties ?? true);
  const [cell] = page.lines[Number(page.verdict.slice(1)) - 1] ?? [];
  if (cell) cell.value = { formula: verdict, result: ties ? words : DOES_NOT_TIE };
  return page;
}

/** A line of running text over the whole width of the page. */
export function addWide(page: Page, value: string, style: CellStyle): void {
  page.lines.push([{ value, style }]);
  page.wide.add(page.lines.length);
}

/** Columns as wide as figures and the words of headings ask; running text does not count. */
export function pageWidths(page: Page): number[] {
  const widths = Array.from({ length: PAGE_COLUMNS }, () => COLUMN_WIDTH_MIN);
  for (const [index, line] of page.lines.entries()) {
    if (page.wide.has(index + 1)) continue;
    for (const [column, cell] of line.entries()) {
      const isHead = cell?.style.alignment?.wrapText === true;
      const wanted = isHead ? wantedHeadingWidth(cell) : wantedWidth(cell);
      widths[column] = Math.max(widths[column] ?? 0, wanted);
    }
  }
  return widths;
}

export function addSection(
  page: Page,
  title: string,
  headings: readonly (readonly string[])[],
): void {
  page.lines.push([]);
  addWide(page, title, STYLES.section);
  page.sections.push(page.lines.length);
  page.lines.push(
    headings.flat().map((heading, index) => ({
      value: heading,
      style: index < 2 ? STYLES.head : STYLES.headRight,
    })),
  );
}

export function addCheck(page: Page, column: string, first: number): void {
  if (page.lines.length >= first)
    page.checks.push(`${column}${first}:${column}${page.lines.length}`);
}

/** Ends a section whose lines began at `first`: a word where there is none, else its check. */
export function endLines(page: Page, first: number, checked: string | null): void {
  if (page.lines.length < first) page.lines.push([text('none')]);
  else if (checked !== null) addCheck(page, checked, first);
}

/** A line of sums over counts, from the section's first line to the line before it. */
export function addColumnSums(
  page: Page,
  first: number,
  fromColumn: number,
  toColumn: number,
): void {
  const last = page.lines.length;
  if (last <= first) return;
  const line: (Cell | null)[] = [
    { value: 'All accounts', style: STYLES.totalText },
    { value: '', style: STYLES.totalText },
  ];
  for (let column = fromColumn; column <= toColumn; column += 1) {
    const letters = columnLetters(column);
    let sum = 0;
    for (const cells of page.lines.slice(first - 1, last)) sum += shownNumber(cells[column - 1]);
    line.push({
      value: { formula: `SUM(${letters}${first}:${letters}${last})`, result: sum },
      style: STYLES.totalCount,
    });
  }
  page.lines.push(line);
}

function shownNumber(cell: Cell | null | undefined): number {
  const value = cell?.value ?? 0;
  if (typeof value === 'number') return value;
  if (typeof value === 'object' && 'result' in value) return Number(value.result);
  return 0;
}

export function id(value: string): Cell {
  return { value: idText(value), style: STYLES.text };
}

export function text(value: string): Cell {
  return { value: freeText(value), style: STYLES.text };
}

export function count(value: number): Cell {
  return { value, style: STYLES.count };
}

export function money(amount: string, style: CellStyle): Cell {
  return { value: moneyCell(amount), style };
}

export function formula(text: string, result: number): Cell {
  return { value: { formula: text, result }, style: STYLES.count };
}

/** A live formula where every figure in it is a number; else the exact result by itself. */
export function moneyFormula(
  text: string,
  result: bigint,
  inputs: readonly string[],
  style: CellStyle,
): Cell {
  const shown = formatAmount(result);
  const isLive = [shown, ...inputs].every(fitsNumber);
  const value = isLive ? { formula: text, result: Number(shown) } : moneyCell(shown);
  return { value, style };
}
