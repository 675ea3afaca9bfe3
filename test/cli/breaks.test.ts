// `tieout breaks` as the built program: lists, groups, decisions by number and by filter, exit codes,
// and that a night still ties after people have decided.

import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { filterOf } from '../../src/cli/breaks/breakFilter.js';
import type { RunSummary } from '../../src/core/runs/summary.js';
import { workedOutOpenAfter } from '../../src/core/runs/summary.js';
import { labelStates } from '../../src/core/text/labels.js';
import type { Ended } from '../support/cli.js';
import { tieout } from '../support/cli.js';
import { tieoutHere } from '../support/cliHere.js';
import type { SeparateHouse } from '../support/separateHouse.js';
import { buildSeparateHouse } from '../support/separateHouse.js';

let house: SeparateHouse;
/** As it was built, in a process of its own. */
const built = (...args: string[]): Promise<Ended> => tieout(args, { cwd: house.folder });
const run = (...args: string[]): Promise<Ended> => tieoutHere(args, { cwd: house.folder });

interface Listed {
  total: { breaks: number; orders: number; money: Record<string, string> };
  breaks: { breakId: string; kind: string; sentence: string; owner: string | null }[];
  groups: { key: string; breaks: number }[];
}

beforeAll(async () => {
  house = await buildSeparateHouse({ orders: 300, seed: 21 });
  const night = await run('run', '--json');
  expect(night.code, night.stderr).toBe(3);
}, 120_000);
afterAll(() => house.end());

describe('tieout breaks', () => {
  it('lists what is open, in words and as one document', async () => {
    const listed = await built('breaks');
    expect(listed.code, listed.stderr).toBe(0);
    expect(listed.stdout).toMatch(/^\d+ open breaks of \d+ orders: [\d,]+\.\d\d EUR/);
    const all = JSON.parse((await run('breaks', 'list', '--json')).stdout) as Listed;
    expect(all.breaks.length).toBe(all.total.breaks);
    for (const one of all.breaks) expect(listed.stdout).toContain(labelStates(one.sentence));
    const few = JSON.parse(
      (await run('breaks', 'list', '--limit', '1', '--json')).stdout,
    ) as Listed;
    expect(few.breaks).toEqual(all.breaks.slice(0, 1));
    const groups = await run('breaks', 'list', '--group', 'kind', '--json');
    const counted = (JSON.parse(groups.stdout) as Listed).groups;
    expect(counted.reduce((sum, one) => sum + one.breaks, 0)).toBe(all.total.breaks);
  });

  it('shows a refund mismatch with the requests that the state was held against', async () => {
    const { breaks } = JSON.parse((await run('breaks', 'list', '--json')).stdout) as Listed;
    const id = breaks.find((one) => one.kind === 'refund_mismatch')?.breakId ?? '';
    const shown = await run('breaks', 'show', id);
    expect(shown.stdout).toMatch(/refund requests: [\d.,]+ of [\d.,]+ [A-Z]{3}; counted as done: /);
    await house.db.query(
      `insert into ledger.refund_requests (account_id, refund_id, order_no, refund_amount,
         requested_at)
       select account_id, 'R-old', order_no, 1.50, '2020-01-01Z' from tieout.breaks
       where break_id = $1`,
      [id],
    );
    const again = JSON.parse((await run('breaks', 'show', id, '--json')).stdout);
    expect(again.refundRequests).toMatchObject([
      { refundId: 'R-old', amount: '1.50', state: 'history' },
    ]);
    await house.db.query(`delete from ledger.refund_requests where refund_id = 'R-old'`);
    // A database that was put back has forgotten what it sent; a journal has not.
    await house.db.query(
      `insert into tieout.lost_permits (attempt_id, entry, account_id, operation, order_no,
         refund_id, currency, amount, sent_at, host)
       select gen_random_uuid(), 0, account_id, 'refund', order_no, 'R-lost', 'EUR', '1.50',
         '2026-01-02Z', 'other-host' from tieout.breaks where break_id = $1`,
      [id],
    );
    const restored = await run('breaks', 'show', id);
    expect(restored.stdout).toMatch(/perhaps sent .*refund R-lost 1\.50 EUR.* by other-host/);
  });

  it('shows a waiver that waits for its second person, who may refuse it', async () => {
    const all = JSON.parse((await run('breaks', 'list', '--json')).stdout) as Listed;
    const large = ['breaks', 'waive', '--min', '500.01', '--reason', 'paid by bank', '--json'];
    const { rows } = JSON.parse((await run(...large, '--as', 'anna', '--check')).stdout);
    const id = (rows as { breakId: string; kind: string }[]).find(
      ({ kind }) => kind === 'waiver_asked',
    )?.breakId;
    if (id === undefined) throw new Error('no break needs a second person');
    await run('breaks', 'waive', id, '--reason', 'paid by bank', '--as', 'anna');
    const tray = await run('breaks', 'list', '--state', 'waiver_asked');
    expect(tray.stdout).toContain('1 waiting break of 1 order');
    expect(tray.stdout).toMatch(/#\d+ .* waits for a second person +\d+ d /);
    expect(tray.stdout).toContain(
      'anna asked for a waiver (paid by bank); a second person has yet to agree ' +
        '(`tieout breaks waive`) or refuse (`tieout breaks reopen`)',
    );
    const refused = await run('breaks', 'reopen', id, '--reason', 'no', '--as', 'bert');
    expect(refused.stdout).toContain(`#${id}  waiver refused`);
    expect(refused.stdout).toMatch(/^ +1 open still, the waiver refused: [\d,.]+ [A-Z]{3}$/m);
    const shown = await run('breaks', 'show', id);
    expect(shown.stdout).toMatch(/waiver refused by bert \(as said on the command line\): no/);
    expect(JSON.parse((await run('breaks', 'list', '--json')).stdout)).toEqual(
      expect.objectContaining({ breaks: all.breaks }),
    );
  });

  it('decides by number and by filter, with a verdict a row, and the next night ties', async () => {
    const all = JSON.parse((await run('breaks', 'list', '--json')).stdout) as Listed;
    const [first] = all.breaks;
    const id = first?.breakId ?? '';
    const assigned = await built('breaks', 'assign', id, '--to', 'bert', '--as', 'anna');
    expect(assigned.code, assigned.stderr).toBe(0);
    expect(assigned.stdout).toContain(`#${id}  assigned`);
    const kind = first?.kind ?? '';
    const waive = ['breaks', 'waive', '--kind', kind, '--reason', 'known', '--json'];
    const check = await run(...waive, '--as', 'anna', '--check');
    expect(check.code, check.stderr).toBe(0);
    expect(JSON.parse((await run('breaks', 'list', '--json')).stdout)).toMatchObject({
      total: { breaks: all.total.breaks },
    });
    await run(...waive, '--as', 'anna');
    const second = await run(...waive, '--as', 'bert');
    expect(second.code, second.stderr).toBe(0);
    const shown = await run('breaks', 'show', id);
    expect(shown.stdout).toMatch(
      /waived (as the second person )?by (anna|bert) \(as said on the command line\): known/,
    );
    const again = await built('run', '--json');
    const summary = JSON.parse(again.stdout) as RunSummary;
    const waived = summary.accounts.reduce((sum, account) => sum + account.tie.waived, 0);
    expect(waived).toBe(all.breaks.filter((one) => one.kind === kind).length);
    for (const account of summary.accounts) {
      expect(workedOutOpenAfter(account.tie)).toBe(account.tie.openAfter);
    }
    expect(summary.accounts.reduce((sum, account) => sum + account.orders.explained, 0)).toBe(
      waived,
    );
  });

  for (const [name, args, words] of [
    ['a number that is none', ['show', 'x1'], 'is no number of a break'],
    ['a break that there is not', ['show', '999999'], 'there is no break 999999'],
    ['a decision over everything', ['waive', '--reason', 'x'], 'name breaks by number'],
    ['numbers and filters', ['note', '1', '--kind', 'amount_mismatch', '--text', 'x'], 'not both'],
    ['no reason', ['waive', '1'], '--reason'],
    ['a kind that there is not', ['list', '--kind', 'odd'], 'is no kind of break'],
    ['an account that there is not', ['list', '--account', 'A10O1'], 'A10O1: no such account'],
    ['it in a decision', ['waive', '--account', 'A10O1', '--reason', 'x'], 'no such account'],
    ['a group that there is not', ['list', '--group', 'odd'], '--group must be'],
    ['an amount that is none', ['list', '--min', '1,5'], 'must be an amount'],
    ['amounts that leave none', ['list', '--min', '500', '--max', '10'], '500 is more than --max'],
    [
      'a currency that there is not',
      ['waive', '--currency', 'XQX', '--reason', 'x'],
      'XQX: no such',
    ],
    ['dates that leave none', ['list', '--since', '2026-11-20', '--until', '2026-11-19'], 'no day'],
    ['an age that is none', ['list', '--age', 'old'], 'must be days'],
    ['a date that is none', ['list', '--since', '2026-13-01'], 'must be a date'],
  ] as const) {
    it(`exits 2 on ${name}`, async () => {
      const ended = await run('breaks', ...args);
      expect(ended.code).toBe(2);
      expect(ended.stderr).toContain(words);
    });
  }
});

test('dates of the filters are those of the zone of the schedule, as ages are', () => {
  const clock = { at: new Date('2026-11-20T12:00:00Z'), timezone: 'Asia/Tokyo' };
  const seen = {
    seenFrom: new Date('2026-11-17T15:00:00Z'),
    seenBefore: new Date('2026-11-18T15:00:00Z'),
  };
  const dates = { since: '2026-11-18', until: '2026-11-18' };
  expect(filterOf(dates, clock, ['open'])).toMatchObject(seen);
  expect(filterOf({ age: '2-2' }, clock, ['open'])).toMatchObject(seen);
});
