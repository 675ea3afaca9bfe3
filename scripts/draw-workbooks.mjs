// Draws the pictures of the workbooks that the docs show: one night of the demo, printed by
// LibreOffice, the first pages as small PNGs. Run it after a change of the layout; it needs soffice,
// pdftoppm and pdftotext. It changes nothing beside the folder that it is given.
//
//   node scripts/draw-workbooks.mjs [FOLDER]        default: docs/pictures

import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../bin/tieout.js', import.meta.url));
const DOTS_PER_INCH = '72';
const TIMEOUT_MS = 300_000;
/** The first page of which workbook that has these words, and the picture's name. */
const PICTURES = [
  ['reconciliation', 'Reconciliation', 'summary'],
  ['reconciliation', 'All breaks that are open', 'breaks'],
  ['ageing', 'Ageing', 'ageing'],
  ['activity', 'Activity', 'activity'],
];

const folder = resolve(process.argv[2] ?? 'docs/pictures');
const work = mkdtempSync(join(tmpdir(), 'tieout-draw-'));
// Where root's server could not pass through, its data would lie elsewhere, and stay there.
chmodSync(work, 0o755);
try {
  mkdirSync(folder, { recursive: true });
  run(process.execPath, [PROGRAM, 'demo', '--orders', '3000', '--seed', '1']);
  const reports = join(work, 'var/reports');
  const [date] = readdirSync(reports);
  for (const kind of ['ageing', 'activity']) {
    run(process.execPath, [PROGRAM, 'report', date, '--kind', kind]);
  }
  for (const [kind, words, name] of PICTURES) draw(join(reports, date), kind, words, name);
} finally {
  rmSync(work, { recursive: true, force: true });
}

function draw(from, kind, words, name) {
  const file = readdirSync(from).find((one) => one.startsWith(`${kind}-`));
  const profile = `-env:UserInstallation=file://${join(work, 'profile')}`;
  const convert = ['--headless', profile, '--convert-to', 'pdf', '--outdir', work];
  run('soffice', [...convert, join(from, file)]);
  const pdf = join(work, `${basename(file, '.xlsx')}.pdf`);
  const page = pageWith(pdf, words);
  const only = ['-f', String(page), '-l', String(page), '-singlefile'];
  run('pdftoppm', ['-r', DOTS_PER_INCH, '-png', ...only, pdf, join(folder, name)]);
  console.log(join(folder, `${name}.png`));
}

/** A form feed ends each page of the text. */
function pageWith(pdf, words) {
  const text = execFileSync('pdftotext', [pdf, '-'], { encoding: 'utf8', timeout: TIMEOUT_MS });
  return 1 + text.split('\f').findIndex((page) => page.includes(words));
}

function run(program, args) {
  execFileSync(program, args, { cwd: work, stdio: 'ignore', timeout: TIMEOUT_MS });
}
