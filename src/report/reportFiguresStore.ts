// Sums for the nightly workbook that the summary of a run does not hold: orders by account and
// currency, what was done elsewhere, and what was not plainly asked and answered. Rows of reports
// are in reportRowsStore.ts.

import { coverageLabel } from '../core/orders/coverage.js';
import type { CoverageLine, CurrencyRow, ElsewhereRow } from '../core/runs/reporting.js';
import { ORDER_CLASSES, type OrderClass } from '../core/runs/summary.js';
import type { Database, Db } from '../database/db.js';
import { inTransaction, plannedBy } from '../database/db.js';
import { inMonthOfRun } from '../database/monthPartitions.js';
import { statement } from '../database/statements.js';
import { coverageRows } from '../pull/snapshot/coverageStore.js';
import { runSnapshots } from '../runs/runAccountsStore.js';
import { BY_INDEX_ONLY } from './reportRowsStore.js';

interface ClassSums {
  account_id: string;
  currency: string;
  class: OrderClass;
  of_date: bigint;
  carried: bigint;
  gateway_only: bigint;
  at_gateway: bigint;
  ledger_of_date: string;
  ledger_carried: string;
  gateway: string;
  money: string;
  difference: string;
  absolute: string;
}

/** The orders of a run by account and currency. */
export function currencyRows(db: Db, runId: bigint): Promise<CurrencyRow[]> {
  return inTransaction(db, async (tx) => {
    await plannedBy(tx, BY_INDEX_ONLY);
    const seen = await inMonthOfRun(tx, statement('report/seenOrders'), runId);
    const sums: CurrencyRow[] = [];
    for (const { accountId, pullId } of await runSnapshots(tx, runId)) {
      sums.push(...(await accountSums(tx, seen, [runId, accountId, pullId])));
    }
    return sums;
  });
}

/** `seen`: the statement of a snapshot's orders; `values`: what it is asked with. */
async function accountSums(tx: Db, seen: string, values: unknown[]): Promise<CurrencyRow[]> {
  const { rows } = await tx.query<ClassSums & { classes: CurrencyRow['classes'] }>(
    `with line as (
       -- one pass over the orders; what is of which kind is told apart in the few lines it leaves,
       -- and most differ in nothing
       select $2::text as account_id, coalesce(o.currency, '') as currency, class,
         expected is null as is_gateway_only, o.placed_at >= r.starts_at as is_of_date,
         gateway_state is not null or payment_status is not null or gateway_amount is not null
           or gateway_amount_text is not null as is_at_gateway,
         count(*) as orders, sum(ledger_amount) as ledger, sum(gateway_amount) as gateway,
         sum(gateway_amount) filter (where ledger_amount is null) as gateway_alone,
         sum(gateway_amount - ledger_amount) filter (where gateway_amount <> ledger_amount)
           as difference,
         sum(abs(gateway_amount - ledger_amount)) filter (where gateway_amount <> ledger_amount)
           as absolute
       from (${seen}) as o cross join tieout.runs r where r.run_id = $1
       group by 2, 3, 4, 5, 6
     ), class as (
       select account_id, currency, jsonb_object_agg(class, orders) as classes,
         jsonb_object_agg(class, round(money, 2)::text) as money
       from (
         select account_id, currency, class, sum(orders)::bigint as orders,
           coalesce(sum(ledger), 0) + coalesce(sum(gateway_alone), 0) as money
         from line group by account_id, currency, class
       ) as by_class group by account_id, currency
     )
     select account_id, currency,
       coalesce(sum(orders) filter (where not is_gateway_only and is_of_date), 0)::bigint
         as of_date,
       coalesce(sum(orders) filter
         (where not is_gateway_only and is_of_date is not true), 0)::bigint as carried,
       coalesce(sum(orders) filter (where is_gateway_only), 0)::bigint as gateway_only,
       coalesce(sum(orders) filter (where is_at_gateway), 0)::bigint as at_gateway,
       round(coalesce(sum(ledger) filter (where is_of_date), 0), 2)::text as ledger_of_date,
       round(coalesce(sum(ledger) filter (where is_of_date is not true), 0), 2)::text
         as ledger_carried,
       round(coalesce(sum(gateway), 0), 2)::text as gateway,
       round(coalesce(sum(difference), 0), 2)::text as difference,
       round(coalesce(sum(absolute), 0), 2)::text as absolute,
       class.classes, class.money
     from line join class using (account_id, currency)
     group by account_id, currency, class.classes, class.money order by currency`,
    values,
  );
  return rows.map((row) => ({
    accountId: row.account_id,
    currency: row.currency,
    ofDate: Number(row.of_date),
    carried: Number(row.carried),
    gatewayOnly: Number(row.gateway_only),
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
