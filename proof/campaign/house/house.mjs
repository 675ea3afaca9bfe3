// One installation of its own with some accounts: a PostgreSQL server, the queue on a Redis of its
// own or beside it, a sandbox gateway, and the program's own commands, kept as a supervisor or a cron
// keeps them. Something happens in the middle of a night. The night has to end, complete, by itself;
// so has the next one, and then the auditor looks at the books.

import { copyFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fillLedger, layOut, settingsFor } from '../../layout.mjs';
import { randomOf } from '../../random.mjs';
import { openProxy } from '../proxy.mjs';
import { openSandbox, payOrders } from '../sandbox.mjs';
import { auditHouse, keepForgotten } from './books.mjs';
import { CREWS, openCrew } from './crew.mjs';
import { typeSome } from './desk.mjs';
import { nightEnds } from './ends.mjs';
import { openGate, STEP_WEIGHTS } from './gate.mjs';
import { approveSome, followRunbook } from './person.mjs';
import { openRedis } from './redis.mjs';
import { LOADS, loadRows } from './restore.mjs';
import { asked } from './server.mjs';
import { drawTrouble } from './troubles.mjs';

const DAY_MS = 86_400_000;
const QUIET_NIGHTS_MAX = 4;
const TIMEOUT_MS = 4_000;
/** The wall shows a quarter past four when a house opens: no midnight comes while it stands. */
const OPENS_AT_MS = 4.25 * 3_600_000;

export async function runHouse(place, given) {
  const house = await openHouse(place, given);
  try {
    await troubledNight(house);
    for (let quiet = 1; quiet <= QUIET_NIGHTS_MAX; quiet += 1) {
      await moveClocks(house, Math.max(0, house.firstShift + quiet * DAY_MS - house.shift));
      // A night that stands still is enough to know.
      if (house.violations.length > 0) break;
      await aNight(house);
      if (await isAtRest(house)) break;
    }
    if (!(await house.crew.end()))
      house.violations.push(i12('a process did not end when it was told to'));
    const { violations, money } = await auditHouse(house);
    house.violations.push(...violations);
    return { violations: house.violations, money };
  } catch (error) {
    house.violations.push(i12(`${house.name} ${error.stack}`));
    return { violations: house.violations, money: new Map() };
  } finally {
    if (house.violations.length > 0) keepTraces(house, given.kept);
    await house.close();
  }
}

/** What was said, and what moved: for whoever has to understand it. */
function keepTraces({ folder, first, sandbox }, kept) {
  if (kept === undefined) return;
  copyFileSync(join(folder, 'errors'), join(kept, `house-${first}.log`));
  copyFileSync(sandbox.journal, join(kept, `house-${first}.effects.ndjson`));
}

const i12 = (words) => ({ invariant: 'I12', words });

async function openHouse(place, { root, seed, first, count, openServer, hasRedis, chosen }) {
  const { program, tally } = place;
  const random = randomOf(seed, first, 31);
  const folder = join(place.folder, `house-${first}`);
  mkdirSync(folder, { recursive: true });
  const server = await openServer(folder);
  const db = program.db.openDatabase(server.connection, { max: 3 });
  const now = Date.now();
  const shift = OPENS_AT_MS + DAY_MS - (now % DAY_MS);
  const from = new Date(now + shift);
  const layouts = Array.from({ length: count }, (_, at) => layOut(seed, first + at, from));
  const sandbox = await openSandbox(root, folder, seed);
  await payOrders(program, sandbox, layouts);
  await fillLedger((text, values) => db.query(text, values), layouts);
  const proxy = await openProxy(sandbox.baseUrl, { random: randomOf(seed, first, 13), tally });
  proxy.isQuiet = true;
  const redis = hasRedis && random.chance(0.5) ? await openRedis(folder) : null;
  const kinds = random.weighted(CREWS);
  const told = await openMailbox();
  const hosts = Array.from({ length: kinds.length > 1 && random.chance(0.5) ? 2 : 1 }, (_, at) => {
    const own = join(folder, `host-${at}`);
    mkdirSync(own);
    return own;
  });
  const asks = random.chance(0.3);
  const queue = redis?.url ?? 'database';
  for (const own of hosts) {
    writeSettings({ program, own, layouts, from, url: server.url, proxy, queue, told, asks });
  }
  const crew = openCrew({ root, folder, hosts, tally });
  const house = {
    ...{ place, program, tally, random, folder, server, db, layouts, sandbox, proxy, redis, crew },
    ...{ hosts, kinds, asks, chosen, first, shift: 0, firstShift: shift },
    /** When the clocks were moved, and by how much they were ahead from then on. */
    ...{ shifts: [], violations: [], under: [], putBacks: 0, isEnded: false, comesAfter: false },
    isAtDesk: false,
    forgotten: { instructions: [], attempts: [], calls: [] },
    accounts: new Set(layouts.map(({ accountId }) => accountId)),
    now: () => new Date(Date.now() + house.shift),
    later: (work) => house.under.push(work),
    moveClocks: (ms) => moveClocks(house, ms),
    comeBack,
    close: async () => {
      await crew.end();
      proxy.close();
      told.close();
      await redis?.kill();
      await sandbox.close();
      await db.close().catch(() => {});
      await server.stop().catch(() => {});
      if (!place.keeps) rmSync(folder, { recursive: true, force: true });
    },
  };
  await moveClocks(house, shift);
  tally.count(`crew: ${kinds.join(', ')}${hosts.length > 1 ? ' on two hosts' : ''}`);
  return house;
}

/** Somebody is there to be told, and says nothing. */
async function openMailbox() {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => response.writeHead(204).end());
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function writeSettings({ program, own, layouts, from, url, proxy, queue, told, asks }) {
  const profile = program.profile.sandboxProfile();
  profile.payout = { unit: 'major' };
  profile.limits = { ...profile.limits, timeoutMs: TIMEOUT_MS, requestsPerSecond: 500 };
  const profileFile = join(own, 'gateway-profile.yaml');
  writeFileSync(profileFile, JSON.stringify(profile));
  const settings = settingsFor(layouts, from, {
    database: { url },
    queue: { url: queue },
    gateway: { baseUrl: proxy.baseUrl, profile: profileFile },
    dataDir: join(own, 'var'),
    reports: { dir: join(own, 'reports') },
    schedule: { cron: '* * * * *', timezone: 'UTC', cutOff: '00:00', resumeUntil: '23:59' },
    web: { host: '127.0.0.1', port: 0 },
    notify: { webhook: told.url },
  });
  if (asks) settings.operations = { ...settings.operations, capture: 'approve', refund: 'approve' };
  writeFileSync(join(own, 'tieout.yaml'), JSON.stringify(settings));
}

/** The database and every process, by so much; never back. */
async function moveClocks(house, ms) {
  house.shift += ms;
  const file = join(house.folder, 'shift');
  writeFileSync(`${file}.new`, String(house.shift));
  renameSync(`${file}.new`, file);
  house.shifts.push({ from: Date.now(), shift: house.shift });
  await setServerClock(house);
}

function setServerClock({ db, shift }) {
  return asked(db, 'update sim.clock set shift = make_interval(secs => $1)', [shift / 1000]);
}

async function troubledNight(house) {
  const { random, chosen, redis, tally, crew } = house;
  const troubles = Array.from({ length: random.chance(0.4) ? 2 : 1 }, () => {
    return drawTrouble(random, chosen, { hasRedis: redis !== null });
  });
  house.name = `${house.kinds.join('+')}: `;
  const happening = (async () => {
    for (const trouble of troubles) await meet(house, trouble);
  })();
  crew.begin(house.kinds);
  await aNight(house, happening);
  await happening;
  for (const work of house.under.splice(0)) await work;
  if (house.comesAfter) await comeBack(house);
  if (house.putBacks > 0) await followRunbook(house);
  if (house.isAtDesk) await typeSome(house);
  if (house.putBacks > 0 || house.asks) await aNight(house);
  tally.count('nights with a trouble');
}

/** At a step of the night, or at any moment of it. */
async function meet(house, trouble) {
  const isOver = () => house.isEnded;
  const { program, server, random, tally } = house;
  const step = random.chance(0.8) ? random.weighted(STEP_WEIGHTS) : null;
  house.name += ` ${trouble.name} at ${step ?? 'any moment'};`;
  if (step === null) {
    await sleep(random.between(500, 9_000));
    if (!isOver()) await trouble.happen(house);
    tally.count(trouble.name);
    return;
  }
  const gate = await openGate(program, server.connection, step);
  try {
    if (await gate.reached(isOver).catch(() => false)) {
      await trouble.happen(house);
      tally.count(trouble.name);
      tally.count(`at ${step}`);
    } else tally.count('a step that the night did not come to');
  } finally {
    await gate.open();
  }
}

/** A night from its beginning to its end; who has to be there is there already. */
async function aNight(house, happening = Promise.resolve()) {
  const { crew, asks } = house;
  house.isEnded = false;
  let isDone = false;
  const crons = crew.crons(() => isDone);
  const working = (async () => {
    while (asks && !isDone) {
      await sleep(3_000);
      if ((await approveSome(house).catch(() => 0)) > 0) await crew.type(['send']);
    }
  })();
  const found = await nightEnds(house, happening);
  isDone = true;
  house.violations.push(...found.map(i12));
  await working;
  await crons;
}

/** The database of some time ago comes back: its files under whoever is at work, or its rows. */
async function comeBack(house) {
  const { server, crew, kept } = house;
  const isLoaded = LOADS.includes(kept);
  if (isLoaded) await crew.pause();
  else await server.prepare(kept);
  try {
    await keepForgotten(house);
    if (isLoaded) await loadRows(house, kept);
    else await server.putBack(kept);
    // The clock on the wall does not go back with it.
    await setServerClock(house);
  } finally {
    crew.resume();
  }
  house.tally.count(`put back: ${kept}`);
}

async function isAtRest({ db }) {
  const { rows } = await db.query(
    `select 1 from tieout.instructions
     where state in ('planned', 'queued', 'sending', 'accepted')
     union all
     -- the next refund of an order is the next night's
     select 1 from tieout.verdicts v
     where class = 'due' and run_id = (select max(run_id) from tieout.runs)
       and not exists (select from tieout.instructions i where i.account_id = v.account_id
         and i.order_no = v.order_no and i.state = 'held') limit 1`,
  );
  return rows.length === 0;
}
