// Sums for the nightly workbook that the summary of a run does not hold: orders by account and
// currency, what was done elsewhere, and what was not plainly asked and answered. Rows of reports
// are in reportRowsStore.ts.

import { coverageLabel } from '../core/orders/coverage.js';
import type { CoverageLine, CurrencyRow, ElsewhereRow, NightMark } from '../core/runs/reporting.js';
import { ORDER_CLASSES, type OrderClass } from '../core/runs/summary.js';
import type { Database, Db, LongReads } from '../database/db.js';
import { statement } from '../database/statements.js';
import { coverageRows } from '../pull/snapshot/coverageStore.js';
import { BY_INDEX_ONLY } from './reportRowsStore.js';

interface ClassSums {
  account_id: string;
  currency: string;
  class: OrderClass;
  of_date: bigint;
  carried: bigint;
  gateway_only: bigint;
  at_gateway: bigint;
  ledger: string;
  gateway: string;
  money: string;
  ledger_captured: string;
  ledger_refunded: string;
  gateway_captured: string;
  gateway_refunded: string;
  ledger_captures: bigint;
  gateway_captures: bigint;
}

type SumsRow = ClassSums & { classes: CurrencyRow['classes'] };

/** The orders of a run by account and currency, of the accounts that were looked at. */
export async function currencyRows(reads: LongReads, runId: bigint): Promise<CurrencyRow[]> {
  const text = statement('report/currencySums');
  const sums: CurrencyRow[] = [];
  for await (const rows of reads.stream<SumsRow>(text, [runId], undefined, BY_INDEX_ONLY)) {
    sums.push(...rows.map(currencyRow));
  }
  return sums;
}

function currencyRow(row: SumsRow): CurrencyRow {
  return {
    accountId: row.account_id,
    currency: row.currency,
    ofDate: Number(row.of_date),
    carried: Number(row.carried),
    gatewayOnly: Number(row.gateway_only),
    atGateway: Number(row.at_gateway),
    classes: byClass(row.classes, 0),
    ledger: row.ledger,
    gateway: row.gateway,
    money: byClass(row.money as unknown as Partial<Record<OrderClass, string>>, '0.00'),
    ledgerCaptured: row.ledger_captured,
    ledgerRefunded: row.ledger_refunded,
    gatewayCaptured: row.gateway_captured,
    gatewayRefunded: row.gateway_refunded,
    ledgerCaptures: Number(row.ledger_captures),
    gatewayCaptures: Number(row.gateway_captures),
  };
}

function byClass<T>(found: Partial<Record<OrderClass, T>>, none: T): Record<OrderClass, T> {
  const all = ORDER_CLASSES.map((name) => [name, found[name] ?? none] as const);
  return Object.fromEntries(all) as Record<OrderClass, T>;
}

/** Instructions withdrawn in a run because somebody else had done what they were to do. */
export async function elsewhereRows(db: Db, runId: bigint): Promise<ElsewhereRow[]> {
  const { rows } = await db.query<ElsewhereRow>(
    `select account_id as "accountId", currency,
       round(coalesce(sum(amount) filter (where operation = 'capture'), 0), 2)::text
         as captured,
       round(coalesce(sum(amount) filter (where operation = 'cancel'), 0), 2)::text
         as cancelled,
       round(coalesce(sum(refund_amount), 0), 2)::text as refunded
     from tieout.instructions
     where settled_run_id = $1 and state = 'withdrawn' and reason = 'done elsewhere'
     group by account_id, currency order by account_id, currency`,
    [runId],
  );
  return rows;
}

/** The last nights of these accounts up to a run, oldest first: breaks open at the end of each. */
export async function nightMarks(
  db: Db,
  runId: bigint,
  accountIds: readonly string[],
  limit: number,
): Promise<NightMark[]> {
  const { rows } = await db.query<{ businessDate: string; open: bigint }>(
    `select r.business_date::text as "businessDate", coalesce(sum((
         select sum(value::bigint) from jsonb_each_text(a.open_after))), 0)::bigint as open
     from (
       select r.run_id, r.business_date from tieout.runs r
       where not r.is_dry and r.business_date <= (
         select business_date from tieout.runs where run_id = $1)
       order by r.business_date desc limit $3
     ) r
     join tieout.run_accounts a
       on a.run_id = r.run_id and a.account_id = any ($2) and a.open_after is not null
     group by r.business_date order by r.business_date`,
    [runId, accountIds, limit],
  );
  return rows.map(({ businessDate, open }) => ({ businessDate, open: Number(open) }));
}

/** Orders that were not plainly asked and answered, in words. */
export async function* coverageLines(db: Database, runId: bigint): AsyncGenerator<CoverageLine[]> {
  for await (const rows of coverageRows(db, runId)) {
    yield rows.map((row) => ({
      accountId: row.accountId,
      orderNo: row.orderNo,
      page: row.pageNo,
      how: coverageLabel(row.how),
      reason: row.reason,
    }));
  }
}
