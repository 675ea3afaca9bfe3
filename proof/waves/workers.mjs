// Waves side by side: each needs a core half for the program and half for PostgreSQL, which wait for
// one another. What a wave does depends on its seed alone, whoever runs it, and beside what.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { waveOf } from '../kept.mjs';

const WORKER = new URL('worker.mjs', import.meta.url);

/**
 * Runs each of `turn` in one of `jobs` processes, in their order; `isTold` ends it early, after the
 * waves that are under way. `over` is called with what is kept of each.
 */
export async function runWaves(turn, { jobs, given, isTold, over }) {
  const work = async () => {
    while (turn.length > 0 && !isTold()) await workThrough(turn, { given, isTold, over });
  };
  await Promise.all(Array.from({ length: Math.min(jobs, turn.length) }, work));
}

/** One process, until nothing is left to do or it is gone, which costs the wave that it was at. */
async function workThrough(turn, { given, isTold, over }) {
  const worker = fork(WORKER, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const gone = once(worker, 'exit').then(([code, signal]) => ({ gone: code ?? signal }));
  const said = () => Promise.race([gone, once(worker, 'message').then(([words]) => ({ words }))]);
  let wave = null;
  try {
    let answer = said();
    worker.send(given);
    for (;;) {
      const { words, gone: how } = await answer;
      if (words === undefined) {
        const broken = wave ?? turn.shift();
        if (broken !== undefined) over(brokenOff(broken, `its process ended: ${how}`));
        return;
      }
      if (wave !== null) over(waveOf(words));
      wave = isTold() ? null : (turn.shift() ?? null);
      if (wave === null) return;
      answer = said();
      worker.send(wave);
    }
  } finally {
    if (worker.connected) worker.disconnect();
    await gone;
  }
}

function brokenOff({ first, count }, words) {
  const violations = [{ invariant: 'I5', words: `a wave broke off: ${words}` }];
  return { first, count, violations, classifiedMs: null, money: [], counts: [], kills: [] };
}
