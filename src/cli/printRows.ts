// Rows on standard output as they are read: as they are written to a file, or all of them in one
// JSON document. A year of them needs no more memory than a night's.

import { jsonText, tameJson } from './terminal.js';

export async function printText(pieces: AsyncIterable<string>): Promise<void> {
  for await (const piece of pieces) await print(piece);
}

/** `head` with the rows under one more name; `lines` are NDJSON. */
export async function printDocument(
  head: Readonly<Record<string, string | number>>,
  name: string,
  lines: AsyncIterable<string>,
): Promise<void> {
  await print(`${jsonText(head).slice(0, -1)},${jsonText(name)}:[`);
  let separator = '';
  for await (const piece of lines) {
    await print(separator + tameJson(piece.trimEnd()).replaceAll('\n', ','));
    separator = ',';
  }
  await print(']}\n');
}

/** Waits for a reader that is slower than the database. */
export async function print(text: string): Promise<void> {
  if (process.stdout.write(text)) return;
  await new Promise<void>((done) => process.stdout.once('drain', done));
}
