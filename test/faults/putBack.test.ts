// A database that comes back older than it was, with several hosts that share it: whatever one of
// them sent since stays sent once, whoever works first. And an ordinary restart of the server, which
// nobody has to be called for.

import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { openApp } from '../../src/app/compose.js';
import { letBrakeGo } from '../../src/brake/brake.js';
import type { App } from '../../src/cli/app.js';
import { callGateway } from '../../src/cli/gateway/gatewayCall.js';
import { journalled } from '../../src/cli/gateway/gatewayJournal.js';
import { loadConfig } from '../../src/config/config.js';
import { PROFILE_TEMPLATE } from '../../src/config/templates.js';
import type { RunSummary } from '../../src/core/runs/summary.js';
import { loadLedger } from '../../src/ledger/ledgerStore.js';
import { runDate } from '../../src/night/run.js';
import { sendApproved } from '../../src/night/sendApproved.js';
import { DEFAULT_ACCOUNTS, layOutNight } from '../../src/sandbox/seed/night.js';
import { seedOrders } from '../../src/sandbox/seed/seed.js';
import { startSandbox } from '../../src/sandbox/server.js';
import { standingBrakes } from '../../src/send/rows/sendingStatusStore.js';
import { decideHeld } from '../support/decideHeld.js';
import type { Effect } from '../support/night.js';
import {
  dateOf,
  kinds,
  ledgerRows,
  readEffects,
  sandboxAccounts,
  settingsOf,
} from '../support/night.js';
import type { PutBack, SharedServer } from '../support/sharedServer.js';
import { PUT_BACK, startSharedServer } from '../support/sharedServer.js';

const ACCOUNT = 'A1001';
const PAYOUT = '00000000-0000-4000-8000-00000000000f';
const PAYLOAD = { payment_amount: '120', payment_currency: 'EUR' };
const NIGHT = {
  orders: 900,
  seed: 1,
  dayStart: new Date(`${dateOf(3)}T00:00:00Z`),
  dayEnd: new Date(`${dateOf(2)}T00:00:00Z`),
  accounts: DEFAULT_ACCOUNTS,
};
const KIM = { name: 'Kim', isClaim: true };

/** Nights, restarts of a server, and a wait for a host that is away. */
vi.setConfig({ testTimeout: 240_000 });

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

interface Host {
  lines: string[];
  /** As a new process of this host; closed by `leave`. */
  enter(at?: Date): Promise<App>;
  /** A night in a process of its own. */
  night(daysAgo: number, at?: Date): Promise<RunSummary>;
  /** All operations from now on. */
  set(policy: string): void;
  /** Decides about all that is held, one by one; answers what was said. */
  decide(kind: 'approve', how?: 'seen'): Promise<string[]>;
  /** As `tieout gateway payout --yes`. */
  payByHand(): Promise<void>;
  /** Comes by with nothing to send, as `tieout send` does. */
  comeBy(): Promise<void>;
  leave(): Promise<void>;
}

interface Shop {
  server: SharedServer;
  a: Host;
  b: Host;
  c: Host;
  effects(): Promise<string[]>;
}

/** One order with two refunds to come, orders to capture, and a payout: all by themselves. */
async function openShop(operations: Record<string, string> = {}): Promise<Shop> {
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
  const seeded = [...seedOrders(layOutNight(NIGHT))].filter(wanted);
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
    const { summary } = await runDate(await app.night(), request, await app.workforce());
    await app.close();
    return summary;
  };
  const comeBy = async (): Promise<void> => {
    const app = await enter();
    await sendApproved(await app.night(), [ACCOUNT], await app.workforce());
    await app.close();
  };
  const set = (policy: string): void => {
    const operations = Object.fromEntries(OPERATED.map((name) => [name, policy]));
    writeFileSync(file, JSON.stringify({ ...settings, operations }));
  };
  const decide = async (kind: 'approve', how?: 'seen'): Promise<string[]> => {
    const app = await enter();
    const said = await decideHeld(app, KIM, kind, how === 'seen');
    await app.close();
    return said;
  };
  const payByHand = async (): Promise<void> => {
    const app = await enter();
    const { gateway, journal } = await app.night();
    const account = app.config.accounts.find(({ accountId }) => accountId === ACCOUNT);
    if (!account) throw new Error('no account');
    const fields = { request_id: PAYOUT, ...PAYLOAD };
    const call = { operation: 'payout', by: KIM, fields } as const;
    const { client, end } = journalled(app.db, gateway, call, journal);
    await end(await callGateway(client, account, 'payout', fields));
    await app.close();
  };
  return { lines, enter, night, set, decide, payByHand, comeBy, leave };
}

const OPERATED = ['capture', 'cancel', 'refund', 'review', 'payout'];

async function askForPayout({ server }: Shop): Promise<void> {
  await server.at((db) =>
    db.query(
      `insert into ledger.payout_requests (request_id, account_id, payload, requested_at)
       values ($1, $2, $3, now() - interval '1 hour')`,
      [PAYOUT, ACCOUNT, JSON.stringify(PAYLOAD)],
    ),
  );
}

async function waiting({ server }: Shop): Promise<string[]> {
  const { rows } = await server.at((db) =>
    db.query<{ what: string }>(
      `select operation || ' ' || state || coalesce(': ' || hold_reason, '') as what
       from tieout.instructions where is_open order by 1`,
    ),
  );
  return rows.map(({ what }) => what);
}

const freezes = ({ server }: Shop): Promise<string[]> =>
  server.at(async (db) => (await standingBrakes(db)).map(({ reason }) => reason));

const letGo = ({ server }: Shop) =>
  server.at((db) =>
    letBrakeGo({ db }, { accountId: null, reason: 'read what the run found', who: KIM }),
  );

/** What B sent is in no database any more; A, which was there before, comes first. */
async function lostByB(shop: Shop, how: PutBack): Promise<string[]> {
  const { a, b, server } = shop;
  await a.night(3);
  // Recovery to a point before B ever came forgets that there is such a host.
  if (how !== 'recovery to a point in time') await b.night(3);
  await askForPayout(shop);
  await server.keep(how);
  // The server was started anew for it.
  if (how === 'a cold copy') await a.comeBy();
  await b.night(2);
  const moved = await shop.effects();
  expect(moved.filter((one) => one.startsWith('refund'))).toHaveLength(2);
  expect(moved.filter((one) => one.startsWith('payout'))).toHaveLength(1);
  await server.putBack(how);
  return moved;
}

describe.each(PUT_BACK)('a database put back by %s', (how) => {
  it('pays nothing again, whichever host works first, and goes on', async () => {
    const shop = await openShop();
    const moved = await lostByB(shop, how);
    await shop.a.night(2);
    expect(await shop.effects()).toEqual(moved);
    // B comes back: what it sent is held by itself.
    await shop.b.night(2);
    expect(await freezes(shop)).toEqual([expect.stringMatching(/journal|another one/)]);
    await letGo(shop);
    await shop.a.night(1);
    await shop.b.night(1);
    expect(await shop.effects()).toEqual(moved);
    expect(await waiting(shop)).toEqual(['payout held: restored', 'refund held: restored']);
  });
});

describe('a host that never was there', () => {
  it('sends by a dump that is loaded anew only after the others have looked', async () => {
    const shop = await openShop();
    const moved = await lostByB(shop, 'a dump that is loaded anew');
    expect((await shop.c.night(2)).state).toBe('incomplete');
    expect(shop.c.lines.join()).toMatch(/these hosts have not held .*\/a\/var.*\/b\/var/);
    expect(await shop.effects()).toEqual(moved);
  });
});

describe('a host that is let go of', () => {
  it('is paid for by nobody a second time, and tells what it knows when it comes', async () => {
    const shop = await openShop();
    const moved = await lostByB(shop, 'a base backup');
    await shop.a.night(2);
    expect(await freezes(shop)).toEqual([]);
    expect((await letGo(shop)).lifted).toEqual([expect.stringMatching(/not held .*\/b\/var/)]);
    await shop.a.night(2);
    await shop.a.comeBy();
    expect(await shop.effects()).toEqual(moved);
    expect(await waiting(shop)).toEqual(['payout held: restored', 'refund held: restored']);
    // Let go of without having looked: what it knows counts when it comes.
    await shop.b.comeBy();
    expect(await freezes(shop)).toEqual([expect.stringMatching(/journal knows 2 permit/)]);
    await letGo(shop);
    await shop.b.night(1);
    await shop.a.night(1);
    expect(await shop.effects()).toEqual(moved);
  });
});

describe('a host that lived on', () => {
  it('knows by its own signs of life that the database was put back', async () => {
    const shop = await openShop();
    const { a, b, server } = shop;
    await a.night(3);
    await server.keep('a base backup');
    await b.night(2);
    const moved = await shop.effects();
    // It sends nothing, and yet comes by after the other has sent.
    await a.comeBy();
    await server.putBack('a base backup');
    await a.night(2);
    expect(await freezes(shop)).toEqual([
      expect.stringMatching(/put back: it lacks signs of life/),
    ]);
    expect(await shop.effects()).toEqual(moved);
  });
});

describe('a payment by hand', () => {
  it('is missed by its host, should the database go back behind it', async () => {
    const shop = await openShop();
    const { a, server } = shop;
    await a.night(3);
    await askForPayout(shop);
    await server.keep('a base backup');
    await a.payByHand();
    const moved = await shop.effects();
    expect(moved.filter((one) => one.startsWith('payout'))).toHaveLength(1);
    await server.putBack('a base backup');
    await a.night(2);
    expect(await freezes(shop)).toEqual([expect.stringMatching(/lacks signs of life/)]);
    await letGo(shop);
    await a.night(2);
    expect((await shop.effects()).filter((one) => one.startsWith('payout'))).toHaveLength(1);
    expect(await waiting(shop)).toContain('payout held: restored');
  });
});

/** The whole walk: run with all operations `approve`, read, `brake off`, run; then as it was. */
describe.each(['auto', 'approve'])('the runbook after a freeze, with operations %s', (policy) => {
  it('moves nothing twice without a person who was told', async () => {
    const shop = await openShop();
    const { a, server } = shop;
    await a.night(3);
    await askForPayout(shop);
    // Approved before, and sent after the copy was taken.
    a.set('approve');
    await a.night(2);
    expect(await waiting(shop)).toEqual(['payout held: approval', 'refund held: approval']);
    await a.decide('approve');
    expect(await waiting(shop)).toEqual(['payout queued', 'refund queued']);
    await server.keep('a base backup');
    await a.comeBy();
    const moved = await shop.effects();
    expect(moved.filter((one) => /^(refund|payout)/.test(one))).toHaveLength(3);
    await server.putBack('a base backup');
    a.set(policy);
    await a.night(2);
    expect(await freezes(shop)).toEqual([expect.stringMatching(/journal knows 2 permit/)]);
    const held = ['payout held: restored', 'refund held: restored'];
    expect(await waiting(shop)).toEqual(held);
    // Whoever approves without having looked is told what it is about.
    expect(await a.decide('approve')).toEqual([
      expect.stringMatching(/was sent before .*, or may have been/),
      expect.stringMatching(/was sent before .*, or may have been/),
    ]);
    await letGo(shop);
    await a.night(2);
    await a.comeBy();
    a.set('auto');
    await a.night(1);
    await a.comeBy();
    expect(await shop.effects()).toEqual(moved);
    expect(await waiting(shop)).toEqual(held);
    // The only road: a person who has seen the sheet of each.
    await a.decide('approve', 'seen');
    await a.comeBy();
    expect((await shop.effects()).slice(moved.length).map((one) => one.split(' ')[0])).toEqual(
      expect.arrayContaining(['refund', 'payout']),
    );
  });
});

describe('a server that is started anew', () => {
  it('is sent by again by itself, as soon as every host that lives has looked', async () => {
    const shop = await openShop();
    const { a, b, server } = shop;
    await a.night(3);
    await b.night(3);
    // Both live on, with nothing to do.
    for (const host of [a, b]) await (await (await host.enter()).night()).journal.keep();
    await server.restart();
    const { state } = await a.night(2);
    expect(state).toBe('tied_out');
    expect((await shop.effects()).filter((one) => one.startsWith('refund'))).toHaveLength(2);
  });

  it('waits for a host that is away, which is named, and goes on when it comes', async () => {
    const shop = await openShop();
    const { a, b, server } = shop;
    await a.night(3);
    await b.night(3);
    await server.restart();
    const before = await shop.effects();
    const app = await a.enter();
    const workforce = await app.workforce();
    await workforce.start();
    const { state } = await a.night(2);
    expect(state).toBe('incomplete');
    expect(await shop.effects()).toEqual(before);
    expect(a.lines.join('\n')).toMatch(
      /nothing is sent: .*these hosts have not held .*\/b\/var\/journal.*`tieout brake off --reason/,
    );
    await b.comeBy();
    // The workers that live send what waited, without a person.
    await expect
      .poll(async () => (await shop.effects()).length, { timeout: 30_000 })
      .toBe(before.length + 1);
    await workforce.stop();
  });
});
