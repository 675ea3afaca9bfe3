// The records of a CSV text (RFC 4180), in chunks as they come. Owns the CSV parser, and does
// without it as long as no quote has come: until then a line is a record, and a separator ends a
// value, which takes a quarter of the parser's time. From the first quote on, and from a line that
// is long, the parser has the rest. Neighbour: csvLines.ts makes lines of them.

import type { TransformOptions } from 'node:stream';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Options } from 'csv-parse';
import { parse } from 'csv-parse';
import { MAX_LINE_LENGTH } from './inputText.js';

export type CsvRecord = readonly string[];

/** Records that follow one another. */
interface CsvChunk {
  readonly records: readonly CsvRecord[];
  /** values may hold line breaks, so that a record takes more than one line */
  readonly isQuoted: boolean;
}

/** So few that nearly all of them are gone when garbage is next collected. */
const CHUNK_RECORDS = 100;
/** Rows that the parser may have ready before it waits. */
const READ_AHEAD_ROWS = 1_024;
/** The parser counts bytes, of which a character has four at most. */
const PLAIN_LENGTH_MAX = MAX_LINE_LENGTH / 4;

/**
 * `told.lines` is how many lines were read without the parser, from which the lines of its errors
 * are counted; `limits` are the parser's. Throws the parser's CsvError, and what the reading of
 * `texts` throws.
 */
export async function* csvRecords(
  texts: AsyncGenerator<string>,
  separator: string,
  told: { lines: number },
  limits: Pick<Options, 'to'> = {},
): AsyncGenerator<CsvChunk> {
  try {
    yield* recordsOf(texts, separator, told, limits);
  } finally {
    // Whoever stops early leaves no file open.
    await texts.return(undefined);
  }
}

async function* recordsOf(
  texts: AsyncGenerator<string>,
  separator: string,
  told: { lines: number },
  limits: Pick<Options, 'to'>,
): AsyncGenerator<CsvChunk> {
  let rest = '';
  for (let next = await texts.next(); !next.done; next = await texts.next()) {
    rest += next.value;
    const place = { from: 0 };
    const isPlain = !rest.includes('"');
    for (let isAll = false; !isAll; ) {
      const records = isPlain ? plainRecords(rest, place, separator) : null;
      if (records === null) {
        yield* parsedRecords(withFirst(rest.slice(place.from), texts), separator, limits);
        return;
      }
      told.lines += records.length;
      isAll = records.length === 0;
      if (records.length > 0) yield { records, isQuoted: false };
    }
    rest = rest.slice(place.from);
  }
  if (rest !== '') yield { records: [rest.split(separator)], isQuoted: false };
}

/** The lines of it from a place on, so many at most; null where the first of them is long. */
function plainRecords(
  text: string,
  place: { from: number },
  separator: string,
): CsvRecord[] | null {
  const records: CsvRecord[] = [];
  let { from } = place;
  while (records.length < CHUNK_RECORDS) {
    const end = text.indexOf('\n', from);
    const isLong = (end === -1 ? text.length : end) - from > PLAIN_LENGTH_MAX;
    if (isLong && records.length === 0) return null;
    if (isLong || end === -1) break;
    const isWindows = end > from && text.charCodeAt(end - 1) === CARRIAGE_RETURN;
    records.push(text.slice(from, isWindows ? end - 1 : end).split(separator));
    from = end + 1;
  }
  place.from = from;
  return records;
}

const CARRIAGE_RETURN = 0x0d;

/** What the parser has ready besides. */
const read = (parser: Readable): CsvRecord | null => parser.read() as CsvRecord | null;

async function* withFirst(first: string, rest: AsyncGenerator<string>): AsyncGenerator<string> {
  yield first;
  yield* rest;
}

async function* parsedRecords(
  texts: AsyncIterable<string>,
  separator: string,
  limits: Pick<Options, 'to'>,
): AsyncGenerator<CsvChunk> {
  const options: Options & TransformOptions = {
    ...limits,
    delimiter: separator,
    record_delimiter: ['\r\n', '\n'],
    relax_column_count: true,
    max_record_size: MAX_LINE_LENGTH,
    readableHighWaterMark: READ_AHEAD_ROWS,
  };
  const parser = parse(options);
  // Its failure destroys the parser, whose iteration below then throws the same error.
  const reading = pipeline(Readable.from(texts), parser).catch(() => {});
  try {
    for await (const first of parser as AsyncIterable<CsvRecord>) {
      const records = [first];
      for (let more = read(parser); more !== null; more = read(parser)) records.push(more);
      yield { records, isQuoted: true };
    }
  } finally {
    parser.destroy();
    await reading;
  }
}
