// The database is restarted under a night, quickly or after a while, while it looks or sends. The
// night goes on by itself, whoever runs it: the clock of `tieout start`, or a `tieout run` that a
// cron began and nobody watches. Nobody is called, nothing is done twice.

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Running } from '../support/cli.js';
import { startTieout } from '../support/cli.js';
import { dateOf } from '../support/night.js';
import type { SeparateHouse } from '../support/separateHouse.js';
import { buildSeparateHouse } from '../support/separateHouse.js';
import type { Step } from '../support/steps.js';
import { gateAt, INSTALLED_LONG_AGO } from '../support/steps.js';
import { auditRun } from './audit.js';

const MINUTE_MS = 60_000;
const SOON_MS = 0;
const A_WHILE_MS = 20_000;

/** A night is owed at once. */
const SCHEDULE = { cron: '* * * * *', timezone: 'UTC', cutOff: '00:00', resumeUntil: '23:59' };

const PLACES: readonly (readonly [command: 'start' | 'run', step: Step, downMs: number])[] =
  process.env.TIEOUT_STEPS === 'all'
    ? (['start', 'run'] as const).flatMap((command) =>
        (
          ['pull', 'compare', 'send', 'claim', 'confirm', 'total', 'report', 'end'] as const
        ).flatMap((step) =>
          [SOON_MS, A_WHILE_MS].map((downMs) => [command, step, downMs] as const),
        ),
      )
    : [
        ['start', 'pull', SOON_MS],
        ['start', 'claim', A_WHILE_MS],
        ['run', 'compare', SOON_MS],
      ];

describe('a database that is restarted under a night', () => {
  it.each(PLACES)('of `%s`, at %s, after %i ms', { timeout: 5 * MINUTE_MS }, async (...place) => {
    const [command, step, downMs] = place;
    const settings = { schedule: SCHEDULE, web: { host: '127.0.0.1', port: 0 } };
    const house = await buildSeparateHouse({ orders: 300, seed: 11, database: 'server', settings });
    await house.db.query(INSTALLED_LONG_AGO);
    const gate = await gateAt(house.connection, step);
    const night = startTieout(command === 'run' ? ['run', '--json'] : ['start'], {
      cwd: house.folder,
    });
    try {
      await gate.reached();
      await house.restartServer(downMs);
      await gate.open();
      await ended(house, night, command);
      expect(await auditRun(house.db, await house.effects())).toEqual([]);
      const { rows } = await house.db.query<{ date: string; state: string }>(
        'select business_date as date, state from tieout.runs where not is_dry',
      );
      expect(rows).toEqual([{ date: dateOf(1), state: 'broken' }]);
    } finally {
      night.signal('SIGKILL');
      await night.ended;
      await house.end();
    }
  });
});

/** Without anybody who helps. */
async function ended(house: SeparateHouse, night: Running, command: string): Promise<void> {
  if (command === 'run') {
    const { code, stderr } = await night.ended;
    expect([0, 3, 4], stderr).toContain(code);
    return;
  }
  const state = async (): Promise<string | undefined> => {
    const { rows } = await house.db.query<{ state: string }>('select state from tieout.runs');
    return rows[0]?.state;
  };
  const deadline = Date.now() + 4 * MINUTE_MS;
  while ((await state().catch(() => undefined)) !== 'broken') {
    if (Date.now() > deadline) throw new Error(`the night stands still: ${await state()}`);
    await sleep(500);
  }
}
