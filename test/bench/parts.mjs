// `npm run bench -- --part NAME`: one part of the bench alone. pages: asking beside bare undici.
// sets: storing and comparing beside bare SQL. protocol: sending beside bare requests. sandbox:
// pages a second and memory of the sandbox. console: main pages beside their own SQL. reports: the
// file of all orders beside other writers. With --keep FILE the lines of a finished part are kept
// there, and a part whose lines are kept is not measured again.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { benchConsole } from './console.mjs';
import { openHouse } from './house.mjs';
import { stopAll } from './measure.mjs';
import { benchPages } from './pages.mjs';
import { printHeader } from './print.mjs';
import { benchProtocol } from './protocol.mjs';
import { benchSets } from './sets.mjs';
import { line } from './stats.mjs';

const LOAD = fileURLToPath(new URL('../../scripts/sandbox-load.mjs', import.meta.url));

const { values } = parseArgs({
  strict: false,
  options: {
    part: { type: 'string' },
    orders: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '3' },
    keep: { type: 'string' },
  },
});
const [orders, rounds] = [Number(values.orders), Number(values.rounds)];

const PARTS = {
  pages: () => inPlace((place, ledger) => benchPages(place, ledger.sample[0], rounds)),
  sets: () => inPlace((place) => benchSets(place, rounds)),
  console: () => inHouse((house, ledger) => benchConsole(house, ledger, rounds)),
  protocol: () => inHouse((house, ledger) => benchProtocol(house, ledger, rounds)),
  sandbox: benchSandbox,
};

function inPlace(work) {
  return inHouse(async (house, ledger) => {
    const place = await house.openPlace(ledger);
    try {
      return await work(place, ledger);
    } finally {
      await house.closePlace(place);
    }
  });
}

async function inHouse(work) {
  const house = await openHouse(1);
  try {
    await printHeader(house);
    const ledger = await house.loadLedger(orders);
    process.stdout.write(`\n${values.part}, ${orders} orders, ${rounds} rounds\n`);
    return await work(house, ledger);
  } finally {
    stopAll();
    await house.close();
  }
}

function benchSandbox() {
  const output = execFileSync(process.execPath, [LOAD, '--orders', String(orders)], {
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

function readKept() {
  if (values.keep === undefined || !existsSync(values.keep)) return {};
  return JSON.parse(readFileSync(values.keep, 'utf8'));
}

if (values.part === 'reports') {
  await import('./reports.mjs');
} else {
  const run = PARTS[values.part];
  if (!run) throw new Error(`--part: one of reports, ${Object.keys(PARTS).join(', ')}`);
  const kept = readKept();
  const name = `${values.part} ${orders}`;
  if (kept[name]) {
    process.stdout.write(`\n${name} orders, as kept\n`);
    for (const one of kept[name]) line(one.name, one.values, one.goal);
  } else {
    kept[name] = await run();
    if (values.keep !== undefined) writeFileSync(values.keep, JSON.stringify(kept, null, 1));
  }
}
