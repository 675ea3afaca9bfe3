// The processes of a wave: two workers that are started again whenever they die, a spine for each
// night that is started again until its night is over, and a hand that wakes what was stopped.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const CHILD = fileURLToPath(new URL('child.mjs', import.meta.url));
const WORKERS = 2;
const SPINES_MAX = 25;
const POLL_EVERY_MS = 100;
const SLEEP_MS = [1_000, 22_000];
const STOP_MS = 60_000;

export function openProcesses({ folder, file, root, seed, random, tally }) {
  const errors = openSync(join(folder, 'errors'), 'a');
  const living = new Set();
  let made = 0;
  let isQuiet = false;
  let isOver = false;

  const start = (role, more = {}) => {
    made += 1;
    const orders = { role, file, folder, root, seed: [...seed, made], isQuiet, ...more };
    const child = spawn(process.execPath, [CHILD, JSON.stringify(orders)], {
      stdio: ['ignore', 'ignore', errors],
    });
    child.role = role;
    living.add(child);
    child.once('exit', (_code, signal) => {
      living.delete(child);
      if (signal === 'SIGKILL') tally.count('processes killed');
    });
    return child;
  };
  const keepWorker = async () => {
    while (!isOver) await once(start('worker'), 'exit');
  };
  const wake = async () => {
    while (!isOver) {
      await sleep(POLL_EVERY_MS);
      for (const child of living) {
        if (child.isAsleep || !isStopped(child.pid)) continue;
        child.isAsleep = true;
        tally.count('processes stopped');
        const ms = isQuiet ? 0 : random.between(...SLEEP_MS);
        sleep(ms).then(() => {
          child.isAsleep = false;
          child.kill('SIGCONT');
        });
      }
    }
  };
  return {
    begin() {
      for (let worker = 0; worker < WORKERS; worker += 1) keepWorker();
      wake();
    },
    /** A night from its beginning to its end, however many spines it takes. */
    async night() {
      for (let spine = 0; spine < SPINES_MAX; spine += 1) {
        const child = start('spine', { worksToo: random.chance(0.3) });
        const [code] = await once(child, 'exit');
        if (code === 0) return;
        tally.count('a night was taken over or run again');
      }
      throw new Error(`a night did not end: see ${folder}/errors`);
    },
    /** Kills whoever is alive, asleep or not; what starts from now on is left in peace. */
    becomeQuiet() {
      isQuiet = true;
      for (const child of living) child.kill('SIGKILL');
    },
    killOne() {
      const victims = [...living].filter((child) => !child.isAsleep);
      if (victims.length === 0) return false;
      random.pick(victims).kill('SIGKILL');
      tally.kill('at a random moment');
      return true;
    },
    async end() {
      isOver = true;
      for (const child of living) child.kill('SIGTERM');
      const gone = Promise.all([...living].map((child) => once(child, 'exit')));
      await Promise.race([gone, sleep(STOP_MS, null, { ref: false })]);
      for (const child of living) child.kill('SIGKILL');
    },
  };
}

/** Whether a signal stopped the process (state T); needs a /proc. */
function isStopped(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).startsWith('T');
  } catch {
    return false;
  }
}
