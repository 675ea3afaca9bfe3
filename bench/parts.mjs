// `npm run bench -- --part NAME`: one part of the bench alone. night: the whole of it beside the
// prototype. latency: beside a slow gateway's own time. user: beside what a user would write. pages:
// asking beside bare undici. sets: storing and comparing beside bare SQL. engines: comparing beside
// DuckDB and pandas. protocol: sending beside bare requests. fleet: many processes. queue: its cost.
// sandbox: pages a second and memory of the sandbox. console: main pages beside their own SQL.
// reports: the file of all orders beside other writers. settlement: the acquirer's lines beside a bare
// merge join. With --keep FILE the lines of a finished part are kept
// there, and a part whose lines are kept is not measured again.

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { benchConsole } from './console.mjs';
import { benchEngines } from './engines.mjs';
import { benchFleet } from './fleet.mjs';
import { openHouse } from './house.mjs';
import { keep, keptName, readKept } from './kept.mjs';
import { benchLatency } from './latency.mjs';
import { stopAll } from './measure.mjs';
import { benchNight, nightLines } from './night.mjs';
import { benchPages } from './pages.mjs';
import { printHeader } from './print.mjs';
import { benchProtocol } from './protocol.mjs';
import { benchQueue } from './queue.mjs';
import { benchSets } from './sets.mjs';
import { benchSettlement } from './settlement.mjs';
import { sized } from './sized.mjs';
import { line } from './stats.mjs';
import { benchUser } from './user.mjs';

const LOAD = fileURLToPath(new URL('../scripts/sandbox-load.mjs', import.meta.url));

const { values } = parseArgs({
  strict: false,
  options: {
    part: { type: 'string' },
    orders: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '3' },
    keep: { type: 'string' },
    libraries: { type: 'string' },
  },
});
const [orders, rounds] = [Number(values.orders), Number(values.rounds)];

/** Of a part that needs a database more than its orders. */
const PLACE_ORDERS = 500;

const PARTS = {
  night: () =>
    inHouse(async (house, ledger) =>
      nightLines(await benchNight(house, ledger, { rounds }), orders),
    ),
  pages: () => inPlace((place, ledger) => benchPages(place, ledger.sample[0], rounds)),
  sets: () => inPlace((place) => benchSets(place, rounds)),
  console: () => inHouse((house, ledger) => benchConsole(house, ledger, rounds)),
  latency: () => inHouse((house, ledger) => benchLatency(house, ledger, rounds)),
  user: () => inHouse((house, ledger) => benchUser(house, ledger, rounds)),
  queue: () => inHouse((house, ledger) => benchQueue(house, ledger, rounds)),
  fleet: () => inHouse((house, ledger) => benchFleet(house, ledger, rounds)),
  protocol: () => inHouse((house, ledger) => benchProtocol(house, ledger, rounds)),
  engines: () => inPlace((place) => benchEngines(place, rounds, values.libraries)),
  sandbox: benchSandbox,
  settlement: () => inPlace((place) => benchSettlement(place, orders, rounds), PLACE_ORDERS),
  reports: async () => (await import('./reports.mjs')).lines,
};

function inPlace(work, count = orders) {
  return inHouse(async (house, ledger) => {
    const place = await house.openPlace(ledger);
    try {
      return await work(place, ledger);
    } finally {
      await house.closePlace(place);
    }
  }, count);
}

async function inHouse(work, count = orders) {
  const house = await openHouse(1);
  for (const name of ['SIGINT', 'SIGTERM']) {
    process.once(name, () => {
      stopAll();
      house.close().finally(() => process.exit(130));
    });
  }
  try {
    await printHeader(house);
    const ledger = await house.loadLedger(count);
    process.stdout.write(`\n${values.part}, ${orders} orders, ${rounds} rounds\n`);
    return await work(house, ledger);
  } finally {
    stopAll();
    await house.close();
  }
}

function benchSandbox() {
  const seconds = ['--seconds', sized('10', '1')];
  const output = execFileSync(process.execPath, [LOAD, '--orders', String(orders), ...seconds], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const { rate, cpuMsAPage, peakMb } = JSON.parse(output);
  process.stdout.write(`\nsandbox, ${orders} orders\n`);
  return [
    line('pages of a hundred orders a second', [rate], { atLeast: 1500 }, 0),
    line('processor time a page, ms', [cpuMsAPage], {}, 3),
    line('memory, MB', [peakMb], { atMost: 1000 }, 0),
  ];
}

const run = PARTS[values.part];
if (!run) throw new Error(`--part: one of ${Object.keys(PARTS).join(', ')}`);
const kept = readKept(values.keep)[keptName(values.part, orders)];
if (kept === undefined) {
  keep(values.keep, keptName(values.part, orders), await run());
} else {
  process.stdout.write(`\n${values.part}, ${orders} orders, as kept of ${kept.commit}\n`);
  for (const one of kept.lines) line(one.name, one.values, one.goal, one.digits);
}
