// `tieout import settlement FILE... --map FILE [--check] [--json]`: the acquirer's settlement
// files. Owns no rule: what a line and a batch may be is core/settlement's and ledger/settlement's.

import type { Command } from 'commander';
import { loadColumnMap } from '../../config/mapFile.js';
import { UsageError } from '../../core/errors.js';
import type { SettlementDeps } from '../../ledger/settlement/importSettlement.js';
import { importSettlement } from '../../ledger/settlement/importSettlement.js';
import type { SettlementImport } from '../../ledger/settlement/settlementResult.js';
import { formatSettlement } from '../../ledger/settlement/settlementResult.js';
import type { SettlementRules } from '../../settlement/settlement.js';
import { settleAccounts } from '../../settlement/settlement.js';
import type { App } from '../app.js';
import { printJson, wantsJson, withApp } from '../context.js';
import { requiredRules } from '../settlement/settlementRules.js';
import { columnsHelp } from './importColumns.js';

interface Flags {
  map?: string;
  check?: boolean;
}

export function addSettlement(root: Command): void {
  root
    .command('settlement')
    .argument('<file...>')
    .description("the acquirer's settlement files: CSV by a map (docs/SETTLEMENT.md)")
    .option('--map <file>', 'which column is what')
    .option('--check', 'read and judge every line and batch, but change nothing')
    .option('--json', 'print one JSON document')
    .addHelpText('after', columnsHelp('settlement') ?? '')
    .action(async (files: string[], flags: Flags, command: Command) => {
      if (flags.map === undefined) {
        throw new UsageError('--map FILE must be given: docs/maps has some to begin with');
      }
      const map = loadColumnMap(flags.map, 'settlement');
      await withApp(command, async (app) => {
        const options = { map, check: flags.check ?? false };
        const rules = requiredRules(app.config);
        const result = await importSettlement(depsOf(app, rules), files, options);
        if (result.kind === 'imported' && !result.check) await settleNow(app, rules);
        return printed(result, wantsJson(command));
      });
    });
}

function depsOf(app: App, rules: SettlementRules): SettlementDeps {
  const { accounts, gateway } = app.config;
  return { db: app.db, profile: gateway.profile, accounts, since: rules.times };
}

/** Also after a file that brought nothing new: one before it may have been cut short here. */
async function settleNow(app: App, rules: SettlementRules): Promise<void> {
  const accountIds = app.config.accounts.map(({ accountId }) => accountId);
  await settleAccounts(app.db, rules, accountIds, { now: new Date(), runId: null });
}

function printed(result: SettlementImport, isJson: boolean): 0 | 1 {
  const exitCode = result.kind === 'refused' ? 1 : 0;
  if (isJson) printJson(result);
  else if (result.kind === 'refused') process.stderr.write(`${formatSettlement(result)}\n`);
  else {
    process.stdout.write(`${formatSettlement(result)}\n`);
    for (const warning of result.warnings) process.stderr.write(`warning: ${warning}\n`);
  }
  return exitCode;
}
