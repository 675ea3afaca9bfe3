// Workbooks that LibreOffice and openpyxl opened and saved (scripts/renew-decisions.mjs makes them
// anew), taken by `tieout decide` in a database of the night that they are of: its rows, numbers
// and key. Neighbour: decideWorkbook.test.ts, where the file is edited by the test itself.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'vitest';
import { describe, expect, it } from 'vitest';
import type { DecidedRow } from '../../src/decide/decideWorkbook.js';
import { tieoutHere } from '../support/cliHere.js';
import { freshDatabase } from '../support/database.js';
import { addressOf, sandboxAccounts } from '../support/night.js';
import { ROOT } from '../support/sourceFiles.js';
import { edited, sheetPartOf } from '../support/workbookEdits.js';

const FIXTURES = join(ROOT, 'test', 'fixtures', 'decisions');

/** The folder of a tieout.yaml with a database of that night, and what asks it. */
async function houseOfNight({ onTestFinished }: Pick<TestContext, 'onTestFinished'>) {
  const { db, connection, drop } = await freshDatabase({ queues: true });
  await db.query(readFileSync(join(FIXTURES, 'night.sql'), 'utf8'));
  const folder = mkdtempSync(join(tmpdir(), 'tieout-saved-'));
  onTestFinished(async () => {
    rmSync(folder, { recursive: true, force: true });
    await drop();
  });
  const settings = {
    database: { url: addressOf(connection) },
    gateway: { baseUrl: 'http://127.0.0.1:9', profile: 'sandbox' },
    accounts: sandboxAccounts(1),
  };
  writeFileSync(join(folder, 'tieout.yaml'), JSON.stringify(settings));
  const decide = async (file: string, ...flags: string[]) => {
    const args = ['decide', file, '--as', 'Eve', '--json', ...flags];
    const { code, stdout, stderr } = await tieoutHere(args, { cwd: folder });
    expect(stdout, stderr).not.toBe('');
    return { code, rows: (JSON.parse(stdout) as { rows: DecidedRow[] }).rows };
  };
  return { db, folder, decide };
}

describe.each(['libreoffice', 'openpyxl'])('a workbook saved by %s', (program) => {
  const file = join(FIXTURES, `${program}.xlsx`);

  it('is done as it was seen, and a second time changes nothing', async (test) => {
    const { db, decide } = await houseOfNight(test);
    const done = await decide(file);
    const told = done.rows.map(({ of, id, decision, result }) => [of, id, decision, result]);
    // What is refused here is bound to other digests than those of today: make the files anew.
    expect(told, JSON.stringify(done.rows)).toEqual([
      ['break', '14', 'waive', 'done'],
      ['break', '13', 'assign', 'done'],
      ['break', '15', 'note', 'done'],
      ['break', '11', 'note', 'done'],
      ['break', '12', 'waive', 'done'],
      ['instruction', '21', 'approve', 'done'],
      ['instruction', '22', 'reject', 'done'],
      ['instruction', '23', 'approve', 'done'],
    ]);
    expect(done.code).toBe(0);
    expect(done.rows[0]?.isSecond).toBe(true);
    const { rows } = await db.query(
      `select (select array_agg(state order by break_id) from tieout.breaks) as breaks,
         (select owner from tieout.breaks where break_id = 13) as owner,
         (select note from tieout.breaks where break_id = 11) as note,
         (select array_agg(state order by instruction_id)
          from tieout.instructions) as instructions`,
    );
    expect(rows).toEqual([
      {
        breaks: ['open', 'waived', 'open', 'waived', 'open'],
        owner: 'Cy',
        note: 'asked the shop <&> "it"',
        instructions: ['queued', 'withdrawn', 'queued', 'held'],
      },
    ]);
    const again = await decide(file);
    expect(again.rows.map(({ result }) => result)).toEqual(Array(8).fill('unchanged'));
  });

  it('and altered after that is refused by row, and the others are done', async (test) => {
    const { folder, decide } = await houseOfNight(test);
    const altered = await edited(file, join(folder, 'altered.xlsx'), (parts) => {
      change(parts, 'Breaks', '<v>250.55</v>', '<v>250.54</v>');
      change(parts, 'Waiting for you', '<v>56.79</v>', '<v>5.67</v>');
    });
    const { code, rows } = await decide(altered, '--check');
    expect(code).toBe(1);
    const refused = rows.filter(({ result }) => result === 'refused');
    expect(refused.map(({ sheet, id }) => [sheet, id])).toEqual([
      ['Breaks', '13'],
      ['Waiting for you', '23'],
    ]);
    for (const { reason } of refused) expect(reason).toContain('altered elsewhere');
    expect(rows.filter(({ result }) => result === 'done')).toHaveLength(6);
  });

  it('is refused where the database is another one', async (test) => {
    const { db, decide } = await houseOfNight(test);
    await db.query(`alter table tieout.workbook_key disable trigger user;
      update tieout.workbook_key set secret = repeat('e', 64)`);
    const { code, rows } = await decide(file, '--check');
    expect([code, rows.map(({ result }) => result)]).toEqual([1, Array(8).fill('refused')]);
  });
});

function change(parts: Map<string, string>, sheet: string, from: string, to: string): void {
  const part = sheetPartOf(parts, sheet);
  const xml = parts.get(part) ?? '';
  expect(xml).toContain(from);
  parts.set(part, xml.replaceAll(from, to));
}
