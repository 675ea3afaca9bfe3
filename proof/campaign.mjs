// Schedules in real processes: PostgreSQL, Redis or the queue in PostgreSQL, the sandbox gateway,
// and tieout's own processes. Every other wave is many schedules in one installation, whose processes
// are killed and stopped at named places and at random; the others are houses, installations of few
// schedules in which the commands themselves work, and in which anything may happen to them and to
// the servers. Use:
//   npm run campaign -- --schedules 1000 --seed 1 [--resume DIR] [--wave 40] [--parallel 2]
//     [--kind waves|houses] [--house 4] [--houses 3] [--only TROUBLE,...] [--without TROUBLE,...]
// With --resume it writes down each wave that is over and goes on there; a wave that failed keeps
// its folder, and the same seed with its --first and --schedules repeats its plan.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { TYPED } from './campaign/house/desk.mjs';
import { runHouses } from './campaign/house/houses.mjs';
import { openServers } from './campaign/house/server.mjs';
import { PUT_BACKS, TROUBLES } from './campaign/house/troubles.mjs';
import { runWave } from './campaign/wave.mjs';
import { keptOf, openKept, sumOf } from './kept.mjs';
import { openPlace } from './place.mjs';
import { CHECKOUT, loadProgram } from './program.mjs';
import { runNaively } from './simulator/naive.mjs';
import { printTable } from './table.mjs';
import { openTally } from './tally.mjs';

/** From so many schedules on, a rare state that was never reached is a failure. */
const FULL_SIZE = 400;
/** What only one in some troubles draws is demanded of so many. */
const WIDE_SIZE = 4_000;
const RARE = [
  'reset after the effect',
  'late effect',
  'answer cut',
  'processes stopped',
  'a sender past its budget wrote nothing',
  'done by hand in between',
  'the ledger changed its mind',
  'a night was taken over or run again',
  'the queue forgot everything',
  'unknown to confirmed',
  'unknown to planned',
  'a partial refund waits for a person',
];

const { values } = parseArgs({
  options: {
    schedules: { type: 'string', default: '80' },
    seed: { type: 'string', default: '1' },
    first: { type: 'string', default: '0' },
    wave: { type: 'string', default: '40' },
    parallel: { type: 'string', default: '2' },
    resume: { type: 'string' },
    kind: { type: 'string' },
    house: { type: 'string', default: '4' },
    houses: { type: 'string', default: '3' },
    only: { type: 'string', default: '' },
    without: { type: 'string', default: '' },
    build: { type: 'string', default: CHECKOUT },
  },
});
const [schedules, seed, start, size, parallel] = [
  values.schedules,
  values.seed,
  values.first,
  values.wave,
  values.parallel,
].map(Number);
const root = values.build;
const program = await loadProgram(root);
const kept = openKept(values.resume, seed);
const redis = await openRedis();
const chosen = chosenTroubles(values);
const drawn = TROUBLES.filter(chosen);
const place = await openPlace(program, { tally: null, log: () => {}, isDurable: true });
const openServer = await openServers(program, place.folder);
const waves = Array.from({ length: Math.ceil(schedules / size) }, (_, at) => ({
  at,
  first: start + at * size,
  count: Math.min(size, schedules - at * size),
}));
const turn = waves.filter(({ first, count }) => !kept.has(first, count));
let isTold = false;
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    isTold = true;
  });
}
try {
  const work = async () => {
    for (let wave = turn.shift(); wave !== undefined && !isTold; wave = turn.shift()) {
      await runOne(wave);
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
} finally {
  await place.close();
  redis?.close();
}
process.exit(printAll() ? 0 : 1);

async function runOne({ at, first, count }) {
  const tally = openTally();
  const began = performance.now();
  const queue = redis === null || at % 4 < 2 ? null : redis.url(at);
  const own = { ...place, tally };
  const given = { root, seed, first, count };
  const isOfHouses = values.kind === undefined ? at % 2 === 1 : values.kind === 'houses';
  const hasRedis = redis !== null;
  const [size, houses] = [values.house, values.houses].map(Number);
  try {
    const found = isOfHouses
      ? await runHouses(own, {
          ...given,
          openServer,
          hasRedis,
          chosen,
          size,
          houses,
          kept: values.resume,
        })
      : await runWave(own, { ...given, redis: queue });
    kept.add(keptOf({ first, count, found, tally }));
    const seconds = ((performance.now() - began) / 1000).toFixed(0);
    console.error(
      `schedules ${first} to ${first + count - 1}: ${seconds} s, ${tally.kills()} kills`,
    );
    for (const { invariant, words } of found.violations) {
      console.error(`seed ${seed}, first ${first}, schedules ${count}: ${invariant}: ${words}`);
    }
  } catch (error) {
    console.error(`schedules from ${first}: ${error.stack}`);
    const violations = [{ invariant: 'I5', words: `wave ${first}: ${error.message}` }];
    kept.add(keptOf({ first, count, found: { violations, money: new Map() }, tally }));
  }
}

/** By name, whether it may be drawn. */
function chosenTroubles({ only, without }) {
  const list = (text) => text.split(',').filter((name) => name !== '');
  const unknown = [...list(only), ...list(without)].find((name) => !TROUBLES.includes(name));
  if (unknown !== undefined) throw new Error(`no such trouble: ${unknown}`);
  const may = (name) =>
    list(only).length === 0 ? !list(without).includes(name) : list(only).includes(name);
  return may;
}

function printAll() {
  const { result, tally } = sumOf(kept.all());
  const times = kept
    .all()
    .flatMap(({ classifiedMs }) => (classifiedMs === null ? [] : classifiedMs));
  const naive = runNaively({
    program,
    seed,
    first: start,
    count: result.schedules,
    firstNight: new Date(),
  });
  const rare = [
    ...(values.kind === 'houses' ? [] : RARE),
    ...(values.kind === 'waves' ? [] : drawnInHouses(result)),
  ];
  const isWell = printTable(result, {
    tally,
    naive,
    rare,
    mustReach: result.schedules >= FULL_SIZE,
  });
  const longest = times.length === 0 ? '-' : `${(Math.max(...times) / 1000).toFixed(1)} s`;
  console.log(
    `\nin flight when everything was killed: ${times.length} times, classified in ${longest}`,
  );
  return isWell;
}

function drawnInHouses({ schedules: done }) {
  if (done < WIDE_SIZE) return drawn;
  const typed = chosen('a person works by the runbook') ? TYPED : [];
  return [...drawn, ...typed, ...(chosen('the database is put back') ? PUT_BACKS : [])];
}

/** A server of its own that never writes to disk's peril; null where none is installed. */
async function openRedis() {
  if (spawnSync('redis-server', ['--version']).status !== 0) return null;
  const folder = mkdtempSync(join(tmpdir(), 'tieout-redis-'));
  const port = await freePort();
  const words = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder];
  const more = ['--databases', '512', '--maxmemory-policy', 'noeviction', '--appendonly', 'yes'];
  const child = spawn('redis-server', [...words, ...more], { stdio: 'ignore' });
  return {
    url: (number) => `redis://127.0.0.1:${port}/${number % 512}`,
    close: () => {
      child.kill('SIGTERM');
      child.once('exit', () => rmSync(folder, { recursive: true, force: true }));
    },
  };
}

async function freePort() {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}
