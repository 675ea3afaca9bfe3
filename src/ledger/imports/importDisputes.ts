// `tieout import disputes`: how lines of files become ledger.disputes (docs/CONTRACT.md section 4).
// A line that is older than its row is skipped: no old file opens or closes a dispute again.
// Neighbours: core/ledger/disputeRow.ts checks a line, tableImport.ts does the work.

import type { LedgerDispute } from '../../core/ledger/disputeRow.js';
import { checkDisputeLine, DISPUTE_COLUMNS } from '../../core/ledger/disputeRow.js';
import { countText } from '../../core/text/amounts.js';
import type { Db } from '../../database/db.js';
import type { ImportResult } from './importResult.js';
import { DISPUTE_STATEMENTS } from './stagedDisputesStore.js';
import type { ImportDeps, ImportOptions, TableImport } from './tableImport.js';
import { importTable } from './tableImport.js';

export function importDisputes(
  deps: ImportDeps,
  files: readonly string[],
  options: ImportOptions,
): Promise<ImportResult> {
  return importTable(deps, DISPUTES, files, options);
}

const DISPUTES: TableImport<LedgerDispute> = {
  table: 'disputes',
  columns: DISPUTE_COLUMNS,
  keyColumn: 'dispute_id',
  checkLine: (line, profile) => checkDisputeLine(line, profile.currencies),
  stagedValues: (row) => [
    row.accountId,
    row.disputeId,
    row.orderNo,
    row.transactionId,
    row.currency,
    row.amount,
    row.stage,
    row.at,
  ],
  statements: DISPUTE_STATEMENTS,
  refusedValues: () => [],
  warningsOf: ordersStillMissing,
};

/** It may come before its order does, or name it as the acquirer does: said, and taken. */
async function ordersStillMissing(tx: Db): Promise<string[]> {
  const { rows } = await tx.query<{ lines: bigint }>(DISPUTE_STATEMENTS.withoutOrder);
  const lines = rows[0]?.lines ?? 0n;
  return lines === 0n ? [] : [`${countText(lines)} name an order that the ledger does not have`];
}
