// A finished file goes on record. Of two workers at the same report, on one host or on two, the
// first to be done has its file registered, with the lines and the statements of that very file;
// the other takes its own away, and nobody is told of it.

import { createHash } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import type { Chunks, WrittenReport } from '../core/runs/reporting.js';
import type { StatementLine } from '../core/runs/statement.js';
import type { BookLine } from '../core/runs/statementBooks.js';
import type { Database } from '../database/db.js';
import type { Digests } from './keptReportsStore.js';
import { holdUnwritten, recordWritten, writtenFile } from './reportsStore.js';
import { keepBookLines } from './settlement/writtenBooksStore.js';
import { dropOlderLines, keepLines, keepStatements } from './statementStore.js';

/** The lines of the statement that a file has; `books` where those of settlement are kept. */
export interface Listed {
  lines: Chunks<StatementLine>;
  books: Chunks<BookLine> | null;
}

/** What stands on record beside a file; `listed` where it has a statement. */
interface Beside {
  digests: Digests;
  listed: Listed | null;
}

export async function registerReport(
  db: Database,
  reportId: bigint,
  written: WrittenReport,
  { digests, listed }: Beside,
): Promise<void> {
  const isRegistered = await db.transaction(async (tx) => {
    if (!(await holdUnwritten(tx, reportId))) return false;
    if (listed !== null) {
      await dropOlderLines(tx, reportId);
      await keepLines(tx, reportId, listed.lines);
      if (listed.books !== null) {
        await keepBookLines(tx, reportId, listed.books, written.statements ?? []);
      }
    }
    if (written.statements) await keepStatements(tx, reportId, written.statements);
    await recordWritten(tx, reportId, written, { ...digests, ...written.rowDigests });
    return true;
  });
  if (!isRegistered) await removeOther(written.path, await writtenFile(db, reportId));
}

/** In a folder that both share, the file of that name may be the registered one by now. */
async function removeOther(
  path: string,
  registered: { path: string; sha256: string } | null,
): Promise<void> {
  if (registered?.path === path) {
    const file = await readFile(path).catch(() => null);
    if (file === null) return;
    if (createHash('sha256').update(file).digest('hex') === registered.sha256) return;
  }
  await rm(path, { force: true });
}
