// The entry file of the command line: the list of commands and what an error looks like. Each
// command is a file of its own; this one holds no logic but the exit code of a failure.

import { Command, CommanderError } from 'commander';
import { packageVersion } from '../compose.js';
import { TieoutError } from '../core/errors.js';
import { demoCommand } from './demo.js';
import { doctorCommand } from './doctor.js';
import { gatewayCommand } from './gateway.js';
import { importCommand } from './import.js';
import { initCommand } from './init.js';
import { jobsCommand } from './jobs.js';
import { migrateCommand } from './migrate.js';
import { orderCommand } from './order.js';
import { reportCommand } from './report.js';
import { runCommand } from './run.js';
import { runsCommand } from './runs.js';
import { sandboxCommand } from './sandbox.js';
import { scheduleCommand, workCommand } from './schedule.js';
import { statusCommand } from './status.js';
import { startCommand, webCommand } from './web.js';

const USAGE_EXIT = 2;

function program(): Command {
  const root = new Command('tieout')
    .description("makes a merchant's books and the card gateway agree, every night")
    .version(packageVersion())
    .option('--config <file>', 'configuration (else TIEOUT_CONFIG, else ./tieout.yaml)')
    .showHelpAfterError('(tieout COMMAND --help shows what it takes)')
    .exitOverride();
  const commands = [
    demoCommand(),
    initCommand(),
    runCommand(),
    startCommand(),
    scheduleCommand(),
    workCommand(),
    webCommand(),
    statusCommand(),
    runsCommand(),
    orderCommand(),
    jobsCommand(),
    importCommand(),
    reportCommand(),
    gatewayCommand(),
    sandboxCommand(),
    migrateCommand(),
    doctorCommand(),
  ];
  for (const command of commands) root.addCommand(prepare(command));
  return root;
}

/** Every command takes --config after its name too, and never ends the process by itself. */
function prepare(command: Command): Command {
  if (!command.options.some((option) => option.long === '--config')) {
    command.option('--config <file>', 'configuration (else TIEOUT_CONFIG, else ./tieout.yaml)');
  }
  command.exitOverride();
  for (const inner of command.commands) prepare(inner);
  return command;
}

async function main(): Promise<void> {
  // A reader that goes away (`tieout runs list | head`) is no error of ours.
  process.stdout.on('error', () => process.exit());
  try {
    await program().parseAsync(process.argv);
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? 0 : USAGE_EXIT;
      return;
    }
    const message = error instanceof Error ? error.message : String(error);
    process.stderr.write(`tieout: ${message}\n`);
    if (!(error instanceof TieoutError) && error instanceof Error) {
      process.stderr.write(`${error.stack ?? ''}\n`);
    }
    process.exitCode = error instanceof TieoutError ? error.exitCode : 1;
  }
}

await main();
