// The whole night of the built program and the bare prototype of it, in turn, on the same orders,
// the same sandbox gateway and the same PostgreSQL; the lines of it for the table. Neighbours:
// house.mjs (both sides' surroundings), prototype.mjs (the other side), print.mjs (its stages).

import { mkdirSync } from 'node:fs';
import { line } from './stats.mjs';

const ALLOCATIONS = new URL('allocations.mjs', import.meta.url).href;

/** At most so many times the prototype, from so many orders on. */
const GOALS = [
  [1_000_000, 1.3],
  [100_000, 1.5],
];

/** One side after the other, so that a slow moment of the machine falls on both. */
export async function benchNight(house, ledger, { rounds, profile }) {
  const measured = [];
  for (let round = 0; round < rounds; round += 1) {
    const bare = await withPlace(house, ledger, (place) =>
      house.measure([house.prototype, JSON.stringify(place)]),
    );
    const whole = await withPlace(house, ledger, async (place) => {
      const file = house.writeConfig(place);
      const flags = profile === undefined ? [] : profileFlags(profile);
      const run = await house.measure([...flags, house.program, 'run', '--json', '--config', file]);
      return { ...run, stages: await house.stagesOf(place, run) };
    });
    measured.push({ bare, whole });
    process.stderr.write(`${ledger.orders} orders, round ${round + 1} of ${rounds}\n`);
  }
  return measured;
}

/** Processor time by node's own profiler, allocations by allocations.mjs. */
function profileFlags(folder) {
  mkdirSync(folder, { recursive: true });
  process.env.PROFILE_DIR = folder;
  return ['--cpu-prof', '--cpu-prof-dir', folder, '--import', ALLOCATIONS];
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

export function nightLines(measured, orders) {
  const each = (figure) => measured.map(figure);
  const [, most] = GOALS.find(([from]) => orders >= from) ?? [];
  const seconds = each(({ whole }) => whole.wallMs / 1000);
  const bareMs = ({ bare }) => bare.wallMs - bare.answer.stages.ordersReport;
  return [
    line(
      'whole night / prototype',
      each((one) => one.whole.wallMs / bareMs(one)),
      most === undefined ? {} : { atMost: most },
    ),
    line(
      'whole night / prototype with a workbook of all orders',
      each(({ whole, bare }) => whole.wallMs / bare.wallMs),
    ),
    line(
      'the same by processor time, with the server',
      each(({ whole, bare }) => whole.busyMs / bare.busyMs),
    ),
    line(NIGHT.seconds, seconds, {}, 1),
    line(
      'whole night: orders a second',
      seconds.map((one) => orders / one),
      {},
      0,
    ),
    line(
      NIGHT.memory,
      each(({ whole }) => whole.peakMb),
      {},
      0,
    ),
  ];
}

/** Names of lines that are set beside each other from size to size. */
export const NIGHT = { seconds: 'whole night: seconds', memory: 'whole night: memory, MB' };
