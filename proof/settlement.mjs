// Settlement beside an oracle that shares no code with it: accounts whose acquirer's files differ
// from the book in planted ways, each through three nights and three files. Use:
//   npm run settlement -- --seeds 200 [--first 1] [--kinds 'missing line,another fee'] [--at-once 50]
// Exit 0: everything planted was found, nothing was invented, and every figure is the oracle's. A
// line that differs names kind and seed; the same --first with --seeds 1 and its kind repeats it.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openPlace } from './place.mjs';
import { loadProgram } from './program.mjs';
import { drawMerchant, KINDS, MODULES, runStages } from './settlement/stages.mjs';
import { openTally } from './tally.mjs';

const SHOWN_MAX = 20;

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '20' },
    first: { type: 'string', default: '1' },
    kinds: { type: 'string', default: KINDS.join(',') },
    'at-once': { type: 'string', default: '50' },
  },
});
const [seeds, first, atOnce] = [values.seeds, values.first, values['at-once']].map(Number);
const kinds = values.kinds.split(',');
const program = { ...(await loadProgram()), ...(await loadProgram(undefined, MODULES)) };
const folder = mkdtempSync(join(tmpdir(), 'tieout-settlement-'));
const place = await openPlace(program, { tally: openTally(), log: () => {} });
const sums = { differences: [], breaks: 0, items: 0, lines: 0, movements: 0 };
const began = performance.now();
try {
  for (let seed = first; seed < first + seeds; seed += atOnce) {
    const count = Math.min(atOnce, first + seeds - seed);
    const merchants = kinds.flatMap((kind) =>
      Array.from({ length: count }, (_, at) => drawMerchant(kind, seed + at)),
    );
    const database = await place.freshDatabase();
    const found = await runStages({ program, db: database.db, folder }, merchants);
    await database.drop();
    sums.differences.push(...found.differences);
    for (const name of ['breaks', 'items', 'lines', 'movements']) sums[name] += found[name];
    const seconds = ((performance.now() - began) / 1000).toFixed(0);
    console.error(`seeds to ${seed + count - 1}: ${sums.differences.length} differ, ${seconds} s`);
  }
} finally {
  await place.close();
  rmSync(folder, { recursive: true, force: true });
}
for (const words of sums.differences.slice(0, SHOWN_MAX)) console.log(words);
console.log(
  `${kinds.length} kinds, ${seeds} seeds of each: ${sums.movements} movements and ${sums.lines} ` +
    `lines, compared after each night and each file; ${sums.breaks} breaks and ${sums.items} open ` +
    `items; ${sums.differences.length} differ from the oracle`,
);
process.exit(sums.differences.length === 0 ? 0 : 1);
