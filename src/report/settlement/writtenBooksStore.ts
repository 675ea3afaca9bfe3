// The lines of what is not settled as a workbook has them, kept beside it for the page that lists
// them. Neighbour: report/statementStore.ts keeps those between ledger and gateway.

import type { Chunks } from '../../core/runs/reporting.js';
import type { Statement } from '../../core/runs/statement.js';
import type { BookLine } from '../../core/runs/statementBooks.js';
import { isBookLine } from '../../core/runs/statementBooks.js';
import type { Db } from '../../database/db.js';
import { statement } from '../../database/statements.js';
import type { ItemOfStatement, SideText } from '../statementStore.js';

/** Of one item: of more the workbook alone has the lines, mostly of a few days in transit. */
export const BOOK_LINES_MAX = 5_000;

/** `statements` say how many lines each item has; what is settled is one sum, without lines. */
export async function keepBookLines(
  tx: Db,
  reportId: bigint,
  chunks: Chunks<BookLine>,
  statements: readonly Statement[],
): Promise<void> {
  const kept = keptItems(statements);
  if (kept.size === 0) return;
  let before = 0;
  for await (const rows of chunks) {
    const listed = rows.filter((row) => kept.has(keyOf(row)));
    if (listed.length === 0) continue;
    const numbered = listed.map((row, at) => ({ ...row, lineNo: before + at + 1 }));
    const values = [reportId, JSON.stringify(numbered)];
    await tx.query(statement('report/settlement/keepBookLines'), values);
    before += listed.length;
  }
}

function keptItems(statements: readonly Statement[]): Set<string> {
  const keys = statements.flatMap(({ accountId, currency, books }) =>
    [...(books?.bridge ?? []), ...(books?.other ?? [])]
      .filter((item) => isBookLine(item) && item.lines <= BOOK_LINES_MAX)
      .map(({ item }) => keyOf({ accountId, currency, item })),
  );
  return new Set(keys);
}

function keyOf({ accountId, currency, item }: Pick<BookLine, 'accountId' | 'currency' | 'item'>) {
  return JSON.stringify([accountId, currency, item]);
}

/** A line as the console lists it; its owner is that of today. */
export type WrittenBookLine = Omit<
  BookLine,
  'accountId' | 'currency' | 'item' | 'lines' | 'ageDays'
>;

/** The lines that an item of the books of a written statement is the sum of. */
export async function writtenBookLines(
  db: Db,
  { reportId, accountId, currency, item }: ItemOfStatement,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ rows: WrittenBookLine[]; sums: SideText & { lines: number } }> {
  const asked = [reportId, accountId, currency, item];
  const [listed, sums] = await Promise.all([
    db.query<WrittenBookLine>(statement('report/settlement/writtenBookLines'), [
      ...[...asked, limit, offset],
    ]),
    db.query<SideText & { lines: number }>(
      `select count(*)::int as lines, round(coalesce(sum(captured), 0), 2)::text as captured,
         round(coalesce(sum(refunded), 0), 2)::text as refunded
       from tieout.written_book_lines
       where report_id = $1 and account_id = $2 and currency = $3 and item = $4`,
      asked,
    ),
  ]);
  return { rows: listed.rows, sums: sums.rows[0] ?? NOTHING };
}

const NOTHING = { lines: 0, captured: '0.00', refunded: '0.00' };
