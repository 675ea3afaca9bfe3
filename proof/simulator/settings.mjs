// Settings that change between and within runs: what goes by itself and what waits, limits, how
// fresh a snapshot must be, what a code means, from when an account acts, which accounts there are.
// Each process has the settings of the moment in which it began.

import { writeFileSync } from 'node:fs';
import { randomOf } from '../random.mjs';

const HOUR_MS = 3_600_000;
const OPERATIONS = ['capture', 'cancel', 'refund', 'review', 'payout'];
const WAVES_WITH_SWAPPED_CODES = 0.15;
const WAVES_WITH_NEW_CODES = 0.3;
/** At the hour of the night the date of before has not ended there. */
const LATER_CALENDAR = { timezone: 'Pacific/Honolulu', cutOff: '20:00' };
/** Codes that the gateway shows, each of which may have no meaning for some time. */
const CODES = ['1500', '2000', '3000', '4000', '6000', '6500'];

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

/** Whether codes are swapped in a wave at all. */
export function maySwap(draws, seed, first) {
  const swaps = randomOf(seed, first, 31).chance(WAVES_WITH_SWAPPED_CODES);
  return draws.has('codes are swapped') && swaps;
}

/** Whether a wave draws meanings and calendars, each of a generator of its own. */
export function calendarOf(draws, seed, first) {
  const coder = randomOf(seed, first, 45);
  const hasNewCodes = coder.chance(WAVES_WITH_NEW_CODES);
  return {
    ...{ coder, withoutMeaning: null },
    mayForget: draws.has('a code gets a meaning') && hasNewCodes,
    mayMove: draws.falls(randomOf(seed, first, 47), 'the calendar changes'),
  };
}

/** A code has no meaning, as one that the gateway has only begun to use; a person gives it one. */
function changeCode({ profile, coder: random, tally, ...wave }) {
  const { payment } = profile.statuses;
  if (wave.withoutMeaning !== null) {
    const { code, meaning } = wave.withoutMeaning;
    payment[code] = meaning;
    tally.count('a code was given a meaning');
    return null;
  }
  const code = random.pick(CODES.filter((one) => payment[one] !== undefined));
  const meaning = payment[code];
  delete payment[code];
  tally.count('a code had no meaning');
  return { code, meaning };
}

/** Between two statements, somebody who may change the configuration. */
export function changeSettingsOf(wave) {
  const { draws, admin, share } = wave;
  if (draws.falls(admin, 'settings change', share)) changeSettings(wave);
  if (draws.falls(admin, 'accounts come and go', share)) changeWith(wave, comeOrGo);
  if (wave.maySwap && draws.falls(admin, 'codes are swapped', share)) changeWith(wave, swapCodes);
  if (wave.mayForget && draws.falls(wave.coder, 'a code gets a meaning', share)) {
    wave.withoutMeaning = changeCode(wave);
    takeUp(wave);
  }
}

/** After the first night its date has not ended any more; a night later that is put right. */
export function moveCalendar(wave, night) {
  if (!wave.mayMove) return;
  wave.settings.schedule = night === 0 ? LATER_CALENDAR : { timezone: 'UTC' };
  if (night === 0) wave.tally.count('the calendar changed');
  takeUp(wave);
}

function changeWith(wave, change) {
  change(wave);
  takeUp(wave);
}

function changeSettings(wave) {
  const { admin: random, settings, draws, tally } = wave;
  const [name, change] = random.weighted(CHANGES.map(([w, ...one]) => [w, one]));
  // Where nobody reads the portal, what is unknown is found out by sending it again.
  if (name === 'resendAfterHours' && !wave.readsPortal) return;
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
  wave.settings.schedule = { timezone: 'UTC' };
  if (wave.withoutMeaning !== null) wave.withoutMeaning = changeCode(wave);
  if (wave.profile.statuses.payment['2000'] !== 'authorised') swapCodes(wave);
  takeUp(wave);
}

export function takeUp(wave) {
  writeFileSync(wave.file, JSON.stringify(wave.settings));
  writeFileSync(wave.profileFile, JSON.stringify(wave.profile));
  wave.config = wave.program.config.loadConfig({ file: wave.file, env: {}, cwd: wave.folder });
  wave.base = { ...wave.base, config: wave.config };
}
