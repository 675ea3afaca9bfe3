// An answer on the disk that a host which went down left in part: it says nothing, and is kept. It is
// told once, by its name, and not read again.

import { existsSync, readdirSync, readFileSync, truncateSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import type { SendDeps } from '../../src/send/deps.js';
import { recoverAttempts } from '../../src/send/recoverAttempts.js';
import { sendBatch } from '../../src/send/sendBatch.js';
import { instructionCounts, kinds } from '../support/night.js';
import { houseBehind } from './houseBehind.js';
import { prepareRun } from './preparedRun.js';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

it('is put aside as soon as its attempt has an outcome, and told once', async () => {
  const inLedger = kinds({ capture_due: 1 }, 'A1001');
  const { house } = await houseBehind({ orders: 900, inLedger });
  cleanups.push(() => house.end());
  const { deps, batchIds } = await prepareRun(house);
  const query: SendDeps['db']['query'] = async (text, ...more) => {
    if (text.includes('insert into tieout.answers')) throw new Error('gone');
    return deps.db.query(text, ...more);
  };
  const forgetful = { ...deps, db: { ...deps.db, query } };
  await expect(sendBatch(forgetful, batchIds[0] ?? 0n)).rejects.toThrow('gone');
  const place = join(deps.config.dataDir, 'journal', 'answers');
  const [name = ''] = readdirSync(place);
  const path = join(place, name);
  truncateSync(path, 40);
  const part = readFileSync(path);

  const lines: string[] = [];
  const log = (line: string) => void lines.push(line);
  // Its sender may be about to write the rest.
  await recoverAttempts({ ...deps, log }, ['A1001']);
  expect(existsSync(path)).toBe(true);
  const dead = { ...deps, log, isAlive: () => false };
  // One that was given up may wake and write on.
  await recoverAttempts(dead, ['A1001']);
  expect(existsSync(path)).toBe(true);
  const before = new Date(Date.now() - 2 * 60_000);
  utimesSync(path, before, before);
  for (let look = 0; look < 3; look += 1) await recoverAttempts(dead, ['A1001']);
  expect(await instructionCounts(house.db)).toEqual({ 'capture unknown': 1 });
  expect(readdirSync(place)).toEqual([`${name}.torn`]);
  expect(readFileSync(`${path}.torn`)).toEqual(part);
  const told = lines.filter((line) => line.includes(`${path}.torn`));
  expect(told).toHaveLength(1);
  expect(told[0]).toContain('never written whole');
});
