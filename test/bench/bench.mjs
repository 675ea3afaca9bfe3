// `npm run bench`: the whole night of the built program beside a bare prototype of the same night,
// in turn, on the same orders, the same sandbox gateway and the same PostgreSQL. Prints ratios of
// one run, since seconds say more about the machine than about the program. Everything lies in one
// temporary folder that is removed; only processes started here are ended. Neighbours: house.mjs
// (server, databases, sandbox), prototype.mjs (the other side), print.mjs (the tables); parts.mjs
// has the lines that are measured alone (`--part NAME`).

import { parseArgs } from 'node:util';
import { openHouse } from './house.mjs';
import { measure, stopAll } from './measure.mjs';
import { printHeader, printMemory, printSize } from './print.mjs';

const USAGE = 'npm run bench -- [--orders 10000,100000] [--rounds 3] [--seed 1] [--profile DIR]';
const ROUNDS_MAX = 20;

async function main() {
  const options = readOptions();
  const house = await openHouse(options.seed);
  for (const name of ['SIGINT', 'SIGTERM']) {
    process.once(name, () => {
      stopAll();
      house.close().finally(() => process.exit(130));
    });
  }
  try {
    await printHeader(house);
    const sizes = [];
    for (const orders of options.orders) {
      const rounds = await benchSize(house, orders, options);
      printSize(orders, rounds);
      sizes.push({ orders, rounds });
    }
    printMemory(sizes);
  } finally {
    stopAll();
    await house.close();
  }
}

/** One side after the other, so that a slow moment of the machine falls on both. */
async function benchSize(house, orders, { rounds, profile }) {
  const ledger = await house.loadLedger(orders);
  const measured = [];
  for (let round = 0; round < rounds; round += 1) {
    const bare = await withPlace(house, ledger, (place) =>
      measure([house.prototype, JSON.stringify(place)]),
    );
    const whole = await withPlace(house, ledger, async (place) => {
      const file = house.writeConfig(place);
      const flags = profile === undefined ? [] : ['--cpu-prof', '--cpu-prof-dir', profile];
      const run = await measure([...flags, house.program, 'run', '--json', '--config', file]);
      return { ...run, stages: await house.stagesOf(place, run) };
    });
    measured.push({ bare, whole });
    process.stderr.write(`${orders} orders, round ${round + 1} of ${rounds}\n`);
  }
  await house.dropLedger(ledger);
  return measured;
}

/** Each measurement has a database and a gateway of its own, as they were before the night. */
async function withPlace(house, ledger, work) {
  const place = await house.openPlace(ledger);
  try {
    return await work(place);
  } finally {
    await house.closePlace(place);
  }
}

function readOptions() {
  const { values } = parseArgs({
    options: {
      orders: { type: 'string', default: '10000,100000' },
      rounds: { type: 'string', default: '3' },
      seed: { type: 'string', default: '1' },
      profile: { type: 'string' },
    },
  });
  const orders = values.orders.split(',').map(Number);
  const [rounds, seed] = [Number(values.rounds), Number(values.seed)];
  const isFit =
    orders.every((count) => Number.isInteger(count) && count > 0) &&
    Number.isInteger(rounds) &&
    rounds > 0 &&
    rounds <= ROUNDS_MAX &&
    Number.isInteger(seed);
  if (!isFit) throw new Error(USAGE);
  return { orders, rounds, seed, profile: values.profile };
}

if (process.argv.includes('--part')) await import('./parts.mjs');
else await main();
