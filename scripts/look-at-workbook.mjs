// Looks at a workbook as a person who opens it would: LibreOffice works every formula out anew, the
// results are compared with the values that we stored, the totals with the summary of the run, and
// each printed page becomes a picture. It changes nothing beside its output folder. Neighbours:
// reports/ writes the workbooks, docs/WORKBOOK.md says when to run this.
//
//   node scripts/look-at-workbook.mjs FILE.xlsx [--summary RUN.json] [--pages FOLDER]

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import ExcelJS from 'exceljs';

const PRINTED_PAGES_MAX = 20;
const CONVERT_TIMEOUT_MS = 300_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { summary: { type: 'string' }, pages: { type: 'string' } },
});
const [file] = positionals;
if (file === undefined) {
  console.error('usage: look-at-workbook.mjs FILE.xlsx [--summary RUN.json] [--pages FOLDER]');
  process.exit(2);
}
const work = mkdtempSync(join(tmpdir(), 'tieout-look-'));
try {
  const problems = await formulaProblems(file, work);
  if (values.summary !== undefined) {
    const summary = JSON.parse(readFileSync(values.summary, 'utf8'));
    problems.push(...summaryProblems(await open(file), summary));
  }
  if (values.pages !== undefined) printPages(file, resolve(values.pages), work);
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** Stored results are taken out first: LibreOffice trusts them otherwise and works nothing out. */
async function formulaProblems(path, folder) {
  const stored = await open(path);
  const bare = await open(path);
  for (const cell of formulaCells(bare)) cell.value = { formula: cell.formula };
  const emptied = join(folder, 'emptied.xlsx');
  await bare.xlsx.writeFile(emptied);
  convert(emptied, 'xlsx', join(folder, 'anew'), folder);
  const anew = await open(join(folder, 'anew', 'emptied.xlsx'));
  const cells = formulaCells(stored);
  console.log(`${cells.length} formulas worked out anew`);
  return cells.flatMap((cell) => {
    // The library reads a stored 0 as nothing.
    const was = cell.result ?? 0;
    const is = anew.getWorksheet(cell.worksheet.name).getCell(cell.address).result ?? 0;
    const name = `${cell.worksheet.name}!${cell.address}`;
    return was === is ? [] : [`${name} =${cell.formula} is stored as ${was}, comes to ${is}`];
  });
}

function formulaCells(workbook) {
  const cells = [];
  for (const sheet of workbook.worksheets) {
    sheet.eachRow((row) => {
      row.eachCell((cell) => {
        if (cell.formula && cell.master === cell) cells.push(cell);
      });
    });
  }
  return cells;
}

/** Each figure of the run's summary that the workbook lacks or shows otherwise, to the cent. */
function summaryProblems(workbook, { accounts }) {
  const sheet = workbook.getWorksheet('Summary');
  if (sheet === undefined) return ['there is no sheet Summary to compare with the summary'];
  const rows = sheet.getSheetValues().map((row) => (row ?? []).map(shown));
  const problems = [];
  let figures = 0;
  const expectRow = (what, keys, wanted) => {
    figures += wanted.length;
    const isThere = rows.some(
      (row) =>
        keys.every((key, at) => row[at + 1] === key) &&
        wanted.every((figure, at) => Number(row[keys.length + 1 + at]).toFixed(2) === figure),
    );
    if (!isThere) problems.push(`${what}: no line ${[...keys, ...wanted].join(' | ')}`);
  };
  const text = (...numbers) => numbers.map((number) => Number(number).toFixed(2));
  for (const { accountId, state, orders, tie, totals } of accounts) {
    const { ledger, strangers, matched, explained, due, awaited, broken, notCompared } = orders;
    const classes = [matched, explained, due, awaited, broken, notCompared];
    const words = state === 'broken' ? 'did not tie out' : state.replaceAll('_', ' ');
    expectRow('orders', [accountId, words], text(ledger, strangers, ...classes));
    const ties = [tie.openBefore, tie.new, tie.reopened, tie.waived, tie.resolved, tie.openAfter];
    expectRow('breaks', [accountId, 'all kinds'], text(...ties));
    for (const { currency, captured, cancelled, refunded, net, unknown } of totals) {
      expectRow('money', [accountId, currency], [captured, cancelled, refunded, net, unknown]);
    }
  }
  console.log(`${figures} figures compared with the summary`);
  return problems;
}

function shown(value) {
  return value !== null && typeof value === 'object' ? (value.result ?? 0) : value;
}

function printPages(path, folder, workFolder) {
  mkdirSync(folder, { recursive: true });
  convert(path, 'pdf', workFolder, workFolder);
  const name = basename(path, '.xlsx');
  const prefix = join(folder, name);
  const pages = ['-l', String(PRINTED_PAGES_MAX)];
  execFileSync('pdftoppm', ['-r', '90', '-png', ...pages, join(workFolder, `${name}.pdf`), prefix]);
  console.log(`pages: ${prefix}-*.png`);
}

function convert(path, format, target, folder) {
  const profile = `-env:UserInstallation=file://${join(folder, 'profile')}`;
  const args = ['--headless', profile, '--convert-to', format, '--outdir', target, path];
  execFileSync('soffice', args, { stdio: 'ignore', timeout: CONVERT_TIMEOUT_MS });
}

async function open(path) {
  const workbook = new ExcelJS.Workbook();
  await workbook.xlsx.readFile(path);
  return workbook;
}
