// What somebody may do who may put files into the inbox and nothing else: links and folders of
// theirs where tieout puts what it moves. Real files and a real PostgreSQL.

import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { inboxFigures, openInbox } from '../../src/settlement/inbox.js';
import type { House } from '../support/night.js';
import { buildHouse } from '../support/night.js';

const MAP = resolve(import.meta.dirname, '../../docs/maps/sandbox-settlement.yaml');
const JOURNAL = '{"permit":1}\n';

let house: House;
let inbox: string;
let journal: string;
let look: () => Promise<void>;

beforeAll(async () => {
  const files = [{ match: 'settlement_*.csv', map: MAP }];
  const settings = { settlement: { from: '2026-11-01', inbox: 'inbox', files } };
  house = await buildHouse({ orders: 20, settings });
  inbox = join(house.folder, 'inbox');
  journal = join(house.folder, 'permits.ndjson');
  const { db, config } = await house.open();
  look = openInbox({ db, config, log: () => {}, now: () => new Date() });
});
afterAll(() => house.end());

beforeEach(() => {
  rmSync(inbox, { recursive: true, force: true });
  mkdirSync(inbox);
  writeFileSync(journal, JOURNAL);
});

test('a link where the reason would stand is not followed, and stays what it was', async () => {
  mkdirSync(join(inbox, 'refused'));
  const link = join(inbox, 'refused', 'bad.csv.reason.txt');
  symlinkSync(journal, link);
  // Nor one that leads to nothing yet.
  symlinkSync(join(house.folder, 'made.txt'), join(inbox, 'refused', '2-bad.csv.reason.txt'));
  writeFileSync(join(inbox, 'bad.csv'), 'words of an intruder\n');
  for (let at = 0; at < 2; at += 1) await look();
  expect(readFileSync(journal, 'utf8')).toBe(JOURNAL);
  expect(readlinkSync(link)).toBe(journal);
  expect(existsSync(join(house.folder, 'made.txt'))).toBe(false);
  expect(readdirSync(join(inbox, 'refused')).sort()).toEqual([
    '2-bad.csv.reason.txt',
    '3-bad.csv',
    '3-bad.csv.reason.txt',
    'bad.csv.reason.txt',
  ]);
});

test('a link in the place of the folder takes nothing, and doctor names it', async () => {
  const elsewhere = join(house.folder, 'elsewhere');
  mkdirSync(elsewhere);
  for (const to of [elsewhere, join(house.folder, 'nowhere')]) {
    symlinkSync(to, join(inbox, 'refused'));
    writeFileSync(join(inbox, 'bad.csv'), 'words of an intruder\n');
    await look();
    await expect(look()).rejects.toThrow('refused is no folder: nothing is put there');
    expect((await inboxFigures(inbox)).strange).toEqual(['refused']);
    rmSync(join(inbox, 'refused'));
  }
  expect([readdirSync(elsewhere), readdirSync(inbox)]).toEqual([[], ['bad.csv']]);
  await look();
  await look();
  expect(readdirSync(inbox)).toEqual(['refused']);
});

// Only root may give a folder away.
test.runIf(process.geteuid?.() === 0)('nor does a folder that another account made', async () => {
  mkdirSync(join(inbox, 'refused'));
  chownSync(join(inbox, 'refused'), 12_345, 12_345);
  writeFileSync(join(inbox, 'bad.csv'), 'words of an intruder\n');
  await look();
  await expect(look()).rejects.toThrow('refused belongs to another account: nothing is put there');
  expect(readdirSync(inbox).sort()).toEqual(['bad.csv', 'refused']);
  expect(readdirSync(join(inbox, 'refused'))).toEqual([]);
});
