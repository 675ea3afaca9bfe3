// Many schedules in real processes: a database, a sandbox gateway, a network between them that
// fails, and processes that are killed and stopped. Two troubled nights, then everything alive is
// killed at once, then quiet nights until nothing is under way, and the audit.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { findViolations } from '../auditor/findViolations.mjs';
import { readDatabase, readGateway } from '../auditor/readBooks.mjs';
import { fillLedger, layOut, settingsFor } from '../layout.mjs';
import { randomOf } from '../random.mjs';
import { countBooks } from './count.mjs';
import { openProcesses } from './processes.mjs';
import { openProxy } from './proxy.mjs';
import { openSandbox, payOrders } from './sandbox.mjs';

const DAY_MS = 86_400_000;
const TROUBLED_NIGHTS = 2;
const QUIET_NIGHTS_MAX = 5;
const TIMEOUT_MS = 1_500;
const MEDDLE_EVERY_MS = [400, 2_500];
const RANDOM_KILLS_MAX = 6;
const POLL_EVERY_MS = 30;

export async function runWave(place, { root, seed, first, count, redis }) {
  const wave = await openWave(place, { root, seed, first, count, redis });
  try {
    wave.processes.begin();
    await wave.sandbox.lie();
    wave.meddling = meddle(wave);
    for (let night = 0; night + 1 < TROUBLED_NIGHTS; night += 1) await runNight(wave, night);
    const lastOne = runNight(wave, TROUBLED_NIGHTS - 1);
    await Promise.race([lastOne, somethingInFlight(wave)]);
    wave.isQuiet = true;
    wave.proxy.isQuiet = true;
    wave.processes.becomeQuiet();
    const classified = timeToClassify(wave);
    await wave.meddling;
    await wave.sandbox.tellTheTruth();
    await wave.proxy.settle();
    await lastOne;
    for (let quiet = 0; quiet < QUIET_NIGHTS_MAX; quiet += 1) {
      await runNight(wave, TROUBLED_NIGHTS + quiet);
      if (quiet >= wave.quietNightsMin - 1 && (await isAtRest(wave))) break;
    }
    await wave.processes.end();
    return { ...(await audit(wave)), classifiedMs: await classified };
  } finally {
    wave.isQuiet = true;
    await wave.meddling;
    await wave.close();
  }
}

async function openWave(place, { root, seed, first, count, redis }) {
  const { program, tally } = place;
  const { db, url, connection, drop } = await place.freshDatabase();
  const random = randomOf(seed, first, 11);
  const folder = join(place.folder, `wave-${first}`);
  mkdirSync(folder, { recursive: true });
  const now = new Date();
  const layouts = Array.from({ length: count }, (_, at) => layOut(seed, first + at, now));
  const sandbox = await openSandbox(root, folder, seed);
  await payOrders(program, sandbox, layouts);
  await fillLedger((text, values) => db.query(text, values), layouts);
  const proxy = await openProxy(sandbox.baseUrl, { random: randomOf(seed, first, 13), tally });
  const resendAfterHours = random.chance(0.4) ? 1 : null;
  const chosen = { resendAfterHours, redis };
  const file = writeSettings({ program, folder, layouts, now, url, proxy, ...chosen });
  const processes = openProcesses({
    ...{ folder, file, root, tally },
    seed: [seed, first, 17],
    random: randomOf(seed, first, 19),
  });
  return {
    ...{ place, tally, random, db, connection, layouts, sandbox, proxy, processes, folder, redis },
    isQuiet: false,
    // Two snapshots have to show the old state before anything is sent again.
    quietNightsMin: resendAfterHours === null ? 1 : 3,
    /** When each night began on the shifted clock, and by how much it was shifted. */
    shifts: [],
    accounts: new Set(layouts.map(({ accountId }) => accountId)),
    close: async () => {
      await processes.end();
      proxy.close();
      await sandbox.close();
      await drop();
      if (!place.keeps) rmSync(folder, { recursive: true, force: true });
    },
  };
}

function writeSettings(given) {
  const { program, folder, layouts, now, url, proxy, resendAfterHours, redis } = given;
  const profile = program.profile.sandboxProfile();
  profile.payout = { unit: 'major' };
  profile.limits = { ...profile.limits, timeoutMs: TIMEOUT_MS, requestsPerSecond: 500 };
  const profileFile = join(folder, 'gateway-profile.yaml');
  writeFileSync(profileFile, JSON.stringify(profile));
  const settings = settingsFor(layouts, now, {
    database: { url },
    queue: { url: redis ?? 'database' },
    gateway: { baseUrl: proxy.baseUrl, profile: profileFile },
    dataDir: join(folder, 'var'),
    reports: { dir: join(folder, 'reports') },
  });
  settings.operations.resendAfterHours = resendAfterHours;
  const file = join(folder, 'tieout.yaml');
  writeFileSync(file, JSON.stringify(settings));
  return file;
}

async function runNight(wave, night) {
  const shift = night * DAY_MS;
  writeFileSync(join(wave.folder, 'shift'), String(shift));
  await wave.db.query('update sim.clock set shift = make_interval(secs => $1)', [shift / 1000]);
  wave.shifts.push({ from: Date.now() + shift, shift });
  await wave.processes.night();
}

/** A person at the portal, a merchant who thinks again, a kill at any moment, a queue that forgets. */
async function meddle(wave) {
  const { random, tally } = wave;
  let kills = 0;
  while (!wave.isQuiet) {
    await sleep(random.between(...MEDDLE_EVERY_MS));
    const order = random.pick(random.pick(wave.layouts).orders);
    const what = random.weighted([
      [3, 'kill'],
      [1, 'by hand'],
      [1, 'ledger'],
      [wave.redis === null ? 0 : 1, 'flush'],
    ]);
    if (what === 'kill') {
      // A slow machine must have the time to start what was killed.
      if (kills < RANDOM_KILLS_MAX && wave.processes.killOne()) kills += 1;
    } else if (what === 'flush') await flush(wave.redis, tally);
    else if (what === 'ledger') await changeMind(wave, order);
    else if (order.state === 'authorised') {
      const operation = random.pick(['capture', 'capture', 'cancel']);
      const answer = await wave.sandbox.byHand(operation, order);
      if (answer.ok) tally.count('done by hand in between');
    }
  }
}

async function changeMind({ db, tally }, { account_id, order_no }) {
  const { rowCount } = await db.query(
    `update ledger.orders set expected = 'cancelled'
     where account_id = $1 and order_no = $2 and expected = 'captured'`,
    [account_id, order_no],
  );
  if (rowCount > 0) tally.count('the ledger changed its mind');
}

function flush(redis, tally) {
  const { hostname, port, pathname } = new URL(redis);
  tally.count('the queue forgot everything');
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    // A reset at the end is as good as a goodbye.
    socket.on('error', resolve);
    socket.on('data', () => socket.end());
    socket.on('close', resolve);
    socket.write(`SELECT ${pathname.slice(1)}\r\nFLUSHDB\r\nQUIT\r\n`);
  });
}

async function inFlight({ db }) {
  const { rows } = await db.query(
    'select count(*) as n from tieout.attempts where outcome is null',
  );
  return Number(rows[0].n);
}

/** The moment at which all are killed: requests of money are under way. */
async function somethingInFlight(wave) {
  while (!wave.isQuiet && (await inFlight(wave)) === 0) await sleep(POLL_EVERY_MS);
}

/** From the death of everybody to the moment when nothing is in flight; null: nothing was. */
async function timeToClassify(wave) {
  const began = performance.now();
  if ((await inFlight(wave)) === 0) return null;
  while ((await inFlight(wave)) > 0) await sleep(POLL_EVERY_MS);
  return performance.now() - began;
}

async function isAtRest({ db }) {
  const { rows } = await db.query(
    `select 1 from tieout.instructions
     where state in ('planned', 'queued', 'sending', 'accepted')
     union all
     -- the next refund of an order is the next night's
     select 1 from tieout.verdicts
     where class = 'due' and run_id = (select max(run_id) from tieout.runs) limit 1`,
  );
  return rows.length === 0;
}

async function audit(wave) {
  const client = new pg.Client(wave.connection);
  await client.connect();
  const ours = await readDatabase(client);
  await client.end();
  const theirs = await readGateway(wave.sandbox.baseUrl, wave.sandbox.journal);
  const isOurs = ({ account_id }) => wave.accounts.has(account_id);
  const books = {
    ...ours,
    attempts: ours.attempts.map((attempt) => unshifted(wave, attempt)),
    effects: theirs.effects.filter(isOurs),
    transactions: theirs.transactions.filter(isOurs),
  };
  countBooks(wave.tally, books);
  countDeaths(wave);
  return findViolations(books);
}

/** The gateway lives in real time; the database's clock was a few days ahead of it. */
function unshifted({ shifts }, attempt) {
  const claimed = Date.parse(attempt.claimed_at);
  const { shift } = shifts.findLast(({ from }) => from <= claimed) ?? { shift: 0 };
  return { ...attempt, claimed_at: new Date(claimed - shift).toISOString() };
}

function countDeaths({ tally, folder }) {
  for (const line of readFileSync(join(folder, 'deaths'), 'utf8').split('\n')) {
    const [, , what, where] = /^(\w+) (\w+) (.*)$/.exec(line) ?? [];
    if (what === 'killed') tally.kill(where);
    else if (what === 'stopped') tally.count(`stopped ${where}`);
    else if (what === 'budget') tally.count('a sender past its budget wrote nothing');
    else if (what === 'ended') tally.count(`nights ${where}`);
  }
}
