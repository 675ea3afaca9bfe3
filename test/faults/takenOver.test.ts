// A process that holds a run and falls silent (Ctrl-Z, a paused host, a disk that hangs) is taken
// over while it sleeps. It wakes up in the middle of what it did and must not write another word:
// whatever step it was at, the books are those of a night that nobody disturbed.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunSummary } from '../../src/core/runs/summary.js';
import { SILENCE_MS_MAX } from '../../src/runs/lease.js';
import { startTieout, tieout } from '../support/cli.js';
import type { SeparateHouse } from '../support/separateHouse.js';
import { buildSeparateHouse } from '../support/separateHouse.js';
import type { Step } from '../support/steps.js';
import { gateAt } from '../support/steps.js';
import { auditRun } from './audit.js';
import { booksOf } from './books.js';

const SETTINGS = { orders: 300, seed: 7 };
const MINUTE_MS = 60_000;

let undisturbed: object;
let quiet: SeparateHouse;

beforeAll(async () => {
  quiet = await buildSeparateHouse(SETTINGS);
  const { code, stdout, stderr } = await tieout(['run', '--json'], { cwd: quiet.folder });
  expect([0, 3, 4], stderr).toContain(code);
  undisturbed = await lastingBooks(quiet, JSON.parse(stdout) as RunSummary);
}, MINUTE_MS);

afterAll(() => quiet.end());

/** A second snapshot of the same night asks for gateway-only orders by name, too: that much may differ. */
async function lastingBooks(house: SeparateHouse, summary: RunSummary): Promise<object> {
  const { figures, ...books } = await booksOf(house, summary);
  const { pull, coverage, ...others } = figures;
  return { ...books, figures: others };
}

const holderOf = async ({ db }: SeparateHouse): Promise<string | null> => {
  const { rows } = await db.query<{ id: string }>('select runner_id as id from tieout.runs');
  return rows[0]?.id ?? null;
};

/** As if it had slept for so long: the database dates the signs of life. */
const SILENT = `update tieout.runs set heartbeat_at = clock_timestamp() - interval '1 minute'`;

/** The last one waits out a real silence, as long as four others take: `npm run faults:all`. */
const STOPPED_AT: Step[] = [
  ...(['pull', 'compare', 'plan', 'send', 'confirm', 'total', 'report'] as const),
  ...(process.env.TIEOUT_STEPS === 'all' ? (['end'] as const) : []),
];

describe('a runner that sleeps and is taken over', () => {
  it.each(STOPPED_AT)(
    'at %s writes nothing once it wakes',
    { timeout: 3 * MINUTE_MS },
    async (step) => {
      const house = await buildSeparateHouse(SETTINGS);
      const gate = await gateAt(house.connection, step);
      const first = startTieout(['run', '--json'], { cwd: house.folder });
      try {
        await gate.reached();
        const sleeper = await holderOf(house);
        first.signal('SIGSTOP');
        await gate.open();
        // Its last transaction has locked the very row.
        if (step === 'end') await sleep(SILENCE_MS_MAX);
        else await house.db.query(SILENT);
        const second = startTieout(['run', '--json'], { cwd: house.folder });
        await expect.poll(() => holderOf(house), { timeout: MINUTE_MS }).not.toBe(sleeper);
        first.signal('SIGCONT');
        const [late, whole] = await Promise.all([first.ended, second.ended]);
        expect(late.code, late.stderr).toBe(1);
        expect(late.stdout).toBe('');
        expect(late.stderr).toMatch(/the run was taken over by another process/);
        expect([0, 3, 4], whole.stderr).toContain(whole.code);
        const summary = JSON.parse(whole.stdout) as RunSummary;
        expect(await lastingBooks(house, summary)).toEqual(undisturbed);
        expect(await auditRun(house.db, await house.effects())).toEqual([]);
        const verified = await tieout(['verify', summary.businessDate], { cwd: house.folder });
        expect(verified.code, verified.stderr).toBe(0);
      } finally {
        first.signal('SIGKILL');
        await house.end();
      }
    },
  );
});
