// A host that cannot send, beside one that can, as processes of the built program: what is wrong
// with a host is no try of a batch, and it leaves the batches to the others.

import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { openPermitJournal } from '../../src/send/journal/permitJournal.js';
import { sendBatch } from '../../src/send/sendBatch.js';
import type { Running } from '../support/cli.js';
import { ensureBuilt, startTieout } from '../support/cli.js';
import { openGuard } from '../support/guards.js';
import type { House } from '../support/night.js';
import { buildHouse, instructionCounts, kinds } from '../support/night.js';
import { auditRun } from './audit.js';
import { houseBehind } from './houseBehind.js';
import { impatient } from './impatient.js';
import { prepareRun } from './preparedRun.js';

const MINUTE_MS = 60_000;
/** Longer than the other host would take to use up the tries of every batch. */
const SLOW_MS = 2_500;
const CAPTURES = 300;

/** A folder of its own for `tieout work`, whose journal no line goes into. */
function unfitFolder(house: House): string {
  const folder = join(house.folder, 'west');
  mkdirSync(folder);
  writeFileSync(join(folder, 'tieout.yaml'), readFileSync(house.file));
  fillJournal(folder);
  return folder;
}

function fillJournal(folder: string): void {
  const journal = join(folder, 'var', 'journal');
  mkdirSync(journal, { recursive: true });
  symlinkSync('/dev/full', join(journal, 'permits.ndjson'));
}

function start(args: string[], cwd: string): Running {
  const running = startTieout(args, { cwd });
  onTestFinished(async () => {
    running.signal('SIGKILL');
    await running.ended;
  });
  return running;
}

it('what is wrong with its disk is no try of the batch, and names the host', async () => {
  const house = await buildHouse({ orders: 900, inLedger: kinds({ capture_due: 2 }, 'A1001') });
  onTestFinished(() => house.end());
  fillJournal(house.folder);
  const { deps, batchIds } = await prepareRun(house);
  for (let n = 0; n < 5; n += 1) await sendBatch(deps, batchIds[0] ?? 0n);
  const { rows } = await house.db.query(BATCHES);
  const reason = expect.stringMatching(/the disk is full: make room \(host \S+\)$/);
  // Behind the first claim the journal itself is asked, which takes no file beside it for an answer.
  expect(rows).toEqual([{ state: 'queued', tries: 0, reason, claims: 1n }]);
  expect(house.lines.filter((line) => line.includes('nothing is sent from this host'))).toEqual([
    expect.stringContaining('the disk is full: make room'),
  ]);
});

const BATCHES = `
  select state, tries, reason,
    (select count(*) from tieout.attempts a where a.batch_id = b.batch_id) as claims
  from tieout.batches b`;

it('what no look at its journal finds, and every line of a permit meets, is a try', async () => {
  const house = await buildHouse({ orders: 900, inLedger: kinds({ capture_due: 2 }, 'A1001') });
  onTestFinished(() => house.end());
  const { deps, batchIds } = await prepareRun(house);
  const tooLarge = new Error('EFBIG: file too large, write');
  const journal = { ...deps.journal, append: () => Promise.reject(tooLarge) };
  for (let n = 0; n < 4; n += 1) await sendBatch({ ...deps, journal }, batchIds[0] ?? 0n);
  const reason = expect.stringMatching(/cannot be written: EFBIG: .* \(host \S+\)$/);
  const { rows } = await house.db.query(BATCHES);
  expect(rows).toEqual([{ state: 'queued', tries: 4, reason, claims: 4n }]);
  // One line that goes into it says that all is well again.
  await sendBatch(deps, batchIds[0] ?? 0n);
  expect((await house.effects()).length).toBe(2);
});

it('others send what it cannot, all of it in the same night', {
  timeout: 3 * MINUTE_MS,
}, async () => {
  await ensureBuilt();
  const { house, front } = await houseBehind({
    orders: 60_000,
    inLedger: kinds({ capture_due: CAPTURES }, 'A1001'),
  });
  onTestFinished(() => house.end());
  impatient(house, { timeoutMs: 10_000, concurrency: 1 });
  front.trouble = async ({ operation }) => {
    if (operation !== 'retrievalTrans') await sleep(SLOW_MS);
    return false;
  };
  const worker = start(['work'], unfitFolder(house));
  await worker.says('works until');
  const night = await start(['run', '--json'], house.folder).ended;
  expect(await instructionCounts(house.db), night.stderr).toEqual({
    'capture confirmed': CAPTURES,
  });
  expect(night.stderr).not.toContain('not every batch');
  worker.signal('SIGTERM');
  const said = await worker.ended;
  expect(said.stderr).toContain('nothing is sent from this host: the journal of permits at');
  expect(await auditRun(house.db, await house.effects())).toEqual([]);
});

/** Who is awaited is asked once a second. */
const ASKED_AGAIN_MS = 1_100;

it('with a wrong clock holds its journal against a server that was started anew, and bars nobody', async () => {
  const house = await buildHouse({ orders: 900, inLedger: kinds({ capture_due: 2 }, 'A1001') });
  onTestFinished(() => house.end());
  const { deps, batchIds } = await prepareRun(house);
  expect(await deps.journal.verify()).toBeNull();
  let ahead = 0;
  const elsewhere = () =>
    openGuard({
      db: house.db,
      host: 'elsewhere',
      open: () => openPermitJournal(join(house.folder, 'elsewhere')),
      wallClock: () => new Date(Date.now() + ahead),
    });
  const before = elsewhere();
  expect(await before.verify()).toBeNull();
  await before.close();
  await house.db.query(`update tieout.journals set verified_start = '0' where host = 'elsewhere'`);
  expect(await deps.journal.awaited()).toMatch(/these hosts have not held .*elsewhere/);
  ahead = 3_600_000;
  const wrong = elsewhere();
  expect(await wrong.verify()).toMatch(/the clock of this host is \d+ s ahead/);
  await sleep(ASKED_AGAIN_MS);
  expect(await deps.journal.awaited()).toBeNull();
  await sendBatch(deps, batchIds[0] ?? 0n);
  expect((await house.effects()).length).toBe(2);
  // It is no more ready to send than before.
  expect(await wrong.verify()).toMatch(/the clock of this host is/);
  await wrong.close();
});
