// `npm run bench -- --all --keep FILE`: every part in turn, each as a process of its own, and at the
// end one table of all lines. Broken off and started again with the same file it goes on where it
// was; a part that fails is named, the others are measured all the same. `--orders N` and
// `--rounds N` try all of it at one small size.

import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { keptName, readKept } from './kept.mjs';
import { start, stopAll } from './measure.mjs';
import { printTable } from './table.mjs';

const BENCH = fileURLToPath(new URL('bench.mjs', import.meta.url));

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
  ['fleet', 250_000, 2],
  ['sets', 1_000_000, 2],
  ['engines', 1_000_000, 2],
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
    libraries: { type: 'string' },
  },
});
if (values.keep === undefined) throw new Error('--all needs --keep FILE: it takes hours');

for (const name of ['SIGINT', 'SIGTERM']) {
  process.once(name, () => {
    stopAll('SIGTERM');
    process.exit(130);
  });
}

const wanted = PARTS.map(([part, orders, rounds]) => ({
  part,
  orders: Number(values.orders ?? orders),
  rounds: Number(values.rounds ?? rounds),
}));
const failed = [];
for (const one of wanted) {
  const name = keptName(one.part, one.orders);
  if (readKept(values.keep)[name] === undefined && !(await measured(one))) failed.push(name);
}
process.stdout.write('\n');
printTable(readKept(values.keep));
if (failed.length > 0) {
  process.stdout.write(`\nnot measured, since they failed: ${failed.join(', ')}\n`);
  process.exitCode = 1;
}

/** True when the part came to its end. */
async function measured({ part, orders, rounds }) {
  const numbers = ['--orders', String(orders), '--rounds', String(rounds)];
  const libraries = values.libraries === undefined ? [] : ['--libraries', values.libraries];
  const args = [BENCH, '--part', part, ...numbers, '--keep', values.keep, ...libraries];
  const [code] = await once(start(args, 'inherit'), 'exit');
  return code === 0;
}
