// One process of a wave: the spine of a night, or a worker, composed exactly as the program composes
// itself. In front of each seam stands a draw: at some of them the process kills or stops itself,
// having written down where. Started by processes.mjs with its orders as JSON.

import { appendFileSync, readFileSync } from 'node:fs';
import { loadProgram } from '../program.mjs';
import { randomOf } from '../random.mjs';
import { seamedDatabase } from '../seams.mjs';

const orders = JSON.parse(process.argv[2]);
const { role, file, folder, root, seed, isQuiet } = orders;
moveClock();
const program = await loadProgram(root);
const random = randomOf(...seed);

/** Per thousand steps; the steps around the one write count most. */
const GRAVE = new Set([
  'claim',
  'the write',
  'the answer',
  'storing of the answer',
  'record of the outcome',
]);
const KILLS = role === 'spine' ? { grave: 2, other: 2 } : { grave: 30, other: 4 };
const STOPS = role === 'spine' ? { grave: 0, other: 0 } : { grave: 4, other: 0.3 };

function note(what, where) {
  appendFileSync(`${folder}/deaths`, `${role} ${what} ${where}\n`);
}

function die(where) {
  note('killed', where);
  process.kill(process.pid, 'SIGKILL');
  // Not a statement further, should the signal take a moment.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

function draw() {
  return isQuiet ? 2_000 : random.next() * 1_000;
}

async function step(name, perform) {
  const [killing, stopping, isBefore] = [draw(), draw(), random.chance(0.5)];
  const where = { name };
  const kills = () => killing < (GRAVE.has(where.name) ? KILLS.grave : KILLS.other);
  const couldKill = killing < Math.max(KILLS.grave, KILLS.other);
  const value = couldKill && isBefore ? await inAdvance(perform, where, kills) : undefined;
  const result = value === undefined ? await perform(where, false) : value.result;
  if (stopping < (GRAVE.has(where.name) ? STOPS.grave : STOPS.other)) {
    note('stopped', `after ${where.name}`);
    process.kill(process.pid, 'SIGSTOP');
  }
  if (kills()) die(`after ${where.name}`);
  return result;
}

/** A transaction is worked out and rolled back, to know what it is; then the draw is looked at. */
async function inAdvance(perform, where, kills) {
  try {
    await perform(where, true);
  } catch {
    // What it would have come to is not asked: it is done once more in earnest.
  }
  if (kills()) die(`before ${where.name}`);
  return undefined;
}

function seamed(deps) {
  const { connectMoney } = deps.gateway;
  const connectSeamed = (account) =>
    step('connecting', async (where, isBefore) => {
      where.name = 'connecting';
      if (isBefore) return undefined;
      const opened = await connectMoney(account);
      if (opened.kind !== 'connected') return opened;
      return { ...opened, connection: { ...opened.connection, post: postSeamed(opened) } };
    });
  return {
    db: seamedDatabase(deps.db, step),
    gateway: { ...deps.gateway, connectMoney: connectSeamed },
    log: (line) => appendFileSync(`${folder}/log`, `${role} ${process.pid} ${line}\n`),
  };
}

function postSeamed({ connection }) {
  return async (request) => {
    await step('the write', async (where) => {
      where.name = 'the write';
    });
    // Somewhere between the first byte and the last.
    if (draw() < 20) setTimeout(() => die('while the request was under way'), random.below(15));
    const posted = await connection.post(request);
    if (posted.kind === 'not_sent') note('budget', posted.reason);
    await step('the answer', async (where) => {
      where.name = 'the answer';
    });
    return posted;
  };
}

/** The whole process lives some days ahead, as its database does. */
function moveClock() {
  const RealDate = Date;
  let [shift, readAt] = [0, Number.NEGATIVE_INFINITY];
  const ahead = () => {
    if (performance.now() - readAt > 100) {
      shift = Number(readFileSync(`${folder}/shift`, 'utf8'));
      readAt = performance.now();
    }
    return RealDate.now() + shift;
  };
  globalThis.Date = class extends RealDate {
    constructor(...given) {
      if (given.length === 0) super(ahead());
      else super(...given);
    }
    static now() {
      return ahead();
    }
  };
}

const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());
const config = program.config.loadConfig({ file, env: {}, cwd: folder });
const app = await program.compose.openApp(config, {
  talk: { log: () => {}, progress: () => {} },
  signal: stop.signal,
});
const deps = await app.sendDeps();
Object.assign(deps, seamed(deps));
const workforce = await app.workforce();
if (role === 'spine') {
  const idle = { start: async () => {}, stop: async () => {} };
  const request = { date: null, accountIds: [], isDry: false };
  const { summary } = await program.run.runDate(deps, request, orders.worksToo ? workforce : idle);
  note('ended', summary.state);
} else {
  await workforce.start();
  await new Promise((resolve) => stop.signal.addEventListener('abort', resolve));
  await workforce.stop();
}
await app.close();
process.exit(0);
