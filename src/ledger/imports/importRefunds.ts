// `tieout import refunds`: how lines of files become ledger.refund_requests (docs/CONTRACT.md
// section 4). A request may come before its order does: that is said, not refused. Neighbours:
// core/ledger/ledgerRow.ts checks a line, tableImport.ts does the work.

import { coarseCurrencies, coarseReason } from '../../core/currency.js';
import type { LedgerRefund } from '../../core/ledger/ledgerRow.js';
import { checkRefundLine, REFUND_COLUMNS } from '../../core/ledger/ledgerRow.js';
import { formatAmount } from '../../core/money.js';
import { countText } from '../../core/text/amounts.js';
import { withoutCards } from '../../core/text/cardSpellings.js';
import type { Db } from '../../database/db.js';
import type { ImportResult } from './importResult.js';
import { REFUND_STATEMENTS } from './stagedRefundsStore.js';
import type { ImportDeps, ImportOptions, TableImport } from './tableImport.js';
import { importTable } from './tableImport.js';

export function importRefunds(
  deps: ImportDeps,
  files: readonly string[],
  options: ImportOptions,
): Promise<ImportResult> {
  return importTable(deps, REFUNDS, files, options);
}

const REFUNDS: TableImport<LedgerRefund> = {
  table: 'refund_requests',
  columns: REFUND_COLUMNS,
  keyColumn: 'refund_id',
  checkLine: (line, _, now) => checkRefundLine(line, now),
  stagedValues: (row) => [
    row.accountId,
    row.refundId,
    row.orderNo,
    formatAmount(row.refundAmount),
    row.reason && withoutCards(row.reason, [row.orderNo, row.refundId]),
    row.requestedBy && withoutCards(row.requestedBy, [row.orderNo, row.refundId]),
    row.requestedAt,
  ],
  statements: REFUND_STATEMENTS,
  refusedValues: ({ currencies }) => [
    JSON.stringify(
      Object.entries(coarseCurrencies(currencies)).map(([currency, decimals]) => {
        return { currency, decimals, reason: coarseReason(currency, decimals) };
      }),
    ),
  ],
  warningsOf: ordersStillMissing,
};

async function ordersStillMissing(tx: Db): Promise<string[]> {
  const { rows } = await tx.query<{ lines: bigint }>(REFUND_STATEMENTS.withoutOrder);
  const lines = rows[0]?.lines ?? 0n;
  return lines === 0n
    ? []
    : [`${countText(lines)} name an order that the ledger does not have yet`];
}
