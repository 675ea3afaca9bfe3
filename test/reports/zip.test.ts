// Our own archive as others read it: entries, dates, checks; and what happens when its output fails.

import { execFileSync } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  closeEntry,
  closeZip,
  openEntry,
  openZip,
  writeEntry,
} from '../../reports/xlsx/format/zip.js';
import { entryDates, unzip } from './openXlsx.js';

const DATE = new Date('2026-11-20T03:20:00.000Z');

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tieout-zip-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function archive(entries: Record<string, Iterable<string>>): Promise<string> {
  const path = join(folder, 'a.zip');
  const sink = createWriteStream(path);
  const zip = openZip(sink, DATE);
  for (const [name, pieces] of Object.entries(entries)) {
    const entry = await openEntry(zip, name);
    for (const piece of pieces) await writeEntry(entry, Buffer.from(piece));
    await closeEntry(entry);
  }
  await closeZip(zip);
  await finished(sink);
  return path;
}

function* lines(count: number): Generator<string> {
  for (let line = 0; line < count; line += 1) yield `${line} ${'ä'.repeat(line % 80)}\n`;
}

describe('the archive', () => {
  test('gives every entry back as it was put in', async () => {
    const path = await archive({
      'a/b.xml': ['<a/>'],
      empty: [],
      'gr\u00f6\u00dfe': lines(50_000),
    });
    const entries = await unzip(path);
    expect([...entries.keys()]).toEqual(['a/b.xml', 'empty', 'gr\u00f6\u00dfe']);
    expect(entries.get('a/b.xml')).toBe('<a/>');
    expect(entries.get('empty')).toBe('');
    expect(entries.get('gr\u00f6\u00dfe') === [...lines(50_000)].join('')).toBe(true);
    expect(new Set((await entryDates(path)).values())).toEqual(new Set(['2026-11-20 03:20']));
  });

  test.skipIf(!hasUnzip())('passes the checks of another program', async () => {
    const path = await archive({ one: ['1'], two: lines(10_000) });
    expect(execFileSync('unzip', ['-t', path], { encoding: 'utf8' })).toContain('No errors');
  });

  test('holds one open entry at a time', async () => {
    const zip = openZip(new Writable({ write: (_c, _e, done) => done() }), DATE);
    await openEntry(zip, 'one');
    await expect(openEntry(zip, 'two')).rejects.toThrow('one is still open');
  });

  test('tells the writer that the output failed, and waits for a slow one', async () => {
    let taken = 0;
    const sink = new Writable({
      highWaterMark: 1_000,
      write(chunk: Buffer, _encoding, done) {
        taken += chunk.length;
        setTimeout(() => done(taken > 100_000 ? new Error('the disk is gone') : null), 1);
      },
    });
    sink.on('error', () => undefined);
    const zip = openZip(sink, DATE);
    const entry = await openEntry(zip, 'noise');
    let given = 0;
    const write = async (): Promise<void> => {
      for (; given < 10_000; given += 1) await writeEntry(entry, noise(given));
    };
    await expect(write()).rejects.toThrow('the disk is gone');
    // What is compressed and not yet taken is a few pieces, not the whole of it.
    expect(given * 4_096 - taken).toBeLessThan(1_000_000);
  });
});

/** Bytes that no compressor makes smaller. */
function noise(seed: number): Buffer {
  let state = seed + 1;
  return Buffer.from(
    Array.from({ length: 4_096 }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state >>> 24;
    }),
  );
}

function hasUnzip(): boolean {
  try {
    execFileSync('unzip', ['-v'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
