// The inbox: what lies in the folder is taken once, by one of several clocks, moved after its commit,
// and refused with the reason beside it. Real files and a real PostgreSQL; a look is called as the
// clock calls it.

import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { besideTheClock } from '../../src/cli/runs/schedule.js';
import { loadColumnMap } from '../../src/config/mapFile.js';
import { INBOX_FILE_BYTES_MAX } from '../../src/core/settlement/inboxFile.js';
import { importSettlement } from '../../src/ledger/settlement/importSettlement.js';
import { inboxFigures, openInbox } from '../../src/settlement/inbox.js';
import { settlementRules } from '../../src/settlement/settlement.js';
import { ensureBuilt, tieout } from '../support/cli.js';
import type { House } from '../support/night.js';
import { buildHouse } from '../support/night.js';

const MAP = resolve(import.meta.dirname, '../../docs/maps/sandbox-settlement.yaml');
const HEAD = 'Account,Batch,Line,Type,Booked,Order,Transaction,Reference,Currency,Amount,Fee,Net';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function houseWithInbox(): Promise<{ house: House; inbox: string }> {
  const settlement = {
    from: '2026-11-01',
    inbox: 'inbox',
    files: [{ match: 'settlement_*.csv', map: MAP }],
  };
  const notify = { webhook: 'http://127.0.0.1:9/hook' };
  const house = await buildHouse({ orders: 20, settings: { settlement, notify } });
  cleanups.push(() => house.end());
  const inbox = join(house.folder, 'inbox');
  mkdirSync(inbox);
  return { house, inbox };
}

async function lookOf(house: House): Promise<() => Promise<void>> {
  const { db, config } = await house.open();
  const log = (line: string) => void house.lines.push(line);
  return openInbox({ db, config, log, now: () => new Date() });
}

/** One batch of one capture; `net` may be wrong. */
function batchText({ accounts }: House, batch: string, net = '9.61'): string {
  const head = `${accounts[0]?.accountId},${batch}`;
  return [
    HEAD,
    `${head},1,captured,2026-11-19T08:00:00Z,O-1,T-1,T-1-C,EUR,10.00,0.39,${net}`,
    `${head},2,payout,2026-11-19T23:00:00Z,,,,EUR,-9.61,0.00,-9.61`,
    '',
  ].join('\n');
}

async function countOf(house: House, table: string): Promise<number> {
  const { rows } = await house.db.query(`select 1 from tieout.${table}`);
  return rows.length;
}

test('what is the same at two looks is taken, moved, and settled; what is written, linked or a folder stays', async () => {
  const { house, inbox } = await houseWithInbox();
  const look = await lookOf(house);
  const file = join(inbox, 'settlement_1.csv');
  writeFileSync(file, batchText(house, 'B1').slice(0, 100));
  await look();
  writeFileSync(file, batchText(house, 'B1'));
  writeFileSync(join(inbox, 'settlement_2.csv.part'), batchText(house, 'B2'));
  writeFileSync(join(inbox, '.settlement_3.csv'), batchText(house, 'B3'));
  writeFileSync(join(house.folder, 'elsewhere.csv'), batchText(house, 'B4'));
  symlinkSync(join(house.folder, 'elsewhere.csv'), join(inbox, 'settlement_4.csv'));
  mkdirSync(join(inbox, 'settlement_5.csv'));
  await look();
  expect(await countOf(house, 'settlement_lines')).toBe(0);
  await look();
  await look();
  expect(await countOf(house, 'settlement_lines')).toBe(2);
  expect(readdirSync(join(inbox, 'done'))).toEqual(['settlement_1.csv']);
  expect(existsSync(join(inbox, 'refused'))).toBe(false);
  expect(await inboxFigures(inbox)).toEqual({
    waiting: 2,
    refused: 0,
    strange: ['settlement_4.csv', 'settlement_5.csv'],
  });
  expect(house.lines.filter((line) => line.startsWith('inbox: '))).toEqual([
    'inbox: settlement_1.csv: lines inserted 2, unchanged 0, in batches 1',
  ]);
});

test('what is refused lies aside with the reason, is told once, and harms no other; mended, it comes again', async () => {
  const { house, inbox } = await houseWithInbox();
  const look = await lookOf(house);
  writeFileSync(join(inbox, 'settlement_1.csv'), batchText(house, 'B1', '9.60'));
  writeFileSync(join(inbox, 'settlement_2.csv'), batchText(house, 'B2'));
  writeFileSync(join(inbox, 'statement.xml'), '<Document/>');
  writeFileSync(join(inbox, 'settlement_3.csv'), 'not\0 a table');
  writeFileSync(join(inbox, 'settlement_4.csv'), '');
  truncateSync(join(inbox, 'settlement_4.csv'), INBOX_FILE_BYTES_MAX + 1);
  for (let at = 0; at < 3; at += 1) await look();
  expect(readdirSync(join(inbox, 'done'))).toEqual(['settlement_2.csv']);
  const reason = (name: string) =>
    readFileSync(join(inbox, 'refused', `${name}.reason.txt`), 'utf8');
  expect(reason('settlement_1.csv')).toMatch(
    /line 2: net "9.60": is not gross - fee|line 2: amount/,
  );
  // Under any umask: lines of a settlement are money of a merchant.
  for (const path of ['done', 'refused', 'refused/statement.xml.reason.txt']) {
    expect(statSync(join(inbox, path)).mode & 0o077).toBe(0);
  }
  expect(reason('statement.xml')).toContain('no entry of settlement.files');
  expect(reason('settlement_4.csv')).toContain(`larger than ${INBOX_FILE_BYTES_MAX} bytes`);
  const { rows } = await house.db.query<{ subject: string }>(
    `select subject from tieout.outbox where event = 'file_refused' order by 1`,
  );
  expect(rows.map(({ subject }) => subject)).toEqual([
    'settlement_1.csv',
    'settlement_3.csv',
    'settlement_4.csv',
    'statement.xml',
  ]);
  writeFileSync(join(inbox, 'settlement_1.csv'), batchText(house, 'B1'));
  for (let at = 0; at < 2; at += 1) await look();
  expect(readdirSync(join(inbox, 'done')).sort()).toEqual(['settlement_1.csv', 'settlement_2.csv']);
  writeFileSync(join(inbox, 'settlement_1.csv'), batchText(house, 'B1'));
  for (let at = 0; at < 2; at += 1) await look();
  expect(readdirSync(join(inbox, 'done')).sort()).toEqual([
    '2-settlement_1.csv',
    'settlement_1.csv',
    'settlement_2.csv',
  ]);
  expect(await countOf(house, 'settlement_lines')).toBe(4);
});

test('what an import warns of stands in the log and beside the file: nobody reads what a clock takes', async () => {
  const { house, inbox } = await houseWithInbox();
  const look = await lookOf(house);
  for (const name of ['settlement_1.csv', 'settlement_2.csv']) {
    const batch = batchText(house, name);
    writeFileSync(join(inbox, name), name.includes('1') ? batch.replaceAll('-11-', '-10-') : batch);
  }
  for (let at = 0; at < 2; at += 1) await look();
  const warning =
    '2 booked before 2026-11-01 (settlement.from): history, matched where it appears, never missed';
  const done = join(inbox, 'done');
  expect(readFileSync(join(done, 'settlement_1.csv.warnings.txt'), 'utf8')).toBe(`${warning}\n`);
  expect(house.lines).toContain(`inbox: settlement_1.csv: warning: ${warning}`);
  expect(readdirSync(done)).not.toContain('settlement_2.csv.warnings.txt');
  // The same name comes again: neither file is written over.
  writeFileSync(join(inbox, 'settlement_1.csv'), batchText(house, 'B3'));
  for (let at = 0; at < 2; at += 1) await look();
  expect(readdirSync(done)).toContain('2-settlement_1.csv');
});

test('several clocks take it once, and one that was killed before the move leaves nothing to do twice', async () => {
  const { house, inbox } = await houseWithInbox();
  writeFileSync(join(inbox, 'settlement_1.csv'), batchText(house, 'B1'));
  writeFileSync(join(inbox, 'settlement_2.csv'), batchText(house, 'B2'));
  const { db, config } = await house.open();
  const rules = settlementRules(config);
  if (rules === null) throw new Error('nothing of settlement is kept');
  const deps = {
    db,
    profile: config.gateway.profile,
    accounts: config.accounts,
    since: rules.times,
  };
  const map = loadColumnMap(MAP, 'settlement');
  await importSettlement(deps, [join(inbox, 'settlement_1.csv')], { map, check: false });
  const clocks = await Promise.all([1, 2, 3].map(() => lookOf(house)));
  // Whoever does not get the lock leaves the file to the next look.
  for (let at = 0; at < 4; at += 1) await Promise.all(clocks.map((look) => look()));
  expect(readdirSync(join(inbox, 'done')).sort()).toEqual(['settlement_1.csv', 'settlement_2.csv']);
  expect(readdirSync(inbox)).toEqual(['done']);
  expect(await countOf(house, 'settlement_lines')).toBe(4);
  expect(await countOf(house, 'settlement_files')).toBe(2);
});

test('a folder that never answers holds up no night for good, and is said once', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
  cleanups.push(async () => void vi.useRealTimers());
  const lines: string[] = [];
  let looks = 0;
  let atWork: (what: string) => void = () => {};
  const never = (told = atWork): Promise<void> => {
    looks += 1;
    atWork = told;
    told('its folder does not answer: is it on a share that is away?');
    return new Promise(() => {});
  };
  const beside = besideTheClock(never, (line) => void lines.push(line));
  const running = new AbortController();
  vi.spyOn(performance, 'now').mockReturnValue(0);
  const stopped = beside.look(running.signal);
  running.abort();
  // Whoever is told to stop waits for no file.
  await stopped;
  expect(lines).toEqual([]);
  vi.spyOn(performance, 'now').mockReturnValue(5 * 60_000 + 1);
  for (let polls = 0; polls < 3; polls += 1) await beside.look(new AbortController().signal);
  expect(looks).toBe(1);
  expect(lines).toEqual([expect.stringMatching(/^inbox: the look .* does not end: .* share/)]);
  // Or it is no share that is waited for.
  atWork('what p1.csv brought is still being matched in the database');
  await beside.look(new AbortController().signal);
  expect(lines[1]).toMatch(/does not end: what p1.csv brought is still being matched in the data/);
  const ended = beside.end();
  await vi.advanceTimersByTimeAsync(10_000);
  await ended;
});

/** Processes that look into the folder now, stopped before they answer. */
async function stoppedLooks(inbox: string): Promise<number[]> {
  for (;;) {
    const found = readdirSync('/proc').filter(
      (name) => /^\d+$/.test(name) && looksInto(name, inbox),
    );
    for (const pid of found) process.kill(Number(pid), 'SIGSTOP');
    if (found.length > 0) return found.map(Number);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

function looksInto(pid: string, inbox: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').endsWith(`\0${inbox}\0`);
  } catch {
    return false;
  }
}

test('a folder that never answers is looked into once, and keeps no process from its end', {
  timeout: 180_000,
}, async () => {
  await ensureBuilt();
  const { house, inbox } = await houseWithInbox();
  const look = await lookOf(house);
  const asked = [inboxFigures(inbox), inboxFigures(inbox), look()];
  const [pid = 0, ...others] = await stoppedLooks(inbox);
  asked.push(inboxFigures(inbox), inboxFigures(inbox));
  expect([others, await stoppedLooks(inbox)]).toEqual([[], [pid]]);
  process.kill(pid, 'SIGCONT');
  await Promise.all(asked);
  const doctor = tieout(['doctor'], { cwd: house.folder });
  const [left = 0] = await stoppedLooks(inbox);
  const { code, stdout } = await doctor;
  expect([code, stdout]).toEqual([1, expect.stringMatching(/settlement\.inbox: no answer in/)]);
  await expect.poll(() => looksInto(String(left), inbox), { timeout: 5_000 }).toBe(false);
});
