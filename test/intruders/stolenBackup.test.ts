// An intruder with a copy of a sealed backup and a tieout of his own: he reads no word of it, not
// by the program and not by the bytes, and what he makes of it nobody restores.

import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, inflateRawSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Ended } from '../support/cli.js';
import { tieoutHere } from '../support/cliHere.js';
import type { House } from '../support/night.js';
import { buildHouse } from '../support/night.js';

let house: House;
const cli = (...words: string[]): Promise<Ended> => tieoutHere(words, { cwd: house.folder });

beforeAll(async () => {
  house = await buildHouse({ orders: 20 });
  const made = await cli('backup', 'sealed', '--new-key', 'key');
  expect(made.code, made.stderr).toBe(0);
  // The intruder has a key as well, that of his own backups.
  expect((await cli('backup', 'his', '--new-key', 'hisKey')).code).toBe(0);
});
afterAll(() => house.end());

const inside = (folder: string, name: string): string => join(house.folder, folder, name);

test('without the key no program and no unpacking shows an order', async () => {
  for (const words of [[], ['--key-file', 'hisKey']]) {
    const ended = await cli('restore', 'sealed', '--check', ...words);
    expect([ended.code, ended.stderr]).toEqual([1, expect.stringMatching(/key/)]);
  }
  const orders = house.seeded.map(({ ledger }) => ledger.order_no);
  for (const name of readdirSync(join(house.folder, 'sealed'))) {
    const bytes = readFileSync(inside('sealed', name));
    for (const read of [(all: Buffer) => all, gunzipSync, inflateRawSync]) {
      let text = '';
      try {
        text = read(bytes).toString('latin1');
      } catch {
        // No archive, as it should be.
      }
      expect(orders.filter((order) => text.includes(order))).toEqual([]);
    }
  }
});

test('what he puts in its place is not taken for ours', async () => {
  const own = await cli('restore', 'his', '--check', '--key-file', 'key');
  expect([own.code, own.stderr]).toEqual([1, expect.stringMatching(/key/)]);
  // His table inside of our backup; a byte of ours turned round.
  const [ledger = ''] = readdirSync(join(house.folder, 'sealed')).filter((name) => {
    return name.startsWith('ledger.orders');
  });
  const turned = readFileSync(inside('sealed', ledger));
  turned[turned.length - 1] = (turned.at(-1) ?? 0) ^ 1;
  for (const [folder, bytes] of [
    ['mixed', readFileSync(inside('his', ledger))],
    ['turned', turned],
  ] as const) {
    cpSync(join(house.folder, 'sealed'), join(house.folder, folder), { recursive: true });
    writeFileSync(inside(folder, ledger), bytes);
    const ended = await cli('restore', folder, '--check', '--key-file', 'key');
    expect([folder, ended.code]).toEqual([folder, 1]);
  }
  const ours = await cli('restore', 'sealed', '--check', '--key-file', 'key');
  expect([ours.code, ours.stdout]).toEqual([0, expect.stringContaining('holds the key')]);
});
