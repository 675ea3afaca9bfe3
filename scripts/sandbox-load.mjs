// How many pages of a hundred orders a second the sandbox answers, and how much memory it takes.
// Starts the built program with a million orders and asks it from this process, eight requests at
// a time, every page a different hundred orders. Run after `npm run build`:
//   node scripts/sandbox-load.mjs [--orders N] [--seconds S] [--concurrency C] [--dist DIR]
//     [--profile DIR]

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { Pool } from 'undici';

const PAGE_ORDERS = 100;
const SEED = 1;
const WARM_UP_SECONDS = 2;
/** Linux counts processor time in hundredths of a second. */
const TICK_MS = 10;

const { values: flags } = parseArgs({
  options: {
    orders: { type: 'string', default: '1000000' },
    seconds: { type: 'string', default: '10' },
    concurrency: { type: 'string', default: '8' },
    dist: { type: 'string', default: resolve(import.meta.dirname, '../dist') },
    profile: { type: 'string' },
  },
});
const [orders, seconds, concurrency] = [flags.orders, flags.seconds, flags.concurrency].map(Number);

const load = (file) => import(pathToFileURL(resolve(flags.dist, 'src', file)).href);
const { planSeed, placeOf } = await load('sandbox/seed/seedPlan.js');
const { signatureOf } = await load('gateway/wire/sign.js');
const { sandboxProfile } = await load('gateway/document/profile.js');

const sandbox = await startSandbox();
const bodies = pageBodies(sandbox.accounts);
const pool = new Pool(sandbox.baseUrl, { connections: concurrency, pipelining: 1 });
await ask(WARM_UP_SECONDS);
const before = cpuMs();
const { pages, bytes, took } = await ask(seconds);
const cpuMsAPage = Number(((cpuMs() - before) / pages).toFixed(3));
const memory = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${sandbox.pid}/status`, 'utf8'))?.[1];
await pool.close();
sandbox.end();
const rate = Math.round(pages / took);
const peakMb = Math.round(Number(memory) / 1024);
const pageKb = Math.round(bytes / pages / 1024);
process.stdout.write(
  `${JSON.stringify({ orders, concurrency, pages, rate, cpuMsAPage, pageKb, peakMb })}\n`,
);

/** What the sandbox has computed so far; unlike the rate it hardly suffers from a busy machine. */
function cpuMs() {
  const [, after] = readFileSync(`/proc/${sandbox.pid}/stat`, 'utf8').split(') ');
  const [user, system] = after.split(' ').slice(11, 13).map(Number);
  return (user + system) * TICK_MS;
}

async function startSandbox() {
  const program = resolve(flags.dist, 'src/app/main.js');
  const profiling = flags.profile ? ['--cpu-prof', '--cpu-prof-dir', flags.profile] : [];
  const args = ['sandbox', '--json', '--port', '0', '--orders', `${orders}`, '--seed', `${SEED}`];
  const child = spawn(process.execPath, [...profiling, program, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(createInterface(child.stdout), 'line');
  return { ...JSON.parse(line), pid: child.pid, end: () => child.kill('SIGTERM') };
}

/** The bodies of all pages of the first account, in the sequence of the ledger. */
function pageBodies([account]) {
  const day = 86_400_000;
  const midnight = Math.floor(Date.now() / day) * day;
  const settings = {
    orders,
    seed: SEED,
    dayStart: new Date(midnight - day),
    dayEnd: new Date(midnight),
    accounts: sandbox.accounts,
  };
  const night = planSeed(settings);
  const numbers = [];
  for (let index = 0; index < orders; index += 1) {
    const place = placeOf(night, index);
    if (place.account.accountId !== account.accountId) continue;
    numbers.push(`SO-${place.day}-${String(index + 1).padStart(6, '0')}`);
  }
  const ids = { merchant_id: account.merchantId, account_id: account.accountId };
  const { signing } = sandboxProfile();
  const signature = signatureOf(signing, 'retrievalTrans', account.signingKey, ids);
  const fixed = new URLSearchParams({ ...ids, encryption_data: signature }).toString();
  const bodies = [];
  for (let at = 0; at + PAGE_ORDERS <= numbers.length; at += PAGE_ORDERS) {
    bodies.push(`${fixed}&order_no=${numbers.slice(at, at + PAGE_ORDERS).join('%2C')}`);
  }
  return bodies;
}

async function ask(forSeconds) {
  const began = performance.now();
  const until = began + forSeconds * 1_000;
  let [next, pages, bytes] = [0, 0, 0];
  const one = async () => {
    while (performance.now() < until) {
      const body = bodies[next % bodies.length];
      next += 1;
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      const request = { method: 'POST', path: '/v1/retrievalTrans', headers, body };
      const answer = await pool.request(request);
      let size = 0;
      for await (const part of answer.body) size += part.length;
      if (answer.statusCode !== 200 || size < PAGE_ORDERS * 300) throw new Error('no whole page');
      bytes += size;
      pages += 1;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, one));
  return { pages, bytes, took: (performance.now() - began) / 1_000 };
}
