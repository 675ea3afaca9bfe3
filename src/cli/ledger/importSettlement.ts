// `tieout import settlement FILE... --map FILE [--check] [--json]`: the acquirer's settlement
// files. Owns no rule: what a line and a batch may be is core/settlement's and ledger/settlement's.

import type { Command } from 'commander';
import type { Config } from '../../config/config.js';
import { loadColumnMap } from '../../config/mapFile.js';
import { ConfigurationError, UsageError } from '../../core/errors.js';
import type { SettlementDeps } from '../../ledger/settlement/importSettlement.js';
import { importSettlement } from '../../ledger/settlement/importSettlement.js';
import type { SettlementImport } from '../../ledger/settlement/settlementResult.js';
import { formatSettlement } from '../../ledger/settlement/settlementResult.js';
import type { App } from '../app.js';
import { printJson, wantsJson, withApp } from '../context.js';
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
        const result = await importSettlement(depsOf(app), files, options);
        return printed(result, wantsJson(command));
      });
    });
}

function depsOf(app: App): SettlementDeps {
  const { accounts, gateway, schedule } = app.config;
  return {
    db: app.db,
    profile: gateway.profile,
    accounts,
    since: { from: keptSince(app.config), cutOff: schedule.cutOff, timezone: schedule.timezone },
  };
}

function keptSince({ file, settlement }: Config): string {
  if (settlement !== null) return settlement.from;
  const problem = 'must be given: without it nothing of settlement is kept (docs/SETTLEMENT.md)';
  throw new ConfigurationError(file, 'settlement', problem);
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
