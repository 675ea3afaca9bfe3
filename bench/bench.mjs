// `npm run bench`: the whole night of the built program beside a bare prototype of the same night,
// in turn, on the same orders, the same sandbox gateway and the same PostgreSQL. Prints ratios of
// one run, since seconds say more about the machine than about the program. Everything lies in one
// temporary folder that is removed; only processes started here are ended. Neighbours: night.mjs
// (both sides in turn), house.mjs (server, databases, sandbox), print.mjs (the tables); parts.mjs
// has the lines that are measured alone (`--part NAME`), all.mjs measures everything (`--all`).

import { parseArgs } from 'node:util';
import { openHouse } from './house.mjs';
import { stopAll } from './measure.mjs';
import { benchNight } from './night.mjs';
import { printHeader, printMemory, printSize } from './print.mjs';
import { printProfiles } from './profiles.mjs';

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
      const ledger = await house.loadLedger(orders);
      const rounds = await benchNight(house, ledger, options);
      await house.dropLedger(ledger);
      printSize(orders, rounds);
      sizes.push({ orders, rounds });
    }
    printMemory(sizes);
    if (options.profile !== undefined) printProfiles(options.profile);
  } finally {
    stopAll();
    await house.close();
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

if (process.argv.includes('--all')) await import('./all.mjs');
else if (process.argv.includes('--part')) await import('./parts.mjs');
else await main();
