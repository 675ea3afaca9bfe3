// Standard output: rows as they are read, as they are written to a file, or all of them in one JSON
// document (a year of them needs no more memory than a night's); and whether all of it was taken.

import { fstatSync, writeSync } from 'node:fs';
import { unwritableWords } from '../core/errors.js';
import { jsonText, tameJson } from './terminal.js';

/** What the first refused write said; null: everything was taken so far. */
let refusal: Error | null = null;

/**
 * Once, by the process around a command. Whatever becomes of what it prints, a command works on to
 * its end, and what it comes to is told by its exit code.
 */
export function watchOutput(): void {
  process.stdout.on('error', (error) => {
    refusal ??= error;
  });
  if (fstatSync(process.stdout.fd).isFile()) process.stdout._write = writeWhole;
}

/** The platform writes to a file once: of what a full disk had no room for it would say nothing. */
function writeWhole(chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
  try {
    for (let at = 0; at < chunk.length; ) at += writeSync(process.stdout.fd, chunk, at);
    done();
  } catch (error) {
    done(error as Error);
  }
}

/** Why not all of it was written; null: it was, or a reader (`| head`) wanted no more. */
export function outputProblem(): string | null {
  if (refusal === null || ('code' in refusal && refusal.code === 'EPIPE')) return null;
  const what = 'standard output';
  return unwritableWords(what, refusal) ?? `${what} cannot be written: ${refusal.message}`;
}

export async function printText(pieces: AsyncIterable<string>): Promise<void> {
  for await (const piece of wanted(pieces)) await print(piece);
}

/** No more is read once nobody takes it. */
export async function* wanted<Piece>(pieces: AsyncIterable<Piece>): AsyncGenerator<Piece> {
  for await (const piece of pieces) {
    if (refusal !== null) return;
    yield piece;
  }
}

/** `head` with the rows under one more name; `lines` are NDJSON. */
export async function printDocument(
  head: Readonly<Record<string, string | number>>,
  name: string,
  lines: AsyncIterable<string>,
): Promise<void> {
  await print(`${jsonText(head).slice(0, -1)},${jsonText(name)}:[`);
  let separator = '';
  for await (const piece of wanted(lines)) {
    await print(separator + tameJson(piece.trimEnd()).replaceAll('\n', ','));
    separator = ',';
  }
  await print(']}\n');
}

/** Waits for a reader that is slower than the database. */
export async function print(text: string): Promise<void> {
  const { stdout } = process;
  if (stdout.write(text)) return;
  await new Promise<void>((done) => {
    const end = (): void => {
      stdout.off('drain', end).off('error', end);
      done();
    };
    stdout.on('drain', end).on('error', end);
  });
}
