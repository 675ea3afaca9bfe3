// Schedules in virtual time, many a second: the program's own code and SQL, its own messages, a
// gateway in memory, and a seed that says who goes on, who dies, what is lost. Use:
//   npm run simulate -- --schedules 2000 --seed 1 [--first N] [--wave 200] [--build DIR]

import { parseArgs } from 'node:util';
import { loadProgram } from './program.mjs';
import { openPlace } from './simulator/place.mjs';
import { openTally } from './simulator/tally.mjs';
import { runWave } from './simulator/wave.mjs';

const { values } = parseArgs({
  options: {
    schedules: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
    first: { type: 'string', default: '0' },
    wave: { type: 'string', default: '200' },
    build: { type: 'string' },
    verbose: { type: 'boolean', default: false },
  },
});
const [schedules, seed, wave] = [values.schedules, values.seed, values.wave].map(Number);
const program = await loadProgram(values.build);
const tally = openTally();
const log = values.verbose ? (line) => console.error(line) : () => {};
const place = await openPlace(program, tally, log);
const began = performance.now();
const violations = [];
try {
  for (let done = 0; done < schedules; done += wave) {
    const count = Math.min(wave, schedules - done);
    const found = await runWave(place, { seed, first: Number(values.first) + done, count });
    violations.push(...found.violations);
    const rate = ((done + count) / (performance.now() - began)) * 1000;
    console.error(`${done + count} schedules, ${rate.toFixed(1)}/s, ${violations.length} violations`);
  }
} finally {
  await place.close();
}
for (const { invariant, words } of violations.slice(0, 40)) console.log(`${invariant}: ${words}`);
console.log(Object.fromEntries([...tally.counts].sort()));
console.log(Object.fromEntries([...tally.killsBy].sort()));
process.exit(violations.length === 0 ? 0 : 1);
