// A file that somebody brought on the console and never took goes by itself: as the console begins,
// and at the end of a run; nobody has to bring another one.

import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ConsoleHouse } from './consoleHouse.js';
import { openConsole } from './consoleHouse.js';

let console: ConsoleHouse;

beforeAll(async () => {
  console = await openConsole({ orders: 20 });
}, 120_000);
afterAll(() => console.end());

const uploads = () => join(console.app.config.dataDir, 'uploads');

/** As it lies there so many minutes after it was brought. */
function bring(name: string, minutes: number): void {
  const place = join(uploads(), name);
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, 'back.xlsx'), 'words of people');
  const then = Date.now() / 1_000 - minutes * 60;
  utimesSync(place, then, then);
}

test('what nobody took goes as the console begins, and at the end of a run', async () => {
  bring(`1-${'a'.repeat(64)}`, 61);
  bring('taken-by-a-killed-process', 61);
  bring(`2-${'b'.repeat(64)}`, 5);
  await console.server.ready();
  await expect.poll(() => readdirSync(uploads())).toEqual([`2-${'b'.repeat(64)}`]);
  bring(`3-${'c'.repeat(64)}`, 61);
  await console.house.run({ date: null });
  expect(existsSync(join(uploads(), `3-${'c'.repeat(64)}`))).toBe(false);
  expect(existsSync(join(uploads(), `2-${'b'.repeat(64)}`))).toBe(true);
});
