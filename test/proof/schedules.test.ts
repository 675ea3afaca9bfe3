// A small campaign and a small simulation, as the programs that people run, on the built program:
// no money moves twice, none is forgotten, none is believed to have moved that did not. .ci/run adds
// some minutes of each; longer ones: `npm run campaign`, `npm run simulate` (docs/RELIABILITY.md).

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { ensureBuilt } from '../support/cli.js';
import { ROOT } from '../support/sourceFiles.js';

const SEED = process.env.TIEOUT_PROOF_SEED ?? '1';
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

/** The row of the first table that is about us, as numbers. */
function rowOf(said: string): Record<string, number> {
  const [head = '', , row = ''] = said.split('\n').slice(said.split('\n').findIndex(isHead));
  const names = head.split('|').map((cell) => cell.trim());
  const cells = row.split('|').map((cell) => Number(cell.trim()));
  return Object.fromEntries(names.map((name, at) => [name, cells[at] ?? Number.NaN]));
}

function isHead(line: string): boolean {
  return line.includes('| schedules |');
}

const NOTHING_WRONG = {
  ...{ doubles: 0, losses: 0, wrong: 0, 'no end': 0, figures: 0, 'not told': 0, other: 0 },
};

describe('schedules of deaths, sleeps and lost answers', () => {
  it('end well in virtual time', { timeout: 5 * MINUTE_MS }, async () => {
    const words = ['--schedules', '80', '--wave', '80', '--seed', SEED];
    const { code, said } = await run('simulate.mjs', ...words);
    expect(rowOf(said), said).toMatchObject({ schedules: 80, ...NOTHING_WRONG });
    expect(rowOf(said).kills).toBeGreaterThan(0);
    expect(rowOf(said).effects).toBeGreaterThan(40);
    expect(code).toBe(0);
  });

  it('are drawn again from their seed', { timeout: 5 * MINUTE_MS }, async () => {
    const words = ['--wave', '6', '--seed', SEED, '--first', '500'];
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
      const { said } = await run('simulate.mjs', ...words, '--schedules', '12', ...inParts);
      expect(said).toMatch(/^2 of 2 waves are over already/);
      // By other draws it is another run.
      const others = await table('--schedules', '6', ...inParts, '--only', 'people decide');
      expect(others).toMatch(/\| tieout \| 6 \|/);
      expect(others).not.toBe(await table('--schedules', '6', ...inParts));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('end well in real processes', { timeout: 8 * MINUTE_MS }, async () => {
    const words = ['--schedules', '6', '--wave', '6', '--parallel', '1', '--seed', SEED];
    const { code, said } = await run('campaign.mjs', ...words);
    // Where a failed test is tried once more, what the first try found is not lost.
    if (code !== 0 || !((rowOf(said).effects ?? 0) > 2)) process.stderr.write(said);
    expect(rowOf(said), said).toMatchObject({ schedules: 6, ...NOTHING_WRONG });
    expect(rowOf(said).effects, said).toBeGreaterThan(2);
    expect(code).toBe(0);
  });
});
