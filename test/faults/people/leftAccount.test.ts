// An account that leaves the configuration takes nothing along that is not finished: its unknown
// refund and its open breaks stay in exit code, status and doctor until a person has settled them,
// or the account is back.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunSummary } from '../../../src/core/runs/summary.js';
import { ensureBuilt, tieout } from '../../support/cli.js';
import type { House } from '../../support/night.js';
import { buildHouse, dateOf, rewriteSettings } from '../../support/night.js';

let house: House;
let accounts: Record<string, unknown>[];

beforeAll(async () => {
  await ensureBuilt();
  house = await buildHouse({
    orders: 120,
    daysAgo: 2,
    fault: ({ operation }) => (operation === 'refund' ? { kind: 'drop', when: 'after' } : null),
  });
  await house.run({ date: dateOf(2) });
  // What no look has judged and nobody has sent is a break of its own.
  await house.db.query(
    `insert into ledger.refund_requests
     values ('A1002', 'R-left', 'O-left', 1.00, 'returned', null, $1)`,
    [`${dateOf(2)}T12:00:00Z`],
  );
  accounts = house.accounts.map((account) => ({
    ...account,
    liveFrom: `${dateOf(2)}T00:00:00Z`,
  }));
  rewriteSettings(house, { accounts: accounts.slice(0, 1) });
}, 180_000);
afterAll(() => house.end());

interface LeftBreak {
  breakId: string;
  kind: string;
}

const STRANGE = /of account A1002, which is not configured/;

const command = (...words: string[]) => tieout(words, { cwd: house.folder });

async function countOf(what: 'unknown' | 'break'): Promise<number> {
  const from = what === 'break' ? `breaks where state = 'open'` : `instructions where is_open`;
  const { rows } = await house.db.query<{ count: bigint }>(
    `select count(*) from tieout.${from} and account_id = 'A1002'`,
  );
  return Number(rows[0]?.count);
}

describe('an account that left the configuration', () => {
  it('is named in the summary, which is incomplete', async () => {
    expect(await countOf('unknown')).toBeGreaterThan(0);
    const { code, stdout, stderr } = await command('run', '--json', '--date', dateOf(1));
    expect(code, stderr).toBe(4);
    const { state, notices } = JSON.parse(stdout) as RunSummary;
    expect(state).toBe('incomplete');
    expect(notices).toContainEqual(
      expect.objectContaining({ accountId: 'A1002', kind: 'left_account' }),
    );
    // Its orders in the ledger are no news of their own while it is told of.
    const kinds = notices?.filter(({ accountId }) => accountId === 'A1002').map(({ kind }) => kind);
    expect(kinds).not.toContain('strange_orders');
    expect(stderr).toMatch(/A1002: the account is not in the configuration any more/);
    expect((await command('verify', dateOf(1))).code).toBe(0);
  });

  it('is named by status and doctor, with what to type', async () => {
    const status = await command('status');
    expect(status.stdout).toMatch(/account A1002 left the configuration with .*unknown/);
    expect(status.stdout).toMatch(/tieout instructions list --account A1002/);
    const doctor = await command('doctor');
    expect(doctor.code).toBe(1);
    expect(doctor.stdout).toMatch(/A1002.*not in the configuration any more/);
    for (const { stdout } of [status, doctor]) expect(stdout).not.toMatch(STRANGE);
  });

  it('is not named any more once what it left is settled by that', {
    timeout: 180_000,
  }, async () => {
    const listed = await command('instructions', 'list', '--account', 'A1002', '--json');
    const found = JSON.parse(listed.stdout) as { id: string; state: string }[];
    const why = ['--reason', 'seen in the portal', '--reference', 'P1', '--as', 'Ann'];
    // Whatever the night had come to when its account's breaker opened: some may still wait in a batch.
    const waiting = ['planned', 'held', 'queued', 'unknown'];
    const open = found.filter(({ state }) => waiting.includes(state));
    for (const { id, state } of open) {
      const { code, stderr } = await (state === 'unknown'
        ? command('instructions', 'resolve', id, 'happened', ...why)
        : command('instructions', 'reject', id, '--reason', 'account closed', '--as', 'Ann'));
      expect(code, stderr).toBe(0);
    }
    const breaks = await command('breaks', 'list', '--account', 'A1002', '--json');
    const { breaks: left } = JSON.parse(breaks.stdout) as { breaks: LeftBreak[] };
    // Its open breaks alone are as unfinished, for each that tells of it: as many as are listed,
    // with those of refund requests, which stand in books of its own.
    expect(left.map(({ kind }) => kind)).toContain('refund_without_order');
    const alone = new RegExp(`is not finished: ${left.length} open breaks?\\.`);
    expect((await command('status')).stdout).toMatch(alone);
    const doctor = await command('doctor');
    expect([doctor.code, doctor.stdout]).toEqual([1, expect.stringMatching(alone)]);
    expect((await command('run', '--date', dateOf(1))).code).toBe(4);
    for (const { breakId } of left) {
      for (const as of ['Ann', 'Ben']) {
        await command('breaks', 'waive', breakId, '--reason', 'account closed', '--as', as);
      }
    }
    const { rows } = await house.db.query(
      "select state, hold_reason from tieout.instructions where is_open and account_id = 'A1002'",
    );
    expect(rows).toEqual([]);
    expect(await countOf('break')).toBe(0);
    const { code, stderr } = await command('run', '--json', '--date', dateOf(1));
    expect([0, 3], stderr).toContain(code);
    // Its orders stand in the ledger still, which is told; nothing of it is unfinished.
    const { stdout } = await command('status');
    expect(stdout).not.toMatch(/A1002 left the configuration/);
    expect(stdout).toMatch(STRANGE);
    expect(stdout).not.toMatch(/instructions list --account A1002/);
  });

  it('takes no break along that stands apart from its orders', async () => {
    const kinds = ['charged_back', 'payout_rejected'];
    await house.db.query(
      `with opened as (
         insert into tieout.breaks (account_id, order_no, kind, state, first_seen, first_run_id,
           last_run_id, expected, actual, fingerprint)
         select 'A1002', 'x' || kind, kind, 'open', now(), run_id, run_id, '{}', '{}', kind
         from (select max(run_id) as run_id from tieout.runs) r cross join unnest($1::text[]) kind
         returning break_id)
       insert into tieout.break_events (break_id, at, event, by, expected, actual)
       select break_id, now(), 'opened', 'tieout', '{}', '{}' from opened`,
      [kinds],
    );
    expect((await command('status')).stdout).toContain(
      'A1002: the account is not in the configuration any more and is not finished: 2 open breaks.',
    );
    const { code, stderr } = await command('run', '--date', dateOf(1));
    expect(code, stderr).toBe(4);
  });
});
