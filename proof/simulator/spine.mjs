// The process that runs the night over all schedules of a wave. It may die at any of its steps; a
// statement, a call of the queue and a nap are steps. What the night does side by side happens one step at a
// time, in an order that the seed draws: which statement the server would have ended first is
// nobody's to repeat.

import { setImmediate as breathe } from 'node:timers/promises';
import { seamedDatabase } from '../seams.mjs';
import { runnerOf } from './senders.mjs';
import { HOSTS } from './world.mjs';

/** A night that naps more often than this does not come to its end. */
const NAPS_MAX = 2_000;
/** One that woke goes on for so many naps; it waits for senders that are another's by now. */
const NAPS_AWAKE_MAX = 5;
const BEGINNINGS_MAX = 5;
/** Until every strand of the night that may go on has come to its next step. */
const SETTLE_BREATHS = 4;

/**
 * `goOn(steps)` lets the senders of all schedules go on; `enqueue` and `nap` are the wave's. `work`:
 * what it does instead of a night.
 */
export function openSpine(wave, { isQuiet, mustDie, goOn, enqueue, nap, work = null }) {
  const { random, program } = wave;
  wave.spines += 1;
  wave.nightConfig = wave.config;
  const host = HOSTS[wave.spines % HOSTS.length];
  const process = { name: `spine.${wave.first}.${wave.spines}`, host };
  const dies = !isQuiet && (random.chance(0.8) || mustDie);
  const diesAt = dies ? random.below(100) : Number.POSITIVE_INFINITY;
  let steps = 0;
  let naps = 0;
  const freezes = dies && wave.draws.falls(wave.others, 'a frozen runner wakes');
  let isAwake = false;
  let goneAgain;
  const isGoneAgain = new Promise((resolve) => {
    goneAgain = resolve;
  });
  let ended;
  let die;
  const died = new Promise((resolve) => {
    die = () => {
      wave.dead.add(process.name);
      resolve('died');
    };
  });
  const inTurn = openTurns(random);
  const statement = (_name, perform) =>
    inTurn(async () => {
      steps += 1;
      if (steps > diesAt && !isAwake) await frozen();
      const value = await perform({}, false);
      if (!isAwake) await goOn(2);
      return value;
    });
  /** Gone for good, or until somebody wakes it: it goes on then as if nothing had been. */
  const frozen = () =>
    new Promise((resolve) => {
      die();
      const wake = () => {
        isAwake = true;
        naps = 0;
        resolve();
        return Promise.race([ended, isGoneAgain]);
      };
      if (freezes) wave.frozen.push({ wake });
    });
  const napAwake = () => {
    if (naps <= NAPS_AWAKE_MAX) return undefined;
    goneAgain();
    return new Promise(() => {});
  };
  const deps = {
    ...wave.base,
    db: seamedDatabase(wave.db, statement),
    runner: runnerOf(process),
    journal: journalInTurn(wave.journalOf(host), inTurn),
    now: wave.nowOf(host),
    newId: () => random.uuid(),
    sleep: async () => {},
    jobs: {
      during: (work) => work(),
      nap: (ms) => {
        naps += 1;
        if (naps > NAPS_MAX) throw new Error('the night does not end');
        return inTurn(async () => (isAwake ? napAwake() : nap(ms)));
      },
    },
    queuePort: { enqueue: (queue, ids) => inTurn(() => enqueue(queue, ids)) },
  };
  const goThrough = async () => {
    if (work !== null) {
      await work(deps);
      return 'done';
    }
    const request = { date: null, accountIds: [], isDry: false };
    let beginning = { kind: 'again' };
    for (let turn = 0; beginning.kind === 'again' && turn < BEGINNINGS_MAX; turn += 1) {
      beginning = await program.begin
        .beginRun(deps, request)
        .catch((error) => lyingAhead(wave, error, host));
    }
    if (beginning.kind === 'mine') {
      await program.night.runNight(deps, beginning.run);
      if (wave.night > 0 && !wave.isQuiet) wave.tally.count('a later night came to its end');
    } else if (beginning.kind !== 'readOnly' && !isAwake) {
      throw new Error(`the run is ${beginning.kind}`);
    }
    return 'done';
  };
  const run = () => {
    const { TakenOverError } = program.errors;
    ended = goThrough().catch((error) => {
      if (error instanceof TakenOverError) return 'taken over';
      throw error;
    });
    return ended;
  };
  return { run, died };
}

/** A host whose clock was ahead has run a later date, or the calendar was another one. */
function lyingAhead({ draws, tally, program, shifts }, error, host) {
  if (isWrongClock(error) && shifts.has(host)) {
    // As it says: the clock is set right, and the run begins again.
    shifts.delete(host);
    tally.count('a run was refused by a clock that is behind');
    return { kind: 'again' };
  }
  const mayBe = draws.has('a clock jumps') || draws.has('the calendar changes');
  const isUsage = error instanceof program.errors.UsageError;
  if (!mayBe || !isUsage || !/ was run already, by another schedule/.test(error.message))
    throw error;
  tally.count('a run lay ahead');
  return { kind: 'readOnly' };
}

/** Of a host that would show an old date while a newer one is owed. */
export function isWrongClock({ message }) {
  return /^the clock of this host is \d+ s behind .* set this clock right/s.test(message);
}

/** What a guard asks of the database is a piece of work, too: nothing goes on beside it. */
function journalInTurn(guard, inTurn) {
  const { keep, sign, awaited, isHeldUp } = guard;
  const asked = Object.entries({ keep, sign, awaited, isHeldUp });
  return {
    ...guard,
    ...Object.fromEntries(asked.map(([name, ask]) => [name, () => inTurn(ask)])),
  };
}

/** One piece of work at a time; of those that wait, the seed draws the next. */
function openTurns(random) {
  const waiting = [];
  let isServing = false;
  const serve = async () => {
    isServing = true;
    for (;;) {
      for (let breath = 0; breath < SETTLE_BREATHS; breath += 1) await breathe();
      if (waiting.length === 0) break;
      const at = waiting.length === 1 ? 0 : random.below(waiting.length);
      const [one] = waiting.splice(at, 1);
      await one();
    }
    isServing = false;
  };
  return (work) =>
    new Promise((resolve, reject) => {
      waiting.push(() => work().then(resolve, reject));
      if (!isServing) serve();
    });
}
