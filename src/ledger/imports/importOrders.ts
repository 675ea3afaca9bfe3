// `tieout import orders`: how lines of files become ledger.orders. The rules are those of
// docs/CONTRACT.md section 4: rows are inserted or updated by key, a line older than the row is
// skipped. Neighbours: core/ledger/ledgerRow.ts checks a line, tableImport.ts does the work.

import type { LedgerOrder } from '../../core/ledger/ledgerRow.js';
import { checkOrderLine, ORDER_COLUMNS } from '../../core/ledger/ledgerRow.js';
import { formatAmount } from '../../core/money.js';
import { EXPECTED_STEPS } from '../../core/orders/order.js';
import { andMore } from '../../core/text/amounts.js';
import type { Db } from '../../database/db.js';
import type { Profile } from '../../gateway/document/profile.js';
import type { ImportResult } from './importResult.js';
import { ORDER_STATEMENTS } from './stagedOrdersStore.js';
import type { ImportDeps, ImportOptions, TableImport } from './tableImport.js';
import { importTable } from './tableImport.js';

export function importOrders(
  deps: ImportDeps,
  files: readonly string[],
  options: ImportOptions,
): Promise<ImportResult> {
  return importTable(deps, ORDERS, files, options);
}

const ORDERS: TableImport<LedgerOrder> = {
  table: 'orders',
  columns: ORDER_COLUMNS,
  keyColumn: 'order_no',
  checkLine: (line, profile, now) => checkOrderLine(line, profile.currencies, now),
  stagedValues: (row) => [
    row.accountId,
    row.orderNo,
    row.currency,
    formatAmount(row.amount),
    row.expected,
    row.transactionId,
    row.captureAmount === null ? null : formatAmount(row.captureAmount),
    row.reviewDecision,
    row.placedAt,
    row.updatedAt,
  ],
  statements: ORDER_STATEMENTS,
  refusedValues: () => [EXPECTED_STEPS],
  warningsOf: neverAsked,
};

/** Lines named in the warning. */
const NAMED_LINES = 5;

/** Numbers that would be read as two orders: the gateway is never asked for them. */
async function neverAsked(tx: Db, profile: Profile): Promise<string[]> {
  const { select, orderList } = profile.query;
  if (select !== 'order_list') return [];
  const { rows } = await tx.query<{ line: bigint; order_no: string; lines: bigint }>(
    ORDER_STATEMENTS.neverAsked,
    [orderList.separator, NAMED_LINES],
  );
  const lines = Number(rows[0]?.lines ?? 0n);
  if (lines === 0) return [];
  const named = rows.map(({ line, order_no: orderNo }) => `line ${line} (${orderNo})`).join(', ');
  const more = andMore(lines - rows.length);
  return [
    `${named}${more}: the order number contains "${orderList.separator}", which is ` +
      'query.orderList.separator of the profile: the gateway can never be asked for it, and it ' +
      'is a break (invalid_record) every night',
  ];
}
