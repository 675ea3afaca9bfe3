// A merchant's weeks: a ledger that grows by the day, a sandbox gateway whose faults come and go,
// a person who approves refunds, and one installation of tieout that is started, stopped and
// updated. All of it on clocks that can be moved. Knows no rule of tieout.

import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const DAY_MS = 86_400_000;
/** A whole zone where the clocks change, and a tick at the very hour. */
export const SCHEDULE = {
  cron: '30 2 * * *',
  timezone: 'Europe/Berlin',
  cutOff: '00:00',
  resumeUntil: '06:30',
};

export const MODULES = {
  ...{ cli: 'jobs/clock.js', compose: 'src/app/compose.js', config: 'src/config/config.js' },
  ...{ clock: 'src/night/owedRun.js', decisions: 'src/instructions/decisions.js' },
  ...{
    errors: 'src/core/errors.js',
    ledger: 'src/ledger/ledgerStore.js',
    db: 'src/database/db.js',
  },
  ...{ embedded: 'src/database/embedded/embedded.js', migrate: 'src/database/migrate.js' },
  ...{
    profile: 'src/gateway/document/profile.js',
    queues: 'jobs/queues.js',
    runs: 'src/runs/runsStore.js',
  },
  ...{ sandbox: 'src/sandbox/server.js', seed: 'src/sandbox/seed/seed.js' },
  ...{ seedAll: 'src/sandbox/seed/seedPlan.js', sendApproved: 'src/night/sendApproved.js' },
  ...{ verifyChain: 'src/verify/verifyChainStore.js', verifyRun: 'src/verify/verifyRun.js' },
};

/** `place`: a database, its two clocks, a folder and a queue that can be emptied. */
export async function openWorld(program, place, { days, firstDay, orders, accounts, random }) {
  const dayStart = new Date(`${firstDay}T00:00:00Z`);
  const seed = random.below(1_000_000);
  const names = Array.from({ length: accounts }, (_, at) => ({
    ...{ merchantId: 'M1001', accountId: `A${1001 + at}` },
    signingKey: program.seedAll.sandboxKey(seed, `A${1001 + at}`),
  }));
  const settings = {
    ...{ orders, seed, accounts: names },
    ...{ dayStart: new Date(dayStart.getTime() - DAY_MS), dayEnd: dayStart },
  };
  const world = {
    program,
    place,
    names,
    random,
    isAway: false,
    app: null,
    version: '0.1.0',
    restarts: [],
  };
  world.sandbox = await program.sandbox.startSandbox({
    ...{ settings, accounts: names, now: place.clock.now, newId: randomUUID },
    // While it is away nothing is done, and every connection is reset.
    fault: () => (world.isAway ? { kind: 'drop', when: 'before' } : null),
  });
  world.toCome = [...program.seed.seedOrders(program.seedAll.planSeed(settings))].map((seeded) => ({
    seeded,
    day: random.below(days),
  }));
  writeSettings(world, dayStart);
  // Nothing from before the installation is owed.
  await place.db.query('update tieout_meta.checksums set recorded_at = $1', [dayStart]);
  return world;
}

function writeSettings(world, dayStart) {
  const { program, place, names } = world;
  mkdirSync(place.folder, { recursive: true });
  const sandbox = program.profile.sandboxProfile();
  const profile = join(place.folder, 'gateway-profile.yaml');
  const limits = { ...sandbox.limits, requestsPerSecond: 1_000 };
  writeFileSync(profile, JSON.stringify({ ...sandbox, limits }));
  world.file = join(place.folder, 'tieout.yaml');
  world.settings = {
    database: { url: place.url },
    queue: { url: place.queueUrl },
    gateway: { baseUrl: world.sandbox.baseUrl, profile },
    accounts: names.map((one) => ({
      ...one,
      liveFrom: new Date(dayStart.getTime() - DAY_MS / 24).toISOString(),
    })),
    schedule: SCHEDULE,
    web: { host: '127.0.0.1', port: 0 },
    operations: { capture: 'auto', cancel: 'auto', refund: 'approve', review: 'auto' },
  };
  changeSettings(world, {});
}

export function changeSettings(world, change) {
  Object.assign(world.settings, change);
  // JSON is YAML too.
  writeFileSync(world.file, JSON.stringify(world.settings));
}

/** What the shop brings on a day: orders, and refunds that customer service promised. */
export async function tradeDay(world, day, date) {
  const { program, place } = world;
  const today = world.toCome.filter((one) => one.day === day).map((one) => one.seeded);
  const at = (hour) => `${date}T${hour}:00:00Z`;
  const rows = today.map(({ ledger, refunds }) => ({
    order: { ...ledger, placed_at: at('09'), updated_at: null },
    refunds: refunds.map((refund) => ({ ...refund, requested_at: at('12') })),
  }));
  await place.db.transaction((tx) => program.ledger.loadLedger(tx, rows));
  return rows.length;
}

/** The installation as `tieout start` has it: workers at work all day. Opened where it is not. */
export async function installation(world) {
  if (world.app !== null) return world.app;
  const { program, place } = world;
  const stop = new AbortController();
  const { now } = place.clock;
  const app = await program.compose.openApp(
    program.config.loadConfig({ file: world.file, env: {}, cwd: place.folder }),
    {
      ...{ now, wallClock: now, signal: stop.signal },
      talk: { log: place.log, progress: (step) => world.onStep?.(step) },
    },
  );
  const workforce = await app.workforce();
  await workforce.start();
  const localTicks = program.cli.localTicksOf(SCHEDULE.cron);
  const deps = { ...(await app.sendDeps()), version: world.version, localTicks };
  world.app = { app, deps, workforce, stop: () => stop.abort() };
  return world.app;
}

/** SIGTERM and the end of the process. */
export async function shutDown(world) {
  if (world.app === null) return;
  const { app, workforce, stop } = world.app;
  stop();
  world.app = null;
  world.onStep = null;
  await workforce.stop().catch(() => {});
  await app.close();
}

/** A person approves some of the refunds that wait; now and then they are sent at once. */
export async function approveRefunds(world) {
  const { program, place, random } = world;
  const { deps } = await installation(world);
  const { rows } = await place.db.query(
    `select instruction_id from tieout.instructions where state = 'held' and operation = 'refund'
     order by instruction_id`,
  );
  const ids = rows.map((row) => row.instruction_id).filter(() => random.chance(0.8));
  if (ids.length === 0) return 0;
  const who = { name: 'Kim', isClaim: true };
  const decision = { kind: 'approve', reason: null };
  const verdicts = await program.decisions.decideInstructions(deps, { ids, decision, who });
  if (random.chance(0.5)) {
    const accountIds = world.names.map(({ accountId }) => accountId);
    await program.sendApproved.sendApproved(deps, accountIds, STAY);
  }
  return verdicts.filter(({ kind }) => kind === 'done').length;
}

/** Workers that are there already stay there. */
export const STAY = { start: async () => {}, stop: async () => {} };

export async function closeWorld(world) {
  await shutDown(world);
  await world.sandbox.close();
}
