// What happens to an installation in the middle of a night: one table, so that it can be seen what
// is drawn and how often. `--only` and `--without` of the campaign choose among the names.

import { setTimeout as sleep } from 'node:timers/promises';
import { mistype, typeSome } from './desk.mjs';
import { keepRows, LOADS } from './restore.mjs';
import { COPIES } from './server.mjs';

/** [weight, name, what happens]; `redis`: only where the queue is there. */
const TABLE = [
  [3, 'one is killed', killOne],
  [2, 'all are killed', killAll],
  [2.5, 'one is stopped, and wakes', stopOne],
  [2, 'PostgreSQL is restarted', restartServer],
  [1.5, 'PostgreSQL is away for a while', stopServer],
  [1.5, 'PostgreSQL is killed', killServer],
  [2, 'Redis forgets everything', flushRedis, 'redis'],
  [2, 'Redis is killed, and comes back', killRedis, 'redis'],
  [1, 'the gateway is away for a while', gatewayAway],
  [1, 'a person pulls the brake', brake],
  [1, 'a person looks', look],
  [2, 'a person works by the runbook', work],
  [0.7, 'the clocks jump ahead', jump],
  [2.5, 'the database is put back', putBack],
];

export const TROUBLES = TABLE.map(([, name]) => name);
/** In which ways a database comes back. */
export const PUT_BACKS = [...COPIES, ...LOADS].map((how) => `put back: ${how}`);
const AWAY_MS = [2_000, 15_000];
const ASLEEP_MS = [1_000, 45_000];
const JUMP_MS = [20_000, 200_000];

/** One of the troubles that may be drawn here, as { name, happen }. */
export function drawTrouble(random, chosen, { hasRedis }) {
  const able = TABLE.filter(([, name, , needs]) => {
    return chosen(name) && (needs === undefined || hasRedis);
  });
  return random.weighted(able.map(([weight, name, happen]) => [weight, { name, happen }]));
}

async function killOne({ crew, random, tally }) {
  const living = crew.living();
  if (living.length === 0) return;
  const { child, kind } = random.pick(living);
  child.kill('SIGKILL');
  tally.kill(kind);
}

async function killAll({ crew, tally }) {
  for (const { child, kind } of crew.living()) {
    child.kill('SIGKILL');
    tally.kill(kind);
  }
}

/** It wakes in the middle of what it did, before or after another one has taken over. */
async function stopOne({ crew, random, tally, later }) {
  const living = crew.living();
  if (living.length === 0) return;
  const { child } = random.pick(living);
  child.kill('SIGSTOP');
  tally.count('processes stopped');
  later(sleep(random.between(...ASLEEP_MS)).then(() => child.kill('SIGCONT')));
}

async function restartServer({ server }) {
  await server.stop();
  await server.start();
}

async function stopServer({ server, random }) {
  await server.stop();
  await sleep(random.between(...AWAY_MS));
  await server.start();
}

async function killServer({ server, random }) {
  server.kill();
  if (random.chance(0.5)) await sleep(random.between(...AWAY_MS));
  await server.start();
}

function flushRedis({ redis }) {
  return redis.flush();
}

async function killRedis({ redis, random }) {
  await redis.kill();
  await sleep(random.between(0, 6_000));
  await redis.start();
}

function gatewayAway({ proxy, random }) {
  return proxy.beAway(random.between(...AWAY_MS));
}

async function brake({ crew, random, later }) {
  const pull = async () => {
    await crew.type(['brake', 'on', '--reason', 'wait']);
    await sleep(random.between(0, 4_000));
    await crew.type(['brake', 'off', '--reason', 'it is well']);
  };
  later(pull());
}

async function look({ crew, random, later }) {
  const words = random.pick([
    ['status'],
    ['doctor'],
    ['run', '--dry-run'],
    ['verify'],
    ['runs', 'list'],
  ]);
  later(crew.type(words));
}

/** They come back in the morning. */
async function work(house) {
  house.isAtDesk = true;
  await mistype(house);
  house.later(typeSome(house));
}

function jump({ random, moveClocks }) {
  return moveClocks(random.between(...JUMP_MS));
}

/** Kept now; it comes back at another moment of the same night, or after it. */
async function putBack(house) {
  const { server, random, comeBack } = house;
  const how = random.pick([...COPIES, ...LOADS]);
  house.kept = how;
  house.name += ` by ${how};`;
  if (LOADS.includes(how)) await keepRows(house, how);
  else await server.keep(how);
  const when = random.pick(['in the night', 'in the night', 'after the night']);
  if (when === 'after the night') house.comesAfter = true;
  else house.later(sleep(random.between(500, 8_000)).then(() => comeBack(house)));
}
