// A file that comes by the browser is read under its own name, as on the command line and in the
// inbox: where a map takes the batch out of it, the same file is the same batch by each door.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadColumnMap } from '../../src/config/mapFile.js';
import { importAndSettle } from '../../src/settlement/importAndSettle.js';
import { settlementRules } from '../../src/settlement/settlement.js';
import { dateOf } from '../support/night.js';
import type { ConsoleHouse, Visitor } from './consoleHouse.js';
import { openConsole } from './consoleHouse.js';
import { batchFile, bring, MAP, secondPress } from './settlementFiles.js';

const folder = mkdtempSync(join(tmpdir(), 'tieout-names-'));
const map = join(folder, 'named.yaml');
let console: ConsoleHouse;
let finance: Visitor;

beforeAll(async () => {
  const named = 'batch: { fileName: "^Acquirer [(+#\'&$]*(\\\\d+)_settlement" }';
  writeFileSync(map, readFileSync(MAP, 'utf8').replace('batch: { from: Batch }', named));
  const settlement = { from: dateOf(30), files: [{ match: 'Acquirer*.csv', map }] };
  console = await openConsole({ orders: 20, settings: { settlement } });
  finance = await console.withRole('finance');
});
afterAll(async () => {
  await console.end();
  rmSync(folder, { recursive: true, force: true });
});

/** As `tieout import settlement` takes it. */
async function byCommand(name: string, text: string) {
  const { db, config } = console.app;
  const rules = settlementRules(config);
  if (rules === null) throw new Error('settlement is not kept');
  const accountIds = config.accounts.map(({ accountId }) => accountId);
  const deps = { db, config, rules, accountIds, now: () => new Date() };
  const path = join(folder, name);
  writeFileSync(path, text);
  return importAndSettle(deps, [path], { map: loadColumnMap(map, 'settlement'), check: false });
}

it.each([
  [
    'longer than a line',
    'Acquirer 0000123456_settlement_details_of_Merchant-Europe-GmbH_A1001_EUR_final.csv',
  ],
  ['with signs of its own', "Acquirer (+#'&$0000123457_settlement {final} (1).csv"],
  ['of more bytes than letters', `Acquirer 0000123458_settlement_${'Ж'.repeat(90)}.csv`],
])('a name %s', async (_, name) => {
  const batch = /0\d+/.exec(name)?.[0] ?? '';
  const text = batchFile('').replace(',N1,', `,N${batch},`);
  expect(await byCommand(name, text)).toMatchObject({ inserted: 1, batches: [{ batch }] });
  const sent = await bring(console, finance, name, text);
  const checked = await finance.get(String(sent.headers.location));
  expect(checked.body).toContain('new lines 0');
  expect(checked.body).toContain('known, nothing changes');
  const taken = await finance.post('/settlement/import', secondPress(checked.body));
  expect(taken.body).toContain('Taken: new lines 0');
  const { rows } = await console.app.db.query<{ subject: string }>(
    `select subject from tieout.console_events where action = 'import settlement'
     order by event_id desc limit 1`,
  );
  expect(rows[0]?.subject.startsWith(`${name} `)).toBe(true);
});

it.each([
  ['a slash', 'Acquirer/0000123459_settlement.csv'],
  ['a slash of Windows', 'Acquirer\\0000123459_settlement.csv'],
  ['a sign that turns what follows', 'Acquirer \u202e0000123459_settlement.csv'],
  ['a break of lines', 'Acquirer \n0000123459_settlement.csv'],
  ['too many letters', `Acquirer 0000123459_settlement_${'Ж'.repeat(120)}.csv`],
])('a name with %s is refused, not altered', async (_, name) => {
  const sent = await bring(console, finance, name, batchFile('B'), { map: '0' });
  expect([sent.statusCode, sent.headers.location]).toEqual([303, '/settlement']);
});
