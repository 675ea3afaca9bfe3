// A whole house for one test: a database, a sandbox gateway in this process with faults at will, a
// ledger, and nights run by the program's own composition. Nothing of ours is replaced; only the
// clock of the business dates can be moved. Neighbours: cli.ts runs the built program instead.

import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { openApp } from '../../src/app/compose.js';
import type { App } from '../../src/cli/app.js';
import type { Config } from '../../src/config/config.js';
import { loadConfig } from '../../src/config/config.js';
import type { RunSummary } from '../../src/core/runs/summary.js';
import { DAY_MS } from '../../src/core/time.js';
import type { Connection } from '../../src/database/connection.js';
import type { Database } from '../../src/database/db.js';
import { loadLedger } from '../../src/ledger/ledgerStore.js';
import type { RunRequest } from '../../src/night/begin.js';
import type { RunResult } from '../../src/night/run.js';
import { runDate } from '../../src/night/run.js';
import type { FaultPlan } from '../../src/sandbox/faults/faults.js';
import type { SeededOrder } from '../../src/sandbox/seed/seed.js';
import { seedOrders } from '../../src/sandbox/seed/seed.js';
import type { SeedSettings } from '../../src/sandbox/seed/seedPlan.js';
import { DEFAULT_ACCOUNTS, planSeed, sandboxKey } from '../../src/sandbox/seed/seedPlan.js';
import { startSandbox } from '../../src/sandbox/server.js';
import { freshDatabase } from './database.js';
import { midnight } from './today.js';

const HOUR_MS = 3_600_000;

/** The business date that ended so many days before today, in UTC as all of these tests. */
export function dateOf(daysAgo: number): string {
  return new Date(midnight() - daysAgo * DAY_MS).toISOString().slice(0, 10);
}

export interface Effect {
  at: string;
  operation: string;
  account_id: string;
  order_no: string;
  transaction_id: string;
  amount?: string;
  refund_amount?: string;
  request: string;
}

export interface HouseOptions {
  /** Orders of the seeded night; the gateway knows all of them. */
  orders?: number;
  seed?: number;
  /** Of the gateway and of tieout.yaml; default 2. */
  accounts?: number;
  /** Which of them stand in the ledger; default all. */
  inLedger?: (order: SeededOrder) => boolean;
  fault?: FaultPlan;
  /** The night is seeded on the date that ended so many days ago; 1 is yesterday. */
  daysAgo?: number;
  /** Over what `settingsOf` says, key by key. */
  settings?: Record<string, unknown>;
  /** Puts a server between tieout and the sandbox, or in its place; given the sandbox's address. */
  through?: (sandboxUrl: string) => Promise<{ baseUrl: string; close(): Promise<void> }>;
}

export interface House {
  folder: string;
  /** tieout.yaml, good for the built program as well. */
  file: string;
  connection: Connection;
  sandboxUrl: string;
  /** Where tieout asks: the sandbox, or what stands before it. */
  gatewayUrl: string;
  db: Database;
  /** The orders that stand in the ledger. */
  seeded: SeededOrder[];
  accounts: ReturnType<typeof sandboxAccounts>;
  lines: string[];
  /** Runs a night as `tieout run` does; `at` moves the clock. */
  run(request?: Partial<RunRequest>, at?: Date): Promise<RunResult>;
  /** For tests that look inside a night; closed by end(). */
  open(at?: Date | (() => Date)): Promise<App>;
  effects(): Promise<Effect[]>;
  end(): Promise<void>;
}

export async function buildHouse(options: HouseOptions = {}): Promise<House> {
  const { db, connection, drop } = await freshDatabase({ queues: true });
  const night = settingsOfRun(options);
  const accounts = sandboxAccounts(night.seed, night.accounts);
  const sandbox = await startSandbox({
    settings: night,
    accounts,
    now: () => new Date(),
    newId: randomUUID,
    ...(options.fault === undefined ? {} : { fault: options.fault }),
  });
  const seeded = [...seedOrders(planSeed(night))].filter(options.inLedger ?? (() => true));
  await db.transaction((tx) => loadLedger(tx, ledgerRows(seeded)));
  const folder = mkdtempSync(join(tmpdir(), 'tieout-house-'));
  const file = join(folder, 'tieout.yaml');
  const between = await options.through?.(sandbox.baseUrl);
  const baseUrl = between?.baseUrl ?? sandbox.baseUrl;
  const settings = { ...settingsOf(connection, baseUrl, night), ...options.settings };
  // JSON is YAML too.
  writeFileSync(file, JSON.stringify(settings));
  const lines: string[] = [];
  const { open, forRun, close } = programs(() => loadConfig({ file, env: {}, cwd: folder }), lines);
  return {
    folder,
    file,
    connection,
    sandboxUrl: sandbox.baseUrl,
    gatewayUrl: baseUrl,
    db,
    seeded,
    accounts,
    lines,
    open,
    run: async (request = {}, at) => {
      const app = await forRun(at);
      const whole = { date: null, accountIds: [], isDry: false, ...request };
      return runDate(await app.sendDeps(), whole, await app.workforce());
    },
    effects: () => readEffects(sandbox.baseUrl),
    end: async () => {
      await close();
      await between?.close();
      await sandbox.close();
      await drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * The program put together anew for each who asks; for runs, once for as long as the configuration
 * says the same, as `tieout start` has it: most of what a small night costs the server is to open
 * sessions, and to plan in each of them what it is asked.
 */
function programs(load: () => Config, lines: string[]) {
  const apps: App[] = [];
  const open = async (at?: Date | (() => Date), config = load()): Promise<App> => {
    const app = await openApp(config, {
      talk: { log: (line) => lines.push(line), progress: () => {} },
      signal: new AbortController().signal,
      ...(at === undefined ? {} : { now: typeof at === 'function' ? at : () => at }),
    });
    apps.push(app);
    return app;
  };
  let last: { config: Config; app: Promise<App> } | null = null;
  let set: Date | undefined;
  return {
    open: (at?: Date | (() => Date)) => open(at),
    forRun(at?: Date): Promise<App> {
      set = at;
      const config = load();
      if (last === null || !isDeepStrictEqual(last.config, config)) {
        last = { config, app: open(() => set ?? new Date(), config) };
      }
      return last.app;
    },
    async close() {
      for (const app of apps) await app.close();
    },
  };
}

/** Changes the configuration for the runs that come. */
export function rewriteSettings({ file }: House, change: Record<string, unknown>): void {
  const settings = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  writeFileSync(file, JSON.stringify({ ...settings, ...change }));
}

export async function readEffects(baseUrl: string): Promise<Effect[]> {
  return (await (await fetch(`${baseUrl}/_sandbox/effects`)).json()) as Effect[];
}

function settingsOfRun(options: HouseOptions): SeedSettings {
  const { orders = 300, seed = 1, daysAgo = 1, accounts: count = 2 } = options;
  const dayStart = new Date(midnight() - daysAgo * DAY_MS);
  const dayEnd = new Date(dayStart.getTime() + DAY_MS);
  const more = Array.from({ length: count - DEFAULT_ACCOUNTS.length }, (_, at) => {
    return { merchantId: 'M1001', accountId: `A${1003 + at}` };
  });
  return { orders, seed, dayStart, dayEnd, accounts: [...DEFAULT_ACCOUNTS, ...more] };
}

export function sandboxAccounts(seed: number, accounts = DEFAULT_ACCOUNTS) {
  return accounts.map((account) => ({
    ...account,
    signingKey: sandboxKey(seed, account.accountId),
  }));
}

/** Everything is sent by itself; the network limits are out of the way. */
export function settingsOf(
  connection: Connection,
  baseUrl: string,
  night: Pick<SeedSettings, 'seed' | 'dayStart'> & Partial<Pick<SeedSettings, 'accounts'>>,
): Record<string, unknown> {
  const liveFrom = night.dayStart.toISOString();
  return {
    database: { url: addressOf(connection) },
    gateway: { baseUrl, profile: 'sandbox' },
    accounts: sandboxAccounts(night.seed, night.accounts).map((account) => ({
      ...account,
      liveFrom,
    })),
    schedule: { timezone: 'UTC' },
    reconcile: { graceHours: graceHours() },
    operations: { capture: 'auto', cancel: 'auto', refund: 'auto', review: 'auto' },
  };
}

/**
 * At any hour of today: an order of yesterday's last hour is inside it, one of the day before is
 * past it, as the seeded night means them (sandbox/seed/seedPlan.ts).
 */
function graceHours(): number {
  return 12 + Math.floor((Date.now() - midnight()) / HOUR_MS);
}

/** A database of the tests' server as the address of a configuration. */
export function addressOf(connection: Connection): string {
  if ('connectionString' in connection) return connection.connectionString;
  const url = new URL('postgres://localhost');
  url.username = connection.user;
  url.pathname = connection.database;
  url.searchParams.set('host', connection.host);
  return url.href;
}

export function* ledgerRows(seeded: readonly SeededOrder[]) {
  for (const { ledger, refunds } of seeded) {
    yield { order: { ...ledger }, refunds: refunds.map((refund) => ({ ...refund })) };
  }
}

/** Only orders of these kinds (src/sandbox/seed/kinds.ts), at most so many of each. */
export function kinds(
  wanted: Readonly<Record<string, number>>,
  accountId?: string,
): (order: SeededOrder) => boolean {
  const left = new Map(Object.entries(wanted));
  return ({ kind, ledger }) => {
    if (accountId !== undefined && ledger.account_id !== accountId) return false;
    const count = left.get(kind) ?? 0;
    left.set(kind, count - 1);
    return count > 0;
  };
}

/** How many instructions are in each state, as `operation state`. */
export async function instructionCounts(db: Database): Promise<Record<string, number>> {
  const { rows } = await db.query<{ what: string; count: bigint }>(
    `select operation || ' ' || state as what, count(*) as count from tieout.instructions
     group by 1 order by 1`,
  );
  return Object.fromEntries(rows.map((row) => [row.what, Number(row.count)]));
}

/** Each order's instructions as `operation: planned queued ...`, by order number. */
export async function trails(db: Database): Promise<Record<string, string[]>> {
  const { rows } = await db.query<{ order_no: string; trail: string }>(
    `select order_no, operation || ': ' || string_agg(to_state, ' ' order by seq) as trail
     from tieout.instruction_events join tieout.instructions using (instruction_id)
     group by order_no, operation, instruction_id order by instruction_id`,
  );
  const found: Record<string, string[]> = {};
  for (const row of rows) {
    const trail = found[row.order_no] ?? [];
    trail.push(row.trail);
    found[row.order_no] = trail;
  }
  return found;
}

/** Open breaks as `order_no kind`. */
export async function openBreaksOf(db: Database): Promise<string[]> {
  const { rows } = await db.query<{ what: string }>(
    `select order_no || ' ' || kind as what from tieout.breaks where state = 'open' order by 1`,
  );
  return rows.map((row) => row.what);
}

/** A figure of the summary over all accounts. */
export function sumOrders(
  summary: RunSummary,
  figure: keyof RunSummary['accounts'][number]['orders'],
): number {
  return summary.accounts.reduce((sum, account) => sum + account.orders[figure], 0);
}
