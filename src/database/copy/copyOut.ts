// COPY ... TO STDOUT, the fast way out for many rows: the server sends lines of text, and nothing
// is parsed that nobody asked for. It goes no faster than the reader takes the rows, so memory
// stays flat. Neighbour: db.ts hands it a client.

import type pg from 'pg';
import { to } from 'pg-copy-streams';
import type { Connection } from '../connection.js';
import { asOperatingFailure } from '../connection.js';

/** One row: the text of each column, null where it is null. */
export type CopiedRow = (string | null)[];

const NEWLINE = 0x0a;
/**
 * Rows of about so many bytes are in hand at once, about a hundred: what the socket brings at a
 * time is four times as much, and made into rows would mostly outlive what is collected early.
 */
const CHUNK_BYTES = 16 * 1024;

/** The rows of a COPY ... TO STDOUT as text, in chunks as they come. */
export async function* copyOut(
  client: pg.ClientBase,
  copySql: string,
  connection: Connection,
): AsyncGenerator<CopiedRow[]> {
  const stream = client.query(to(copySql));
  let rest: Buffer = Buffer.alloc(0);
  try {
    for await (const piece of stream) {
      const bytes = rest.length === 0 ? (piece as Buffer) : Buffer.concat([rest, piece as Buffer]);
      let start = 0;
      for (let end = chunkEnd(bytes, 0); end > start; end = chunkEnd(bytes, end)) {
        yield linesOf(bytes.toString('utf8', start, end - 1)).map(fieldsOf);
        start = end;
      }
      rest = bytes.subarray(start);
    }
  } catch (error) {
    throw asOperatingFailure(error, connection);
  }
}

/** Behind the last line of the chunk that begins here; where it begins if no line is whole. */
function chunkEnd(bytes: Buffer, start: number): number {
  const last = bytes.lastIndexOf(NEWLINE, start + CHUNK_BYTES);
  const end = last < start ? bytes.indexOf(NEWLINE, start + CHUNK_BYTES) : last;
  return end < start ? start : end + 1;
}

function linesOf(text: string): string[] {
  return text.split('\n');
}

function fieldsOf(line: string): CopiedRow {
  const fields = line.split('\t');
  return line.includes('\\') ? fields.map(unescaped) : fields;
}

const ESCAPES: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

/** COPY's text format: `\N` is null, a backslash begins an escape. */
function unescaped(field: string): string | null {
  if (field === '\\N') return null;
  if (!field.includes('\\')) return field;
  return field.replace(/\\(.)/gs, (_, letter: string) => ESCAPES[letter] ?? letter);
}
