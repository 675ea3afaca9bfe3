// The lines of the statement of a run, and the statements of written workbooks on record.

import { type AgeClock, ageInDays } from '../core/breaks/breakAge.js';
import { NOT_APPROVABLE } from '../core/instructions/holdReasons.js';
import { formatAmount } from '../core/money.js';
import type { Signing } from '../core/runs/businessDay.js';
import type { Chunks } from '../core/runs/reporting.js';
import type { LeftOver, Statement, StatementLine } from '../core/runs/statement.js';
import type { Db, LongReads } from '../database/db.js';
import { statement } from '../database/statements.js';

/** Lines that are in hand at once; each is less than a kilobyte. */
const CHUNK_ROWS = 500;

type RawLine = Omit<StatementLine, 'ageDays'>;

/** By account, currency and what explains them; ages are those of the clock. */
export async function* statementLines(
  reads: LongReads,
  runId: bigint,
  clock: AgeClock,
): AsyncGenerator<StatementLine[]> {
  const text = statement('report/statementLines');
  for await (const rows of reads.stream<RawLine>(text, [runId, NOT_APPROVABLE], CHUNK_ROWS)) {
    yield rows.map((row) => {
      const ageDays = row.since === null ? null : ageInDays(row.since, clock);
      return { ...row, ageDays };
    });
  }
}

/** Keeps what a workbook says, before the workbook is on record itself. */
export async function keepStatements(
  db: Db,
  reportId: bigint,
  statements: readonly Statement[],
): Promise<void> {
  const rows = statements.map((one) => ofStatement(one));
  await db.query(statement('report/keepStatements'), [reportId, JSON.stringify(rows)]);
}

/** Of the workbooks of its run before it the lines of the newest alone are kept. */
export async function dropOlderLines(tx: Db, reportId: bigint): Promise<void> {
  await tx.query(
    `with older as (
       select p.report_id from tieout.reports own join tieout.reports p using (run_id)
       where own.report_id = $1 and p.kind = 'reconciliation' and p.report_id is distinct from (
         select n.report_id from tieout.reports n
         where n.run_id = own.run_id and n.kind = 'reconciliation' and n.format = 'xlsx'
           and n.period is null and n.state = 'written' order by n.revision desc limit 1)
     ), books as (
       delete from tieout.written_book_lines where report_id in (select report_id from older)
     )
     delete from tieout.written_lines where report_id in (select report_id from older)`,
    [reportId],
  );
}

/** Keeps the lines that a workbook has. */
export async function keepLines(
  tx: Db,
  reportId: bigint,
  chunks: Chunks<StatementLine>,
): Promise<void> {
  let before = 0;
  for await (const rows of chunks) {
    const numbered = rows.map((row, at) => ({ ...row, lineNo: before + at + 1 }));
    await tx.query(statement('report/keepLines'), [reportId, JSON.stringify(numbered)]);
    before += rows.length;
  }
}

/** A line as the console lists it. */
export interface WrittenLine
  extends Omit<StatementLine, 'accountId' | 'currency' | 'item' | 'ageDays' | 'transactionId'> {
  /** of today */
  owner: string | null;
}

export interface ItemOfStatement {
  reportId: bigint;
  accountId: string;
  currency: string;
  item: string;
}

/** The lines that an item of a written statement is the sum of, and what they come to. */
export async function writtenLines(
  db: Db,
  { reportId, accountId, currency, item }: ItemOfStatement,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ rows: WrittenLine[]; sums: SideText & { lines: number } }> {
  const asked = [reportId, accountId, currency, item];
  const [listed, sums] = await Promise.all([
    db.query<WrittenLine>(statement('report/writtenLines'), [...asked, limit, offset]),
    db.query<SideText & { lines: number }>(
      `select count(*)::int as lines,
         round(sum(coalesce(gateway_captured, 0) - coalesce(ledger_captured, 0)), 2)::text
           as captured,
         round(sum(coalesce(gateway_refunded, 0) - coalesce(ledger_refunded, 0)), 2)::text
           as refunded
       from tieout.written_lines
       where report_id = $1 and account_id = $2 and currency = $3 and item = $4`,
      asked,
    ),
  ]);
  const { lines = 0, captured, refunded } = sums.rows[0] ?? {};
  const total = { lines, captured: captured ?? '0.00', refunded: refunded ?? '0.00' };
  return { rows: listed.rows, sums: total };
}

function ofStatement(one: Statement) {
  const { accountId, currency, ledger, gateway, items, unexplained, books } = one;
  return {
    account_id: accountId,
    currency,
    ledger_captured: formatAmount(ledger.captured),
    ledger_refunded: formatAmount(ledger.refunded),
    gateway_captured: formatAmount(gateway.captured),
    gateway_refunded: formatAmount(gateway.refunded),
    items: items.map(textsOf),
    unexplained_captured: formatAmount(unexplained.captured),
    unexplained_refunded: formatAmount(unexplained.refunded),
    books: books && {
      from: books.from,
      bridge: books.bridge.map(textsOf),
      unexplained: textsOf(books.unexplained),
      other: books.other.map(textsOf),
      closing: textsOf(books.closing),
    },
  };
}

function textsOf<S extends { captured: bigint; refunded: bigint }>(sums: S) {
  const { captured, refunded } = sums;
  return { ...sums, captured: formatAmount(captured), refunded: formatAmount(refunded) };
}

/** What each statement of the newest workbook of a run leaves, mostly nothing. */
export async function leftOvers(db: Db, runId: bigint): Promise<LeftOver[]> {
  const { rows } = await db.query<LeftOver>(
    `select account_id as "accountId", currency,
       jsonb_build_object('captured', round(unexplained_captured, 2)::text,
         'refunded', round(unexplained_refunded, 2)::text) as unexplained, books
     from tieout.statements
     where report_id = (select report_id from tieout.reports
         where run_id = $1 and kind = 'reconciliation' and format = 'xlsx' and period is null
           and state = 'written' order by revision desc limit 1)
     order by account_id, currency`,
    [runId],
  );
  return rows;
}

export interface SideText {
  captured: string;
  refunded: string;
}

type WrittenItem = { item: string; lines: number } & SideText;

/** A statement as it was written, and who signed it. */
export interface WrittenStatement {
  accountId: string;
  currency: string;
  reportId: bigint;
  revision: number;
  sha256: string;
  writtenAt: Date;
  /** when the gateway was looked at */
  asOf: Date;
  ledger: SideText;
  gateway: SideText;
  items: WrittenItem[];
  unexplained: SideText;
  /** null: no books of settlement were kept */
  books: {
    from: string;
    bridge: WrittenItem[];
    unexplained: SideText;
    other: WrittenItem[];
    closing: SideText;
  } | null;
  signed: Signing[];
}

/** Of the newest workbook of a date, these accounts. */
export async function statementsOfRun(
  db: Db,
  businessDate: string,
  accountIds: readonly string[],
): Promise<WrittenStatement[]> {
  const { rows } = await db.query<WrittenStatement>(statement('report/statementsOfRun'), [
    businessDate,
    accountIds,
  ]);
  return rows;
}
