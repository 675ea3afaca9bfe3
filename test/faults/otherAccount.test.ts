// Two crons, one for each account, and the process of one of them dies in the middle of its snapshot.
// The other account's night ends whole; the one that was left says so, and the next run makes it.

import { expect, it } from 'vitest';
import type { RunSummary } from '../../src/core/runs/summary.js';
import { consoleRun, runMarks } from '../../src/report/consoleRunsStore.js';
import { startTieout, tieout } from '../support/cli.js';
import { factsOfClose } from '../support/closing.js';
import { buildSeparateHouse } from '../support/separateHouse.js';
import { gateAt } from '../support/steps.js';
import { auditRun } from './audit.js';

const MINUTE_MS = 60_000;

it('an account that was left in the middle stops no other', {
  timeout: 3 * MINUTE_MS,
}, async () => {
  const house = await buildSeparateHouse({ orders: 400, seed: 13 });
  try {
    const here = { cwd: house.folder };
    const gate = await gateAt(house.connection, 'pages');
    const first = startTieout(['run', '--account', 'A1001'], here);
    await gate.reached();
    first.signal('SIGKILL');
    await first.ended;
    await gate.open();
    const other = await tieout(['run', '--account', 'A1002', '--json'], here);
    expect(other.code, other.stderr).toBe(4);
    const summary = JSON.parse(other.stdout) as RunSummary;
    const [left, whole] = summary.accounts;
    expect(left).toMatchObject({ accountId: 'A1001', state: 'incomplete' });
    expect(left?.orders.ledger).toBeGreaterThan(0);
    expect(left?.orders.notCompared).toBe(left?.orders.ledger);
    expect(summary.coverage?.[0]).toMatchObject({ noEntry: 0, unanswered: left?.orders.ledger });
    expect(whole).toMatchObject({ accountId: 'A1002', state: 'broken' });
    expect(summary.reports.length).toBeGreaterThan(0);
    const verified = await tieout(['verify', summary.businessDate], here);
    expect(verified.code, verified.stdout + verified.stderr).toBe(0);
    const all = await tieout(['run', '--json'], here);
    expect(all.code, all.stderr).toBe(3);
    expect(await auditRun(house.db, await house.effects())).toEqual([]);
  } finally {
    await house.end();
  }
});

it.each([
  ['before its snapshot', 'pull'],
  ['before its plan was whole', 'plan'],
] as const)(
  'an account that the first try of the night left %s makes it incomplete',
  {
    timeout: 3 * MINUTE_MS,
  },
  async (_, step) => {
    const house = await buildSeparateHouse({ orders: 200, seed: 13 });
    try {
      const here = { cwd: house.folder };
      const gate = await gateAt(house.connection, step);
      const first = startTieout(['run'], here);
      await gate.reached();
      first.signal('SIGKILL');
      await first.ended;
      await gate.open();
      const part = await tieout(['run', '--account', 'A1002', '--json'], here);
      const { state, notices, businessDate } = JSON.parse(part.stdout) as RunSummary;
      expect([part.code, state], part.stderr).toEqual([4, 'incomplete']);
      expect(notices).toContainEqual(
        expect.objectContaining({
          accountId: 'A1001',
          kind: 'not_finished',
          text: expect.stringContaining(`tieout run --date ${businessDate}`),
        }),
      );
      expect((await tieout(['status'], here)).stdout).toContain('account A1001 is not finished');
      const again = await tieout(['run', '--account', 'A1002', '--json'], here);
      expect([again.code, JSON.parse(again.stdout).state]).toEqual([4, 'incomplete']);
      // Whoever sees that account alone is shown a night that has ended.
      expect(
        (await consoleRun(house.db, { accounts: ['A1001'], seesAll: false }, null))?.state,
      ).toBe('incomplete');
      expect(
        (await runMarks(house.db, { accounts: ['A1001'], seesAll: false }, 9)).at(-1)?.state,
      ).toBe('incomplete');
      const closing = await factsOfClose(house.db, 'A1001', businessDate);
      expect(closing.runState).toBe('incomplete');
      const all = await tieout(['run', '--json'], here);
      expect(all.code, all.stderr).toBe(3);
      expect(JSON.stringify(JSON.parse(all.stdout).notices ?? [])).not.toContain('not_finished');
      expect(await auditRun(house.db, await house.effects())).toEqual([]);
    } finally {
      await house.end();
    }
  },
);
