// The acquirer's files are taken, and what they say is matched at once: the one way, of the command
// line, of the console and of the inbox, which takes a file inside a transaction of its own.
// Neighbours: ledger/settlement/ reads and judges them, settlement.ts matches.

import type { Config } from '../config/config.js';
import type { ColumnMap } from '../core/mapping/columnMap.js';
import type { Database, Tx } from '../database/db.js';
import { importSettlement, takeSettlement } from '../ledger/settlement/importSettlement.js';
import type { SettlementImport } from '../ledger/settlement/settlementResult.js';
import type { SettlementRules } from './settlement.js';
import { settleAccounts } from './settlement.js';

export interface TakeDeps {
  readonly db: Database;
  readonly config: Config;
  readonly rules: SettlementRules;
  /** lines of other accounts are refused */
  readonly accountIds: readonly string[];
  readonly now: () => Date;
}

interface TakeOptions {
  readonly map: ColumnMap;
  readonly check: boolean;
}

export async function importAndSettle(
  deps: TakeDeps,
  files: readonly string[],
  options: TakeOptions,
): Promise<SettlementImport> {
  const result = await importSettlement(importDeps(deps), files, options);
  if (result.kind === 'imported' && !result.check) await settleTaken(deps);
  return result;
}

/** The taking alone, in a transaction of the caller's; `settleTaken` follows its COMMIT. */
export function takeInside(
  deps: TakeDeps,
  tx: Tx,
  files: readonly string[],
  options: TakeOptions,
): Promise<SettlementImport> {
  return takeSettlement(importDeps(deps), tx, files, options);
}

/** Also after a file that brought nothing new: one before it may have been cut short here. */
export async function settleTaken({ db, rules, accountIds, now }: TakeDeps): Promise<void> {
  await settleAccounts(db, rules, accountIds, { now: now(), runId: null });
}

function importDeps({ db, config, rules, accountIds }: TakeDeps) {
  const accounts = accountIds.map((accountId) => ({ accountId }));
  return { db, profile: config.gateway.profile, accounts, since: rules.times };
}
