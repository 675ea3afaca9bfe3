// More than one process that wants to run a night: a second one that somebody starts by hand, of
// the same date, of an older one or of one account; one that was frozen at any step, was taken over
// meanwhile and wakes; and hosts whose clock jumps ahead or back once. Whoever is not the run's
// runner any more must write nothing.

import { runnerOf } from './senders.mjs';
import { isWrongClock } from './spine.mjs';
import { HOSTS } from './world.mjs';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const JUMPS_MS = [-2 * HOUR_MS, 2 * HOUR_MS, 26 * HOUR_MS];

export async function othersRun(wave) {
  const { draws, others: random } = wave;
  if (draws.falls(random, 'a second run at once')) await beginAnother(wave);
  if (wave.frozen.length > 0 && random.chance(0.1)) await wakeOne(wave);
  if (draws.falls(random, 'a clock jumps')) jump(wave);
}

/** As `tieout run [--date] [--account]` begins; where it gets the run it dies of it. */
async function beginAnother(wave) {
  const { program, others: random, tally, config } = wave;
  wave.spines += 1;
  const host = HOSTS[wave.spines % HOSTS.length];
  const process = { name: `spine.${wave.first}.${wave.spines}`, host };
  const now = wave.nowOf(host);
  const before = new Date(now().getTime() - (1 + random.below(2)) * DAY_MS);
  const date = random.chance(0.5) ? before.toISOString().slice(0, 10) : null;
  const accountIds = random.chance(0.5) ? [random.pick(config.accounts).accountId] : [];
  const newId = () => random.uuid();
  const journal = wave.journalOf(host);
  const deps = { ...wave.base, runner: runnerOf(process), now, newId, journal };
  try {
    const { kind } = await program.begin.beginRun(deps, { date, accountIds, isDry: false });
    tally.count(`a second run: ${kind}`);
  } catch (error) {
    if (!(error instanceof program.errors.UsageError) && !isWrongClock(error)) throw error;
    tally.count('a second run: refused');
  }
  wave.dead.add(process.name);
}

async function wakeOne(wave) {
  await wave.frozen.shift().wake();
  wave.tally.count('a frozen runner woke');
}

/** Before the quiet nights; who wakes then finds that the night was another's. */
export async function wakeAll(wave) {
  while (wave.frozen.length > 0) await wakeOne(wave);
  wave.shifts.clear();
}

/** A host's clock goes wrong once, and is put right some time later. */
function jump({ others: random, shifts, tally }) {
  const host = random.pick(HOSTS);
  if (shifts.has(host)) shifts.delete(host);
  else shifts.set(host, random.pick(JUMPS_MS));
  tally.count(shifts.has(host) ? "a host's clock jumped" : "a host's clock was put right");
}
