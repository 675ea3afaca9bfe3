// The command line in this process: loads the command that is asked for, and says what an error
// looks like. Each command is a file of its own, listed in commands.ts; this one holds no logic but
// the exit code of a failure. Neighbour: main.ts, the process around it.

import { Command, CommanderError } from 'commander';
import type { OpenApp } from '../cli/app.js';
import { COMMANDS } from '../cli/commands.js';
import type { Entry } from '../cli/commandTree.js';
import { opensWith } from '../cli/context.js';
import { machineUser } from '../cli/machineUser.js';
import { fileFailure, messageOf, TieoutError } from '../core/errors.js';
import { EXIT } from '../core/exitCodes.js';
import { packageVersion } from '../runs/thisProgram.js';

const CONFIG = [
  '--config <file>',
  'configuration (else TIEOUT_CONFIG, else ./tieout.yaml)',
] as const;

/**
 * The command with its words, to its end. What it answers goes to standard output and error, its
 * exit code into `process.exitCode`; nothing is thrown.
 */
export async function runCommand(args: readonly string[]): Promise<void> {
  try {
    await (await program(args)).parseAsync([...args], { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? 0 : EXIT.usage;
      return;
    }
    const failed = fileFailure(error, machineUser());
    const message = failed ?? messageOf(error);
    process.stderr.write(`tieout: ${message}\n`);
    // Where a stack helps: what nobody expected. A file that cannot be used says enough itself.
    if (failed === null && !(error instanceof TieoutError) && error instanceof Error) {
      process.stderr.write(`${error.stack ?? ''}\n`);
    }
    process.exitCode = error instanceof TieoutError ? error.exitCode : EXIT.failed;
  }
}

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

/** Where a command stands for one of its own, what is none of these is a slip of the keys. */
function refuseUnknown(command: Command, meant: Command): void {
  const [word] = command.args;
  const names = command.commands.map((one) => one.name());
  const isWord = word === undefined || word.startsWith('-') || names.includes(word);
  if (isWord || meant.registeredArguments.length > 0) return;
  command.error(`error: unknown command '${word}': ${command.name()} has ${names.join(', ')}`);
}

/** Every command takes --config after its name too, and never ends the process by itself. */
function prepare(command: Command, about?: string): Command {
  if (about !== undefined) command.description(about);
  if (!command.options.some((option) => option.long === '--config')) {
    command.option(...CONFIG);
  }
  command.exitOverride();
  command.hook('preSubcommand', refuseUnknown);
  for (const inner of command.commands) prepare(inner);
  return command;
}
