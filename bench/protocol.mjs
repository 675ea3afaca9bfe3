// What the protocol of sending costs: captures sent by the program beside the same batches sent
// bare, each with one insert; without latency, and at 50 ms with four at a time. Look, compare and
// plan come before the clock starts, on the bare side the cutting into batches as well: so the first
// line is the sending of batches alone, the second has their cutting, the third the snapshot that
// confirms them. What is captured is what a seeded night shows authorised, 10,000 at most.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { Pool } from 'undici';
import { openApp } from '../dist/src/app/compose.js';
import { compare } from '../dist/src/compare/compare.js';
import { loadConfig } from '../dist/src/config/config.js';
import { confirm } from '../dist/src/confirm/confirm.js';
import { prepareBatch } from '../dist/src/gateway/batches/prepareBatch.js';
import { beginRun } from '../dist/src/night/begin.js';
import { plan } from '../dist/src/plan/plan.js';
import { pull } from '../dist/src/pull/pull.js';
import { send } from '../dist/src/send/send.js';
import { sendLeast } from './leastProtocol.mjs';
import { sized } from './sized.mjs';
import { line } from './stats.mjs';
import { addFault } from './wire.mjs';

const CAPTURES = 10_000;
const ENTRIES = 50;
/** The last one has a goal of nobody: with half as much to do at a time it says what is waiting. */
const CASES = [
  { name: 'no latency', latencyMs: 0, concurrency: 8, atLeast: 0.5 },
  { name: '50 ms, four at a time', latencyMs: 50, concurrency: 4, atLeast: 0.9 },
  { name: '50 ms, two at a time', latencyMs: 50, concurrency: 2 },
];

export async function benchProtocol(house, ledger, rounds) {
  const lines = [];
  for (const { name, latencyMs, concurrency, atLeast } of sized(CASES, [CASES[1]])) {
    const ratios = { alone: [], least: [], cut: [], confirmed: [] };
    for (let round = 0; round < rounds; round += 1) {
      const settings = { latencyMs, concurrency };
      const bare = await inFreshPlace(house, ledger, settings, sendBare);
      const least = await inFreshPlace(house, ledger, settings, sendClaimed);
      const whole = await inFreshPlace(house, ledger, settings, sendWhole);
      const { cutMs, sendMs, confirmMs, cpuMs } = whole;
      const [cut, send, look, cpu] = [cutMs, sendMs, confirmMs, cpuMs].map((ms) => ms.toFixed(0));
      process.stderr.write(
        `${name}: bare ${bare.toFixed(0)} ms, claimed ${least.toFixed(0)}; cutting ${cut}, sending ${send} (processor time of ` +
          `the program ${cpu}), confirming ${look}\n`,
      );
      ratios.alone.push(bare / sendMs);
      ratios.least.push(bare / least);
      ratios.cut.push(bare / (cutMs + sendMs));
      ratios.confirmed.push(bare / (cutMs + sendMs + confirmMs));
    }
    const goal = atLeast === undefined ? {} : { atLeast };
    lines.push(line(`speed of sending / bare, ${name}`, ratios.alone, goal));
    lines.push(line('  the least with a claim and a trail / bare', ratios.least, {}));
    lines.push(line('  with the cutting into batches', ratios.cut, {}));
    lines.push(line('  and with the look that confirms', ratios.confirmed, {}));
  }
  return lines;
}

async function inFreshPlace(house, ledger, settings, work) {
  const place = await house.openPlace(ledger);
  try {
    const file = house.writeConfig(place);
    limit(place, settings.concurrency);
    const client = new pg.Client({ ...place.connection, ssl: false });
    await client.connect();
    const { rows } = await client.query(DUE, [CAPTURES]);
    await client.end();
    if (settings.latencyMs > 0) {
      const action = { kind: 'slow', ms: settings.latencyMs };
      await addFault(place.baseUrl, { operation: 'capture', action });
    }
    process.stderr.write(`${rows.length} captures\n`);
    return await work({ place, file, rows, ...settings });
  } finally {
    await house.closePlace(place);
  }
}

/** Of the ledger nothing is left but authorised orders, which are to be captured now. */
const DUE = `with due as (
    select account_id, order_no from ledger.orders
    where expected = 'authorised' and placed_at < date_trunc('day', now()) limit $1),
  gone as (
    delete from ledger.refund_requests)
  , others as (
    delete from ledger.orders o where not exists (
      select from due where due.account_id = o.account_id and due.order_no = o.order_no))
  update ledger.orders o set expected = 'captured' from due
  where due.account_id = o.account_id and due.order_no = o.order_no
  returning o.account_id, o.order_no, o.currency, o.amount::text as amount`;

function limit({ folder }, concurrency) {
  const path = join(folder, 'gateway-profile.yaml');
  const profile = JSON.parse(readFileSync(path, 'utf8'));
  profile.limits.concurrency = concurrency;
  writeFileSync(path, JSON.stringify(profile));
}

/** The step of sending in its parts, by the program's own composition. */
async function sendWhole({ file, rows: due, folder = '/' }) {
  const app = await openApp(loadConfig({ file, env: {}, cwd: folder }), {
    talk: { log: () => {}, progress: () => {} },
    signal: new AbortController().signal,
  });
  try {
    const deps = await app.sendDeps();
    const request = { date: null, accountIds: [], isDry: false };
    const { run: night } = await beginRun(deps, request);
    const workforce = await app.workforce();
    await workforce.start();
    const look = await pull(deps, night);
    await compare(deps, night, look);
    await plan(deps, night, look);
    const cutting = timedCutting(deps);
    const cpuBefore = process.cpuUsage();
    const began = performance.now();
    await send(cutting.deps, night);
    const ended = performance.now();
    const { user, system } = process.cpuUsage(cpuBefore);
    const { rows } = await deps.db.query(
      `select state, count(*)::int as count from tieout.instructions group by state`,
    );
    const sent = rows.find((row) => row.state === 'accepted')?.count ?? 0;
    if (sent < due.length * 0.98)
      throw new Error(`only ${sent} were sent: ${JSON.stringify(rows)}`);
    const confirming = performance.now();
    await confirm(deps, night, look);
    const confirmMs = performance.now() - confirming;
    await workforce.stop();
    const sendMs = ended - began - cutting.ms();
    return { cutMs: cutting.ms(), sendMs, confirmMs, cpuMs: (user + system) / 1000 };
  } finally {
    await app.close();
  }
}

/** What the one statement that cuts takes, with what the planner is told of it. */
function timedCutting(deps) {
  let took = 0;
  const query = async (text, ...more) => {
    const began = performance.now();
    const answer = await deps.db.query(text, ...more);
    if (/insert into tieout\.batches|^analyze/m.test(text)) took += performance.now() - began;
    return answer;
  };
  return { deps: { ...deps, db: { ...deps.db, query } }, ms: () => took };
}

/** The same batches, signed, sent over kept connections, each kept by one insert. */
async function sendBare(settings) {
  const { place, concurrency } = settings;
  const http = new Pool(place.baseUrl, { connections: concurrency });
  const { client, batches } = await readyBatches(settings);
  await client.query('create table bare (account_id text, body bytea)');
  const began = performance.now();
  const post = async ({ accountId, prepared }) => {
    const { path, contentType, body } = prepared();
    const headers = { 'content-type': contentType };
    const answer = await http.request({ method: 'POST', path, headers, body });
    const bytes = Buffer.from(await answer.body.arrayBuffer());
    await client.query('insert into bare values ($1, $2)', [accountId, bytes]);
  };
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      for (let batch = batches.shift(); batch; batch = batches.shift()) await post(batch);
    }),
  );
  const took = performance.now() - began;
  await http.close();
  await client.end();
  return took;
}

/** What both lesser sides send: signed when it is asked for, as the program does. */
async function readyBatches({ place, file, rows, concurrency }) {
  const { accounts, gateway } = loadConfig({ file, env: {}, cwd: '/' });
  const client = new pg.Pool({ ...place.connection, ssl: false, max: concurrency });
  client.on('error', () => {});
  const ids = await transactionsOf(place);
  // A few were planted to differ at the gateway; neither side sends them.
  const batches = batchesOf(rows.filter((row) => ids.has(row.order_no)));
  const ready = batches.map(({ accountId, entries }) => {
    const account = accounts.find((one) => one.accountId === accountId);
    const wire = entries.map((row) => ({
      transactionId: ids.get(row.order_no),
      orderNo: row.order_no,
      currency: row.currency,
      amount: row.amount,
    }));
    const prepared = () => prepareBatch(gateway.profile, account, 'capture', wire);
    return { accountId, prepared, entries: entries.length };
  });
  return { client, batches: ready };
}

async function sendClaimed(settings) {
  const { client, batches } = await readyBatches(settings);
  try {
    return await sendLeast({ ...settings, batches, client });
  } finally {
    await client.end();
  }
}

/** The sandbox's own list of its orders, one JSON object a line. */
async function transactionsOf({ baseUrl }) {
  const answer = await fetch(`${baseUrl}/_sandbox/orders`);
  const ids = new Map();
  for (const text of (await answer.text()).split('\n')) {
    if (text === '') continue;
    const { order_no, transactions } = JSON.parse(text);
    const shown = transactions.find((one) => one.state === 'authorised');
    if (shown) ids.set(order_no, shown.transaction_id);
  }
  return ids;
}

function batchesOf(rows) {
  const batches = [];
  const open = new Map();
  for (const row of rows) {
    const batch = open.get(row.account_id) ?? { accountId: row.account_id, entries: [] };
    if (batch.entries.length === 0) batches.push(batch);
    batch.entries.push(row);
    open.set(row.account_id, batch);
    if (batch.entries.length === ENTRIES) open.delete(row.account_id);
  }
  return batches;
}
