// A process that runs waves of the simulator, one after the other, on a server of its own, and tells
// who started it (workers.mjs) what came of each. It ends when nothing more is asked of it, or with
// its starter.

import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { chosenDraws } from '../draws.mjs';
import { keptOf, lineOf } from '../kept.mjs';
import { openPlace } from '../place.mjs';
import { loadProgram } from '../program.mjs';
import { runWave } from '../simulator/wave.mjs';
import { openTally } from '../tally.mjs';

const WAVE_MINUTES_MAX = 30;

// Told to stop by a terminal, all processes of it are: the wave is brought to its end all the same.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {});

const [{ build, seed, chosen, verbose }] = await once(process, 'message');
const program = await loadProgram(build);
const draws = chosenDraws(chosen);
const log = verbose ? (line) => console.error(line) : () => {};
const place = await openPlace(program, { tally: null, log, isStill: true });
const leave = async () => {
  await place.close();
  process.exit();
};
if (!process.connected) await leave();
process.once('disconnect', leave);
process.on('message', async ({ first, count }) => {
  const tally = openTally();
  const found = await inTime(runWave({ ...place, tally }, { seed, first, count, draws })).catch(
    (error) => ({
      violations: [
        { invariant: 'I5', words: `a wave broke off: ${error.message} ${error.detail ?? ''}` },
      ],
      money: new Map(),
    }),
  );
  process.send(lineOf(keptOf({ first, count, found, tally })));
});
process.send('ready');

/** A wave in which everything waits for something else would never come to its end. */
async function inTime(wave) {
  const stop = new AbortController();
  const late = sleep(WAVE_MINUTES_MAX * 60_000, undefined, { signal: stop.signal }).then(() => {
    throw new Error(`it did not end in ${WAVE_MINUTES_MAX} minutes`);
  });
  late.catch(() => {});
  return Promise.race([wave, late]).finally(() => stop.abort());
}
