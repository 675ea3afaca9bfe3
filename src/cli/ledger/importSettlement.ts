// `tieout import settlement FILE... --map FILE [--check] [--json]`: the acquirer's settlement
// files. Owns no rule: what a line and a batch may be is core/settlement's and ledger/settlement's.

import type { Command } from 'commander';
import { loadColumnMap } from '../../config/mapFile.js';
import { UsageError } from '../../core/errors.js';
import { requireFiles } from '../../ledger/lines/inputText.js';
import type { SettlementImport } from '../../ledger/settlement/settlementResult.js';
import { formatSettlement } from '../../ledger/settlement/settlementResult.js';
import { importAndSettle } from '../../settlement/importAndSettle.js';
import type { App } from '../app.js';
import { printJson, printLines, wantsJson, warnLines, withApp } from '../context.js';
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
      requireFiles(files);
      await withApp(command, async (app) => {
        const result = await importAndSettle(takeDeps(app), files, {
          map,
          check: flags.check ?? false,
        });
        return printed(result, wantsJson(command));
      });
    });
}

function takeDeps(app: App) {
  const { db, config } = app;
  const accountIds = config.accounts.map(({ accountId }) => accountId);
  return { db, config, accountIds, rules: requiredRules(config), now: () => new Date() };
}

function printed(result: SettlementImport, isJson: boolean): 0 | 1 {
  const exitCode = result.kind === 'refused' ? 1 : 0;
  if (isJson) printJson(result);
  else if (result.kind === 'refused') warnLines(formatSettlement(result).split('\n'));
  else {
    printLines(formatSettlement(result).split('\n'));
    warnLines(result.warnings.map((warning) => `warning: ${warning}`));
  }
  return exitCode;
}
