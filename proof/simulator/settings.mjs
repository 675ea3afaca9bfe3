// Settings that change between and within runs: what goes by itself and what waits, limits, how
// fresh a snapshot must be, what a code means, from when an account acts, which accounts there are.
// Each process has the settings of the moment in which it began.

import { writeFileSync } from 'node:fs';

const HOUR_MS = 3_600_000;
const OPERATIONS = ['capture', 'cancel', 'refund', 'review', 'payout'];

/** [weight, name, what becomes of the settings]. */
const CHANGES = [
  [
    3,
    'an operation from approve to auto or back',
    ({ operations }, random) => {
      const name = random.pick(OPERATIONS);
      operations[name] = operations[name] === 'auto' ? 'approve' : 'auto';
    },
  ],
  [
    1,
    'an operation off or on',
    ({ operations }, random) => {
      const name = random.pick(OPERATIONS);
      operations[name] = operations[name] === 'off' ? 'auto' : 'off';
    },
  ],
  [
    2,
    'approveAbove',
    ({ operations }, random) => {
      const limit = String(random.between(1, 900)).concat('.00');
      operations.approveAbove = random.chance(0.4)
        ? {}
        : { [random.pick(['capture', 'refund'])]: { EUR: limit, USD: limit, GBP: limit } };
    },
  ],
  [
    2,
    'maxPerRun',
    ({ operations }, random) => {
      operations.maxPerRun = random.chance(0.4) ? {} : { refund: { count: random.below(3) + 1 } };
    },
  ],
  [
    1,
    'preflightMinutes',
    ({ operations }, random) => {
      operations.preflightMinutes = random.pick([1, 30, 120]);
    },
  ],
  [
    1,
    'resendAfterHours',
    ({ operations }, random) => {
      operations.resendAfterHours = random.pick([null, 1]);
    },
  ],
];

/** An account leaves the configuration, or the one that left longest ago comes back. */
function comeOrGo({ settings, admin: random, tally, left }) {
  const { accounts } = settings;
  const comes = left.length > 0 && (random.chance(0.5) || accounts.length === 1);
  if (comes) accounts.push(left.shift());
  else if (accounts.length > 1) left.push(...accounts.splice(random.below(accounts.length), 1));
  tally.count(comes ? 'an account came back' : 'an account left');
}

/** Somebody swaps two codes of the profile, and swaps them back later. */
function swapCodes({ profile, tally }) {
  const { payment } = profile.statuses;
  [payment['2000'], payment['3000']] = [payment['3000'], payment['2000']];
  tally.count('two codes were swapped');
}

export function changeAccounts(wave) {
  comeOrGo(wave);
  takeUp(wave);
}

export function changeMeanings(wave) {
  swapCodes(wave);
  takeUp(wave);
}

export function changeSettings(wave) {
  const { admin: random, settings, draws, tally } = wave;
  const [name, change] = random.weighted(CHANGES.map(([w, ...one]) => [w, one]));
  change(settings, random);
  tally.count(`a setting changed: ${name}`);
  if (draws.falls(random, 'settings free history')) {
    for (const account of settings.accounts) {
      if (!random.chance(0.1)) continue;
      account.liveFrom = new Date(Date.parse(account.liveFrom) - 40 * HOUR_MS).toISOString();
      tally.count('liveFrom was moved earlier');
    }
  }
  takeUp(wave);
}

/** Everything by itself again, for the nights in which all has to come to its end. */
export function calmSettings(wave) {
  const { operations } = wave.settings;
  for (const name of OPERATIONS) {
    if (operations[name] === 'off') operations[name] = 'auto';
  }
  operations.maxPerRun = {};
  wave.settings.accounts.push(...wave.left.splice(0));
  if (wave.profile.statuses.payment['2000'] !== 'authorised') swapCodes(wave);
  takeUp(wave);
}

export function takeUp(wave) {
  writeFileSync(wave.file, JSON.stringify(wave.settings));
  writeFileSync(wave.profileFile, JSON.stringify(wave.profile));
  wave.config = wave.program.config.loadConfig({ file: wave.file, env: {}, cwd: wave.folder });
  wave.base = { ...wave.base, config: wave.config };
}
