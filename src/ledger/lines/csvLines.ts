// A CSV file as lines of the ledger: RFC 4180 with commas, its first line naming the columns. Owns
// the CSV parser and the check of the header. It repairs nothing: a line of another length, a stray
// quote or an unknown column is refused with its number. Neighbours: inputText.ts, tableImport.ts.

import { CsvError } from 'csv-parse';
import type { Column, RawLine, ValueProblem } from '../../core/ledger/ledgerRow.js';
import { shopHint } from '../../core/mapping/shopFormats.js';
import type { TrailerCheck } from '../../core/mapping/trailer.js';
import { andMore } from '../../core/text/amounts.js';
import { cutText } from '../../core/text/heldText.js';
import { type CsvRecord, csvRecords } from './csvRecords.js';
import type { ReadLine } from './inputText.js';
import { lineBreaks, MAX_LINE_LENGTH, NotText, textOf } from './inputText.js';

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
  for await (const chunk of csvChunks(file, columns, shape)) yield* chunk;
}

/** The same in chunks as they are read: to wait for one line costs more than to read it. */
export async function* csvChunks(
  file: string,
  columns: readonly Column[],
  shape: CsvShape = PLAIN,
): AsyncGenerator<readonly ReadLine[]> {
  const reading = new CsvReading(columns, shape);
  const above = shape.headerLine - 1;
  const plain = { lines: 0 };
  try {
    for await (const { records, isQuoted } of csvRecords(
      textBelow(file, shape),
      shape.separator,
      plain,
    )) {
      const lines: ReadLine[] = [];
      for (const record of records) {
        reading.take(record, isQuoted, lines);
        if (reading.isStopped) break;
      }
      yield lines;
      if (reading.isStopped) return;
    }
    yield reading.end(above);
  } catch (error) {
    const { header, lastLine } = reading;
    const names = header ?? (await firstRecord(file, shape));
    const problem = syntaxProblem(error, { lastLine, above: above + plain.lines, names });
    // With another separator a quote further down may be what is met first.
    const hint = header === null ? await hintOf(file, columns, shape) : null;
    yield [{ kind: 'problem', ...(hint === null ? problem : { line: above + 1, problem: hint }) }];
  }
}

/** What has been seen of a file so far: its header, its last line, whether its trailer came. */
class CsvReading {
  header: readonly string[] | null = null;
  lastLine: number;
  /** Nothing below can be read. */
  isStopped = false;
  #wanted: { name: string; at: number }[] = [];
  #isOver = false;
  readonly #columns: readonly Column[];
  readonly #shape: CsvShape;

  constructor(columns: readonly Column[], shape: CsvShape) {
    this.#columns = columns;
    this.#shape = shape;
    this.lastLine = shape.headerLine - 1;
  }

  take(record: CsvRecord, isQuoted: boolean, lines: ReadLine[]): void {
    const line = this.lastLine + 1;
    this.lastLine = isQuoted ? line + lineBreaksIn(record) : line;
    if (record.length === 1 && record[0] === '') return;
    const { trailer } = this.#shape;
    if (this.header === null) {
      this.#takeHeader(record, line, lines);
    } else if (this.#isOver) {
      const problem = 'stands below the line that should be the last (trailer)';
      lines.push({ kind: 'problem', line, problem });
      this.isStopped = true;
    } else if (trailer?.isTrailer(record)) {
      this.#isOver = true;
      for (const problem of trailer.problems(record)) {
        lines.push({ kind: 'problem', line, problem });
      }
    } else {
      const read = this.#readRecord(this.header, record, line);
      if (read.kind === 'line') trailer?.count(read.values);
      lines.push(read);
    }
  }

  end(above: number): ReadLine[] {
    const { trailer } = this.#shape;
    if (this.header === null) return [{ kind: 'problem', line: 1, problem: noHeader(above) }];
    if (trailer === null || this.#isOver) return [];
    return [{ kind: 'problem', line: this.lastLine, problem: trailer.missing }];
  }

  #takeHeader(record: CsvRecord, line: number, lines: ReadLine[]): void {
    const [columns, shape] = [this.#columns, this.#shape];
    const problems = headerProblems(record, columns, shape);
    const hint = problems.length === 0 ? null : headerHint(record, columns, shape);
    if (hint !== null) lines.push({ kind: 'problem', line, problem: hint });
    else for (const problem of problems) lines.push({ kind: 'problem', line, problem });
    if (hint === null && problems.length > 0) {
      const problem = shape.othersToo ? namesFound(record) : namesAwaited(columns);
      lines.push({ kind: 'problem', line, problem });
    }
    this.isStopped = problems.length > 0;
    this.header = record;
    const names = new Set(columns.map(({ name }) => name));
    this.#wanted = record.map((name, at) => ({ name, at })).filter(({ name }) => names.has(name));
  }

  #readRecord(header: CsvRecord, record: CsvRecord, line: number): ReadLine {
    if (record.length !== header.length) {
      const problem = `has ${record.length} values, the first line names ${header.length}`;
      return { kind: 'problem', line, problem };
    }
    const values: Record<string, string | null> = {};
    for (const { name, at } of this.#wanted) values[name] = record[at] || null;
    return { kind: 'line', line, values: values satisfies RawLine };
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
    const texts = textBelow(file, shape);
    const told = { lines: 0 };
    for await (const { records } of csvRecords(texts, shape.separator, told, { to: 1 })) {
      return records[0] ?? null;
    }
  } catch (error) {
    if (!(error instanceof CsvError || error instanceof NotText)) throw error;
  }
  return null;
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
    else if (!known.has(name) && !othersToo) refuse(cutText(name, 80), unknownColumn(name));
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
    .map((name) => spelled(cutText(name, NAME_TOLD_CHARS)));
  const more = andMore(header.length - told.length);
  return `names ${told.join(', ')}${more}: is the map that of this file?`;
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

function lineBreaksIn(record: CsvRecord): number {
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
