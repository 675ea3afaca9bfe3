// Sums for the nightly workbook that the summary of a run does not hold: orders by account and
// currency, what was done elsewhere, and what was not plainly asked and answered. Rows of reports
// are in reportRows.ts.

import { coverageInWords } from '../core/coverage.js';
import type { CoverageLine, CurrencyRow, ElsewhereRow } from '../core/reporting.js';
import { ORDER_CLASSES, type OrderClass } from '../core/summary.js';
import { coverageRows } from './coverage.js';
import type { Database, Db } from './db.js';
import { statement } from './sql.js';

interface ClassSums {
  account_id: string;
  currency: string;
  class: OrderClass;
  of_date: bigint;
  carried: bigint;
  strangers: bigint;
  at_gateway: bigint;
  ledger_of_date: string;
  ledger_carried: string;
  gateway: string;
  money: string;
  difference: string;
  absolute: string;
}

/** The orders of a run by account and currency. */
export async function currencyRows(db: Db, runId: bigint): Promise<CurrencyRow[]> {
  const { rows } = await db.query<ClassSums & { classes: CurrencyRow['classes'] }>(
    `with seen as (
       select o.*, o.expected is null as is_stranger, o.placed_at >= r.starts_at as is_of_date,
         coalesce(o.gateway_state, o.payment_status, o.gateway_amount::text,
           o.gateway_amount_text) is not null as is_at_gateway
       from (${statement('seenOrders')}) as o join tieout.runs r on r.run_id = $1
     ), line as (
       select account_id, coalesce(currency, '') as currency, class,
         count(*) filter (where not is_stranger and is_of_date) as of_date,
         count(*) filter (where not is_stranger and is_of_date is not true) as carried,
         count(*) filter (where is_stranger) as strangers,
         count(*) filter (where is_at_gateway) as at_gateway,
         coalesce(sum(ledger_amount) filter (where is_of_date), 0) as ledger_of_date,
         coalesce(sum(ledger_amount) filter (where is_of_date is not true), 0) as ledger_carried,
         coalesce(sum(gateway_amount), 0) as gateway,
         coalesce(sum(coalesce(ledger_amount, gateway_amount)), 0) as money,
         coalesce(sum(gateway_amount - ledger_amount), 0) as difference,
         coalesce(sum(abs(gateway_amount - ledger_amount)), 0) as absolute
       from seen group by account_id, coalesce(currency, ''), class
     )
     select account_id, currency, sum(of_date)::bigint as of_date, sum(carried)::bigint as carried,
       sum(strangers)::bigint as strangers, sum(at_gateway)::bigint as at_gateway,
       sum(ledger_of_date)::numeric(30, 2)::text as ledger_of_date,
       sum(ledger_carried)::numeric(30, 2)::text as ledger_carried,
       sum(gateway)::numeric(30, 2)::text as gateway,
       sum(difference)::numeric(30, 2)::text as difference,
       sum(absolute)::numeric(30, 2)::text as absolute,
       jsonb_object_agg(class, of_date + carried + strangers) as classes,
       jsonb_object_agg(class, money::numeric(30, 2)::text) as money
     from line group by account_id, currency order by account_id, currency`,
    [runId],
  );
  return rows.map((row) => ({
    accountId: row.account_id,
    currency: row.currency,
    ofDate: Number(row.of_date),
    carried: Number(row.carried),
    strangers: Number(row.strangers),
    atGateway: Number(row.at_gateway),
    classes: byClass(row.classes, 0),
    ledgerOfDate: row.ledger_of_date,
    ledgerCarried: row.ledger_carried,
    gateway: row.gateway,
    money: byClass(row.money as unknown as Partial<Record<OrderClass, string>>, '0.00'),
    difference: row.difference,
    absolute: row.absolute,
  }));
}

function byClass<T>(found: Partial<Record<OrderClass, T>>, none: T): Record<OrderClass, T> {
  const all = ORDER_CLASSES.map((name) => [name, found[name] ?? none] as const);
  return Object.fromEntries(all) as Record<OrderClass, T>;
}

/** Instructions withdrawn in a run because somebody else had done what they were to do. */
export async function elsewhereRows(db: Db, runId: bigint): Promise<ElsewhereRow[]> {
  const { rows } = await db.query<ElsewhereRow>(
    `select account_id as "accountId", currency,
       coalesce(sum(amount) filter (where operation = 'capture'), 0)::numeric(30, 2)::text
         as captured,
       coalesce(sum(amount) filter (where operation = 'cancel'), 0)::numeric(30, 2)::text
         as cancelled,
       coalesce(sum(refund_amount), 0)::numeric(30, 2)::text as refunded
     from tieout.instructions
     where settled_run_id = $1 and state = 'withdrawn' and reason = 'done elsewhere'
     group by account_id, currency order by account_id, currency`,
    [runId],
  );
  return rows;
}

/** Orders that were not plainly asked and answered, in words. */
export async function* coverageLines(db: Database, runId: bigint): AsyncGenerator<CoverageLine[]> {
  for await (const rows of coverageRows(db, runId)) {
    yield rows.map((row) => ({
      accountId: row.accountId,
      orderNo: row.orderNo,
      page: row.pageNo,
      how: coverageInWords(row.how),
      reason: row.reason,
    }));
  }
}
