// The lines of the statement of a run, and the statements of written workbooks on record.

import { ageInDays } from '../core/breaks/breakAge.js';
import { NOT_APPROVABLE } from '../core/instructions/holdReasons.js';
import { formatAmount } from '../core/money.js';
import type { LeftOver, Statement, StatementLine } from '../core/runs/statement.js';
import type { Db, LongReads } from '../database/db.js';
import { statement } from '../database/statements.js';

/** Lines that are in hand at once; each is less than a kilobyte. */
const CHUNK_ROWS = 500;

type RawLine = Omit<StatementLine, 'ageDays'>;

/** By account, currency and what explains them; ages are those at `asOf`. */
export async function* statementLines(
  reads: LongReads,
  runId: bigint,
  asOf: Date,
): AsyncGenerator<StatementLine[]> {
  const text = statement('report/statementLines');
  for await (const rows of reads.stream<RawLine>(text, [runId, NOT_APPROVABLE], CHUNK_ROWS)) {
    yield rows.map((row) => {
      const ageDays = row.firstSeen === null ? null : ageInDays(row.firstSeen, asOf);
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

interface SideText {
  captured: string;
  refunded: string;
}

type WrittenItem = { item: string; lines: number } & SideText;

/** A statement as it was written, and who signed it. */
export interface WrittenStatement {
  accountId: string;
  currency: string;
  revision: number;
  sha256: string;
  writtenAt: Date;
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
  /** the day closed, then locked: on the newest revision of then; null: there was none yet */
  signed: {
    event: 'closed' | 'locked';
    by: string;
    isClaim: boolean;
    at: string;
    revision: number | null;
  }[];
  /** whether the revision that was closed on says the same; null: it was closed on none */
  isAsSigned: boolean | null;
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
