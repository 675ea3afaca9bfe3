// A CSV file as lines of the ledger: RFC 4180 with commas, its first line naming the columns. Owns
// the CSV parser and the check of the header. It repairs nothing: a line of another length, a stray
// quote or an unknown column is refused with its number. Neighbours: inputText.ts, tableImport.ts.

import type { TransformOptions } from 'node:stream';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Options } from 'csv-parse';
import { CsvError, parse } from 'csv-parse';
import type { Column, RawLine, ValueProblem } from '../../core/ledger/ledgerRow.js';
import { shopHint } from '../../core/ledger/shopFormats.js';
import type { TrailerCheck } from '../../core/ledger/trailer.js';
import type { ReadLine } from './inputText.js';
import { lineBreaks, MAX_LINE_LENGTH, NotText, textOf } from './inputText.js';

/** Rows that the parser may have ready before it waits. */
const READ_AHEAD_ROWS = 1_024;

/** How a file is written; RFC 4180 in UTF-8 where nothing else is said. */
interface CsvShape {
  readonly separator: string;
  readonly encoding: string;
  /** columns that nobody asked for may stand beside those that are read */
  readonly othersToo: boolean;
  /** the line that names the columns */
  readonly headerLine: number;
  readonly trailer: TrailerCheck | null;
}

const PLAIN: CsvShape = {
  ...{ separator: ',', encoding: 'utf-8', othersToo: false },
  ...{ headerLine: 1, trailer: null },
};

export async function* csvLines(
  file: string,
  columns: readonly Column[],
  shape: CsvShape = PLAIN,
): AsyncGenerator<ReadLine> {
  const wanted = new Set(columns.map(({ name }) => name));
  let header: readonly string[] | null = null;
  const { trailer } = shape;
  const above = shape.headerLine - 1;
  let lastLine = above;
  let isOver = false;
  try {
    for await (const record of records(file, shape)) {
      const line = lastLine + 1;
      lastLine = line + lineBreaksIn(record);
      if (record.length === 1 && record[0] === '') continue;
      if (header === null) {
        const problems = headerProblems(record, columns, shape);
        const hint = problems.length === 0 ? null : headerHint(record, columns, shape);
        if (hint !== null) yield { kind: 'problem', line, problem: hint };
        else for (const problem of problems) yield { kind: 'problem', line, problem };
        if (hint === null && problems.length > 0) {
          const problem = shape.othersToo ? namesFound(record) : namesAwaited(columns);
          yield { kind: 'problem', line, problem };
        }
        if (problems.length > 0) return;
        header = record;
      } else if (isOver) {
        const problem = 'stands below the line that should be the last (trailer)';
        yield { kind: 'problem', line, problem };
        return;
      } else if (trailer?.isTrailer(record)) {
        isOver = true;
        for (const problem of trailer.problems(record)) yield { kind: 'problem', line, problem };
      } else {
        const read = readRecord(header, record, line, wanted);
        if (read.kind === 'line') trailer?.count(read.values);
        yield read;
      }
    }
    if (header !== null && trailer !== null && !isOver) {
      yield { kind: 'problem', line: lastLine, problem: trailer.missing };
    }
    if (header === null) yield { kind: 'problem', line: 1, problem: noHeader(above) };
  } catch (error) {
    const names = header ?? (await firstRecord(file, shape));
    const problem = syntaxProblem(error, { lastLine, above, names });
    // With another separator a quote further down may be what is met first.
    const hint = header === null ? await hintOf(file, columns, shape) : null;
    yield { kind: 'problem', ...(hint === null ? problem : { line: above + 1, problem: hint }) };
  }
}

function noHeader(above: number): string {
  if (above === 0) return 'the file is empty';
  return `has no line ${above + 1}, which the map says names the columns (headerLine)`;
}

function headerHint(
  header: readonly string[],
  columns: readonly Column[],
  shape: CsvShape,
): string | null {
  if (shape.othersToo) return separatorHint(header.join(shape.separator), columns, shape);
  const names = columns.map(({ name }) => name);
  return shopHint(header, names);
}

async function hintOf(
  file: string,
  columns: readonly Column[],
  shape: CsvShape,
): Promise<string | null> {
  try {
    for await (const text of textOf(file, shape.encoding)) {
      const first = text.slice(0, MAX_LINE_LENGTH).split(/\r?\n/)[shape.headerLine - 1] ?? '';
      if (shape.othersToo) return separatorHint(first, columns, shape);
      const names = columns.map(({ name }) => name);
      return shopHint([first], names);
    }
  } catch (error) {
    if (!(error instanceof NotText)) throw error;
  }
  return null;
}

const SEPARATORS: readonly string[] = [',', ';', '\t', '|'];

/** What to say of a first line whose columns are those of the map, with another sign between. */
function separatorHint(
  first: string,
  columns: readonly Column[],
  { separator }: CsvShape,
): string | null {
  const needed = columns.filter(({ nullable }) => !nullable).map(({ name }) => name);
  const found = SEPARATORS.filter((sign) => sign !== separator).find((sign) => {
    const names = first.split(sign).map((name) => name.replaceAll('"', '').trim());
    return needed.length > 1 && needed.every((name) => names.includes(name));
  });
  if (found === undefined) return null;
  const said = `its columns are separated by ${spelled(found)}, the map says`;
  return `${said} ${spelled(separator)}: separator: ${spelled(found)}`;
}

const spelled = (sign: string): string => JSON.stringify(sign);

/** What stands above the names of the columns is no CSV, and never reaches the parser. */
async function* textBelow(
  file: string,
  { encoding, headerLine }: CsvShape,
): AsyncGenerator<string> {
  let above = headerLine - 1;
  for await (const piece of textOf(file, encoding)) {
    let from = 0;
    while (above > 0 && from < piece.length) {
      const end = piece.indexOf('\n', from);
      from = end === -1 ? piece.length : end + 1;
      if (end !== -1) above -= 1;
    }
    if (from < piece.length) yield piece.slice(from);
  }
}

/** What the parser had ready is lost when it fails, the first line too. */
async function firstRecord(file: string, shape: CsvShape): Promise<Names> {
  try {
    for await (const record of records(file, shape, { to: 1 })) return record;
  } catch (error) {
    if (!(error instanceof CsvError || error instanceof NotText)) throw error;
  }
  return null;
}

async function* records(
  file: string,
  shape: CsvShape,
  limits: Pick<Options, 'to'> = {},
): AsyncGenerator<readonly string[]> {
  const options: Options & TransformOptions = {
    ...limits,
    delimiter: shape.separator,
    record_delimiter: ['\r\n', '\n'],
    relax_column_count: true,
    max_record_size: MAX_LINE_LENGTH,
    readableHighWaterMark: READ_AHEAD_ROWS,
  };
  const parser = parse(options);
  // Its failure destroys the parser, whose iteration below then throws the same error.
  const reading = pipeline(Readable.from(textBelow(file, shape)), parser).catch(() => {});
  try {
    yield* parser as AsyncIterable<readonly string[]>;
  } finally {
    parser.destroy();
    await reading;
  }
}

type HeaderProblem = ValueProblem & { isHeader: true };

function headerProblems(
  header: readonly string[],
  columns: readonly Column[],
  { othersToo, separator }: CsvShape,
): HeaderProblem[] {
  const known = new Set(columns.map(({ name }) => name));
  const found = new Set<string>();
  const problems: HeaderProblem[] = [];
  const refuse = (column: string, reason: string) =>
    problems.push({ column, value: null, isHeader: true, reason });
  for (const name of header) {
    if (found.has(name) && (known.has(name) || !othersToo)) refuse(name, 'names a column twice');
    else if (!known.has(name) && !othersToo) refuse(name.slice(0, 80), unknownColumn(name));
    found.add(name);
  }
  // Of a header in another spelling every column would be missing: the unknown ones say enough.
  if (problems.length > 0) return problems;
  for (const { name, nullable } of columns) {
    if (nullable || found.has(name)) continue;
    const only = othersToo && header.length === 1 ? `: is "${separator}" the separator?` : '';
    refuse(name, `is missing from the first line${only}`);
  }
  return problems;
}

/** Names of a first line that are told, and how much of each. */
const NAMES_TOLD_MAX = 20;
const NAME_TOLD_CHARS = 40;

/** What another file than the map's calls its columns: one look tells whose file it is. */
function namesFound(header: readonly string[]): string {
  const told = header
    .slice(0, NAMES_TOLD_MAX)
    .map((name) => spelled(name.slice(0, NAME_TOLD_CHARS)));
  const more = header.length - told.length;
  const rest = more > 0 ? ` and ${more} more` : '';
  return `names ${told.join(', ')}${rest}: is the map that of this file?`;
}

/** Without a map: what our own files have, and the way to read another program's. */
function namesAwaited(columns: readonly Column[]): string {
  const told = columns.map(({ name, nullable }) => (nullable ? `[${name}]` : name)).join(', ');
  return `may name ${told}; another program's file is read with --map (docs/IMPORT.md)`;
}

function unknownColumn(name: string): string {
  if (/[;\t|]/.test(name)) return 'is no column: the separator must be a comma';
  return 'is no column of this table (the first line names the columns)';
}

function readRecord(
  header: readonly string[],
  record: readonly string[],
  line: number,
  wanted: ReadonlySet<string>,
): ReadLine {
  if (record.length !== header.length) {
    const problem = `has ${record.length} values, the first line names ${header.length}`;
    return { kind: 'problem', line, problem };
  }
  const values: Record<string, string | null> = {};
  for (let at = 0; at < header.length; at += 1) {
    const name = header[at] ?? '';
    if (wanted.has(name)) values[name] = record[at] || null;
  }
  return { kind: 'line', line, values: values satisfies RawLine };
}

function lineBreaksIn(record: readonly string[]): number {
  let count = 0;
  for (const value of record) count += lineBreaks(value);
  return count;
}

type Names = readonly string[] | null;

function syntaxProblem(
  error: unknown,
  { lastLine, above, names }: { lastLine: number; above: number; names: Names },
): { line: number; problem: ValueProblem | string } {
  if (error instanceof NotText) return error;
  if (!(error instanceof CsvError)) throw error;
  const problem = SYNTAX_PROBLEMS[error.code] ?? 'is not valid CSV';
  // Rows that the parser had ready when it failed are lost, and were not counted here.
  const named = / at line (\d+)/.exec(error.message)?.[1] ?? error.lines;
  const at = typeof named === 'string' || typeof named === 'number' ? Number(named) : 0;
  const line = Math.max(lastLine + 1, above + at);
  const column = typeof error.column === 'number' ? names?.[error.column] : undefined;
  if (error.code !== 'CSV_MAX_RECORD_SIZE' || column === undefined) return { line, problem };
  const reason = `makes the line longer than ${MAX_LINE_LENGTH} characters`;
  return { line, problem: { column, value: null, isHeader: true, reason } };
}

// The parser's own messages quote the line, which may hold anything.
const SYNTAX_PROBLEMS: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'has a quote that is never closed',
  CSV_INVALID_CLOSING_QUOTE: 'has text after a closing quote',
  INVALID_OPENING_QUOTE: 'has a quote inside a value that is not in quotes',
  CSV_MAX_RECORD_SIZE: `is longer than ${MAX_LINE_LENGTH} characters`,
};
