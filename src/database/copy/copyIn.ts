// COPY ... FROM STDIN, the fast way in for many rows. It owns the waiting: a writer goes no faster
// than the server takes the data, so memory stays flat. It must never leave half a load behind:
// COPY is one statement, ended or aborted whole. Neighbour: db.ts hands it a client.

import type pg from 'pg';
import { from } from 'pg-copy-streams';
import type { Connection } from '../connection.js';
import { asOperatingFailure } from '../connection.js';

export interface CopyIn {
  /** Rows in COPY's format; resolves when the server has taken enough to go on. */
  write(rows: string): Promise<void>;
  /** Ends the load; resolves with the number of rows. */
  end(): Promise<number>;
  /** Gives the load up: not one row of it stays. Harmless after end(). */
  abort(reason: string): Promise<void>;
}

/** Rows for a COPY, in pieces of any size. */
export type CopyTexts = Iterable<string> | AsyncIterable<string>;

const BUFFER_BYTES = 1 << 20;
/** Small pieces are joined: each write costs two messages, however short it is. */
const PIECE_CHARS = 1 << 16;
const ABORT_CAP_MS = 5_000;

/** Starts a COPY on this client; `release` is called once when the load is over. */
export function startCopy(
  client: pg.ClientBase,
  copySql: string,
  connection: Connection,
  release: () => Promise<void>,
): CopyIn {
  const stream = client.query(from(copySql, { highWaterMark: BUFFER_BYTES }));
  let hasFailed = false;
  // One listener per event for the whole load, however many writers wait at once.
  const failed = new Promise<never>((_, reject) => {
    stream.once('error', (error) => reject(asOperatingFailure(error, connection)));
  });
  failed.catch(() => {
    hasFailed = true;
  });
  let taken: Promise<void> = Promise.resolve();
  let over = false;

  const close = async (): Promise<void> => {
    over = true;
    stream.on('error', () => {});
    await release();
  };
  return {
    async write(rows) {
      if (over) throw new Error('this COPY has already ended');
      // One piece at a time: what still waits in the stream when the load fails would be written to
      // a connection that it no longer has.
      taken = taken.then(
        () => new Promise((resolve) => stream.write(rows, (error) => (error ? null : resolve()))),
      );
      await Promise.race([taken, failed]);
    },
    async end() {
      if (over) throw new Error('this COPY has already ended');
      const finished = new Promise<void>((resolve) => stream.once('finish', resolve));
      try {
        await Promise.race([taken, failed]);
        stream.end();
        await Promise.race([finished, failed]);
        return stream.rowCount;
      } finally {
        await close();
      }
    },
    async abort(reason) {
      if (over) return;
      over = true;
      if (!hasFailed) await refused(stream, reason);
      await close();
    },
  };
}

/** One whole load: all texts in order, or none of them when one cannot be had or stored. */
export async function copyAll(copy: CopyIn, texts: CopyTexts): Promise<number> {
  try {
    let piece = '';
    for await (const text of texts) {
      piece += text;
      if (piece.length < PIECE_CHARS) continue;
      await copy.write(piece);
      piece = '';
    }
    if (piece !== '') await copy.write(piece);
    return await copy.end();
  } catch (error) {
    await copy.abort('the rows could not all be had');
    throw error;
  }
}

/** Sends CopyFail and waits for the server's answer, though never long for a dead one. */
function refused(stream: ReturnType<typeof from>, reason: string): Promise<void> {
  return new Promise((resolve) => {
    const cap = setTimeout(resolve, ABORT_CAP_MS);
    const done = (): void => {
      clearTimeout(cap);
      resolve();
    };
    stream.once('error', done);
    stream.once('close', done);
    stream.destroy(new Error(reason));
  });
}
