// A shop whose hosts share one database on a server of its own, each with its own journal of permits:
// nights, decisions and calls by hand as processes of each host. For tests of a database that is put
// back.

import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openApp } from '../../src/app/compose.js';
import { letBrakeGo } from '../../src/brake/brake.js';
import type { App } from '../../src/cli/app.js';
import { callGateway } from '../../src/cli/gateway/gatewayCall.js';
import { journalled } from '../../src/cli/gateway/gatewayJournal.js';
import { loadConfig } from '../../src/config/config.js';
import { PROFILE_TEMPLATE } from '../../src/config/templates.js';
import type { RunSummary } from '../../src/core/runs/summary.js';
import { withPayments } from '../../src/gateway/payments/paymentClient.js';
import {
  lastOutcome,
  outcomesBetween,
  publishOutcomes,
} from '../../src/instructions/outcomesStore.js';
import { loadLedger } from '../../src/ledger/ledgerStore.js';
import { runDate } from '../../src/night/run.js';
import { sendApproved } from '../../src/night/sendApproved.js';
import { seedOrders } from '../../src/sandbox/seed/seed.js';
import { DEFAULT_ACCOUNTS, planSeed } from '../../src/sandbox/seed/seedPlan.js';
import { startSandbox } from '../../src/sandbox/server.js';
import { activeBrakes } from '../../src/send/batches/sendingStatusStore.js';
import type { Seen } from '../support/decideHeld.js';
import { decideHeld, seenNow } from '../support/decideHeld.js';
import type { Effect } from '../support/night.js';
import {
  dateOf,
  kinds,
  ledgerRows,
  readEffects,
  sandboxAccounts,
  settingsOf,
} from '../support/night.js';
import type { SharedServer } from '../support/sharedServer.js';
import { startSharedServer } from '../support/sharedServer.js';

export const ACCOUNT = 'A1001';
export const PAYOUT = '00000000-0000-4000-8000-00000000000f';
const PAYLOAD = { payment_amount: '120', payment_currency: 'EUR' };
const NIGHT = {
  orders: 900,
  seed: 1,
  dayStart: new Date(`${dateOf(3)}T00:00:00Z`),
  dayEnd: new Date(`${dateOf(2)}T00:00:00Z`),
  accounts: DEFAULT_ACCOUNTS,
};
export const KIM = { name: 'Kim', isClaim: true };

const cleanups: (() => Promise<unknown>)[] = [];
export async function closeShops(): Promise<void> {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
}

export interface Host {
  lines: string[];
  /** As a new process of this host; closed by `leave`. */
  enter(at?: Date): Promise<App>;
  /** A night in a process of its own. */
  night(daysAgo: number, at?: Date): Promise<RunSummary>;
  /** All operations from now on. */
  set(policy: string): void;
  /** Decides about all that is held, one by one; answers what was said. */
  decide(kind: 'approve', how?: 'seen' | Seen): Promise<string[]>;
  /** What is held, as a workbook of now has it. */
  see(): Promise<Seen>;
  /** As `tieout gateway OPERATION --yes`. */
  byHand(operation: 'payout' | 'refund', fields: Record<string, unknown>): Promise<void>;
  payByHand(): Promise<void>;
  /** Comes by with nothing to send, as `tieout send` does. */
  comeBy(): Promise<void>;
  leave(): Promise<void>;
}

export interface Shop {
  server: SharedServer;
  a: Host;
  b: Host;
  c: Host;
  effects(): Promise<string[]>;
}

/** One order with two refunds to come, orders to capture, and a payout: all by themselves. */
export async function openShop(operations: Record<string, string> = {}): Promise<Shop> {
  const server = await startSharedServer();
  cleanups.push(() => server.end());
  const sandbox = await startSandbox({
    settings: NIGHT,
    accounts: sandboxAccounts(NIGHT.seed),
    now: () => new Date(),
    newId: randomUUID,
  });
  cleanups.push(() => sandbox.close());
  const wanted = kinds({ two_refunds_due: 1, capture_due: 2 }, ACCOUNT);
  const seeded = [...seedOrders(planSeed(NIGHT))].filter(wanted);
  await server.at((db) => db.transaction((tx) => loadLedger(tx, ledgerRows(seeded))));
  const folder = mkdtempSync(join(tmpdir(), 'tieout-hosts-'));
  cleanups.push(async () => rmSync(folder, { recursive: true, force: true }));
  const profile = join(folder, 'gateway-profile.yaml');
  writeFileSync(profile, PROFILE_TEMPLATE.replace('unit: null', 'unit: major'));
  const settings = settingsOf(server.connection, sandbox.baseUrl, NIGHT);
  const all = {
    ...settings,
    gateway: { baseUrl: sandbox.baseUrl, profile },
    operations: { ...(settings.operations as object), payout: 'auto', ...operations },
  };
  return {
    server,
    a: hostOf(join(folder, 'a'), all),
    b: hostOf(join(folder, 'b'), all),
    c: hostOf(join(folder, 'c'), all),
    effects: async () => (await readEffects(sandbox.baseUrl)).map(effectText),
  };
}

function effectText({ operation, order_no, refund_amount, amount }: Effect): string {
  return `${operation} ${order_no} ${refund_amount ?? amount}`;
}

function hostOf(folder: string, settings: Record<string, unknown>): Host {
  mkdirSync(folder);
  const file = join(folder, 'tieout.yaml');
  writeFileSync(file, JSON.stringify(settings));
  const lines: string[] = [];
  let apps: App[] = [];
  const leave = async (): Promise<void> => {
    for (const app of apps.splice(0)) await app.close();
  };
  cleanups.push(leave);
  const enter = async (at?: Date): Promise<App> => {
    const app = await openApp(loadConfig({ file, env: {}, cwd: folder }), {
      talk: { log: (line) => lines.push(line), progress: () => {} },
      signal: new AbortController().signal,
      ...(at === undefined ? {} : { now: () => at }),
    });
    apps = [...apps, app];
    return app;
  };
  const night = async (daysAgo: number, at?: Date): Promise<RunSummary> => {
    const app = await enter(at ?? new Date(`${dateOf(daysAgo - 1)}T04:15:00Z`));
    const request = { date: dateOf(daysAgo), accountIds: [], isDry: false };
    const { summary } = await runDate(await app.sendDeps(), request, await app.workforce());
    await app.close();
    return summary;
  };
  const comeBy = async (): Promise<void> => {
    const app = await enter();
    await sendApproved(await app.sendDeps(), [ACCOUNT], await app.workforce());
    await app.close();
  };
  const set = (policy: string): void => {
    const operations = Object.fromEntries(OPERATED.map((name) => [name, policy]));
    writeFileSync(file, JSON.stringify({ ...settings, operations }));
  };
  const see = async (): Promise<Seen> => {
    const app = await enter();
    const seen = await seenNow(app);
    await app.close();
    return seen;
  };
  const decide = async (kind: 'approve', how?: 'seen' | Seen): Promise<string[]> => {
    const app = await enter();
    const said = await decideHeld(app, KIM, kind, how === 'seen' || (how ?? false));
    await app.close();
    return said;
  };
  const byHand = async (
    operation: 'payout' | 'refund',
    fields: Record<string, unknown>,
  ): Promise<void> => {
    const app = await enter();
    const deps = await app.sendDeps();
    const account = app.config.accounts.find(({ accountId }) => accountId === ACCOUNT);
    if (!account) throw new Error('no account');
    const call = { operation, by: KIM, fields };
    const { client, end } = journalled(deps, withPayments(deps.gateway), call);
    await end(await callGateway(client, account, operation, fields));
    await app.close();
  };
  // Who types it may spell it in capitals.
  const payByHand = (): Promise<void> =>
    byHand('payout', { request_id: PAYOUT.toUpperCase(), ...PAYLOAD });
  return { lines, enter, night, set, decide, see, byHand, payByHand, comeBy, leave };
}

const OPERATED = ['capture', 'cancel', 'refund', 'review', 'payout'];

export async function askForPayout(
  { server }: Shop,
  hoursAgo = 1,
  requestId = PAYOUT,
  payload = PAYLOAD,
): Promise<void> {
  await server.at((db) =>
    db.query(
      `insert into ledger.payout_requests (request_id, account_id, payload, requested_at)
       values ($1, $2, $3, now() - make_interval(hours => $4))`,
      [requestId, ACCOUNT, JSON.stringify(payload), hoursAgo],
    ),
  );
}

export async function waiting({ server }: Shop): Promise<string[]> {
  const { rows } = await server.at((db) =>
    db.query<{ what: string }>(
      `select operation || ' ' || state || coalesce(': ' || hold_reason, '') as what
       from tieout.instructions where is_open order by 1`,
    ),
  );
  return rows.map(({ what }) => what);
}

/** Who reads the outcomes as the shop does: now and then, what comes after the highest it saw. */
export function outcomesReader({ server }: Shop) {
  let after = 0n;
  const seen: string[] = [];
  const rowsAfter = (from: bigint): Promise<{ told: string[]; last: bigint }> =>
    server.at(async (db) => {
      await publishOutcomes(db);
      const last = await lastOutcome(db);
      const told: string[] = [];
      for await (const rows of outcomesBetween(db, from, last))
        for (const { seq, orderNo, state } of rows) told.push(`${seq} ${orderNo} ${state}`);
      return { told, last };
    });
  return {
    seen,
    read: async (): Promise<void> => {
      const { told, last } = await rowsAfter(after);
      seen.push(...told);
      if (last > after) after = last;
    },
    /** All that the database has now, whoever has read it. */
    kept: async (): Promise<string[]> => (await rowsAfter(0n)).told,
  };
}

export const freezes = ({ server }: Shop): Promise<string[]> =>
  server.at(async (db) => (await activeBrakes(db)).map(({ reason }) => reason));

export const letGo = ({ server }: Shop) =>
  server.at((db) =>
    letBrakeGo({ db }, { accountId: null, reason: 'read what the run found', who: KIM }),
  );
