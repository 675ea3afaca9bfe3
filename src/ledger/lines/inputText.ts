// Opens the files given to an import and reads them as UTF-8 text in pieces. Owns what a file may
// be; knows nothing of what is in it. It must never hold a whole file in memory. Neighbours:
// csvLines.ts and ndjsonLines.ts make lines of the text.

import { createReadStream, statSync } from 'node:fs';
import { extname } from 'node:path';
import { UsageError } from '../../core/errors.js';
import type { RawLine, ValueProblem } from '../../core/ledger/ledgerRow.js';
import { notTextBytes } from './fileKind.js';

type InputFormat = 'csv' | 'ndjson';

/** Longest line that a row of the ledger can need, many times over. */
export const MAX_LINE_LENGTH = 65_536;

const PIECE_BYTES = 1 << 18;

/** One line that was read, or why it cannot be one. */
export type ReadLine =
  | { readonly kind: 'line'; readonly line: number; readonly values: RawLine }
  | { readonly kind: 'problem'; readonly line: number; readonly problem: ValueProblem | string };

/** What the ending of the name says the file holds. */
export function formatOf(file: string): InputFormat {
  const ending = extname(file).toLowerCase();
  if (ending === '.csv') return 'csv';
  if (ending === '.ndjson' || ending === '.jsonl') return 'ndjson';
  throw new UsageError(`${file}: its name must end in .csv or .ndjson`);
}

/** Refuses what is no readable file before any of the files is read. */
export function requireFiles(files: readonly string[]): void {
  if (files.length === 0) throw new UsageError('no file was given');
  const named = new Set<string>();
  for (const file of files) {
    if (named.has(file)) throw new UsageError(`${file}: was given twice`);
    named.add(file);
    const found = statSync(file, { throwIfNoEntry: false });
    if (found === undefined) throw new UsageError(`${file}: there is no such file`);
    if (!found.isFile()) throw new UsageError(`${file}: is no file`);
  }
}

/** Thrown inside a reading: from this line on the bytes are no text, and what they are instead. */
export class NotText extends Error {
  constructor(
    readonly line: number,
    readonly problem: string,
  ) {
    super(`line ${line} ${problem}`);
  }
}

function notEncoded(encoding: string): string {
  return encoding === 'utf-8'
    ? 'is not UTF-8 text: save the file as UTF-8, or give its encoding in a map: windows-1252'
    : `is not ${encoding} text, which the map says it is (encoding)`;
}

/** The text in pieces, without a byte order mark; throws NotText. */
export async function* textOf(file: string, encoding = 'utf-8'): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  let lines = 1;
  const decode = (bytes?: Uint8Array): string => {
    try {
      const text = decoder.decode(bytes, { stream: bytes !== undefined });
      lines += lineBreaks(text);
      return text;
    } catch {
      // Once more, with a sign where the text ends.
      const [good = ''] = new TextDecoder(encoding).decode(bytes).split('\ufffd', 1);
      throw new NotText(lines + lineBreaks(good), notEncoded(encoding));
    }
  };
  const pieces: AsyncIterable<Buffer> = createReadStream(file, { highWaterMark: PIECE_BYTES });
  let isFirst = true;
  for await (const piece of pieces) {
    const other = isFirst ? notTextBytes(piece, encoding) : null;
    if (other !== null) throw new NotText(1, other);
    isFirst = false;
    yield decode(piece);
  }
  yield decode();
}

export function lineBreaks(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}
