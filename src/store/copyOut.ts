// COPY ... TO STDOUT, the fast way out for many rows: the server sends lines of text, and nothing
// is parsed that nobody asked for. It goes no faster than the reader takes the rows, so memory
// stays flat. Neighbour: db.ts hands it a client.

import type pg from 'pg';
import { to } from 'pg-copy-streams';
import type { Connection } from './connection.js';
import { asOperatingFailure } from './connection.js';

/** One row: the text of each column, null where it is null. */
export type CopiedRow = (string | null)[];

/** What may stand for a parameter. */
export type CopyValue = bigint | string;

const NEWLINE = 0x0a;

/** The rows of a SELECT as text, in chunks as they come. */
export async function* copyOut(
  client: pg.ClientBase,
  select: string,
  values: readonly CopyValue[],
  connection: Connection,
): AsyncGenerator<CopiedRow[]> {
  // COPY takes no parameters.
  const text = select.replace(/\$(\d+)/g, (_, number) =>
    literal(client, values[Number(number) - 1]),
  );
  const stream = client.query(to(`copy (${text}) to stdout`));
  let rest: Buffer = Buffer.alloc(0);
  try {
    for await (const piece of stream) {
      const bytes = rest.length === 0 ? (piece as Buffer) : Buffer.concat([rest, piece as Buffer]);
      const end = bytes.lastIndexOf(NEWLINE) + 1;
      rest = bytes.subarray(end);
      if (end > 0) yield linesOf(bytes.toString('utf8', 0, end - 1)).map(fieldsOf);
    }
  } catch (error) {
    throw asOperatingFailure(error, connection);
  }
}

/** A bigint is written the same way in SQL, a text between quotes. */
function literal(client: pg.ClientBase, value: CopyValue | undefined): string {
  return typeof value === 'string' ? client.escapeLiteral(value) : String(value);
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
