// The memory of the sandbox: what it did, one line each, written before the answer goes out, so
// that killing it at any moment loses no effect. It must never hold a card number or a key.
// Replayed at start; the last line may be torn by a kill and is cut, any other damage is an error.
// Without a folder the lines live in memory only.

import { closeSync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import { TieoutError } from '../core/errors.js';
import type { Effect } from './book/book.js';

const CHUNK_BYTES = 1 << 20;
const NEWLINE = 0x0a;

/** One effect with the moment and the request that caused it. */
export interface JournalLine extends Effect {
  readonly at: string;
  readonly request: string;
}

export interface Journal {
  /** All or nothing: throws when the lines cannot be written, and then none counts. */
  append(lines: readonly JournalLine[]): void;
  /** How many lines there are, earlier lives of the sandbox included. */
  count(): number;
  close(): void;
}

/** Opens the journal of a file (null: none) and hands over every line it already holds. */
export function openJournal(file: string | null, replay: (line: JournalLine) => void): Journal {
  let count = 0;
  if (file === null) {
    const append = (lines: readonly JournalLine[]): void => {
      count += lines.length;
    };
    return { append, count: () => count, close: () => {} };
  }
  const handle = openSync(file, 'a+', 0o600);
  let size = readLines(handle, (text, number) => {
    replay(parseLine(file, text, number));
    count += 1;
  });
  ftruncateSync(handle, size);
  return {
    append(lines) {
      if (lines.length === 0) return;
      const bytes = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
      writeWhole(handle, bytes, size);
      size += bytes.length;
      count += lines.length;
    },
    count: () => count,
    close: () => closeSync(handle),
  };
}

/** Hands over each whole line; returns where the last one ends. */
function readLines(handle: number, take: (text: string, number: number) => void): number {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  const total = fstatSync(handle).size;
  let rest = Buffer.alloc(0);
  let end = 0;
  let number = 0;
  for (let at = 0; at < total; ) {
    const read = readSync(handle, chunk, 0, chunk.length, at);
    if (read === 0) break;
    at += read;
    const bytes = Buffer.concat([rest, chunk.subarray(0, read)]);
    let start = 0;
    for (let stop = bytes.indexOf(NEWLINE); stop >= 0; stop = bytes.indexOf(NEWLINE, start)) {
      number += 1;
      take(bytes.toString('utf8', start, stop), number);
      end += stop + 1 - start;
      start = stop + 1;
    }
    rest = bytes.subarray(start);
  }
  return end;
}

function parseLine(file: string, text: string, number: number): JournalLine {
  try {
    return JSON.parse(text) as JournalLine;
  } catch (error) {
    throw new TieoutError(`${file}: line ${number} is damaged`, { cause: error });
  }
}

/** A full disk may take a part: that part is cut away again, since none of it counts. */
function writeWhole(handle: number, bytes: Buffer, before: number): void {
  try {
    for (let done = 0; done < bytes.length; ) done += writeSync(handle, bytes, done);
  } catch (error) {
    ftruncateSync(handle, before);
    throw new TieoutError('the journal of the sandbox cannot be written', { cause: error });
  }
}
