// What every command shares: finding the configuration, talking to people, ending cleanly. Data
// goes to standard output and nothing else does; a progress bar where there is a terminal, plain
// lines where there is none.

import type { Command } from 'commander';
import type { Config } from '../config/config.js';
import { loadConfigHere } from '../config/config.js';
import { hidingSecrets } from '../config/hiding.js';
import { decisionKeys } from '../core/decisions/decisionKeys.js';
import { inDiskWords, messageOf, TieoutError, UsageError } from '../core/errors.js';
import { EXIT } from '../core/exitCodes.js';
import type { Decider } from '../core/instructions/decider.js';
import type { Log } from '../core/log.js';
import { indentedLines } from '../core/log.js';
import { thisMachine } from '../processes/identity.js';
import { whyDecidedElsewhere } from '../runs/environment.js';
import { packageVersion } from '../runs/thisProgram.js';
import type { App, OpenApp } from './app.js';
import { refuseRisks, refuseSuperuser } from './liveGuard.js';
import { machineUser } from './machineUser.js';
import type { Progress } from './progress.js';
import { openProgress } from './progress.js';
import type { Line } from './terminal.js';
import { jsonText, shownLine, showsColours } from './terminal.js';

const FAILED_EXIT = 1;
/** The last one is of a terminal that was closed, or of a line that broke. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface Flags {
  config?: string;
  json?: boolean;
}

interface CommandOptions {
  anySchema?: boolean;
  /** no progress, no log lines: the command answers in a word */
  quiet?: boolean;
  /** so long a statement waits for a lock that somebody else holds */
  lockMs?: number;
  /** so many seconds a database or queue is waited for that is not there yet */
  partsSeconds?: number;
  /** begins work, which a live installation does only as it should */
  isWork?: boolean;
  /** runs until it is told to stop: where there is no terminal its log is JSON */
  isService?: boolean;
}

/** What `start`, `schedule`, `work` and `web` are. */
export const SERVICE: CommandOptions = { isService: true, isWork: true, partsSeconds: 20 };

const openers = new WeakMap<Command, OpenApp>();

/** Said once, of the root of all commands: what opens the program for them. */
export function opensWith(root: Command, open: OpenApp): Command {
  openers.set(root, open);
  return root;
}

export function openerOf(command: Command): OpenApp {
  let root = command;
  while (root.parent !== null) root = root.parent;
  const open = openers.get(root);
  if (open === undefined) throw new Error('nobody said what opens the program for commands');
  return open;
}

/** Opens what the command needs, does its work, closes everything; answers the exit code. */
export async function withApp(
  command: Command,
  work: (app: App, signal: AbortSignal) => Promise<number>,
  options: CommandOptions = {},
): Promise<void> {
  const config = configOf(command);
  const stop = stopOnSignals();
  const { talk, hide } = await openTalk(config, options);
  stop.tell(talk.log);
  const say = options.quiet === true ? (await openTalk(config)).talk.log : talk.log;
  const offCrash = onCrash(say);
  try {
    if (options.isWork === true) refuseRisks(config);
    const app = await openerOf(command)(config, {
      talk,
      warn: say,
      signal: stop.signal,
      ...options,
    });
    let stopAlerts: (() => Promise<void>) | null = null;
    try {
      if (options.isWork === true) await refuseSuperuser(app);
      stopAlerts = options.isService === true ? await watchOver(app) : null;
      process.exitCode = await work(app, stop.signal);
    } catch (error) {
      const { inLedgerWords } = await import('../ledger/ledgerTroubleStore.js');
      const { dataDir, reports } = config;
      throw await inLedgerWords(app, inDiskWords(error, [dataDir, reports.dir]));
    } finally {
      await stopAlerts?.();
      talk.end();
      await app.close();
    }
  } catch (error) {
    if (options.isService !== true || process.stderr.isTTY) throw withoutSecrets(error, hide);
    // Its log is read by a machine to the last line.
    talk.log(`stopped: ${messageOf(error)}`, {
      level: 'error',
    });
    process.exitCode = error instanceof TieoutError ? error.exitCode : EXIT.failed;
  } finally {
    offCrash();
    stop.off();
  }
}

async function watchOver(app: App): Promise<() => Promise<void>> {
  const [{ startAlerts }, { scheduleDepsOf, watchOf }] = await Promise.all([
    import('../alerts/watchRuns.js'),
    import('./scheduleStatus.js'),
  ]);
  // A schedule without a meaning is refused: by it nothing would be owed, and nothing ever told.
  return startAlerts({ ...watchOf(app), ...scheduleDepsOf(app) });
}

/** How a command with this configuration talks, and what keeps its secrets out of it. */
export async function openTalk(
  config: Config,
  { quiet = false, isService = false }: CommandOptions = {},
): Promise<{ talk: Progress; hide: (text: string) => string }> {
  zone = config.schedule.timezone;
  const hide = hidingSecrets(config);
  const settings = { quiet, isService, version: packageVersion(), hide, zone };
  return { talk: await openProgress(process.stderr, settings), hide };
}

/** The same error; whoever prints it prints no secret, no card number, no forged line. */
function withoutSecrets(error: unknown, hide: (text: string) => string): unknown {
  if (error instanceof Error) {
    error.message = indentedLines(hide(error.message));
    if (error.stack !== undefined) error.stack = indentedLines(hide(error.stack));
  }
  return error;
}

/** What nobody caught ends the process; the platform would print all that the error carries. */
function onCrash(say: Log): () => void {
  const crash = (error: unknown): void => {
    const told = error instanceof Error ? (error.stack ?? error.message) : String(error);
    say(`crashed: ${told}`, { level: 'error' });
    process.exit(1);
  };
  process.on('uncaughtException', crash);
  return () => process.off('uncaughtException', crash);
}

/**
 * The first signal aborts, and says that what is under way is waited for, such as an answer of the
 * gateway; the second ends the process.
 */
export function stopOnSignals(): { signal: AbortSignal; tell(log: Log): void; off(): void } {
  const stop = new AbortController();
  let say: Log = () => {};
  const interrupt = (): void => {
    if (stop.signal.aborted) endAtOnce();
    say('told to stop: what is under way ends first; told again, it ends at once');
    stop.abort();
  };
  for (const name of SIGNALS) process.on(name, interrupt);
  return {
    signal: stop.signal,
    tell: (log) => {
      say = log;
    },
    off: () => {
      for (const name of SIGNALS) process.off(name, interrupt);
    },
  };
}

/** What was in flight is classified by whoever works next, as after a crash. */
function endAtOnce(): never {
  process.stderr.write('tieout: ended at once; the same command goes on from here\n');
  process.exit(FAILED_EXIT);
}

export function configOf(command: Command): Config {
  const { config: path } = command.optsWithGlobals<Flags>();
  const config = loadConfigHere(path);
  zone = config.schedule.timezone;
  return config;
}

export function wantsJson(command: Command): boolean {
  return command.optsWithGlobals<Flags>().json === true;
}

/**
 * Who decides (deciderOf), where what is decided counts for the runs of this database.
 * @throws UsageError where those are of another environment than this configuration
 */
export async function deciderHere(command: Command, app: App): Promise<Decider> {
  const why = await whyDecidedElsewhere(app.db, app.config);
  if (why !== null) throw new UsageError(why);
  return deciderOf(command, app);
}

/** Who decides: --as NAME, else the user of this machine. Nobody has checked it: a claim. */
export function deciderOf(command: Command, { config }: Pick<App, 'config'>): Decider {
  const { as: name } = command.optsWithGlobals<{ as?: string }>();
  const session = `command line of ${thisMachine()}, user ${machineUser()}`;
  const proof = decisionKeys(config.decisions)?.proofOf(session) ?? null;
  return { name: name ?? machineUser(), isClaim: true, proof };
}

/** One JSON document on standard output; bigints as text. */
export function printJson(value: unknown): void {
  process.stdout.write(`${jsonText(value)}\n`);
}

/** In which zone people read times: that of the configuration of this command. */
let zone = 'UTC';

/** Lines for a person; what data brings along never steers the terminal. */
export function printLines(lines: readonly Line[]): void {
  process.stdout.write(shownLines(lines));
}

/** The same as the text that is written: for lists that are longer than memory. */
export function shownLines(
  lines: readonly Line[],
  stream: Parameters<typeof showsColours>[0] = process.stdout,
): string {
  const screen = { zone, hasColours: showsColours(stream) };
  return lines.map((line) => `${shownLine(line, screen)}\n`).join('');
}

/** Lines for a person that are no answer: why something was not done, and what to look at. */
export function warnLines(lines: readonly Line[]): void {
  process.stderr.write(shownLines(lines, process.stderr));
}
