// A night that begins in a `tieout start` of its own, which is killed while it sends; nobody starts it
// again, and the installation of the week goes on with its run.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openGate } from '../campaign/house/gate.mjs';
import { CHECKOUT } from '../program.mjs';
import { shutDown } from './world.mjs';

const CLOCK = fileURLToPath(new URL('../campaign/house/clock.mjs', import.meta.url));
const POLL_MS = 100;
const ENDS = 'select count(*)::int as n from tieout.run_ends';

/** Answers how many were killed in the middle of a night. */
export async function killedStart(world) {
  const { place, file, random, program } = world;
  await shutDown(world);
  const step = random.pick(['send', 'claim', 'answer']);
  const gate = await openGate(program, place.connection, step);
  const shift = join(place.folder, 'shift');
  writeFileSync(shift, String(place.clock.now().getTime() - Date.now()));
  const errors = openSync(join(place.folder, 'start.log'), 'a');
  const command = join(CHECKOUT, 'bin', 'tieout.js');
  const words = ['--import', CLOCK, command, 'start', '--config', file];
  const child = spawn(process.execPath, words, {
    cwd: place.folder,
    env: { ...process.env, TIEOUT_CAMPAIGN_SHIFT: shift },
    stdio: ['ignore', errors, errors],
  });
  const gone = once(child, 'exit');
  const night = watchSchedule(place);
  const isReached = await gate.reached(() => night.hasEnded || child.exitCode !== null);
  night.stop();
  child.kill('SIGKILL');
  await gone;
  await gate.open();
  return isReached ? 1 : 0;
}

/** Whether a run has ended since: one with nothing to send comes to no such step. */
function watchSchedule({ db }) {
  const night = { hasEnded: false, stop: () => clearInterval(timer) };
  const before = db.query(ENDS);
  const timer = setInterval(async () => {
    const [then, now] = await Promise.all([before, db.query(ENDS)]);
    night.hasEnded = now.rows[0].n > then.rows[0].n;
  }, POLL_MS);
  return night;
}
