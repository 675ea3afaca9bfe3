// `tieout import payouts`: how lines of files become ledger.payout_requests (docs/CONTRACT.md
// section 4). The payload is the JSON text of what the gateway's document prints for a payout;
// whether it can be sent is said by the run that plans it. Neighbours: core/ledger/payoutRow.ts
// checks a line, tableImport.ts does the work.

import type { LedgerPayout } from '../../core/ledger/payoutRow.js';
import { checkPayoutLine, PAYOUT_COLUMNS } from '../../core/ledger/payoutRow.js';
import type { ImportResult } from './importResult.js';
import { PAYOUT_STATEMENTS } from './stagedPayoutsStore.js';
import type { ImportDeps, ImportOptions, TableImport } from './tableImport.js';
import { importTable } from './tableImport.js';

export function importPayouts(
  deps: ImportDeps,
  files: readonly string[],
  options: ImportOptions,
): Promise<ImportResult> {
  return importTable(deps, PAYOUTS, files, options);
}

const PAYOUTS: TableImport<LedgerPayout> = {
  table: 'payout_requests',
  columns: PAYOUT_COLUMNS,
  keyColumn: 'request_id',
  checkLine: (line, _, now) => checkPayoutLine(line, now),
  stagedValues: (row) => [row.requestId, row.accountId, row.payload, row.requestedAt],
  statements: PAYOUT_STATEMENTS,
  refusedValues: () => [],
  warningsOf: async () => [],
};
