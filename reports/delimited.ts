// The same rows for programs: CSV (RFC 4180) and NDJSON, of the same columns as the workbooks.
// Amounts are text: in CSV with the decimals of their currency, in NDJSON as they are kept.
// Instants are RFC 3339 in UTC. It must never give a spreadsheet a cell that it would run: in CSV a
// text that begins like a formula gets an apostrophe. Neighbours: columns.ts (the columns),
// outputFile.ts (the file).

import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type { WrittenReport } from '../src/core/runs/reporting.js';
import { inDecimals } from '../src/core/text/amounts.js';
import { maskCardNumbers } from '../src/core/text/masking.js';
import type { Column, Table } from './column.js';
import { writeNewFile } from './outputFile.js';
import { cleanText, finiteNumber } from './xlsx/cells.js';

export type DelimitedFormat = 'csv' | 'ndjson';

export interface CsvOptions {
  /** Excel takes a file for UTF-8 only when it begins with this mark. */
  byteOrderMark?: boolean;
  /** Between the fields; absent is a comma. */
  separator?: ',' | ';' | '\t';
  /** In amounts; absent is a point, which many spreadsheets take for text or a date. */
  decimalSign?: '.' | ',';
  /** Texts and amounts as they are kept: for programs; no spreadsheet must open such a file. */
  isAsKept?: boolean;
}

/** As a person chooses what stands between fields. */
export const SEPARATORS = { ',': ',', ';': ';', tab: '\t' } as const;

type Rows<R> = AsyncIterable<readonly R[]> | Iterable<readonly R[]>;

export function writeDelimited<R>(
  path: string,
  format: DelimitedFormat,
  table: Table<R>,
  rows: Rows<R>,
  options: CsvOptions = {},
): Promise<WrittenReport> {
  return writeNewFile(path, (sink) => pour(sink, delimitedText(format, table, rows, options)));
}

/** The file's text, a piece for each chunk of rows: to print it without a file. */
export async function* delimitedText<R>(
  format: DelimitedFormat,
  table: Table<R>,
  rows: Rows<R>,
  options: CsvOptions = {},
): AsyncGenerator<string> {
  if (format === 'csv') {
    const headings = table.columns.map((column) => column.key);
    yield (options.byteOrderMark ? '\ufeff' : '') + csvLine(headings, options);
  }
  for await (const chunk of rows) {
    const lines = chunk.map((row) =>
      format === 'csv' ? csvRow(table, row, options) : jsonRow(table, row),
    );
    if (lines.length > 0) yield lines.join('');
  }
}

async function pour(sink: Writable, text: AsyncIterable<string>): Promise<void> {
  for await (const piece of text) {
    if (sink.destroyed) throw sink.errored ?? new Error('the output was closed');
    // `once` rejects when the sink fails, so that the rows' source is let go.
    if (!sink.write(Buffer.from(piece))) await once(sink, 'drain');
  }
  sink.end();
}

function csvRow<R>(table: Table<R>, row: R, options: CsvOptions): string {
  const keep = table.keep(row);
  return csvLine(
    table.columns.map((column) => {
      const value = plainValue(column, row, keep);
      if (value === null) return '';
      if (options.isAsKept) return String(value);
      const isText = column.kind === 'id' || column.kind === 'text' || !isAmount(value);
      if (isText) return guarded(String(value));
      if (column.kind !== 'money') return String(value);
      const currency = column.currency(row);
      const amount = currency === null ? String(value) : inDecimals(String(value), currency);
      return withSign(amount, options);
    }),
    options,
  );
}

/** Amounts, counts and instants begin with a digit or are negative figures: nothing to run. */
function isAmount(value: string | number): boolean {
  return typeof value === 'number' || /^-?\d[\d.:TZ-]*$/.test(value);
}

/** A full-width sign counts too: some spreadsheets take it for the narrow one. */
function guarded(text: string): string {
  return /^[\s]*[=+\-@\t\r\n＝＋－＠]/.test(text) ? `'${text}` : text;
}

function withSign(amount: string, { decimalSign = '.' }: CsvOptions): string {
  return decimalSign === '.' ? amount : amount.replace('.', decimalSign);
}

function csvLine(fields: readonly string[], { separator = ',' }: CsvOptions): string {
  return `${fields.map((field) => csvField(field, separator)).join(separator)}\r\n`;
}

/** Commas are quoted with any separator: a reader that guesses it is misled by none. */
function csvField(field: string, separator: string): string {
  const isQuoted = field.includes(separator) || /[",\r\n]|^\s|\s$/.test(field);
  return isQuoted ? `"${field.replaceAll('"', '""')}"` : field;
}

function jsonRow<R>(table: Table<R>, row: R): string {
  const keep = table.keep(row);
  const entries = table.columns.map((column) => [column.key, plainValue(column, row, keep)]);
  return `${JSON.stringify(Object.fromEntries(entries))}\n`;
}

function plainValue<R>(column: Column<R>, row: R, keep: readonly string[]): string | number | null {
  const value = column.read(row);
  if (value === null) return null;
  if (value instanceof Date) return value.toISOString();
  if (typeof value === 'number') return finiteNumber(value);
  // Identifiers are handed on as they are, save what no reader can take.
  return column.kind === 'id' ? cleanText(value) : maskCardNumbers(cleanText(value), keep);
}
