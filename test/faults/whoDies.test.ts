// Each kind of process that a night needs, killed or frozen in the middle of it; somebody else is
// there, or comes, and the night ends well without a person (docs/STATES.md, "Who may die"). The
// database is the part of restart.test.ts; what a frozen process writes, of takenOver.test.ts.

import { describe, expect, it } from 'vitest';
import type { Running } from '../support/cli.js';
import { startTieout } from '../support/cli.js';
import type { SeparateHouse } from '../support/separateHouse.js';
import { buildSeparateHouse } from '../support/separateHouse.js';
import type { Step } from '../support/steps.js';
import { gateAt, INSTALLED_LONG_AGO } from '../support/steps.js';
import { auditRun } from './audit.js';

const MINUTE_MS = 60_000;

type Kind = 'run' | 'start' | 'schedule' | 'work';
type How = 'SIGKILL' | 'SIGSTOP';
type Place = readonly [kind: Kind, step: Step, how: How];

/** TIEOUT_STEPS=all: every kind at every step, both ways. */
const PLACES: readonly Place[] =
  process.env.TIEOUT_STEPS === 'all'
    ? (['run', 'start', 'schedule', 'work'] as const).flatMap((kind) =>
        (
          ['pull', 'compare', 'send', 'claim', 'confirm', 'total', 'report', 'end'] as const
        ).flatMap((step) =>
          (['SIGKILL', 'SIGSTOP'] as const).map((how): Place => [kind, step, how]),
        ),
      )
    : [
        ['run', 'compare', 'SIGSTOP'],
        ['start', 'claim', 'SIGKILL'],
        ['schedule', 'total', 'SIGKILL'],
        ['work', 'claim', 'SIGSTOP'],
      ];

/** A night is owed at once, whoever keeps the clock. */
const SETTINGS = {
  schedule: { cron: '* * * * *', timezone: 'UTC', cutOff: '00:00', resumeUntil: '23:59' },
  web: { host: '127.0.0.1', port: 0 },
};

describe('a process of a night', () => {
  it.each(PLACES)('%s, at %s, %s', { timeout: 5 * MINUTE_MS }, async (kind, step, how) => {
    const house = await buildSeparateHouse({ orders: 300, seed: 13, settings: SETTINGS });
    await house.db.query(INSTALLED_LONG_AGO);
    const gate = await gateAt(house.connection, step);
    const begun: Running[] = [];
    const begin = (...words: string[]): Running => {
      const one = startTieout(words, { cwd: house.folder });
      begun.push(one);
      return one;
    };
    try {
      const victim = begin(kind);
      // A worker begins no night by itself.
      if (kind === 'work') begin('schedule');
      await gate.reached();
      victim.signal(how);
      await gate.open();
      if (kind !== 'work') begin('schedule');
      await expect.poll(() => stateOf(house), { timeout: 4 * MINUTE_MS }).toBe('broken');
      expect(await auditRun(house.db, await house.effects())).toEqual([]);
    } finally {
      for (const one of begun) one.signal('SIGKILL');
      await Promise.all(begun.map((one) => one.ended));
      await house.end();
    }
  });
});

async function stateOf({ db }: SeparateHouse): Promise<string | undefined> {
  const { rows } = await db.query<{ state: string }>('select state from tieout.runs');
  return rows[0]?.state;
}
