// Shows that two builds of the program say the same: the same demo in each, then the same commands,
// their exit codes, help texts, tables, JSON documents and CSV files side by side. Times, ids and
// digests, which no two runs share, are made equal first; everything else counts, byte for byte.
//
//   node scripts/compare-published.mjs OTHER_CHECKOUT [--orders 300] [--keep]
//
// Both checkouts must be built. Exit 0: the same; 1: what differs is printed.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import ExcelJS from 'exceljs';

const COMMAND_TIMEOUT_MS = 300_000;
const OUTPUT_MAX_BYTES = 64 * 1024 * 1024;
const HELP_DEPTH_MAX = 3;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    orders: { type: 'string', default: '300' },
    keep: { type: 'boolean', default: false },
  },
});
if (positionals.length !== 1) {
  console.error('usage: node scripts/compare-published.mjs OTHER_CHECKOUT [--orders N] [--keep]');
  process.exit(2);
}

const own = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const folder = mkdtempSync(join(tmpdir(), 'tieout-published-'));
const other = await published(resolve(positionals[0]), join(folder, 'other'));
const here = await published(own, join(folder, 'here'));
const names = [...new Set([...other.keys(), ...here.keys()])];
const differing = names.filter((name) => other.get(name) !== here.get(name));
for (const name of differing) show(name);
console.log(`${names.length} outputs compared, ${differing.length} differ`);
if (!values.keep) rmSync(folder, { recursive: true });
process.exitCode = differing.length === 0 ? 0 : 1;

/** What this checkout's program says, by command line or file: made equal where it must vary. */
async function published(checkout, project) {
  mkdirSync(project);
  const said = new Map();
  const call = (...args) => {
    const result = spawnSync(process.execPath, [join(checkout, 'bin/tieout.js'), ...args], {
      cwd: project,
      encoding: 'utf8',
      timeout: COMMAND_TIMEOUT_MS,
      maxBuffer: OUTPUT_MAX_BYTES,
    });
    const text = `exit ${result.status}\n--- out\n${result.stdout}\n--- err\n${result.stderr}`;
    said.set(`tieout ${args.join(' ')}`, alike(text, project, checkout));
    return result.stdout;
  };
  helpOf(call, [], 0);
  call('demo', '--orders', values.orders);
  const breaks = list(call('breaks', 'list', '--json'));
  const instructions = list(call('instructions', 'list', '--json'));
  const order = breaks.find((row) => typeof row.orderNo === 'string');
  for (const args of commands(breaks[0], instructions[0], order)) call(...args);
  for (const path of filesBelow(join(project, 'var/reports'))) {
    const text = path.endsWith('.xlsx') ? await cellsOf(path) : readFileSync(path, 'utf8');
    said.set(alike(relative(project, path), project, checkout), alike(text, project, checkout));
  }
  return said;
}

/** The help of a command and of all below it, as its own list of commands names them. */
function helpOf(call, path, depth) {
  const text = call(...path, '--help');
  if (depth === HELP_DEPTH_MAX) return;
  const below = text.split(/^Commands:\n/m)[1] ?? '';
  for (const [, name] of below.matchAll(/^ {2}([a-z][a-z-]*)/gm)) {
    if (name !== 'help') helpOf(call, [...path, name], depth + 1);
  }
}

function commands(aBreak, instruction, order) {
  const both = (...args) => [args, [...args, '--json']];
  const asked = [
    ...both('status'),
    ...both('runs', 'list'),
    ...both('runs', 'show'),
    ...both('breaks', 'list'),
    ...both('instructions', 'list'),
    ...both('days', 'list'),
    ...both('jobs', 'list'),
    ...both('brake', 'status'),
    ...both('retention', 'list'),
    ...both('verify'),
    ...both('doctor'),
    ...both('users', 'list'),
    ...both('run', '--dry-run'),
    ['breaks', 'show', 'no-such-break'],
    ['run', '--date', '2020-02-30'],
  ];
  if (aBreak !== undefined) asked.push(...both('breaks', 'show', String(aBreak.id)));
  if (instruction !== undefined) {
    asked.push(...both('instructions', 'show', String(instruction.id)));
  }
  if (order !== undefined) asked.push(...both('order', order.accountId, order.orderNo));
  const night = ['breaks', 'orders', 'instructions', 'unknowns'];
  for (const kind of night) {
    asked.push(['report', '--kind', kind, '--format', 'csv', '--out', `var/reports/${kind}.csv`]);
    asked.push([
      'report',
      '--kind',
      kind,
      '--format',
      'ndjson',
      '--out',
      `var/reports/${kind}.ndjson`,
    ]);
  }
  return [
    ...asked,
    ['brake', 'on', '--reason', 'compared'],
    ['status', '--json'],
    ['brake', 'off', '--reason', 'compared'],
    ['run', '--json'],
    ['status', '--json'],
  ];
}

function list(text) {
  try {
    const document = JSON.parse(text);
    return Array.isArray(document) ? document : (Object.values(document).find(Array.isArray) ?? []);
  } catch {
    return [];
  }
}

function filesBelow(path) {
  const found = readdirSync(path, { recursive: true, withFileTypes: true });
  return found.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/** What a reader finds in a workbook: each cell with its value and format; not how the file says it. */
async function cellsOf(path) {
  const workbook = new ExcelJS.Workbook();
  await workbook.xlsx.readFile(path);
  const lines = [];
  for (const sheet of workbook.worksheets) {
    lines.push(
      `--- ${sheet.name} ${JSON.stringify([sheet.autoFilter, sheet.pageSetup.printArea])}`,
    );
    for (const column of sheet.columns ?? []) lines.push(`width ${column.width}`);
    sheet.eachRow((row) =>
      row.eachCell((cell) =>
        lines.push(`${cell.address} ${JSON.stringify([cell.value, cell.numFmt, cell.font?.bold])}`),
      ),
    );
  }
  return lines.join('\n');
}

/** What no two runs share, made equal: places, times, ids, digests, ports, processes. */
function alike(text, project, checkout) {
  return text
    .replaceAll(project, 'PROJECT')
    .replaceAll(checkout, 'CHECKOUT')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'ID')
    .replace(/\b[0-9a-f]{12,128}\b/g, 'DIGEST')
    .replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d(:?\d\d)?)?/g, 'TIME')
    .replace(/\b\d\d:\d\d(:\d\d(\.\d+)?)?\b/g, 'TIME')
    .replace(/\b\d+(\.\d+)? (ms|milliseconds|seconds?|s|minutes?|min|MB|GB|MiB|GiB)\b/g, 'SPAN')
    .replace(/(pid|process|port) \d+/gi, '$1 N')
    .replace(/127\.0\.0\.1:\d+/g, 'HOST')
    .replace(/"(\w*(Ms|Seconds|Bytes|Pid|At))": ?"?[\d.]+"?/g, '"$1": N')
    .replace(/[ \t]+$/gm, '');
}

function show(name) {
  const [before, after] = [other, here].map((said, index) => {
    const path = join(folder, `side-${index}.txt`);
    writeFileSync(path, said.get(name) ?? '(nothing)\n');
    return path;
  });
  console.log(`\n=== ${name}`);
  const diff = spawnSync('diff', ['-u', before, after], { encoding: 'utf8' });
  console.log(diff.stdout.split('\n').slice(2, 40).join('\n'));
}
