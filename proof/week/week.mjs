// Weeks of nights at speed, as many and as long as wanted: a server of its own, the clocks of both
// sides moved, the troubles drawn from the seed. Exit 0: the books are right. Use:
//   npm run week -- --nights 92 --seed 1 [--weeks 3] [--orders 1200] [--accounts 3] [--verbose]

import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openPlace } from '../place.mjs';
import { loadProgram } from '../program.mjs';
import { checkBooks } from './checkBooks.mjs';
import { runNights } from './nights.mjs';
import { closeWorld, MODULES } from './world.mjs';

const { values } = parseArgs({
  options: {
    nights: { type: 'string', default: '7' },
    seed: { type: 'string', default: '1' },
    weeks: { type: 'string', default: '1' },
    orders: { type: 'string', default: '400' },
    accounts: { type: 'string', default: '2' },
    verbose: { type: 'boolean', default: false },
  },
});
const [nights, seed, weeks, orders, accounts] = [
  values.nights,
  values.seed,
  values.weeks,
  values.orders,
  values.accounts,
].map(Number);
const log = values.verbose ? (line) => console.error(line) : () => {};
const program = await loadProgram(undefined, MODULES);
const server = await openPlace(program, { tally: null, log });
let wrong = 0;
try {
  for (let week = 0; week < weeks; week += 1) wrong += await oneWeek(seed + week);
} finally {
  await server.close();
}
process.exitCode = wrong === 0 ? 0 : 1;

async function oneWeek(weekSeed) {
  const began = performance.now();
  const { db, connection, url, drop } = await server.freshDatabase();
  await program.queues.migrateQueues({ kind: 'database', connection });
  const folder = join(server.folder, `week-${weekSeed}`);
  const lost = 'truncate bullmq.job, bullmq.dedup, bullmq.dedup_next cascade';
  const queue = { queueUrl: 'database', emptyQueue: () => db.query(lost) };
  const place = { db, connection, url, folder, log, clock: clockOf(db), ...queue };
  place.restartServer = () => server.restart();
  const done = await runNights(program, place, { nights, seed: weekSeed, orders, accounts });
  const found = await checkBooks(done);
  await closeWorld(done.world);
  await drop();
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  const figures = Object.entries(done.tally).map(([name, count]) => `${count} ${name}`);
  console.log(`seed ${weekSeed}: ${figures.join(', ')}; ${found.length} wrong; ${seconds} s`);
  for (const words of found) console.log(`  ${words}`);
  return found.length;
}

/** Both clocks: the server's databases have a function that answers for theirs. */
function clockOf(db) {
  let shift = 0;
  return {
    now: () => new Date(Date.now() + shift),
    async set(at) {
      shift = new Date(at).getTime() - Date.now();
      await db.query('update sim.clock set shift = make_interval(secs => $1)', [shift / 1000]);
    },
  };
}
