// `npm run bench -- --part reports`: the file of all orders by the program's own writer, beside a
// bare writer of the same rows, the workbook library alone and, where it is installed, Debian's
// python3-xlsxwriter. Each is a process of its own, in turn. Prints ratios of one run: of the time
// that passed, and of the processor's time, which other work on the machine hardly touches.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { measure } from './measure.mjs';
import { figure } from './stats.mjs';

const WRITER = fileURLToPath(new URL('orderWriter.mjs', import.meta.url));
const NIGHT_WRITER = fileURLToPath(new URL('nightWriter.mjs', import.meta.url));
const PYTHON_WRITER = fileURLToPath(new URL('orderWriter.py', import.meta.url));
/** The distribution's own Python first: packages of Debian are not seen by another one. */
const PYTHONS = ['/usr/bin/python3', 'python3'];
const GOALS = { bare: 0.33, python: 2, peakMb: 150, flat: 1.3, nightMs: 1000 };

const { values } = parseArgs({
  strict: false,
  options: {
    orders: { type: 'string', default: '500000' },
    rows: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    part: { type: 'string' },
  },
});
const [rows, rounds] = [Number(values.rows ?? values.orders), Number(values.rounds)];
/** For the table of all parts. */
export const lines = [];
const few = Math.round(rows / 5);

const folder = mkdtempSync(join(tmpdir(), 'tieout-bench-'));
try {
  const python = PYTHONS.find(hasXlsxwriter);
  const sides = [
    ['bare', (count, path) => byNode('bare', count, path)],
    ['tieout', (count, path) => byNode('tieout', count, path)],
    ['library', (count, path) => byNode('library', count, path)],
    ...(python ? [['python', (count, path) => byPython(python, count, path)]] : []),
  ];
  const measured = new Map(sides.map(([name]) => [name, []]));
  const small = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, write] of sides) {
      measured.get(name).push(await once(write, rows));
      process.stderr.write(`round ${round + 1} of ${rounds}: ${name}\n`);
    }
    small.push(await once((count, path) => byNode('tieout', count, path), few));
  }
  print(rows, measured, small);
  await printNight();
  if (!python) line('python3-xlsxwriter is not installed: that ratio is left out');
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** What a run waits for at its end: the workbook of a night of some hundred lines. */
async function printNight() {
  const [times, cpu] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    const path = join(folder, `night-${round}.xlsx`);
    const { answer } = await measure([NIGHT_WRITER, path]);
    times.push(answer.ms);
    cpu.push(answer.cpuMs);
  }
  const goal = judged(median(times), GOALS.nightMs);
  lines.push(figure('the nightly workbook: ms', times, { atMost: GOALS.nightMs }, 0));
  line(`  the nightly workbook: ${spread(times, 0)} ms, processor ${spread(cpu, 0)} ms${goal}`);
}

async function once(write, count) {
  const path = join(folder, 'orders.xlsx');
  try {
    return await write(count, path);
  } finally {
    rmSync(path, { force: true });
  }
}

async function byNode(name, count, path) {
  const { answer, peakMb } = await measure([WRITER, name, String(count), path]);
  return { ms: answer.ms, cpuMs: answer.cpuMs, peakMb };
}

function byPython(python, count, path) {
  const out = execFileSync(python, [PYTHON_WRITER, String(count), path], { encoding: 'utf8' });
  return JSON.parse(out);
}

function hasXlsxwriter(python) {
  try {
    execFileSync(python, ['-c', 'import xlsxwriter'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function print(count, measured, small) {
  line(`${count} orders x 13 columns into a workbook, ${rounds} rounds; median (least-most)`);
  for (const [name, runs] of measured) {
    const seconds = spread(
      runs.map(({ ms }) => ms / 1000),
      2,
    );
    const cpu = spread(
      runs.map(({ cpuMs }) => cpuMs / 1000),
      2,
    );
    line(`  ${name.padEnd(10)} ${seconds} s, processor ${cpu} s, ${spread(peaks(runs), 0)} MB`);
  }
  const tieout = measured.get('tieout');
  for (const [name, runs] of measured) {
    if (name === 'tieout') continue;
    const ratios = (key) => runs.map((run, at) => run[key] / tieout[at][key]);
    const goal =
      GOALS[name] === undefined ? '' : judged(median(ratios('ms')), GOALS[name], 'least');
    const cpu = spread(ratios('cpuMs'), 2);
    const least = GOALS[name] === undefined ? {} : { atLeast: GOALS[name] };
    lines.push(figure(`orders file: ${name} writer / tieout, time`, ratios('ms'), least));
    lines.push(figure(`orders file: ${name} writer / tieout, processor`, ratios('cpuMs')));
    line(`  ${name} / tieout: time ${spread(ratios('ms'), 2)}, processor ${cpu}${goal}`);
  }
  line(
    `  peak memory: ${spread(peaks(tieout), 0)} MB${judged(median(peaks(tieout)), GOALS.peakMb)}`,
  );
  const growth = median(peaks(tieout)) / median(peaks(small));
  lines.push(figure('orders file: memory, MB', peaks(tieout), { atMost: GOALS.peakMb }, 0));
  lines.push(figure(`orders file: memory, of ${few} rows`, [growth], { atMost: GOALS.flat }));
  line(`  memory, ${count} / ${few} rows: ${growth.toFixed(2)}${judged(growth, GOALS.flat)}`);
}

function peaks(runs) {
  return runs.map(({ peakMb }) => peakMb);
}

function judged(value, goal, kind = 'most') {
  const isMet = kind === 'most' ? value <= goal : value >= goal;
  return ` (goal: at ${kind} ${goal}: ${isMet ? 'met' : 'MISSED'})`;
}

function spread(values, decimals) {
  const text = (value) => value.toFixed(decimals);
  return `${text(median(values))} (${text(Math.min(...values))}-${text(Math.max(...values))})`;
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2;
}

function line(text) {
  process.stdout.write(`${text}\n`);
}
