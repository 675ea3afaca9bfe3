// The disk under an answer turns read-only in the moment in which the database has it: the file
// stays, and nothing ends of it. The disk is a real one in memory, or a folder that takes nothing.

import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { recoverAttempts } from '../../src/send/recoverAttempts.js';
import { sendBatch } from '../../src/send/sendBatch.js';
import { buildHouse, instructionCounts, kinds } from '../support/night.js';
import { forgetRunner, prepareRun } from './preparedRun.js';

const SAID = 'and the disk does not let it go';

/** A folder that can be made to take nothing, and no more to give anything away. */
function diskAt(place: string): { readOnly(is: boolean): void } {
  mkdirSync(place, { recursive: true, mode: 0o700 });
  if (process.getuid?.() !== 0) return { readOnly: (is) => chmodSync(place, is ? 0o500 : 0o700) };
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', place]);
  onTestFinished(() => void execFileSync('umount', ['-l', place]));
  return {
    readOnly: (is) =>
      void execFileSync('mount', ['-o', `remount,${is ? 'ro' : 'rw'}`, 'tmpfs', place]),
  };
}

it('an answer that is stored and cannot be removed ends no send and no night', async () => {
  const house = await buildHouse({ orders: 900, inLedger: kinds({ capture_due: 2 }, 'A1001') });
  onTestFinished(() => house.end());
  const { deps, batchIds } = await prepareRun(house);
  const place = join(house.folder, 'var', 'journal', 'answers');
  const disk = diskAt(place);
  onTestFinished(() => disk.readOnly(false));
  const query: typeof deps.db.query = async (text, ...more) => {
    if (text.includes('into tieout.answers')) disk.readOnly(true);
    return deps.db.query(text, ...more);
  };
  await sendBatch({ ...deps, db: { ...deps.db, query } }, batchIds[0] ?? 0n);
  expect(await instructionCounts(house.db)).toEqual({ 'capture accepted': 2 });
  expect(readdirSync(place)).toHaveLength(1);
  await recoverAttempts(deps, ['A1001']);
  await recoverAttempts(deps, ['A1001']);
  expect(house.lines.filter((line) => line.includes(SAID))).toHaveLength(1);
  await forgetRunner(house);
  const { summary } = await house.run();
  expect(summary.accounts[0]?.state).toBe('tied_out');
  disk.readOnly(false);
  await recoverAttempts(deps, ['A1001']);
  expect(readdirSync(place)).toEqual([]);
});
