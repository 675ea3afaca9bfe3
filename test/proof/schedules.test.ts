// A simulation is the same again from its seed, however it is divided, so that what it finds can be
// looked for. What it says of the program is for longer ones, of which .ci/run has some minutes:
// `npm run simulate`, `npm run campaign`, `npm run week` (docs/RELIABILITY.md).

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { ensureBuilt } from '../support/cli.js';
import { ROOT } from '../support/sourceFiles.js';

const MINUTE_MS = 60_000;

beforeAll(() => ensureBuilt(), 2 * MINUTE_MS);

async function run(program: string, ...words: string[]): Promise<{ code: number; said: string }> {
  const child = spawn(process.execPath, [join(ROOT, 'proof', program), ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  }
  const [code] = (await once(child, 'close')) as [number];
  return { code, said };
}

describe('schedules of deaths, sleeps and lost answers', () => {
  it('are drawn again from their seed, side by side as in parts', {
    timeout: 5 * MINUTE_MS,
  }, async () => {
    const words = ['--wave', '6', '--seed', '1', '--first', '500'];
    const table = async (...more: string[]) =>
      (await run('simulate.mjs', ...words, ...more)).said.replace(/^\d.*\n/gm, '');
    const sideBySide = await table('--schedules', '12', '--jobs', '2');
    expect(sideBySide).toMatch(/\| tieout \| 12 \|/);
    const folder = mkdtempSync(join(tmpdir(), 'tieout-simulate-'));
    try {
      const inParts = ['--jobs', '1', '--resume', folder];
      expect(await table('--schedules', '6', ...inParts)).toMatch(/\| tieout \| 6 \|/);
      expect(await table('--schedules', '12', ...inParts)).toBe(sideBySide);
      // Over already: all that is left to do is to print it.
      const { code, said } = await run('simulate.mjs', ...words, '--schedules', '12', ...inParts);
      expect(said).toMatch(/^2 of 2 waves are over already/);
      expect(code).toBe(0);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('count as done by the same program for as long as nothing of it changes that they load', async () => {
    const { loadedFrom } = (await import(join(ROOT, 'proof/program.mjs'))) as {
      loadedFrom: (dist: string) => string[];
    };
    const files = loadedFrom(join(ROOT, 'dist'));
    // By other modules alone, by a road that only some nights take, and where they are re-exported.
    for (const file of [
      'core/orders/decideVerdict',
      'send/journal/permitJournal',
      'report/writeReport',
    ]) {
      expect(files).toContain(`src/${file}.js`);
    }
    expect(files.filter((file) => file.startsWith('src/web/'))).toEqual([]);
  });
});
