// docs/RECONCILIATION.md held to its word: every command it shows runs on the demo's data, with the
// numbers of this demo in place of the ones printed there.

import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tieout } from '../support/cli.js';
import type { SeparateHouse } from '../support/separateHouse.js';
import { buildSeparateHouse } from '../support/separateHouse.js';
import { textOf } from '../support/sourceFiles.js';

const COMMANDS = [...textOf('docs/RECONCILIATION.md').matchAll(/^ {4}npx tieout (.+)$/gm)].map(
  ([, line = '']) => line,
);

let house: SeparateHouse;
let folder = '';

beforeAll(async () => {
  house = await buildSeparateHouse({ orders: 0, seed: 1 });
  folder = join(house.folder, 'gateway');
  const demo = await tieout(['demo', '--orders', '900', '--json'], { cwd: folder });
  expect(demo.code, demo.stderr).toBe(0);
}, 120_000);
afterAll(() => house.end());

describe('the questions of a controller', () => {
  it('are answered by commands that are there', () => {
    expect(COMMANDS.length).toBeGreaterThan(12);
  });

  it('each of them answers on the data of the demo', async () => {
    const [newest] = JSON.parse((await run('runs', 'list', '--json')).stdout) as { run: string }[];
    const found = JSON.parse((await run('instructions', 'list', '--json')).stdout) as unknown;
    const instruction = firstRefund(found);
    for (const line of COMMANDS) {
      const words = wordsOf(line)
        .map((word) => (/^\d{4}-\d\d-\d\d$/.test(word) ? (newest?.run ?? '') : word))
        .map((word) => (/^\d+$/.test(word) ? instruction.id : word))
        .map((word) => (/^SO-\d/.test(word) ? instruction.orderNo : word))
        .map((word) => (/^A\d{4}$/.test(word) ? instruction.accountId : word));
      const ended = await run(...words);
      expect(ended.code, `${line}: ${ended.stderr}`).toBe(0);
      expect(ended.stdout.length, line).toBeGreaterThan(20);
    }
  }, 120_000);
});

function run(...args: string[]) {
  return tieout(args, { cwd: folder });
}

/** Words of a command line; 'in quotes' is one. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}

interface Found {
  id: string;
  accountId: string;
  orderNo: string;
}

function firstRefund(listed: unknown): Found {
  const rows = (Array.isArray(listed) ? listed : Object.values(listed as object).flat()) as Record<
    string,
    unknown
  >[];
  const row = rows.find((one) => one.operation === 'refund') ?? {};
  const id = row.id ?? row.instructionId;
  return { id: String(id), accountId: String(row.accountId), orderNo: String(row.orderNo) };
}
