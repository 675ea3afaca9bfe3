// `tieout demo`: one whole run on the sandbox gateway with the embedded database. Writes a
// configuration on which every other command works afterwards; run again it goes on with the same
// night, and moves no money twice.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import type { Config } from '../../config/config.js';
import { loadConfigHere } from '../../config/config.js';
import { renderConfig } from '../../config/templates.js';
import { UsageError } from '../../core/errors.js';
import type { RunSummary } from '../../core/runs/summary.js';
import { hasOrders, loadLedger } from '../../ledger/ledgerStore.js';
import { runDate } from '../../night/run.js';
import type { BusinessDay } from '../../runs/calendarStore.js';
import { businessDay, lastEnded } from '../../runs/calendarStore.js';
import { callName } from '../../runs/thisProgram.js';
import { seedOrders } from '../../sandbox/seed/seed.js';
import type { SeedSettings } from '../../sandbox/seed/seedPlan.js';
import { DEFAULT_ACCOUNTS, planSeed, sandboxKey } from '../../sandbox/seed/seedPlan.js';
import { readSandboxSettings, writeSandboxSettings } from '../../sandbox/state.js';
import type { App } from '../app.js';
import { openerOf, openTalk, printJson, printLines, stopOnSignals } from '../context.js';
import { summaryLines } from '../runs/summaryText.js';
import { moneyInTransit, settlementSection, takeSettled } from './demoSettlement.js';

const DEFAULT_ORDERS = 3_000;
const DEFAULT_SEED = 1;
const ORDERS_MAX = 1_000_000;
const TIMEZONE = 'Europe/Berlin';
const CUT_OFF = '00:00';
const HOUR_MS = 3_600_000;
/** The first line of a file that the demo wrote; any other is somebody's own and is left alone. */
const MARK = '# Written by `tieout demo`; remove it together with its dataDir to begin anew.';

const WHY_OWN =
  'the demo fills the ledger with invented orders and sends; name a new --config FILE';

interface DemoFlags {
  orders?: number;
  seed?: number;
  json?: boolean;
}

export function demoCommand(): Command {
  return new Command('demo')
    .option('--orders <n>', `orders of the ledger (default: ${DEFAULT_ORDERS})`, wholeNumber)
    .option(
      '--seed <s>',
      `the same seed gives the same night (default: ${DEFAULT_SEED})`,
      wholeNumber,
    )
    .option('--json', 'print the summary as one JSON document')
    .action(async (flags: DemoFlags, command: Command) => {
      const { config } = command.optsWithGlobals<{ config?: string }>();
      await runDemo(command, flags, config);
    });
}

async function runDemo(
  command: Command,
  flags: DemoFlags,
  file: string | undefined,
): Promise<void> {
  const stop = stopOnSignals();
  const path = resolve(file ?? freePath());
  const seed = flags.seed ?? DEFAULT_SEED;
  if (!existsSync(path)) writeFileSync(path, configText(path, seed), { flag: 'wx', mode: 0o600 });
  else if (!isOwn(path)) throw new UsageError(`${path} is not the demo's own: ${WHY_OWN}`);
  const config = loadConfigHere(path);
  if (config.gateway.baseUrl !== 'sandbox') {
    throw new UsageError(`${path}: gateway.baseUrl must be sandbox: ${WHY_OWN}`);
  }
  const { talk } = await openTalk(config);
  stop.tell(talk.log);
  const app = await openerOf(command)(config, { talk, signal: stop.signal });
  try {
    await seedOnce(app, config, { orders: flags.orders ?? null, seed: flags.seed ?? null });
    const request = { date: null, accountIds: [], isDry: false };
    const deps = await app.sendDeps();
    // The night finds the acquirer's file as an inbox would have taken it meanwhile.
    await takeSettled(app, config);
    const { summary } = await runDate(deps, request, await app.workforce());
    const transit = flags.json === true ? [] : await moneyInTransit(app, config);
    talk.end();
    if (flags.json === true) printJson({ ...summary, config: path });
    else {
      const next = nextSteps(path, summary, config.web);
      printLines([...summaryLines(summary), ...transit, ...next]);
    }
  } finally {
    talk.end();
    await app.close();
    stop.off();
  }
}

/** ./tieout.yaml, or ./tieout-demo.yaml where the former is somebody's own. */
function freePath(): string {
  for (const name of ['tieout.yaml', 'tieout-demo.yaml']) {
    if (!existsSync(name) || isOwn(name)) return name;
  }
  throw new UsageError(
    "tieout.yaml and tieout-demo.yaml are not the demo's own: name another with --config FILE",
  );
}

function isOwn(path: string): boolean {
  return readFileSync(path, 'utf8').startsWith(MARK);
}

/** The key of the sandbox is worth nothing elsewhere, so it may stand in the file. */
function configText(path: string, seed: number): string {
  const isOwnName = basename(path) === 'tieout.yaml';
  const dataDir = isOwnName ? './var' : `./var-${basename(path).replace(/\.ya?ml$/, '')}`;
  const text = renderConfig({
    dataDir,
    reportsDir: `${dataDir}/reports`,
    timezone: TIMEZONE,
    cutOff: CUT_OFF,
    modes: { capture: 'auto', cancel: 'auto', review: 'auto', refund: 'auto' },
    approveAbove: '{ refund: { EUR: "100.00", PLN: "400.00" } }',
    accounts: DEFAULT_ACCOUNTS.map((account) => ({
      ...account,
      signingKey: sandboxKey(seed, account.accountId),
      // Within three days, as a new installation has it: requests before it count as done.
      liveFrom: new Date(Date.now() - 71 * HOUR_MS).toISOString(),
    })),
  });
  const accountIds = DEFAULT_ACCOUNTS.map(({ accountId }) => accountId);
  return `${MARK}\n${text}\n${settlementSection(dataDir, accountIds)}`;
}

/** Fills ledger and gateway the first time; afterwards both are as the runs left them. */
async function seedOnce(
  app: App,
  config: Config,
  wanted: { orders: number | null; seed: number | null },
): Promise<void> {
  const stateDir = join(config.dataDir, 'sandbox');
  const known = readSandboxSettings(stateDir);
  if (known) {
    const differs =
      (wanted.orders ?? known.orders) !== known.orders ||
      (wanted.seed ?? known.seed) !== known.seed;
    if (differs) {
      throw new UsageError(
        `${config.file} is a demo of ${known.orders} orders, seed ${known.seed}: remove it and ` +
          `${config.dataDir} to begin anew, or take another file with --config`,
      );
    }
    if (await hasOrders(app.db)) return;
  }
  const day = await runOf(app, config);
  const settings: SeedSettings = known ?? {
    orders: wanted.orders ?? DEFAULT_ORDERS,
    seed: wanted.seed ?? DEFAULT_SEED,
    dayStart: day.startsAt,
    dayEnd: day.endsAt,
    accounts: DEFAULT_ACCOUNTS,
  };
  writeSandboxSettings(stateDir, settings);
  await app.db.transaction((tx) => loadLedger(tx, ledgerOf(settings)));
}

async function runOf(app: App, config: Config): Promise<BusinessDay> {
  const { date } = await lastEnded(app.db, new Date(), config.schedule);
  return businessDay(app.db, date, config.schedule);
}

function* ledgerOf(settings: SeedSettings) {
  for (const seeded of seedOrders(planSeed(settings))) {
    yield { order: { ...seeded.ledger }, refunds: seeded.refunds.map((refund) => ({ ...refund })) };
  }
}

function nextSteps(path: string, summary: RunSummary, { host, port }: Config['web']): string[] {
  const at = basename(path) === 'tieout.yaml' ? '' : ` --config ${path}`;
  const call = callName(process.cwd());
  const account = summary.accounts.find((one) => one.tie.openAfter > 0) ?? summary.accounts[0];
  return [
    '',
    `Configuration: ${path}`,
    '',
    'What to try next',
    `  ${call} run${at}              the same night again: looks anew, moves no money twice`,
    `  ${call} report ${summary.businessDate} --kind breaks --format csv${at}`,
    `  ${call} order ${account?.accountId ?? 'ACCOUNT'} ORDER_NO${at}   one order's whole story`,
    `  ${call} runs list${at}        all nights; \`${call} --help\` has the rest`,
    '',
    'Next: look at it in a browser',
    `  ${call} start${at}   serves the console at http://${host}:${port}`,
    '  It prints a link, once: open that, choose a name and a password, and you are signed in.',
  ];
}

function wholeNumber(text: string): number {
  const number = Number(text);
  if (!/^\d{1,9}$/.test(text) || number > ORDERS_MAX) {
    throw new InvalidArgumentError(`a whole number up to ${ORDERS_MAX}.`);
  }
  return number;
}
