// Makes the workbooks of test/fixtures/decisions anew: the night beside them (night.sql) in a
// database of its own, its workbook as tieout writes it today with links to the console, decisions
// filled in as a person types them, and the file opened and saved by LibreOffice and by openpyxl.
// Run it when the sheets Breaks or Waiting for you have other columns, or what a decision is bound
// to has changed: the tests say so. It needs soffice, and a python3 with openpyxl. It changes
// nothing beside the folder that it is given.
//
//   npm run build && node scripts/renew-decisions.mjs [FOLDER]    default: test/fixtures/decisions

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const NIGHT = fileURLToPath(new URL('../test/fixtures/decisions/night.sql', import.meta.url));
const ADDRESS = 'https://tieout.example.com/console';
const WRITTEN_AT = new Date('2026-11-20T03:20:00Z');
const TIMEOUT_MS = 300_000;

const SETTINGS = {
  database: { url: 'embedded' },
  dataDir: './var',
  gateway: { baseUrl: 'sandbox', profile: 'sandbox' },
  accounts: [{ merchantId: 'M1001', accountId: 'A1001', signingKey: '0'.repeat(32) }],
  breaks: { dueDays: 5 },
  web: { address: ADDRESS },
};

/** By what the row is of and its number: what a person types into the three columns. */
const DECISIONS = {
  'break 11': ['note', 'asked the shop <&> "it"', ''],
  'break 12': ['waive', 'rounding', ''],
  'break 13': ['assign', 'has the file', 'Cy'],
  'break 14': ['waive', 'booked by hand', ''],
  'break 15': ['note', 'looked at it', ''],
  'instruction 21': ['approve', '', ''],
  'instruction 22': ['reject', 'the shop took it back', ''],
  'instruction 23': ['approve', 'looked at it', ''],
};

/** Dates in words, those at midnight without a time of day: so the format has them as well. */
const SAVE_IN_PYTHON = `
import datetime, sys
from openpyxl import load_workbook
book = load_workbook(sys.argv[1])
book.iso_dates = True
for sheet in book:
    for row in sheet.iter_rows():
        for cell in row:
            value = cell.value
            if isinstance(value, datetime.datetime) and value.time() == datetime.time():
                cell.value = value.date()
book.save(sys.argv[2])
`;

const load = (file) => import(new URL(`../dist/${file}`, import.meta.url).href);

const folder = resolve(
  process.argv[2] ?? fileURLToPath(new URL('../test/fixtures/decisions', import.meta.url)),
);
const python = whatServes(
  [process.env.PYTHON, 'python3', '/usr/bin/python3'],
  ['-c', 'import openpyxl'],
  'a python3 with openpyxl is needed: python3 -m venv DIR && DIR/bin/pip install openpyxl, ' +
    'then again with PYTHON=DIR/bin/python3',
);
const office = whatServes(
  ['soffice'],
  ['--version'],
  'soffice is needed: install LibreOffice Calc (apt-get install libreoffice-calc)',
);
const work = mkdtempSync(join(tmpdir(), 'tieout-decisions-'));
// Where root's server could not pass through, its data would lie elsewhere, and stay there.
chmodSync(work, 0o755);
try {
  await mkdir(folder, { recursive: true });
  const filled = await filledWorkbook(await workbookOfNight());
  const profile = `-env:UserInstallation=file://${join(work, 'profile')}`;
  const saved = join(work, 'saved');
  run(office, ['--headless', profile, '--convert-to', 'xlsx', '--outdir', saved, filled]);
  await copyFile(join(saved, 'filled.xlsx'), join(folder, 'libreoffice.xlsx'));
  run(python, ['-c', SAVE_IN_PYTHON, filled, join(folder, 'openpyxl.xlsx')]);
  for (const name of ['libreoffice', 'openpyxl']) console.log(join(folder, `${name}.xlsx`));
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** The first of the programs that does it; else it is said what is missing. */
function whatServes(programs, args, missing) {
  const found = programs.find((program) => {
    if (!program) return false;
    try {
      execFileSync(program, args, { stdio: 'ignore', timeout: TIMEOUT_MS });
      return true;
    } catch {
      return false;
    }
  });
  if (found !== undefined) return found;
  console.error(missing);
  process.exit(2);
}

/** Where the night's workbook lies, written by the program from its database. */
async function workbookOfNight() {
  const { loadConfig } = await load('src/config/config.js');
  const { openApp } = await load('src/app/compose.js');
  const { openDatabase } = await load('src/database/db.js');
  const { queueReports, writtenByIds } = await load('src/report/reportsStore.js');
  const { writeReport } = await load('src/report/writeReport.js');
  const file = join(work, 'tieout.yaml');
  await writeFile(file, JSON.stringify(SETTINGS));
  const talk = { log: () => {}, progress: () => {} };
  const config = loadConfig({ file, env: {}, cwd: work });
  const app = await openApp(config, { talk, signal: new AbortController().signal });
  try {
    const owner = openDatabase(app.owner, { max: 1 });
    await owner.query(readFileSync(NIGHT, 'utf8'));
    const { rows } = await owner.query('select run_id from tieout.runs');
    await owner.close();
    const ids = await queueReports(app.db, rows[0].run_id, ['reconciliation'], WRITTEN_AT);
    for (const id of ids) await writeReport(app, id);
    const [written] = await writtenByIds(app.db, ids);
    return written.path;
  } finally {
    await app.close();
  }
}

/** Each decision stands in its three cells as a text, which is what typing makes of it. */
async function filledWorkbook(path) {
  const { openArchive, entryText } = await load('reports/xlsx/read/archive.js');
  const { openZip, openEntry, writeEntry, closeEntry, closeZip } = await load(
    'reports/xlsx/format/zip.js',
  );
  const left = new Set(Object.keys(DECISIONS));
  const archive = openArchive(readFileSync(path));
  const target = join(work, 'filled.xlsx');
  const sink = createWriteStream(target);
  const zip = openZip(sink, WRITTEN_AT);
  for (const name of archive.entries.keys()) {
    const pieces = [];
    for await (const piece of entryText(archive, name)) pieces.push(piece);
    const text = pieces.join('').replace(/<row .*?<\/row>/gs, (row) => filledRow(row, left));
    const entry = await openEntry(zip, name);
    await writeEntry(entry, Buffer.from(text));
    await closeEntry(entry);
  }
  await closeZip(zip);
  sink.end();
  await once(sink, 'close');
  if (left.size > 0) throw new Error(`no row of ${[...left].join(', ')} in ${path}`);
  return target;
}

function filledRow(row, left) {
  const [, id] = />((?:break|instruction) \d+) /.exec(row) ?? [];
  const words = DECISIONS[id];
  if (words === undefined) return row;
  left.delete(id);
  const blanks = [...row.matchAll(/<c r="[A-Z]+\d+" s="\d+"\/>/g)].map(([cell]) => cell).slice(-3);
  return words.reduce((xml, text, at) => {
    if (text === '') return xml;
    const inside = `<is><t xml:space="preserve">${escaped(text)}</t></is>`;
    return xml.replace(blanks[at], () => blanks[at].replace('/>', ` t="inlineStr">${inside}</c>`));
  }, row);
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function run(program, args) {
  execFileSync(program, args, { cwd: work, stdio: 'ignore', timeout: TIMEOUT_MS });
}
