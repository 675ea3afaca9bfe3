// `tieout import KIND FILE... [--check] [--json]`: which import a kind is (orders, refunds,
// payouts, disputes, responses), and how its result is printed. Owns no rule: those are in
// core/ledger/ledgerRow.ts and src/ledger. Neighbour: the command line opens database and
// configuration and hands them in.

import { Command } from 'commander';
import type { Config } from '../../config/config.js';
import { loadColumnMap } from '../../config/mapFile.js';
import { EXIT, type ExitCode } from '../../core/exitCodes.js';
import type { Database } from '../../database/db.js';
import { importDisputes } from '../../ledger/imports/importDisputes.js';
import { importOrders } from '../../ledger/imports/importOrders.js';
import { importPayouts } from '../../ledger/imports/importPayouts.js';
import { importRefunds } from '../../ledger/imports/importRefunds.js';
import { importResponses } from '../../ledger/imports/importResponses.js';
import type { ImportResult } from '../../ledger/imports/importResult.js';
import { formatImport } from '../../ledger/imports/importResult.js';
import type { ImportDeps, ImportOptions } from '../../ledger/imports/tableImport.js';
import { formatOf, requireFiles } from '../../ledger/lines/inputText.js';
import { printLines, wantsJson, warnLines, withApp } from '../context.js';
import { jsonText } from '../terminal.js';
import { columnsHelp } from './importColumns.js';
import { addSettlement } from './importSettlement.js';

const IMPORT_KINDS = ['orders', 'refunds', 'payouts', 'disputes', 'responses'] as const;
type ImportKind = (typeof IMPORT_KINDS)[number];

type Import = (
  deps: ImportDeps,
  files: readonly string[],
  options: ImportOptions,
) => Promise<ImportResult>;

const IMPORTS: Readonly<Record<ImportKind, Import>> = {
  orders: importOrders,
  refunds: importRefunds,
  payouts: importPayouts,
  disputes: importDisputes,
  responses: importResponses,
};

const DESCRIPTIONS: Readonly<Record<ImportKind, string>> = {
  orders: 'orders of the ledger, CSV or NDJSON by file ending',
  refunds: 'refund requests of the ledger, CSV or NDJSON by file ending',
  payouts: 'payout requests of the ledger, CSV or NDJSON; the payload is JSON',
  disputes: 'what cardholders took back or try to, CSV or NDJSON by file ending',
  responses: 'stored XML payment responses: the transactions of orders that the ledger has',
};

export function importCommand(): Command {
  const root = new Command('import');
  for (const kind of IMPORT_KINDS) {
    const one = root
      .command(kind)
      .argument('<file...>')
      .description(DESCRIPTIONS[kind])
      .option('--check', 'read and judge every line, but change nothing')
      .option('--json', 'print one JSON document');
    if (kind !== 'responses') {
      one.option(
        '--allow-older',
        'take also what is older than the ledger, or was imported before',
      );
    }
    if (kind === 'orders' || kind === 'refunds') {
      one.option('--map <file>', 'CSV of a shop as it is: which column is what (docs/IMPORT.md)');
    }
    const columns = columnsHelp(kind);
    if (columns !== null) one.addHelpText('after', columns);
    one.action(
      async (
        files: string[],
        flags: { check?: boolean; map?: string; allowOlder?: boolean },
        command: Command,
      ) => {
        const map =
          flags.map === undefined
            ? {}
            : { map: loadColumnMap(flags.map, kind === 'refunds' ? 'refunds' : 'orders') };
        requireReadable(kind, files);
        await withApp(command, async (app) => {
          const options = {
            check: flags.check ?? false,
            allowOlder: flags.allowOlder ?? false,
            ...map,
          };
          const result = await runImport(app.db, app.config, kind, files, options);
          const output = importOutput(result, wantsJson(command));
          if (wantsJson(command)) process.stdout.write(output.stdout);
          else printLines(linesOf(output.stdout));
          warnLines(linesOf(output.stderr));
          return output.exitCode;
        });
      },
    );
  }
  addSettlement(root);
  return root;
}

/** Before a database is opened, or even made, for a name that was mistyped. */
function requireReadable(kind: ImportKind, files: readonly string[]): void {
  requireFiles(files);
  if (kind !== 'responses') for (const file of files) formatOf(file);
}

/** Throws UsageError for files that cannot be read, InputError for a ledger that is a view. */
export function runImport(
  db: Database,
  config: Pick<Config, 'accounts' | 'gateway'>,
  kind: ImportKind,
  files: readonly string[],
  options: ImportOptions,
): Promise<ImportResult> {
  const deps: ImportDeps = { db, profile: config.gateway.profile, accounts: config.accounts };
  return IMPORTS[kind](deps, files, options);
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

interface ImportOutput {
  /** One JSON document under --json, else the counts; empty when refused without --json. */
  stdout: string;
  stderr: string;
  exitCode: ExitCode;
}

export function importOutput(result: ImportResult, json: boolean): ImportOutput {
  const exitCode = result.kind === 'refused' ? EXIT.failed : EXIT.done;
  if (json) return { stdout: `${jsonText(result)}\n`, stderr: '', exitCode };
  if (result.kind === 'refused')
    return { stdout: '', stderr: `${formatImport(result)}\n`, exitCode };
  const [counts = '', ...warnings] = formatImport(result).split('\n');
  const stderr = warnings.map((line) => `${line}\n`).join('');
  return { stdout: `${counts}\n`, stderr, exitCode };
}
