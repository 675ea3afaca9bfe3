// The entry file of the command line: loads the command that is asked for, and says what an error
// looks like. Each command is a file of its own, listed in commands.ts; this one holds no logic but
// the exit code of a failure.

import { setTimeout as sleep } from 'node:timers/promises';
import { Command, CommanderError } from 'commander';
import type { OpenApp } from '../cli/app.js';
import { COMMANDS } from '../cli/commands.js';
import type { Entry } from '../cli/commandTree.js';
import { opensWith } from '../cli/context.js';
import { keepHeapSmall } from '../cli/heapLimit.js';
import { machineUser } from '../cli/machineUser.js';
import { fileFailure, messageOf, TieoutError } from '../core/errors.js';
import { packageVersion } from '../runs/thisProgram.js';

const USAGE_EXIT = 2;
const CONFIG = [
  '--config <file>',
  'configuration (else TIEOUT_CONFIG, else ./tieout.yaml)',
] as const;

/** The root with the command that is asked for; of the others only name and purpose. */
async function program(args: readonly string[]): Promise<Command> {
  const root = opensWith(new Command('tieout'), openApp)
    .description("makes a merchant's books and the card gateway agree, every night")
    .version(packageVersion())
    .option(...CONFIG)
    .showHelpAfterError('(tieout COMMAND --help shows what it takes)')
    .exitOverride();
  const asked = askedFor(args);
  for (const entry of COMMANDS) {
    const isAsked = entry.name === asked;
    root.addCommand(prepare(isAsked ? await loaded(entry) : new Command(entry.name), entry.about));
  }
  return root;
}

/** Loaded with the first command that needs it. */
const openApp: OpenApp = async (config, options) =>
  (await import('./compose.js')).openApp(config, options);

async function loaded({ load }: Entry): Promise<Command> {
  const build = await load();
  return build();
}

/** The first word that is no flag of the root, or the second of `help run`. */
function askedFor(args: readonly string[]): string | undefined {
  const words = new Command().option(...CONFIG).parseOptions([...args]).operands;
  return words[0] === 'help' ? words[1] : words[0];
}

/** Every command takes --config after its name too, and never ends the process by itself. */
function prepare(command: Command, about?: string): Command {
  if (about !== undefined) command.description(about);
  if (!command.options.some((option) => option.long === '--config')) {
    command.option(...CONFIG);
  }
  command.exitOverride();
  for (const inner of command.commands) prepare(inner);
  return command;
}

async function main(): Promise<void> {
  keepHeapSmall();
  // A reader that goes away (`tieout runs list | head`) is no error of ours.
  process.stdout.on('error', () => process.exit());
  // A log that nobody takes any more ends no run.
  process.stderr.on('error', () => {});
  try {
    await (await program(process.argv.slice(2))).parseAsync(process.argv);
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? 0 : USAGE_EXIT;
      return;
    }
    const failed = fileFailure(error, machineUser());
    const message = failed ?? messageOf(error);
    process.stderr.write(`tieout: ${message}\n`);
    // Where a stack helps: what nobody expected. A file that cannot be used says enough itself.
    if (failed === null && !(error instanceof TieoutError) && error instanceof Error) {
      process.stderr.write(`${error.stack ?? ''}\n`);
    }
    process.exitCode = error instanceof TieoutError ? error.exitCode : 1;
  }
}

/** What was said is written out; a reader that takes nothing any more is not waited for. */
const LAST_WORDS_MS = 5_000;

async function lastWords(): Promise<void> {
  const written = [process.stdout, process.stderr].map(
    (stream) => new Promise<void>((resolve) => stream.write('', () => resolve())),
  );
  await Promise.race([Promise.all(written), sleep(LAST_WORDS_MS)]);
}

await main();
// Whatever is still open, such as a client that looks for a server that is gone for good: a command
// ends when it has said how it ended.
await lastWords();
process.exit();
