// `tieout sandbox`: runs a sandbox gateway until it is told to end. Owns the flags and what is
// printed; the sandbox itself is src/sandbox. The keys it prints are the sandbox's own and open
// nothing else. `--state` and `--until-unused` are how tieout starts one by itself (daemon.ts).

import { randomUUID } from 'node:crypto';
import { Command, InvalidArgumentError } from 'commander';
import { UsageError } from '../core/errors.js';
import { sandboxProfile } from '../gateway/profile.js';
import { signatureOf } from '../gateway/sign.js';
import type { SandboxAccount } from '../sandbox/desk.js';
import { DEFAULT_ACCOUNTS, layOutNight, type NightSettings, sandboxKey } from '../sandbox/night.js';
import { seedOrder } from '../sandbox/seed.js';
import { startSandbox } from '../sandbox/server.js';
import { readSandboxSettings } from '../sandbox/state.js';

const DEFAULT_PORT = 8085;
const DEFAULT_ORDERS = 1_000;
const DEFAULT_SEED = 1;
const DAY_MS = 86_400_000;
const PORT_MAX = 65_535;

interface SandboxFlags {
  readonly port: number;
  readonly orders?: number;
  readonly seed?: number;
  readonly state?: string;
  readonly json?: boolean;
  readonly untilUnused?: boolean;
}

export function sandboxCommand(): Command {
  return new Command('sandbox')
    .description('a gateway to try things on: the same wire, invented orders, no real money')
    .option('--port <n>', 'port on 127.0.0.1; 0 takes any free one', portNumber, DEFAULT_PORT)
    .option('--orders <n>', `orders of the night before (default: ${DEFAULT_ORDERS})`, wholeNumber)
    .option(
      '--seed <s>',
      `the same seed gives the same night (default: ${DEFAULT_SEED})`,
      wholeNumber,
    )
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
  const ended = untilEnded();
  const sandbox = await startSandbox({
    settings,
    accounts,
    now: () => new Date(),
    newId: randomUUID,
    port: flags.port,
    ...(flags.state === undefined ? {} : { stateDir: flags.state }),
    ...(flags.untilUnused === true ? { onUnused: ended.end } : {}),
  });
  const { baseUrl } = sandbox;
  process.stdout.write(
    flags.json === true
      ? `${JSON.stringify({ baseUrl, accounts })}\n`
      : introduction(baseUrl, accounts, settings),
  );
  await ended.promise;
  await sandbox.close();
}

/** A folder that was seeded before keeps its night; flags may repeat it but not change it. */
function settingsOf({ orders, seed, state, untilUnused }: SandboxFlags): NightSettings {
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

function introduction(
  baseUrl: string,
  accounts: readonly SandboxAccount[],
  settings: NightSettings,
): string {
  const day = settings.dayStart.toISOString().slice(0, 10);
  const lines = [
    `Sandbox gateway on ${baseUrl} (profile: sandbox). Ctrl-C ends it.`,
    `${settings.orders} orders of the night ${day}, seed ${settings.seed}.`,
    '',
    ...accounts.map(
      ({ merchantId, accountId, signingKey }) =>
        `merchantId ${merchantId}  accountId ${accountId}  signingKey ${signingKey}`,
    ),
    '',
    ...tryLines(baseUrl, accounts, settings),
    `What really moved: curl ${baseUrl}/_sandbox/effects`,
  ];
  return `${lines.join('\n')}\n`;
}

/** A query that works as it stands. */
function tryLines(
  baseUrl: string,
  accounts: readonly SandboxAccount[],
  settings: NightSettings,
): string[] {
  if (settings.orders === 0) return [];
  const order = seedOrder(layOutNight(settings), settings.orders - 1).ledger;
  const account = accounts.find(({ accountId }) => accountId === order.account_id);
  if (account === undefined) return [];
  const ids = { merchant_id: account.merchantId, account_id: account.accountId };
  const { signing } = sandboxProfile();
  const signature = signatureOf(signing, 'retrievalTrans', account.signingKey, ids);
  const form = new URLSearchParams({
    ...ids,
    order_no: order.order_no,
    encryption_data: signature,
  });
  return [`Try it: curl -d '${form}' ${baseUrl}/v1/retrievalTrans`];
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
