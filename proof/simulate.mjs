// Schedules in virtual time, many a second: the program's own code and SQL, its own messages, a
// gateway in memory, and a seed that says who goes on, who dies, what is lost. Use:
//   npm run simulate -- --schedules 2000 --seed 1 [--first N] [--wave 400] [--build DIR]
//     [--only DRAWS] [--without DRAWS] [--also DRAWS]
// A wave that fails is named; the same seed with its --first and --schedules repeats it alone.

import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { chosenDraws } from './draws.mjs';
import { openPlace } from './place.mjs';
import { loadProgram } from './program.mjs';
import { runNaively } from './simulator/naive.mjs';
import { FIRST_NIGHT, runWave } from './simulator/wave.mjs';
import { addTo, openResult, printTable } from './table.mjs';
import { openTally } from './tally.mjs';

const WAVE_MINUTES_MAX = 30;
/** From so many schedules on, a rare state that was never reached is a failure. */
const FULL_SIZE = 2_000;
const RARE = [
  '502 after the effect',
  'reset after the effect',
  'late effect',
  'half the batch, then reset',
  'a second sender was refused',
  'a late answer changed nothing',
  'a sender past its budget wrote nothing',
  'the answer to the COMMIT of a claim was lost',
  'done by hand in between',
  'the ledger changed its mind',
  'a look that shows what was',
  'unknown to confirmed',
  'unknown to planned',
  'a partial refund waits for a person',
  'the spine died and was replaced',
];
/** Those of a draw, where it is on. */
const RARE_OF = {
  'people decide': [
    'a person: approve',
    'a person: reject',
    'a person: replan',
    'a person: it happened',
    'a person: it not_happened',
    'a person was refused',
  ],
  'people pull the brake': ['a person pulled the brake', 'a person let the brake go'],
  'people call by hand': ['called by hand: capture', 'called by hand: refund'],
  'edits of the ledger': [
    'a request deleted',
    'a request renamed',
    'a request lowered',
    'an order deleted',
    'an order re-created',
    'a payout deleted',
    'a payout changed',
    'a payout moved to another account',
  ],
  'requests that come back': ['a request re-created'],
  'requests that move to another order': ['a request moved to another order'],
  'requests without an order': ['a request without an order'],
  'settings change': [
    'a setting changed: an operation from approve to auto or back',
    'a setting changed: an operation off or on',
    'a setting changed: approveAbove',
    'a setting changed: maxPerRun',
    'a setting changed: preflightMinutes',
  ],
  'odd values in the ledger': [
    'an order of the ledger with an odd value',
    'a request of the ledger with an odd value',
  ],
  'odd answers of the gateway': ['a page of the gateway with an odd value'],
  'a second run at once': ['a second run: join', 'a second run: readOnly'],
  'a frozen runner wakes': ['a frozen runner woke'],
  'a clock jumps': ["a host's clock jumped"],
  'accounts come and go': ['an account left', 'an account came back'],
  'settings free history': ['liveFrom was moved earlier'],
  'the database is put back': ['a copy of the database was taken'],
};

const { values } = parseArgs({
  options: {
    schedules: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
    first: { type: 'string', default: '0' },
    wave: { type: 'string', default: '400' },
    build: { type: 'string' },
    'until-violation': { type: 'boolean', default: false },
    only: { type: 'string' },
    without: { type: 'string' },
    also: { type: 'string' },
    verbose: { type: 'boolean', default: false },
  },
});
const [schedules, seed, start, size] = [
  values.schedules,
  values.seed,
  values.first,
  values.wave,
].map(Number);
const draws = chosenDraws(values);
const program = await loadProgram(values.build);
const tally = openTally();
const log = values.verbose ? (line) => console.error(line) : () => {};
const place = await openPlace(program, { tally, log, isStill: true });
const began = performance.now();
const result = openResult();
let isTold = false;
// Told to stop, it ends the wave and prints what there is.
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    isTold = true;
  });
}
try {
  for (let done = 0; done < schedules && !isTold; done += size) {
    const [first, count] = [start + done, Math.min(size, schedules - done)];
    const found = await inTime(runWave(place, { seed, first, count, draws })).catch((error) => ({
      violations: [
        { invariant: 'I5', words: `a wave broke off: ${error.message} ${error.detail ?? ''}` },
      ],
      money: new Map(),
    }));
    addTo(result, found, count);
    const rate = (result.schedules / (performance.now() - began)) * 1000;
    console.error(`${result.schedules} schedules, ${rate.toFixed(1)} a second`);
    if (values['until-violation'] && found.violations.length > 0) isTold = true;
    for (const { invariant, words } of found.violations) {
      console.error(`seed ${seed}, first ${first}, schedules ${count}: ${invariant}: ${words}`);
    }
  }
} finally {
  await place.close();
}
const naive = runNaively({
  ...{ program, seed, first: start, count: result.schedules },
  firstNight: FIRST_NIGHT,
});
const isWell = printTable(result, {
  tally,
  naive,
  rare: [...RARE, ...Object.entries(RARE_OF).flatMap(([name, of]) => (draws.has(name) ? of : []))],
  mustReach: result.schedules >= FULL_SIZE,
});
process.exit(isWell ? 0 : 1);

/** A wave in which everything waits for something else would never come to its end. */
async function inTime(wave) {
  const stop = new AbortController();
  const late = sleep(WAVE_MINUTES_MAX * 60_000, undefined, { signal: stop.signal }).then(() => {
    throw new Error(`it did not end in ${WAVE_MINUTES_MAX} minutes`);
  });
  late.catch(() => {});
  return Promise.race([wave, late]).finally(() => stop.abort());
}
