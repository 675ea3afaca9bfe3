// Schedules in virtual time, many a second: the program's own code and SQL, its own messages, a
// gateway in memory, and a seed that says who goes on, who dies, what is lost. Use:
//   npm run simulate -- --schedules 2000 --seed 1 [--first N] [--wave 400] [--jobs 2] [--resume DIR]
//     [--build DIR] [--only DRAWS] [--without DRAWS] [--also DRAWS]
// A wave that fails is named; the same seed with its --first and --schedules repeats it alone. With
// --resume it writes down each wave that is over; the same command goes on there, as often as it is
// stopped, and prints one table of all.

import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { chosenDraws } from './draws.mjs';
import { openKept, sumOf } from './kept.mjs';
import { CHECKOUT, digestOf, loadProgram } from './program.mjs';
import { runNaively } from './simulator/naive.mjs';
import { RESTORES } from './simulator/putBack.mjs';
import { REWRITES } from './simulator/rewrites.mjs';
import { FIRST_NIGHT } from './simulator/wave.mjs';
import { printTable } from './table.mjs';
import { runWaves } from './waves/workers.mjs';

/** Processes at once, however many cores there are. */
const JOBS_MAX = 8;
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
  'a partial refund waits for a person',
  'the spine died and was replaced',
  'a later night came to its end',
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
  'people work on breaks': [
    'a break: waived',
    'a break: waiver_asked',
    'a break: waiver_agreed',
    'a break: waiver_refused',
    'a break: assigned',
    'a break: noted',
    'a break: reopened',
    'a break: refused',
  ],
  'people close days': [
    'a day: closeDay done',
    'a day: closeDay refused',
    'a day: lockDay done',
    'a day: reopenDay done',
  ],
  'people send by hand': ['a person sent', 'sent by a person'],
  'workbooks come back': [
    'a row of a workbook: done',
    'a row of a workbook: refused',
    'a row of a workbook: unchanged',
  ],
  'the feed is checked': [
    'a line of the feed: right',
    'a line of the feed: wrong',
    'a line of the feed: unfinished',
    'a line of the feed: gone',
    'the ledger was not known to be whole',
  ],
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
  'the ledger is rewritten': REWRITES,
  'requests that come back': ['a request re-created'],
  'requests that move to another order': ['a request moved to another order'],
  'requests without an order': ['a request without an order'],
  'payments are disputed': [
    'a dispute: opened',
    'a dispute: lost',
    'a dispute: won',
    'a dispute: withdrawn',
    'a line of a settlement: chargeback',
    'a line of a settlement: chargeback_reversed',
    'a dispute held what was new',
    'a dispute held what was planned',
    'a dispute held what was queued',
  ],
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
/** What a wave draws once, or not at all, is demanded of so many. */
const WAVES_FULL = 60;
/** Of a wave that sends again what was not done, and in which nobody looks it up before. */
const RARE_ALWAYS = ['unknown to planned'];
const RARE_OF_WAVES = {
  'a code gets a meaning': ['a code had no meaning', 'a code was given a meaning'],
  'the calendar changes': ['the calendar changed', 'a run lay ahead'],
  'the database is put back': RESTORES,
};

const { values } = parseArgs({
  options: {
    schedules: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
    first: { type: 'string', default: '0' },
    wave: { type: 'string', default: '400' },
    jobs: { type: 'string', default: String(Math.min(availableParallelism(), JOBS_MAX)) },
    resume: { type: 'string' },
    build: { type: 'string', default: CHECKOUT },
    'until-violation': { type: 'boolean', default: false },
    only: { type: 'string' },
    without: { type: 'string' },
    also: { type: 'string' },
    verbose: { type: 'boolean', default: false },
  },
});
const [schedules, seed, start, size, jobs] = [
  values.schedules,
  values.seed,
  values.first,
  values.wave,
  values.jobs,
].map(Number);
const { build, only, without, also, verbose } = values;
const chosen = { only, without, also };
const draws = chosenDraws(chosen);
const waves = Array.from({ length: Math.ceil(schedules / size) }, (_, at) => ({
  first: start + at * size,
  count: Math.min(size, schedules - at * size),
}));
// What another program did, or this one by other draws, is no part of the same run.
const kept = openKept(values.resume, seed, digestOf(build, chosen));
const turn = waves.filter(({ first, count }) => !kept.has(first, count));
const began = performance.now();
let schedulesDone = 0;
let isTold = false;
// Told to stop, it ends the waves that are under way and prints what there is.
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    isTold = true;
  });
}
if (turn.length < waves.length) {
  console.error(`${waves.length - turn.length} of ${waves.length} waves are over already`);
}
await runWaves(turn, {
  jobs,
  given: { build, seed, chosen, verbose },
  isTold: () => isTold,
  over(wave) {
    kept.add(wave);
    schedulesDone += wave.count;
    const rate = (schedulesDone / (performance.now() - began)) * 1000;
    console.error(`${schedulesDone} schedules, ${rate.toFixed(1)} a second`);
    if (values['until-violation'] && wave.violations.length > 0) isTold = true;
    for (const { invariant, words } of wave.violations) {
      const which = `seed ${seed}, first ${wave.first}, schedules ${wave.count}`;
      console.error(`${which}: ${invariant}: ${words}`);
    }
  },
});
const over = kept.all().filter((one) => waves.some((wave) => isSame(wave, one)));
const { result, tally } = sumOf(over.sort((one, other) => one.first - other.first));
const isWell = printTable(result, {
  tally,
  naive: await naiveOf(over),
  rare: [
    ...[...RARE, ...drawn(RARE_OF)],
    ...(over.length >= WAVES_FULL ? [...RARE_ALWAYS, ...drawn(RARE_OF_WAVES)] : []),
  ],
  mustReach: result.schedules >= FULL_SIZE,
});
process.exit(isWell ? 0 : 1);

function drawn(table) {
  return Object.entries(table).flatMap(([name, of]) => (draws.has(name) ? of : []));
}

function isSame(one, other) {
  return one.first === other.first && one.count === other.count;
}

/** The plain job, through the schedules of all waves that are over. */
async function naiveOf(over) {
  const program = await loadProgram(build);
  const sums = { effects: 0, doubles: 0, losses: 0 };
  for (const { first, count } of over) {
    const found = runNaively({ program, seed, first, count, firstNight: FIRST_NIGHT });
    for (const name of Object.keys(sums)) sums[name] += found[name];
  }
  return sums;
}
