// The one table of the bench, from the lines that were kept: for docs/PERFORMANCE.md, as Markdown,
// with the machine and the commit that each part is of.

import { NIGHT } from './night.mjs';
import { figure, spread } from './stats.mjs';

/** Of time from 100,000 to 1,000,000 orders, of memory in MB from the least to the most. */
const TIMES_MOST = 11;
const MEMORY_MORE_MB = 30;

export function printTable(kept) {
  const parts = Object.entries({ ...kept, ...growthOf(kept) });
  const machines = [...new Set(parts.map(([, { machine }]) => machine))];
  print(`Measured on ${machines.join(' and ')}; median (least-most) of rounds in turn.`);
  print('');
  print('| part | orders | tree | line | goal | measured | |');
  print('|---|---|---|---|---|---|---|');
  for (const [key, { commit, lines }] of parts) {
    const [name, orders] = key.split(' ');
    for (const one of lines) {
      const { goal, values, digits } = one;
      const cells = [name, grouped(orders), commit, one.name, words(goal), spread(values, digits)];
      print(`| ${[...cells, verdict(one)].join(' | ')} |`);
    }
  }
}

/** What one night costs beside a smaller one. */
function growthOf(kept) {
  const sizes = Object.keys(kept)
    .filter((key) => key.startsWith('night '))
    .map((key) => Number(key.split(' ')[1]))
    .sort((a, b) => a - b);
  if (sizes.length < 2) return {};
  const [least, most] = [sizes[0], sizes.at(-1)];
  const before = sizes.at(-2);
  const middle = (size, name) =>
    kept[`night ${size}`].lines.find((one) => one.name === name).middle;
  const times = middle(most, NIGHT.seconds) / middle(before, NIGHT.seconds);
  const more = middle(most, NIGHT.memory) - middle(least, NIGHT.memory);
  const goal = most / before === 10 ? { atMost: TIMES_MOST } : {};
  const { commit, machine } = kept[`night ${most}`];
  const lines = [
    figure(`whole night: time, of ${grouped(before)} orders`, [times], goal),
    figure(
      `whole night: MB more than of ${grouped(least)} orders`,
      [more],
      { atMost: MEMORY_MORE_MB },
      0,
    ),
  ];
  return { [`growth ${most}`]: { commit, machine, lines } };
}

function words({ atMost, atLeast }) {
  if (atMost !== undefined) return `at most ${atMost}`;
  return atLeast === undefined ? '' : `at least ${atLeast}`;
}

function verdict({ middle, goal: { atMost, atLeast } }) {
  if (atMost === undefined && atLeast === undefined) return '';
  return middle <= (atMost ?? middle) && middle >= (atLeast ?? middle) ? 'met' : 'missed';
}

function grouped(count) {
  return Number(count).toLocaleString('en-US');
}

function print(text) {
  process.stdout.write(`${text}\n`);
}
