// The tables of `npm run bench`: medians with the least and the most, and the ratios that matter.

import { execFileSync } from 'node:child_process';
import { cpus, totalmem } from 'node:os';

/** The goals: the whole night beside the prototype, and its memory from one size to the next. */
const TIME_RATIO_MAX = 2.5;
const TIME_RATIO_FROM = 100_000;
const MEMORY_RATIO_MAX = 1.3;

export async function printHeader(house) {
  const [{ server_version: server }] = await house.ask('show server_version');
  print(`tieout ${commit()}, Node ${process.version}, PostgreSQL ${server.split(' ')[0]}`);
  print(machine());
  print('median (least-most); times in seconds and only good for comparing within this run');
}

export function printSize(orders, rounds) {
  const first = rounds[0];
  const sent = sum(Object.values(first.whole.answer.accounts).map(instructionsOf));
  print('');
  print(`${orders} orders, ${rounds.length} rounds, ${sent} instructions sent`);
  const bare = rounds.map(({ bare: one }) => one.wallMs - one.answer.stages.ordersReport);
  const bareAll = rounds.map((one) => one.bare.wallMs);
  const whole = rounds.map((one) => one.whole.wallMs);
  const lean = rounds.map((one) => one.whole.wallMs - one.whole.stages['orders workbook']);
  row('prototype', seconds(bare), mb(rounds.map((one) => one.bare.peakMb)));
  row('prototype + all orders', seconds(bareAll));
  row('tieout', seconds(whole), mb(rounds.map((one) => one.whole.peakMb)));
  row('tieout - orders workbook', seconds(lean));
  ratio('tieout / prototype', ratios(whole, bare), goalOf(orders));
  ratio('tieout / prototype + all orders', ratios(whole, bareAll));
  ratio('tieout - orders workbook / prototype', ratios(lean, bare));
  print('  stages of tieout');
  for (const name of Object.keys(first.whole.stages)) {
    row(`  ${name}`, seconds(rounds.map((one) => one.whole.stages[name])));
  }
  print('  stages of the prototype');
  for (const name of Object.keys(first.bare.answer.stages)) {
    row(`  ${name}`, seconds(rounds.map((one) => one.bare.answer.stages[name])));
  }
}

export function printMemory(sizes) {
  const [least, most] = [sizes[0], sizes.at(-1)];
  if (least === undefined || most === undefined || least === most) return;
  const peak = ({ rounds }) => median(rounds.map((one) => one.whole.peakMb));
  print('');
  ratio(
    `memory of tieout, ${most.orders} / ${least.orders} orders`,
    [peak(most) / peak(least)],
    MEMORY_RATIO_MAX,
  );
}

export function machine() {
  return `${cpus().length} x ${cpus()[0]?.model}, ${Math.round(totalmem() / 2 ** 30)} GiB`;
}

function goalOf(orders) {
  return orders >= TIME_RATIO_FROM ? TIME_RATIO_MAX : undefined;
}

function instructionsOf({ instructions }) {
  const states = Object.values(instructions).flatMap((counts) => Object.entries(counts));
  return sum(states.filter(([state]) => state === 'confirmed').map(([, count]) => count));
}

/** Of the same round: a slow moment of the machine falls on both sides. */
function ratios(left, right) {
  return left.map((value, index) => value / right[index]);
}

function row(name, ...figures) {
  print(`  ${name.padEnd(38)} ${figures.join('   ')}`);
}

function ratio(name, values, goal) {
  const middle = median(values);
  const judged = goal === undefined ? '' : ` (goal ${goal}: ${middle <= goal ? 'met' : 'MISSED'})`;
  row(name, `${spread(values, (value) => value.toFixed(2))}${judged}`);
}

function seconds(values) {
  return spread(values, (value) => (value / 1000).toFixed(2)).concat(' s');
}

function mb(values) {
  return spread(values, (value) => value.toFixed(0)).concat(' MB');
}

function spread(values, text) {
  const sorted = [...values].sort((a, b) => a - b);
  const range = `(${text(sorted[0])}-${text(sorted.at(-1))})`;
  return values.length === 1 ? text(sorted[0]) : `${text(median(values))} ${range}`;
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2;
}

function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}

export function commit() {
  try {
    const options = { cwd: import.meta.dirname, encoding: 'utf8', stdio: 'pipe' };
    return execFileSync('git', ['describe', '--always', '--dirty', '--exclude=*'], options).trim();
  } catch {
    return 'of an unknown commit';
  }
}

function print(line) {
  process.stdout.write(`${line}\n`);
}
