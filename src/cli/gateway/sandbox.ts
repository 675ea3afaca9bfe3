// `tieout sandbox`: runs a sandbox gateway until it is told to end. Owns the flags; the sandbox
// itself is src/sandbox, what a person is told is welcome.ts there. `--state` and `--until-unused`
// are how tieout starts one by itself (daemon.ts). docs/SANDBOX.md is the whole of it for
// outsiders.

import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { Command, InvalidArgumentError } from 'commander';
import { UsageError } from '../../core/errors.js';
import { DAY_MS } from '../../core/time.js';
import { parseProfile, sandboxProfile } from '../../gateway/document/profile.js';
import { type FaultRule, parseFaultRules } from '../../sandbox/faults/faultRules.js';
import { DEFAULT_ACCOUNTS, type SeedSettings, sandboxKey } from '../../sandbox/seed/seedPlan.js';
import { startSandbox } from '../../sandbox/server.js';
import { readSandboxSettings } from '../../sandbox/state.js';
import { welcomeText } from '../../sandbox/welcome.js';

const DEFAULT_PORT = 8085;
const DEFAULT_ORDERS = 1_000;
const DEFAULT_SEED = 1;
const PORT_MAX = 65_535;

interface SandboxFlags {
  readonly port: number;
  readonly orders?: number;
  readonly seed?: number;
  readonly faults?: string;
  readonly profile?: string;
  readonly allow?: string[];
  readonly strict?: boolean;
  readonly notify?: boolean;
  readonly state?: string;
  readonly json?: boolean;
  readonly untilUnused?: boolean;
}

export function sandboxCommand(): Command {
  return new Command('sandbox')
    .option('--port <n>', 'port on 127.0.0.1; 0 takes any free one', portNumber, DEFAULT_PORT)
    .option('--orders <n>', `orders of the night before (default: ${DEFAULT_ORDERS})`, wholeNumber)
    .option(
      '--seed <s>',
      `the same seed gives the same night (default: ${DEFAULT_SEED})`,
      wholeNumber,
    )
    .option('--faults <file>', 'what shall go wrong: rules as JSON or one a line')
    .option('--profile <file>', 'speak as this gateway-profile.yaml says (default: its own)')
    .option('--allow <address...>', 'only these addresses may query (default: all)', address)
    .option('--strict', 'refuse the same refund or payout a second time')
    .option('--notify', 'post to the notify_url of payments and payouts on this machine')
    .option('--state <dir>', 'remember there what happened; without it all is forgotten')
    .option('--json', 'print one line of JSON when it listens')
    .addOption(new Command().createOption('--until-unused').hideHelp())
    .action((flags: SandboxFlags) => runSandbox(flags));
}

async function runSandbox(flags: SandboxFlags): Promise<void> {
  const settings = settingsOf(flags);
  const accounts = settings.accounts.map((account) => ({
    ...account,
    signingKey: sandboxKey(settings.seed, account.accountId),
  }));
  const { profile: file } = flags;
  const profile =
    file === undefined
      ? { name: 'sandbox', profile: sandboxProfile() }
      : { name: file, profile: parseProfile(readText(file), file, { isSandbox: true }) };
  const ended = untilEnded();
  const sandbox = await startSandbox({
    settings,
    accounts,
    now: () => new Date(),
    newId: randomUUID,
    port: flags.port,
    profile: profile.profile,
    strict: flags.strict === true,
    notify: flags.notify === true,
    faults: flags.faults === undefined ? [] : readFaults(flags.faults),
    ...(flags.allow === undefined ? {} : { allow: flags.allow }),
    ...(flags.state === undefined ? {} : { stateDir: flags.state }),
    ...(flags.untilUnused === true ? { onUnused: ended.end } : {}),
  });
  const { baseUrl } = sandbox;
  process.stdout.write(
    flags.json === true
      ? `${JSON.stringify({ baseUrl, accounts })}\n`
      : welcomeText(baseUrl, accounts, settings, profile),
  );
  await ended.promise;
  await sandbox.close();
}

/** A folder that was seeded before keeps its run; flags may repeat it but not change it. */
function settingsOf({ orders, seed, state, untilUnused }: SandboxFlags): SeedSettings {
  const known = state === undefined ? null : readSandboxSettings(state);
  if (known !== null) {
    const differs =
      (orders ?? known.orders) !== known.orders || (seed ?? known.seed) !== known.seed;
    if (!differs) return known;
    throw new UsageError(`${state} holds ${known.orders} orders of seed ${known.seed} already`);
  }
  const midnight = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  return {
    orders: orders ?? (untilUnused === true ? 0 : DEFAULT_ORDERS),
    seed: seed ?? DEFAULT_SEED,
    dayStart: new Date(midnight - DAY_MS),
    dayEnd: new Date(midnight),
    accounts: DEFAULT_ACCOUNTS,
  };
}

function untilEnded(): { promise: Promise<void>; end: () => void } {
  let end = (): void => {};
  const promise = new Promise<void>((resolve) => {
    end = () => resolve();
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end);
  return { promise, end: () => end() };
}

/** The rules of a file; what is wrong with one is told with the file's name. */
function readFaults(file: string): FaultRule[] {
  const text = readText(file);
  try {
    return parseFaultRules(text);
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(`${file}: ${error.message}`);
    throw error;
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`${file} cannot be read`, { cause: error });
  }
}

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('a whole number is needed.');
  return Number(text);
}

function portNumber(text: string): number {
  const port = wholeNumber(text);
  if (port > PORT_MAX) throw new InvalidArgumentError(`a port is at most ${PORT_MAX}.`);
  return port;
}

function address(text: string, before: string[] | undefined): string[] {
  if (isIP(text) === 0) throw new InvalidArgumentError('an IP address is needed.');
  return [...(before ?? []), text];
}
