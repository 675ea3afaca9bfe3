// The house workbook: sheets written row by row into a new file, with memory that stays flat. It
// must never let a sheet grow past what a spreadsheet opens, nor take a value that is not a Cell.
// Only cells.ts and our own formulas make cells. Neighbours: outputFile.ts (the file), bookParts.ts
// (the library and the archive), table.ts and summarySheet.ts (the contents).

import type { Writable } from 'node:stream';
import type ExcelJS from 'exceljs';
import type { WrittenReport } from '../../src/core/runs/reporting.js';
import { writeNewFile } from '../outputFile.js';
import type { BookParts } from './bookParts.js';
import {
  addParts,
  closeParts,
  endSheetPart,
  openParts,
  styleNumber,
  waitingBytes,
  writeWaiting,
  writeXml,
} from './bookParts.js';
import { finiteNumber } from './cells.js';
import type { BarChart } from './chart.js';
import { DRAWING_ELEMENT, drawingParts } from './chart.js';
import type { CellStyle } from './styles.js';
import { RED } from './styles.js';
import { abandonZip, closeZip, openZip } from './zip.js';

/** What a spreadsheet opens. */
export const SHEET_ROWS_MAX = 1_048_576;
const SHEET_NAME_MAX = 31;
/** How much of a sheet may wait before it is handed to the compressor. */
export const WAITING_BYTES_MAX = 256 * 1024;

/** One of our own formulas with the value that it has when the file is written. */
export interface Formula {
  formula: string;
  result: number | string;
}

export interface Cell {
  value: string | number | Date | Formula | null;
  style: CellStyle;
}

export interface BookProperties {
  title: string;
  environment: 'test' | 'live';
  /** Printed at the foot of each page. */
  businessDate: string;
  /** Stamped into the file instead of the clock, so that equal rows give equal bytes. */
  createdAt: Date;
}

export interface Book {
  parts: BookParts;
  properties: BookProperties;
  /** Lower-case names in use: a spreadsheet does not tell them apart by case. */
  names: Set<string>;
}

export interface Sheet {
  book: Book;
  worksheet: ExcelJS.Worksheet;
  name: string;
  /** The last row that was written. */
  row: number;
}

export interface SheetLayout {
  widths: readonly number[];
  frozenRows: number;
  frozenColumns: number;
  /** Rows that are printed on top of every page, such as `1:2`. */
  repeatedRows: string;
  /** Printed on so many pages, smaller where it must be; default: as many as the rows need. */
  pagesHigh?: number;
}

export interface RowLayout {
  /** In points; without it the reader's own height for one line. */
  height?: number | null;
  /** The first cell reaches over so many columns. */
  mergedColumns?: number;
  /** A printed page ends here. */
  endsPage?: boolean;
}

/** Writes a new workbook; the file appears when it is whole, or not at all. */
export function writeWorkbook(
  path: string,
  properties: BookProperties,
  build: (book: Book) => Promise<void>,
): Promise<WrittenReport> {
  return writeNewFile(path, (sink) => writeBook(sink, properties, build));
}

/** The same into any stream; whoever gives the stream watches it for errors. */
export async function writeBook(
  sink: Writable,
  properties: BookProperties,
  build: (book: Book) => Promise<void>,
): Promise<void> {
  const book = openBook(sink, properties);
  const { zip } = book.parts;
  try {
    await build(book);
    await closeParts(book.parts);
    await closeZip(zip);
  } catch (error) {
    abandonZip(zip);
    throw error;
  }
}

export function openSheet(book: Book, wanted: string, layout: SheetLayout): Sheet {
  const name = safeSheetName(wanted, book.names);
  book.names.add(name.toLowerCase());
  const { environment, businessDate } = book.properties;
  const worksheet = book.parts.writer.addWorksheet(name, {
    properties: {
      tabColor: { argb: environment === 'live' ? 'FF8A1F1F' : 'FFFFB92E' },
      dyDescent: 0.25,
    },
    views: [{ state: 'frozen', xSplit: layout.frozenColumns, ySplit: layout.frozenRows }],
    pageSetup: {
      orientation: 'landscape',
      paperSize: 9,
      fitToPage: true,
      fitToWidth: 1,
      fitToHeight: layout.pagesHigh ?? 0,
      printTitlesRow: layout.repeatedRows,
      margins: MARGINS,
    },
    headerFooter: {
      oddFooter: `&L${environment.toUpperCase()} · ${businessDate}&C&A&RPage &P of &N`,
    },
  });
  worksheet.columns = layout.widths.map((width) => ({ width }));
  return { book, worksheet, name, row: 0 };
}

/** In inches: narrow, so that a wide table is not printed small. */
const MARGINS = { left: 0.4, right: 0.4, top: 0.45, bottom: 0.6, header: 0.3, footer: 0.3 };

/** Adds a row; waits when the compressor or the disk is behind. */
export async function putRow(
  sheet: Sheet,
  cells: readonly (Cell | null)[],
  layout: RowLayout = {},
): Promise<void> {
  if (sheet.row >= SHEET_ROWS_MAX) throw new RangeError(`sheet ${sheet.name} is full`);
  sheet.row += 1;
  const row = sheet.worksheet.getRow(sheet.row);
  for (const [index, cell] of cells.entries()) {
    if (cell === null || cell.value === null) continue;
    const target = row.getCell(index + 1);
    target.value = checkedValue(cell.value);
    target.style = cell.style;
  }
  if (layout.height) row.height = layout.height;
  if (layout.mergedColumns !== undefined) {
    sheet.worksheet.mergeCells(sheet.row, 1, sheet.row, layout.mergedColumns);
  }
  if (layout.endsPage) row.addPageBreak();
  row.commit();
  if (bufferedBytes(sheet) > WAITING_BYTES_MAX) await writeWaiting(sheet.book.parts);
}

/** Adds rows that are XML already, numbered on from the last one. */
export async function putRowsXml(sheet: Sheet, rows: number, xml: string): Promise<void> {
  if (sheet.row + rows > SHEET_ROWS_MAX) throw new RangeError(`sheet ${sheet.name} is full`);
  sheet.row += rows;
  await writeXml(sheet.book.parts, xml);
}

/** The number by which a row's XML names a style. */
export function styleOf(book: Book, style: CellStyle): number {
  return styleNumber(book.parts, style);
}

/** How many bytes of the sheet wait for the compressor. */
export function bufferedBytes(sheet: Sheet): number {
  return waitingBytes(sheet.book.parts);
}

export interface SheetEnd {
  /** Where the filter's arrows stand, such as `A4:M400`. */
  filter?: string;
  /** Cells that are red unless they show 0. */
  zeroOrRed?: readonly string[];
  /** A cell that is red unless it shows this text. */
  textOrRed?: { ref: string; text: string };
  charts?: readonly BarChart[];
}

/** Ends a sheet. Only one sheet is open at a time: rows of a second one would wait in memory. */
export async function closeSheet(sheet: Sheet, end: SheetEnd = {}): Promise<void> {
  const { worksheet } = sheet;
  if (end.filter !== undefined) worksheet.autoFilter = end.filter;
  const rules = (end.zeroOrRed ?? []).map((ref) => ({ ref, formula: '0' }));
  if (end.textOrRed) rules.push({ ref: end.textOrRed.ref, formula: `"${end.textOrRed.text}"` });
  for (const [index, { ref, formula }] of rules.entries()) {
    worksheet.addConditionalFormatting({
      ref,
      rules: [
        {
          type: 'cellIs',
          // The library's type lacks the operator that its writer and the format know.
          operator: 'notEqual' as 'equal',
          formulae: [formula],
          priority: index + 1,
          style: RED,
        },
      ],
    });
  }
  writeAtEnd(worksheet, DIGITS_AS_TEXT + drawingOf(sheet, end.charts ?? []));
  worksheet.commit();
  await endSheetPart(sheet.book.parts);
}

/** A name that a spreadsheet takes: no forbidden characters, at most 31, none twice. */
export function safeSheetName(wanted: string, taken: ReadonlySet<string>): string {
  const clean = wanted
    .replace(/[\\/:?*[\]]|\p{C}/gu, ' ')
    .replace(/^'+|'+$/g, '')
    .trim();
  const base = clean === '' || clean.toLowerCase() === 'history' ? 'Sheet' : clean;
  for (let copy = 1; copy <= taken.size + 1; copy += 1) {
    const suffix = copy === 1 ? '' : ` (${copy})`;
    const name = base.slice(0, SHEET_NAME_MAX - suffix.length).replace(/\p{Cs}$/u, '') + suffix;
    if (!taken.has(name.toLowerCase())) return name;
  }
  throw new Error(`no sheet name is left for ${wanted}`);
}

/** `27` is `AA`. */
export function columnLetters(number: number): string {
  const rest = Math.floor((number - 1) / 26);
  return (rest > 0 ? columnLetters(rest) : '') + String.fromCharCode(65 + ((number - 1) % 26));
}

function openBook(sink: Writable, properties: BookProperties): Book {
  const parts = openParts(openZip(sink, properties.createdAt));
  const { writer } = parts;
  writer.creator = 'tieout';
  writer.lastModifiedBy = 'tieout';
  writer.created = properties.createdAt;
  writer.modified = properties.createdAt;
  writer.title = properties.title;
  writer.subject = `Business date ${properties.businessDate}, ${properties.environment}`;
  writer.views = [FIRST_SHEET_VIEW];
  return { parts, properties, names: new Set() };
}

/** The window opens on the first sheet; sizes are in twentieths of a point. */
const FIRST_SHEET_VIEW: ExcelJS.WorkbookView = {
  x: 0,
  y: 0,
  width: 28_800,
  height: 16_000,
  firstSheet: 0,
  activeTab: 0,
  visibility: 'visible',
};

function checkedValue(value: NonNullable<Cell['value']>): ExcelJS.CellValue {
  if (typeof value === 'number') return finiteNumber(value);
  if (typeof value === 'string') return value;
  if (value instanceof Date) {
    finiteNumber(value.getTime());
    return value;
  }
  if (typeof value.result === 'number') finiteNumber(value.result);
  return { formula: value.formula, result: value.result } as ExcelJS.CellFormulaValue;
}

/** Hands the charts to the file; answers how the sheet names them. */
function drawingOf(sheet: Sheet, charts: readonly BarChart[]): string {
  if (charts.length === 0) return '';
  const { parts, contentTypes } = drawingParts(sheet.worksheet.id, charts);
  addParts(sheet.book.parts, parts, contentTypes);
  return DRAWING_ELEMENT;
}

interface SheetWriter {
  stream: { write: (xml: string) => unknown };
  _writeRowBreaks: () => void;
}

/**
 * An account "0010" is text on purpose; a reader would mark each such cell as a mistake. The
 * library has no word for this rule.
 */
const DIGITS_AS_TEXT =
  '<ignoredErrors><ignoredError sqref="A1:XFD1048576" numberStoredAsText="1"/></ignoredErrors>';

/** Writes XML of our own behind the row breaks, where the format has its place; a test holds it. */
function writeAtEnd(worksheet: ExcelJS.Worksheet, xml: string): void {
  const writer = worksheet as unknown as SheetWriter;
  const writeRowBreaks = writer._writeRowBreaks.bind(writer);
  writer._writeRowBreaks = () => {
    writeRowBreaks();
    writer.stream.write(xml);
  };
}
