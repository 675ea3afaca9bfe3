// Nights one after the other, each with its trouble: nobody there, the machine late, a restart or an
// update in the middle, the queue emptied, the gateway away. Every night goes the way the program
// itself goes: the clock looks what is owed, and does it.

import { randomOf } from '../random.mjs';
import { killedStart } from './killedStart.mjs';
import {
  approveRefunds,
  changeSettings,
  closeWorld,
  installation,
  openWorld,
  STAY,
  shutDown,
  tradeDay,
} from './world.mjs';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** So often a night may be looked at before it is said never to end. */
const LOOKS_MAX = 20;

/** In this order in a week; a longer time draws them. */
export const TROUBLES = [
  'restart',
  'missed',
  'queue',
  'outage',
  'upgrade',
  'server',
  'killed',
  'late',
];

/** The last Sunday of March lies within the first week: its night has no 02:30. */
const FIRST_DAY = '2026-03-25';

export async function runNights(program, place, { nights, seed, orders, accounts }) {
  const random = randomOf(seed, nights);
  const troubles = troublesOf(nights, random);
  // A day of trade for each night, and the last night brings nothing new.
  const days = Math.max(1, nights - 1);
  const options = { days, firstDay: FIRST_DAY, orders, accounts, random };
  const world = await openWorld(program, place, options);
  const tally = {
    nights: 0,
    runs: 0,
    joined: 0,
    resumed: 0,
    stopped: 0,
    killed: 0,
    restarted: 0,
    approved: 0,
    orders: 0,
  };
  try {
    for (const [night, trouble] of troubles.entries()) {
      const date = dateAfter(FIRST_DAY, night);
      tally.orders += await tradeDay(world, night, date);
      await place.clock.set(`${date}T15:00:00Z`);
      if (night > 0) tally.approved += await approveRefunds(world);
      place.log(`${date}: ${trouble}`);
      await oneNight(world, trouble, tally);
      tally.restarted += (await Promise.all(world.restarts.splice(0))).length;
    }
    // What was approved at last goes out in the night that follows.
    await place.clock.set(`${dateAfter(FIRST_DAY, nights)}T15:00:00Z`);
    tally.approved += await approveRefunds(world);
    await oneNight(world, 'none', tally);
    return { world, tally, firstDay: FIRST_DAY, lastDay: dateAfter(FIRST_DAY, nights) };
  } catch (error) {
    await closeWorld(world);
    throw error;
  }
}

export function dateAfter(date, days) {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);
}

/** The first night is quiet: nobody owes what was before it. */
function troublesOf(nights, random) {
  return Array.from({ length: nights }, (_, night) => {
    if (night === 0) return 'none';
    if (nights <= TROUBLES.length + 1) return TROUBLES[night - 1];
    return random.chance(0.3) ? 'none' : random.pick(TROUBLES);
  });
}

async function oneNight(world, trouble, tally) {
  const { place, random } = world;
  const tick = await nextTick(world);
  tally.nights += 1;
  if (trouble === 'missed') {
    await shutDown(world);
    await place.clock.set(new Date(tick.getTime() + 20 * HOUR_MS - 5 * HOUR_MS));
    return;
  }
  if (trouble === 'late') await shutDown(world);
  const lateMs = trouble === 'late' ? 5 * HOUR_MS : random.between(1, 20_000);
  await place.clock.set(new Date(tick.getTime() + lateMs));
  if (trouble === 'killed') tally.killed += await killedStart(world);
  prepare(world, trouble);
  for (let look = 0; look < LOOKS_MAX; look += 1) {
    if (!(await tickOnce(world, trouble, tally))) return;
  }
  throw new Error(`the night after ${tick.toISOString()} does not end`);
}

async function nextTick(world) {
  const { deps } = await installation(world);
  const { facts } = await world.program.clock.readSchedule(deps);
  return facts.nextTick;
}

/** What happens in the middle of a night happens at the first sign of a step. */
function prepare(world, trouble) {
  const { place, random } = world;
  world.isAway = trouble === 'outage';
  if (trouble === 'server') return restartWhileSending(world);
  if (trouble !== 'restart' && trouble !== 'upgrade' && trouble !== 'queue') return;
  const at = random.pick(['pull', 'send', 'confirm']);
  world.onStep = (step) => {
    if (step !== at) return;
    world.onStep = null;
    if (trouble === 'queue') place.emptyQueue().catch((error) => place.log(String(error)));
    else world.app?.stop();
  };
}

/** PostgreSQL, while money is under way; the night goes on by itself. */
function restartWhileSending(world) {
  const { place } = world;
  world.onStep = (step) => {
    if (step !== 'send') return;
    world.onStep = null;
    const restarted = place.restartServer().catch((error) => place.log(String(error)));
    world.restarts.push(restarted);
  };
}

/** One reading of the schedule, as it is made every half minute; false when nothing is owed any more. */
async function tickOnce(world, trouble, tally) {
  const { program, place, random } = world;
  const { deps } = await installation(world);
  // Several clocks find at once that it is late.
  const clocks = trouble === 'late' ? 4 : 1;
  try {
    const looks = Array.from({ length: clocks }, async () => {
      const one = { ...deps, runner: { ...deps.runner, id: deps.newId() } };
      return program.clock.workOnOwed(one, STAY, await program.clock.readSchedule(one));
    });
    // The gateway comes back after the first snapshot of such a run, or after the second.
    const results = (await Promise.all(looks)).filter((result) => result !== null);
    world.isAway &&= random.chance(0.5);
    tally.runs += results.filter(({ kind }) => kind === 'ran').length;
    tally.joined += results.filter(({ kind }) => kind === 'joined').length;
    tally.resumed += results.filter(({ kind }) => kind === 'resumed').length;
  } catch (error) {
    if (error.message !== program.errors.STOPPED) throw error;
    tally.stopped += 1;
    await shutDown(world);
    if (trouble === 'upgrade') upgrade(world);
    return true;
  }
  const { owed } = await program.clock.readSchedule((await installation(world)).deps);
  if (owed.kind !== 'resume') return owed.kind === 'begin' || owed.kind === 'goOn';
  await place.clock.set(new Date(Math.max(owed.at.getTime(), place.clock.now().getTime()) + 500));
  return true;
}

/** Another version with other settings takes the night over. */
function upgrade(world) {
  world.version = `0.${Number(world.version.split('.')[1]) + 1}.0`;
  changeSettings(world, {
    reconcile: { tolerance: { below: '0.05', above: '0.05', percent: 0 }, graceHours: 30 },
  });
}
