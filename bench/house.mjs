// What both sides are measured in: one embedded PostgreSQL with its durable settings, for each
// number of orders a ledger that is loaded once, for each measurement a copy of it and a fresh
// sandbox gateway. Uses the built program for what is not measured. Everything lies under one
// temporary folder.

import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { migrateQueues } from '../dist/jobs/queues.js';
import { openDatabase } from '../dist/src/database/db.js';
import { startEmbedded } from '../dist/src/database/embedded/embedded.js';
import { migrateUp } from '../dist/src/database/migrate.js';
import { sandboxProfile } from '../dist/src/gateway/document/profile.js';
import { loadLedger } from '../dist/src/ledger/ledgerStore.js';
import { seedOrders } from '../dist/src/sandbox/seed/seed.js';
import { DEFAULT_ACCOUNTS, planSeed } from '../dist/src/sandbox/seed/seedPlan.js';
import { measure, start } from './measure.mjs';
import { processorMs } from './processorTime.mjs';
import { ask, CONCURRENCY, inTurn, openPool } from './wire.mjs';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** Faster than anything here can go, so that the limit itself is not what is measured. */
const REQUESTS_PER_SECOND = 10_000;
/** Asked before the clock starts, so that no side meets a gateway that is still cold. */
const WARM_UP_PAGES = 300;

export async function openHouse(seed) {
  const folder = mkdtempSync(join(tmpdir(), 'tieout-bench-'));
  // Where root's server could not pass through, its data would lie elsewhere, and stay there.
  chmodSync(folder, 0o755);
  try {
    const server = await startEmbedded({ dataDir: join(folder, 'var') });
    const house = { folder, seed, server, places: 0 };
    return {
      folder,
      server,
      program: fileURLToPath(new URL('../bin/tieout.js', import.meta.url)),
      prototype: fileURLToPath(new URL('prototype.mjs', import.meta.url)),
      loadLedger: (orders) => loadOnce(house, orders),
      dropLedger: ({ database }) => admin(house, `drop database ${database}`),
      openPlace: (ledger) => openPlace(house, ledger),
      closePlace: (place) => closePlace(house, place),
      writeConfig: (place, changed) => writeConfig(place, changed),
      stagesOf: (place, run) => stagesOf(place, run),
      measure: (args) => measureBoth(house, args),
      askPlace: (place, sql) => askPlace(place, sql),
      ask: (sql) => admin(house, sql),
      close: async () => {
        await server.stop();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/** A database with tables and ledger; the copies for each measurement are made of it. */
async function loadOnce(house, orders) {
  const database = `ledger_${orders}`;
  await admin(house, `create database ${database}`);
  const connection = connectionOf(house, database);
  await migrateUp(connection);
  await migrateQueues({ kind: 'database', connection });
  const db = openDatabase(connection);
  const night = planSeed(settingsOf(house.seed, orders));
  await db.transaction((tx) =>
    loadLedger(
      tx,
      (function* () {
        for (const { ledger, refunds } of seedOrders(night)) yield { order: ledger, refunds };
      })(),
    ),
  );
  await db.query('vacuum analyze');
  const { rows } = await db.query(
    `select account_id, array_agg(order_no order by order_no) as order_nos from (
       select account_id, order_no from ledger.orders limit 100) as first group by account_id`,
  );
  await db.close();
  return { database, orders, sample: rows };
}

/** The same night that `tieout sandbox` lays out for this seed. */
function settingsOf(seed, orders) {
  const midnight = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  const [dayStart, dayEnd] = [new Date(midnight - DAY_MS), new Date(midnight)];
  return { orders, seed, dayStart, dayEnd, accounts: DEFAULT_ACCOUNTS };
}

async function openPlace(house, ledger) {
  house.places += 1;
  const database = `place_${house.places}`;
  const folder = join(house.folder, database);
  mkdirSync(folder);
  await admin(house, `create database ${database} template ${ledger.database}`);
  const sandbox = await startSandbox(house.seed, ledger.orders);
  await warmUp(sandbox, ledger.sample);
  await admin(house, 'checkpoint');
  const connection = connectionOf(house, database);
  // The handle of the process stays out of what is handed to the prototype as JSON.
  return Object.defineProperty(
    { database, folder, connection, baseUrl: sandbox.baseUrl, accounts: sandbox.accounts },
    'child',
    { value: sandbox.child, enumerable: false },
  );
}

async function closePlace(house, place) {
  place.child.kill('SIGTERM');
  if (place.child.exitCode === null) await once(place.child, 'exit');
  await admin(house, `drop database ${place.database} with (force)`);
  rmSync(place.folder, { recursive: true, force: true });
}

async function startSandbox(seed, orders) {
  const program = fileURLToPath(new URL('../bin/tieout.js', import.meta.url));
  const numbers = ['--orders', String(orders), '--seed', String(seed), '--port', '0'];
  const child = start([program, 'sandbox', '--json', ...numbers], ['ignore', 'pipe', 'inherit']);
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  return { child, ...JSON.parse(line) };
}

async function warmUp({ baseUrl, accounts }, sample) {
  const pool = openPool(baseUrl);
  await inTurn(Array.from({ length: WARM_UP_PAGES }).keys(), (number) => {
    const { account_id, order_nos } = sample[number % sample.length];
    const account = accounts.find((one) => one.accountId === account_id);
    return ask(pool, account, order_nos);
  });
  await pool.close();
}

/** Everything automatic and liveFrom recent, so that money really moves. */
function writeConfig({ connection, folder, baseUrl, accounts }, changed = {}) {
  const { host, user, database } = connection;
  const address = new URL(`postgres://${user}@localhost/${database}`);
  address.searchParams.set('host', host);
  const liveFrom = new Date(Date.now() - 71 * HOUR_MS).toISOString();
  const file = join(folder, 'tieout.yaml');
  // JSON is YAML too.
  const config = {
    database: { url: address.href },
    queue: { url: 'database' },
    gateway: { baseUrl, profile: './gateway-profile.yaml' },
    accounts: accounts.map((account) => ({ ...account, liveFrom })),
    schedule: { timezone: 'UTC', cutOff: '00:00' },
    operations: Object.fromEntries(
      ['capture', 'cancel', 'refund', 'review'].map((name) => [name, changed.policy ?? 'auto']),
    ),
  };
  const { signing, statuses } = sandboxProfile();
  const limits = {
    requestsPerSecond: REQUESTS_PER_SECOND,
    concurrency: CONCURRENCY,
    ...changed.limits,
  };
  const profile = { signing, statuses, limits };
  writeFileSync(join(folder, 'gateway-profile.yaml'), JSON.stringify(profile));
  writeFileSync(file, JSON.stringify(config));
  return file;
}

/** As measure.mjs does, and the processor time with what the server spent meanwhile. */
async function measureBoth(house, args) {
  const [{ data_directory: folder }] = await admin(house, 'show data_directory');
  const pid = Number(readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n')[0]);
  const before = processorMs(pid);
  const run = await measure(args);
  return { ...run, busyMs: run.cpuMs + processorMs(pid) - before };
}

/** A question to the database of one measurement; answers its rows. */
async function askPlace({ connection }, sql) {
  const client = new pg.Client({ ...connection, ssl: false });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/** When each step ended, from the program's own log and from what its tables say. */
async function stagesOf(place, { began, wallMs, log }) {
  const times = new Map([['start', began]]);
  for (const line of log.split('\n')) {
    const [, at, step] = /^(\S+Z) (?:(\w+): done|begins business date)/.exec(line) ?? [];
    if (at !== undefined) times.set(step ?? 'begin', Date.parse(at));
  }
  const rows = await askPlace(
    place,
    'select kind, created_at, written_at from tieout.reports order by written_at',
  );
  times.set('total', rows[0].created_at.getTime());
  times.set('reconciliation', rows[0].written_at.getTime());
  times.set('orders', rows[1].written_at.getTime());
  times.set('end', began + wallMs);
  return spans(times);
}

const SPANS = [
  ['start', 'start', 'begin'],
  ['pull', 'begin', 'pull'],
  ['compare', 'pull', 'compare'],
  ['plan', 'compare', 'plan'],
  ['send', 'plan', 'send'],
  ['confirm, total', 'send', 'total'],
  ['reconciliation', 'total', 'reconciliation'],
  ['orders workbook', 'reconciliation', 'orders'],
  ['end', 'orders', 'end'],
];

function spans(times) {
  return Object.fromEntries(
    SPANS.map(([name, from, to]) => [name, times.get(to) - times.get(from)]),
  );
}

function connectionOf({ server }, database) {
  return { host: server.host, user: server.user, database };
}

/** A statement that no transaction may hold; answers its rows. */
async function admin(house, sql) {
  const client = new pg.Client({ ...connectionOf(house, 'postgres'), ssl: false });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}
