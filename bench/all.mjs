// `npm run bench -- --all --keep FILE`: every part in turn, each as a process of its own, and at the
// end one table of all lines. Broken off and started again with the same file it goes on where it
// was; a part that fails is named, the others are measured all the same. `--orders N` and
// `--rounds N` try all of it at one size. `--small` only shows that every part runs: CI does that.

import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { keptName, readKept } from './kept.mjs';
import { start, stopAll } from './measure.mjs';
import { IS_SMALL, sized } from './sized.mjs';
import { printTable } from './table.mjs';

const BENCH = fileURLToPath(new URL('bench.mjs', import.meta.url));

const SMALL_ORDERS = 500;
/** What is measured at which size in how many rounds; the long ones last. */
const PARTS = [
  ['night', 10_000, 3],
  ['night', 100_000, 3],
  ['latency', 100_000, 2],
  ['user', 100_000, 3],
  ['pages', 100_000, 3],
  ['queue', 100_000, 3],
  ['sets', 100_000, 3],
  ['engines', 100_000, 3],
  ['protocol', 120_000, 2],
  ['sandbox', 1_000_000, 1],
  ['reports', 500_000, 3],
  ['console', 20_000, 1],
  ['settlement', 200_000, 3],
  ['fleet', 250_000, 2],
  ['sets', 1_000_000, 2],
  ['engines', 1_000_000, 2],
  ['settlement', 1_000_000, 1],
  ['night', 1_000_000, 2],
  ['user', 1_000_000, 1],
  ['latency', 1_000_000, 1],
];

const { values } = parseArgs({
  options: {
    all: { type: 'boolean' },
    keep: { type: 'string' },
    orders: { type: 'string' },
    rounds: { type: 'string' },
    small: { type: 'boolean' },
    libraries: { type: 'string' },
  },
});
if (values.keep === undefined && !IS_SMALL) {
  throw new Error('--all needs --keep FILE: it takes hours');
}
const folder = IS_SMALL ? mkdtempSync(join(tmpdir(), 'tieout-bench-')) : null;
const kept = folder === null ? values.keep : join(folder, 'lines.json');

for (const name of ['SIGINT', 'SIGTERM']) {
  process.once(name, () => {
    stopAll('SIGTERM');
    process.exit(130);
  });
}

const wanted = PARTS.map(([part, orders, rounds]) => ({
  part,
  orders: Number(values.orders ?? sized(orders, SMALL_ORDERS)),
  rounds: Number(values.rounds ?? sized(rounds, 1)),
}));
const failed = [];
for (const one of wanted) {
  const name = keptName(one.part, one.orders);
  if (readKept(kept)[name] === undefined && !(await measured(one))) failed.push(name);
}
process.stdout.write('\n');
printTable(readKept(kept));
if (folder !== null) rmSync(folder, { recursive: true, force: true });
if (failed.length > 0) {
  process.stderr.write(`\nnot measured, since they failed: ${failed.join(', ')}\n`);
  process.exitCode = 1;
}

/** True when the part came to its end. */
async function measured({ part, orders, rounds }) {
  const numbers = ['--orders', String(orders), '--rounds', String(rounds)];
  const small = sized([], ['--small']);
  const libraries = values.libraries === undefined ? [] : ['--libraries', values.libraries];
  const args = [BENCH, '--part', part, ...numbers, '--keep', kept, ...small, ...libraries];
  const [code] = await once(start(args, 'inherit'), 'exit');
  return code === 0;
}
