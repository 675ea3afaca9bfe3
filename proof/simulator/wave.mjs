// Many schedules at once: one database, one gateway, an account for each schedule. The night's
// steps, which work over whole sets, run once for all of them; between any two of its statements
// the senders of every schedule go on, each by its own seed. Then two quiet nights, and the audit.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fillLedger, layOut, settingsFor } from '../layout.mjs';
import { randomOf } from '../random.mjs';
import { memoryQueries } from '../seams.mjs';
import { audit } from './auditWave.mjs';
import { disputePayment } from './disputes.mjs';
import { bringAllBack, changeLedger } from './edits.mjs';
import { enqueue } from './enqueue.mjs';
import { completeFeed, tellFeed } from './feed.mjs';
import { openGateway } from './gateway.mjs';
import { sendInTheMorning, workByTheRunbook } from './morning.mjs';
import { loosenLedger, mendOddValues, oddPage, placeOddValue } from './oddValues.mjs';
import { comeBy, decideSome, letAllGo } from './people.mjs';
import {
  letTimersFall,
  NO_JOURNAL,
  openJournals,
  putBackNow,
  restoreFor,
  takeCopy,
} from './putBack.mjs';
import { othersRun, wakeAll } from './runners.mjs';
import { calendarOf, calmSettings, changeSettingsOf, maySwap, moveCalendar } from './settings.mjs';
import { openSpine } from './spine.mjs';
import { openWorld } from './world.mjs';

const DAY_MS = 86_400_000;
export const FIRST_NIGHT = new Date('2026-03-02T04:15:00Z');
const TROUBLED_NIGHTS = 2;
const QUIET_NIGHTS_MAX = 12;
const RUNNERS_MAX = 6;
const QUIET_DECISIONS_MAX = 300;
/** More than the server's clock counts between two skips: no effect is older than its claim. */
const GATEWAY_AHEAD_MS = 900;
/** So many accounts of a wave have what concerns all of it drawn at its full chance. */
const TURNED_ACCOUNTS = 100;

/**
 * Time as the program sees it: it stands still but for what is slept and skipped. Not a moment of
 * real time is in it, or a slow machine would take a sender past its budget that a fast one does
 * not; the server's clock, too, only counts the questions between two skips.
 */
function openClock(setClock) {
  let ahead = 0;
  let owed = 0;
  const now = () => new Date(FIRST_NIGHT.getTime() + ahead);
  return {
    now,
    elapsed: () => ahead,
    note: (ms) => {
      owed += ms;
    },
    async skip(ms) {
      // The server's clock never goes back, not by a microsecond.
      if (ms + owed === 0 && ahead > 0) return;
      ahead += ms + owed;
      owed = 0;
      await setClock(now());
    },
  };
}

/** Two snapshots have to show the old state before anything is sent again. */
function quietNightsFor(resendAfterHours) {
  return resendAfterHours === null ? 1 : 3;
}

export async function runWave(place, { seed, first, count, draws }) {
  const wave = await openWave(place, { seed, first, count, draws });
  try {
    // One of them is no night where the calendar says that it is yesterday still.
    const nights = TROUBLED_NIGHTS + (wave.mayMove ? 1 : 0);
    for (let night = 0; night < nights; night += 1) {
      wave.night = night;
      if (wave.restore?.comes === night) await putBackNow(wave);
      await runNight(wave, night, false);
      await sendInTheMorning(wave);
      moveCalendar(wave, night);
    }
    await becomeQuiet(wave);
    for (let quiet = 0; quiet < QUIET_NIGHTS_MAX; quiet += 1) {
      if (quiet > 0) await letAllGo(wave);
      await completeFeed(wave);
      if (draws.has('people decide')) await decideSome(wave, QUIET_DECISIONS_MAX);
      await runNight(wave, nights + quiet, true);
      if (quiet >= wave.quietNightsMin - 1 && (await isAtRest(wave))) break;
    }
    return await audit(wave);
  } finally {
    await wave.close();
  }
}

/** What is under way comes to its end, what was stopped is let go, what left comes back. */
async function becomeQuiet(wave) {
  if (wave.restore !== null) await putBackNow(wave);
  await wakeAll(wave);
  wave.isQuiet = true;
  for (const world of wave.worlds.values()) await endTroubles(world);
  await letAllGo(wave);
  await mendOddValues(wave);
  await bringAllBack(wave);
  calmSettings(wave);
}

async function openWave(place, { seed, first, count, draws }) {
  const { program, tally } = place;
  const { db, connection, drop } = await place.freshDatabase();
  const random = randomOf(seed, first, 7);
  const layouts = Array.from({ length: count }, (_, at) => layOut(seed, first + at, FIRST_NIGHT));
  await fillLedger((text, values) => db.query(text, values), layouts);
  const folder = join(place.folder, `wave-${first}`);
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'tieout.yaml');
  const profileFile = join(folder, 'gateway-profile.yaml');
  const written = structuredClone({
    ...program.profile.sandboxProfile(),
    payout: { unit: 'major' },
  });
  writeFileSync(profileFile, JSON.stringify(written));
  const resendAfterHours = random.chance(0.4) ? 1 : null;
  const settings = settingsFor(layouts, FIRST_NIGHT, {
    database: { url: 'postgres://nobody@127.0.0.1:1/none' },
    gateway: { baseUrl: 'http://127.0.0.1:9', profile: profileFile },
    dataDir: join(folder, 'var'),
    reports: { dir: join(folder, 'reports') },
  });
  settings.operations.resendAfterHours = resendAfterHours;
  if (draws.has('settings change') && random.chance(0.5)) settings.operations.refund = 'approve';
  writeFileSync(file, JSON.stringify(settings));
  const config = program.config.loadConfig({ file, env: {}, cwd: folder });
  const { profile } = config.gateway;
  const clock = openClock((now) =>
    db.query("update sim.clock set at = $1, asked = setval('sim.asked', 1)", [now]),
  );
  const { responseSignatureOf } = program.sign;
  const now = () => new Date(clock.now().getTime() + GATEWAY_AHEAD_MS);
  const gateway = openGateway({ now, profile, responseSignatureOf });
  const wave = {
    ...{ place, program, tally, seed, first, random, db, connection, clock, gateway, config },
    ...{
      draws,
      maySwap: maySwap(draws, seed, first),
      settings,
      file,
      folder,
      profileFile,
      profile: written,
      left: [],
    },
    // Each has draws of its own, so that one that is off changes none of the others.
    ...{ people: randomOf(seed, first, 21), editor: randomOf(seed, first, 23) },
    ...{ admin: randomOf(seed, first, 25), odd: randomOf(seed, first, 27) },
    ...{ cardholders: randomOf(seed, first, 37), rewriter: randomOf(seed, first, 39) },
    ...{ others: randomOf(seed, first, 29), toMend: [], frozen: [], shifts: new Map() },
    ...{ morning: randomOf(seed, first, 41), feeder: randomOf(seed, first, 43) },
    // A large wave has more turns, and what concerns all its accounts at once costs more in each.
    ...{ papers: [], share: Math.min(1, TURNED_ACCOUNTS / count) },
    ...calendarOf(draws, seed, first),
    nowOf: (host) => () => new Date(clock.now().getTime() + (wave.shifts.get(host) ?? 0)),
    ...{ kept: [], braked: [], putBacks: 0, goings: 0, night: 0 },
    forgotten: { instructions: [], attempts: [], approvals: [], calls: [] },
    copy: null,
    ...{ timers: new Set(), guards: new Map() },
    journalOf: () => NO_JOURNAL,
    isQuiet: false,
    worlds: new Map(),
    effectsToCome: [],
    dead: new Set(),
    later: (ms, work, account) =>
      wave.effectsToCome.push({ at: clock.elapsed() + ms, work, account }),
    spines: 0,
    quietNightsMin: quietNightsFor(resendAfterHours),
    // Where a person finds out first what became of an unknown one, nothing is ever sent again.
    readsPortal: resendAfterHours === null || !randomOf(seed, first, 33).chance(0.5),
    enqueue: (queue, ids) => enqueue(wave, queue, ids),
    atTheSpine: () => ({
      goOn: (steps) => letWorldsGoOn(wave, steps),
      enqueue: wave.enqueue,
      nap: (ms) => pause(wave, ms),
    }),
    close: async () => {
      for (const guard of wave.guards.values()) await guard.close();
      await drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  if (draws.has('odd values in the ledger')) await loosenLedger(wave);
  wave.restore = restoreFor(wave);
  if (draws.has('the database is put back')) wave.journalOf = openJournals(wave);
  for (const layout of layouts) addWorld(wave, layout);
  wave.list = [...wave.worlds.values()];
  wave.queries = memoryQueries({
    program,
    profile,
    gateway,
    troubleOf: (accountId) => pullTrouble(wave, wave.worlds.get(accountId)),
    oddly: (page, accountId) => oddPage(page, wave.worlds.get(accountId).pullRandom),
  });
  await clock.skip(0);
  wave.base = baseDeps(wave);
  return wave;
}

function addWorld(wave, layout) {
  const number = Number(layout.accountId.slice(1));
  const random = randomOf(wave.seed, number, 3);
  const severity = random.pick([0.5, 1, 1, 2]);
  const { errors } = wave.program;
  const { UnreachableError } = errors;
  const { tally, clock } = wave;
  const world = openWorld({ number, random, severity, tally, clock, UnreachableError });
  world.layout = layout;
  world.atWork = new Map();
  world.pullRandom = randomOf(wave.seed, number, 5);
  // By hand only where the gateway refuses what its state does not allow: else nobody could tell.
  world.isPermissive = random.chance(0.6);
  wave.gateway.add(layout, world);
  wave.worlds.set(layout.accountId, world);
}

function pullTrouble({ draws }, world) {
  if (world === undefined || world.isQuiet) return null;
  if (world.pullRandom.chance(0.04)) return 'fails';
  if (draws.falls(world.pullRandom, 'odd answers of the gateway')) {
    world.tally.count('a page of the gateway with an odd value');
    return 'odd';
  }
  if (!world.pullRandom.chance(0.03)) return null;
  world.tally.count('a look that shows what was');
  return 'stale';
}

const FIT = {
  through: (work) => work(),
  unfit: (reason) => reason,
  unreached: (reason) => reason,
  fit: () => {},
  leave: () => {},
  isUnfit: () => false,
  isInTheWay: () => false,
  unfitMs: () => 0,
};

function baseDeps(wave) {
  const { program, config, clock, place } = wave;
  const offline = program.client.createGatewayClient({
    profile: config.gateway.profile,
    baseUrl: 'http://127.0.0.1:9',
  });
  return {
    db: wave.db,
    config,
    gateway: { ...offline, ...wave.queries },
    version: 'simulated',
    now: clock.now,
    monotonic: clock.elapsed,
    journal: NO_JOURNAL,
    answers: {
      keep: async (db, attemptId, answer) => {
        await program.attempts.storeAnswer(db, attemptId, answer);
        return { toStore: null, during: (storing) => storing() };
      },
      bringIn: async () => ({ stored: 0, torn: [], stuck: [] }),
    },
    // Which batch goes when is for the schedule to say, and no host rests: what is of one host alone
    // is the campaign's.
    turns: (work) => work(),
    fitness: FIT,
    reach: program.reach.openReach(clock.elapsed),
    isAlive: (runner) => !isDead(wave, runner.started),
    log: place.log,
    progress: () => {},
  };
}

function isDead(wave, name) {
  if (wave.dead.has(name)) return true;
  const number = /^w(\d+)\./.exec(name)?.[1];
  if (number === undefined) return false;
  for (const world of wave.worlds.values()) {
    if (world.number === Number(number)) return world.isDeadProcess(name);
  }
  return true;
}

async function runNight(wave, night, isQuiet) {
  const target = FIRST_NIGHT.getTime() + night * DAY_MS;
  await wave.clock.skip(Math.max(0, target - wave.clock.now().getTime()));
  for (let runner = 0; runner < RUNNERS_MAX; runner += 1) {
    // Else each could be taken over in turn, and none would come to the end of the night.
    wave.isLastRunner = runner + 1 === RUNNERS_MAX;
    const spine = openSpine(wave, {
      ...wave.atTheSpine(),
      isQuiet: isQuiet || runner + 1 === RUNNERS_MAX,
      mustDie: wave.restore?.comes === night + 0.5,
    });
    const how = await Promise.race([spine.run(), spine.died]);
    if (how === 'done') return;
    if (how === 'taken over') wave.tally.count('a runner was taken over');
    else {
      wave.tally.kill('the spine');
      wave.tally.count('the spine died and was replaced');
    }
    if (wave.restore?.comes === night + 0.5) await putBackNow(wave);
  }
}

/** A poll of the spine is worth some seconds, or paused senders would cost an hour of polls. */
async function pause(wave, ms) {
  await wave.clock.skip(ms === 0 ? 0 : Math.max(ms, 3_200));
  await letWorldsGoOn(wave, 8);
}

async function letWorldsGoOn(wave, stepsMax) {
  const now = wave.clock.elapsed();
  const due = wave.effectsToCome.filter(({ at }) => at <= now);
  wave.effectsToCome = wave.effectsToCome.filter(({ at }) => at > now);
  for (const { work } of due) work();
  await letTimersFall(wave);
  if (!wave.isQuiet) await othersAct(wave);
  const busy = [...wave.worlds.values()].filter((world) => world.hasWork());
  const goesOn = async (world) => {
    await meddle(wave, world);
    await world.advance(world.random.below(stepsMax + 1));
  };
  // One after the other: who comes first is nobody's to repeat, and the server's clock tells it.
  for (const world of busy) await goesOn(world);
}

/** Between any two statements: people with the runbook, editors of the ledger, a new setting. */
async function othersAct(wave) {
  wave.goings += 1;
  if (wave.copy === null && wave.goings === wave.restore?.copyAt) await takeCopy(wave);
  await comeBy(wave);
  await workByTheRunbook(wave);
  await tellFeed(wave);
  await changeLedger(wave);
  if (!wave.isLastRunner) await othersRun(wave);
  if (wave.draws.falls(wave.odd, 'odd values in the ledger')) await placeOddValue(wave);
  changeSettingsOf(wave);
}

/** What others do meanwhile: a person at the portal, a merchant who thinks again. */
async function meddle(wave, world) {
  if (world.isQuiet) return;
  if (wave.draws.falls(wave.cardholders, 'payments are disputed')) {
    await disputePayment(wave, world);
  }
  const { random, tally, layout } = world;
  if (!world.isPermissive && random.chance(0.01)) {
    const order = random.pick(layout.orders);
    const operation = random.pick(['capture', 'capture', 'cancel']);
    if (wave.gateway.byHand(layout.accountId, operation, order.transaction_id)) {
      tally.count('done by hand in between');
    }
  }
  if (random.chance(0.003)) {
    const { order_no } = random.pick(layout.orders);
    await wave.db.query(
      `update ledger.orders set expected = 'cancelled'
       where account_id = $1 and order_no = $2 and expected = 'captured'`,
      [layout.accountId, order_no],
    );
    tally.count('the ledger changed its mind');
  }
}

/** Sleepers wake, what is under way comes to its end, late effects come. */
async function endTroubles(world) {
  world.isQuiet = true;
  for (const entry of world.pending) entry.notBefore = 0;
  await world.advance(1_000);
}

async function isAtRest(wave) {
  const { rows } = await wave.db.query(
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
