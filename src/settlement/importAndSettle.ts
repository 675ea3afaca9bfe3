// The acquirer's files are taken, and what they say is matched at once: the one way, of the command
// line and of the console. Neighbours: ledger/settlement/ reads and judges them, settlement.ts
// matches.

import type { Config } from '../config/config.js';
import type { ColumnMap } from '../core/ledger/columnMap.js';
import type { Database } from '../database/db.js';
import { importSettlement } from '../ledger/settlement/importSettlement.js';
import type { SettlementImport } from '../ledger/settlement/settlementResult.js';
import type { SettlementRules } from './settlement.js';
import { settleAccounts } from './settlement.js';

interface TakeDeps {
  readonly db: Database;
  readonly config: Config;
  readonly rules: SettlementRules;
  /** lines of other accounts are refused */
  readonly accountIds: readonly string[];
  readonly now: () => Date;
}

export async function importAndSettle(
  { db, config, rules, accountIds, now }: TakeDeps,
  files: readonly string[],
  options: { map: ColumnMap; check: boolean },
): Promise<SettlementImport> {
  const accounts = accountIds.map((accountId) => ({ accountId }));
  const { profile } = config.gateway;
  const result = await importSettlement(
    { db, profile, accounts, since: rules.times },
    files,
    options,
  );
  // Also after a file that brought nothing new: one before it may have been cut short here.
  if (result.kind === 'imported' && !result.check) {
    await settleAccounts(db, rules, accountIds, { now: now(), runId: null });
  }
  return result;
}
