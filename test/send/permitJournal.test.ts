// The journal of permits on the disk: what a killed process, a full disk, a full file and many
// writers leave behind is read back whole, and nothing is removed that a database may not know.

import { randomUUID } from 'node:crypto';
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DAY_MS } from '../../src/core/time.js';
import { wentBack } from '../../src/send/journal/journalMark.js';
import type { PermitJournal } from '../../src/send/journal/permitJournal.js';
import { openPermitJournal } from '../../src/send/journal/permitJournal.js';
import type { PermitLine } from '../../src/send/journal/permitSegments.js';
import { SEGMENT_DAYS_KEPT } from '../../src/send/journal/permitSegments.js';

let dataDir = '';
const opened: PermitJournal[] = [];
/** So small that a few lines fill a file. */
const SMALL_BYTES = 1_200;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'tieout-journal-'));
});
afterEach(async () => {
  for (const journal of opened.splice(0)) await journal.close();
  rmSync(dataDir, { recursive: true, force: true });
});

async function openOne(bytesMax?: number, folder = dataDir): Promise<PermitJournal> {
  const journal = await openPermitJournal(folder, bytesMax);
  opened.push(journal);
  return journal;
}

function permit(): PermitLine {
  const entries = [{ id: '1', amount: '10.00', currency: 'EUR' }];
  const ids = { attemptId: randomUUID(), batchId: '1', accountId: 'A1001' };
  return { ...ids, operation: 'capture', bodySha256: 'f'.repeat(64), entries };
}

async function give(journal: PermitJournal, count: number): Promise<string[]> {
  const lines = Array.from({ length: count }, permit);
  await Promise.all(lines.map((line) => journal.append(line)));
  return lines.map((line) => line.attemptId);
}

/** As if nothing had been written for longer than files are kept. */
function ageFiles(now: Date): void {
  const old = new Date(now.getTime() - (SEGMENT_DAYS_KEPT + 1) * DAY_MS);
  for (const name of files()) utimesSync(path(name), old, old);
}

describe('the mark beside it', () => {
  it('only counts up, and is nothing where it cannot be read', async () => {
    const journal = await openOne();
    expect(journal.mark()).toBeNull();
    for (const marks of [3, 5, 4]) journal.keepMark({ base: 'S/1', marks, released: null });
    expect(journal.mark()).toEqual({ base: 'S/1', marks: 5, released: null });
    // Of another database, and after a person has looked, it counts anew.
    journal.keepMark({ base: 'S/1', marks: 2, released: '100.5' });
    expect(journal.mark()?.marks).toBe(2);
    expect(readdirSync(path('')).filter((name) => name.includes('new'))).toEqual([]);
    writeFileSync(path('mark.json'), '{"base"');
    expect(journal.mark()).toBeNull();
  });

  const KEPT = { base: 'S/1', marks: 5, released: '100.5' };
  it.each([
    ['nothing was kept', null, KEPT, false],
    ['the database has counted on', KEPT, { ...KEPT, marks: 6 }, false],
    ['the last word did not come back', KEPT, KEPT, false],
    ['it counts fewer', KEPT, { ...KEPT, marks: 4 }, true],
    ['it knows no such journal', KEPT, null, true],
    ['it is another database', { ...KEPT, base: 'S/2' }, null, false],
    ['a person has looked since', KEPT, { ...KEPT, marks: 1, released: '200' }, false],
    ['it has forgotten that a person looked', KEPT, { ...KEPT, marks: 9, released: null }, true],
    ['and knows of an earlier time', KEPT, { ...KEPT, marks: 9, released: '99.5' }, true],
  ])('tells whether the database went back: %s', (_, mark, known, isBack) => {
    expect(wentBack(mark, known, 'S/1')).toBe(isBack);
  });
});

describe('a permit that the database has lost', () => {
  it('is found again with what it names, in whatever file it stands', async () => {
    const journal = await openOne(SMALL_BYTES);
    const entry = { order: 'SO-1', transaction: 'T1', refund: 'R1' };
    const lost = { ...permit(), entries: [{ id: '1', amount: '1.00', currency: 'EUR', ...entry }] };
    await give(journal, 6);
    await journal.append(lost);
    await give(journal, 6);
    expect(files().length).toBeGreaterThan(1);
    const found = await journal.find(new Set([lost.attemptId]));
    expect(found).toMatchObject([{ ...lost, at: expect.stringMatching(/^20/) }]);
    expect(await journal.find(new Set())).toEqual([]);
  });

  it('and moved nothing is one permit, with what became of it and what it names', async () => {
    const journal = await openOne(SMALL_BYTES);
    const refused = permit();
    await journal.append(refused);
    await give(journal, 6);
    const released = new Date();
    await journal.append({ ...refused, entries: [], outcome: 'rejected' });
    const found = await journal.find(new Set([refused.attemptId]));
    expect(found).toMatchObject([{ ...refused, outcome: 'rejected' }]);
    const reading = await journal.read(null, null);
    expect(reading).toMatchObject({ permits: { length: 7 }, damage: null });
    // A person let go of it before it was answered.
    expect((await journal.read(null, released)).permits).toEqual([]);
  });
});

const idsOf = ({ permits }: { permits: { permitId: string }[] }): string[] =>
  permits.map(({ permitId }) => permitId).sort();
const path = (name: string): string => join(dataDir, 'journal', name);
const files = (): string[] => readdirSync(path('')).filter((name) => name.startsWith('permits'));

describe('a line that a killed process left half-written', () => {
  it('is no permit, and those of others around it are', async () => {
    const one = await openOne();
    const given = await give(one, 2);
    appendFileSync(path('permits.ndjson'), '\n{"writer":"killed","number":1,"attemptId":"');
    const before = await one.read(null, null);
    expect([idsOf(before), before.damage]).toEqual([[...given].sort(), null]);
    given.push(...(await give(await openOne(), 2)), ...(await give(one, 1)));
    const after = await one.read(before.position, null);
    expect(after.damage).toBeNull();
    expect(idsOf(await one.read(null, null))).toEqual([...given].sort());
  });
});

describe('a disk that is full', () => {
  it('permits nothing; with room again the journal goes on by itself', async () => {
    mkdirSync(path(''));
    symlinkSync('/dev/full', path('permits.ndjson'));
    const journal = await openOne();
    const tries = await Promise.allSettled([1, 2, 3].map(() => journal.append(permit())));
    expect(tries.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    rmSync(path('permits.ndjson'));
    const given = await give(journal, 2);
    const reading = await journal.read(null, null);
    expect([idsOf(reading), reading.damage]).toEqual([[...given].sort(), null]);
  });
});

describe('a file that is full', () => {
  it('is followed by the next for all writers, and nothing is lost between them', async () => {
    const writers = [await openOne(SMALL_BYTES), await openOne(SMALL_BYTES)];
    const given: string[] = [];
    for (let turn = 0; turn < 8; turn += 1) {
      given.push(...(await Promise.all(writers.map((one) => give(one, 1)))).flat());
    }
    expect(files().length).toBeGreaterThan(3);
    const [one] = writers as [PermitJournal];
    const all = await one.read(null, null);
    expect([idsOf(all), all.damage]).toEqual([[...given].sort(), null]);
    const later = await give(one, 3);
    const rest = await one.read(all.position, null);
    expect(rest.damage).toBeNull();
    expect(idsOf(rest)).toEqual(expect.arrayContaining(later));
    expect(rest.permits.length).toBeLessThan(given.length);
  });

  it('is missed when it is gone, the newest one as well', async () => {
    const journal = await openOne(SMALL_BYTES);
    for (let turn = 0; turn < 10; turn += 1) await give(journal, 1);
    const { position } = await journal.read(null, null);
    const whole = join(dataDir, 'whole');
    cpSync(path(''), whole, { recursive: true });
    for (const gone of [1, position.segment]) {
      rmSync(path(`permits.${gone}.ndjson`));
      const { damage } = await journal.read(gone === 1 ? null : position, null);
      expect(damage).toMatch(/its file 1 is gone|it has no file \d+/);
      cpSync(whole, path(''), { recursive: true });
    }
    expect((await journal.read(position, null)).damage).toBeNull();
  });

  it('is removed when the database knows it and it is old, save the last two', async () => {
    const journal = await openOne(SMALL_BYTES);
    for (let turn = 0; turn < 10; turn += 1) await give(journal, 1);
    const { position } = await journal.read(null, null);
    const now = new Date();
    const before = files().length;
    await journal.removeBefore(position, now);
    expect(files().length).toBe(before);
    ageFiles(now);
    // Only what the database is known to hold.
    await journal.removeBefore({ segment: 2, bytes: 0 }, now);
    expect(files()).not.toContain('permits.ndjson');
    expect(files().length).toBe(before - 1);
    await journal.removeBefore(position, now);
    expect(files().length).toBe(2);
    const again = await journal.read(position, null);
    expect([again.damage, again.position]).toEqual([null, position]);
    // A database from a backup of before that does not find what it knew.
    expect((await journal.read({ segment: 1, bytes: 10 }, null)).damage).toMatch(/no file 1/);
  });

  it('is removed by several at once, and none of them fails', async () => {
    const journal = await openOne(SMALL_BYTES);
    for (let turn = 0; turn < 40; turn += 1) await give(journal, 1);
    const { position } = await journal.read(null, null);
    const now = new Date();
    ageFiles(now);
    const whole = join(dataDir, 'whole');
    cpSync(path(''), whole, { recursive: true, preserveTimestamps: true });
    for (let trial = 0; trial < 20; trial += 1) {
      cpSync(whole, path(''), { recursive: true, preserveTimestamps: true });
      await Promise.all(Array.from({ length: 8 }, () => journal.removeBefore(position, now)));
      expect(files().length).toBe(2);
    }
  });
});

describe('two hosts', () => {
  it('have a journal each, and know their own permits alone', async () => {
    const other = mkdtempSync(join(tmpdir(), 'tieout-journal-'));
    const [here, there] = [await openOne(), await openOne(undefined, other)];
    expect(here.journalId).not.toBe(there.journalId);
    const [given] = [await give(here, 2), await give(there, 1)];
    expect(idsOf(await here.read(null, null))).toEqual([...given].sort());
    rmSync(other, { recursive: true });
  });

  it('share one when they share the folder, whoever came first', async () => {
    const ids = await Promise.all([1, 2, 3, 4].map(() => openOne()));
    expect(new Set(ids.map(({ journalId }) => journalId)).size).toBe(1);
    expect(readFileSync(path('journal.json'), 'utf8')).toContain(ids[0]?.journalId);
    expect(readdirSync(path('')).filter((name) => name.endsWith('.new'))).toEqual([]);
  });
});
