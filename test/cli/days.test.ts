// `tieout days`: the days of real nights tie to what the nights say of their
// money, and decisions are kept.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dayLines, tableLines } from '../../src/cli/reports/daysText.js';
import { shownLine } from '../../src/cli/terminal.js';
import type { DayFigures } from '../../src/core/runs/businessDay.js';
import { tieoutHere } from '../support/cliHere.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf } from '../support/night.js';
import { rowCounts } from './rows.js';

it('days show a person groups, and the decimals that a currency has', () => {
  const moved = {
    opening: '0.00',
    captured: '1234567.00',
    refunded: '500.00',
    adjustments: '0.00',
  };
  const rest = { closing: '1234067.00', cancelled: '0.00', paidOut: '0.00' };
  const elsewhere = { captured: '4000.00', refunded: '0.00', suspense: 0 };
  const of = (currency: string) =>
    ({
      ...{ accountId: 'SHOP-NORTH-0001', businessDate: '2026-11-20', state: 'open', currency },
      ...{ ...moved, ...rest, elsewhere },
    }) as unknown as DayFigures;
  const screen = { zone: 'UTC', hasColours: false };
  const lines = tableLines([of('JPY'), of('EUR')], KEPT).map((line) => shownLine(line, screen));
  const [head, yen, euros] = lines;
  // Heads stand over their columns, also of an account whose name is long.
  expect([head?.length, yen?.length]).toEqual([euros?.length, euros?.length]);
  const [, , , ...inYen] = (yen ?? '').split(/ +/);
  expect(inYen.join(' ')).toBe('JPY 0 1,234,567 500 0 1,234,067 0 0 4,000 0 0');
  expect(euros).toMatch(/EUR +0\.00 +1,234,567\.00 +500\.00 .* 4,000\.00 +0\.00 +0$/);
});

const KEPT = { hasSettlement: false, hasPayoutUnit: true };

it('a day in full says of a date without a night that there is none, and when it is signed', () => {
  const figures = { opening: '0.00', captured: '5.00', refunded: '0.00', adjustments: '0.00' };
  const counts = { captures: 1, refunds: 0, cancels: 0, payouts: 0, late: 0 };
  const day = {
    ...{ accountId: 'A1', businessDate: '2026-11-20', currency: 'EUR', ...figures, ...counts },
    ...{ closing: '5.00', cancelled: '0.00', paidOut: '0.00', asOf: null, runState: null },
    ...{ timezone: null, cutOff: null },
  } as unknown as DayFigures;
  const told = (state: 'open' | 'closed' | 'locked', cutOff: string | null) => {
    const days = [{ ...day, state, cutOff, timezone: cutOff && 'UTC' }];
    const of = {
      accountId: 'A1',
      isConfigured: true,
      state,
      days,
      late: [],
      movedAcross: [],
      events: [],
    };
    const counts = {
      lateCount: 0,
      movedAcrossCount: 0,
      openNow: 20_000,
      workbook: null,
      changedAbout: null,
      signedOn: [],
    };
    const line = { isWell: false, isInTheWay: true, words: 'a line' };
    const checklist = [{ topic: 'night' as const, ...line }];
    const lines = dayLines('2026-11-20', { ...of, ...counts, checklist, changed: null }, KEPT);
    const screen = { zone: 'UTC', hasColours: false };
    return lines.map((line) => shownLine(line, screen)).join('\n');
  };
  expect(told('open', null)).toContain('\n  There is no night of this date.\n');
  expect(told('open', null)).not.toContain('?');
  expect(told('open', '06:00')).toContain('\n  from 06:00 to 06:00 UTC, no snapshot of its own\n');
  expect(told('open', null)).toContain('\n  Before it is closed:\n    [ ] a line');
  expect(told('closed', null)).toContain('\n  Before it is locked, as it stands now:\n');
  expect(told('locked', null)).toContain('\n  Its checklist, as it stands now:\n');
});

describe('tieout days', () => {
  let house: House;
  const days = (...args: string[]) => tieoutHere(['days', ...args], { cwd: house.folder });

  beforeAll(async () => {
    // What is final is looked at once, so that a night that is run again does not ask for it.
    const settings = { reconcile: { lookbackDays: 0 } };
    house = await buildHouse({ orders: 200, seed: 8, daysAgo: 2, settings });
  });
  afterAll(() => house.end());

  it('has the money of the night that was confirmed in it', async () => {
    const { summary } = await house.run({ date: dateOf(2) });
    const ended = await tieoutHere(['days', 'list', '--json'], { cwd: house.folder });
    expect(ended.code, ended.stderr).toBe(0);
    const listed = JSON.parse(ended.stdout) as { days: DayFigures[]; notKnown: string[] };
    for (const account of summary.accounts) {
      for (const { currency, captured, refunded, cancelled, net } of account.totals) {
        const found = listed.days.find(
          (day) => day.accountId === account.accountId && day.currency === currency,
        );
        if (found === undefined) expect([captured, refunded, cancelled]).toEqual(NOTHING);
        else {
          expect(found).toMatchObject({ captured, refunded, cancelled, opening: '0.00' });
          expect(found.closing).toBe(net);
        }
      }
    }
    expect(listed.notKnown).toEqual(['fees', 'chargebacks', 'bank payouts']);
  });

  it('closes, and says of a closed day who, why and what was open', async () => {
    const order = ['close', dateOf(2), '--as', 'anna'];
    const late = (orderNo: string) =>
      house.db.query(
        `insert into ledger.orders (account_id, order_no, currency, amount, expected, placed_at)
         select 'A1001', $1, 'EUR', 5, 'authorised', starts_at from tieout.runs`,
        [orderNo],
      );
    await house.run({ date: dateOf(2) });
    const again = await days('list', dateOf(2));
    expect(
      again.stdout.match(/\[x\] no order or refund request of this day came or changed in/g),
    ).toHaveLength(2);
    await late('LATE-1');
    // Who has read another revision than the newest signs nothing, and learns which it is.
    const other = await days(...order, '--revision', '1');
    expect(other.code).toBe(1);
    expect(other.stdout).toMatch(
      /^A1001: not done: asked for revision 1; what would be signed is revision 2 of the workbook/,
    );
    const closed = await days(...order, '--revision', '2');
    expect(closed.code, closed.stderr).toBe(0);
    expect(closed.stdout).toContain(`A1001: ${dateOf(2)} closed`);
    const on = /^ +[\d-]+: on revision 2 of the workbook, sha256 [\da-f]{12}$/gm;
    expect(closed.stdout.match(on)).toHaveLength(2);
    const words =
      /^ +\[ \] 1 order of this day came .* without it; it counts in the next night: .*/m;
    const [line = 'none'] = words.exec(closed.stdout) ?? [];
    expect(line).toContain(`run the date again first (\`tieout run --date ${dateOf(2)}\`)`);
    expect(closed.stdout).toMatch(/^ +LATE-1$/m);
    expect((await days(...order)).code).toBe(1);
    const shown = await days('list', dateOf(2));
    expect(shown.stdout).toContain(`business date ${dateOf(2)}: closed`);
    expect(shown.stdout).toMatch(/closed .* by anna \(claimed\): no reason given; \d+ items/);
    expect(shown.stdout).toMatch(
      / items were open; on revision 2 of the workbook, sha256 [\da-f]+/,
    );
    expect(shown.stdout).toMatch(/^ +who signs now signs on revision 2 of the workbook/m);
    expect(shown.stdout).toMatch(/from 00:00 to 00:00 UTC, checked at [\d-]+ [\d:]+ UTC\n/);
    expect(shown.stdout).toMatch(/ closed [\d-]+ [\d:]+ UTC by anna/);
    expect(shown.stdout).not.toMatch(/\d\d:\d\d[.\d]*Z/);
    expect(shown.stdout).toContain('moved across the cut-off');
    expect(shown.stdout).toContain(line.trim());
    expect(shown.stdout).not.toContain('changed since it was closed');
    await late('LATE-2');
    expect((await days('list', dateOf(2), '--account', 'A1001')).stdout).toContain(
      'changed since it was closed: 1 order of that day is new or different\n',
    );
    // A program that counts what was open counts no row of the ledger with it.
    const { stdout } = await days('list', dateOf(2), '--account', 'A1001', '--json');
    const [{ events } = { events: [] }] = (JSON.parse(stdout) as { accounts: Listed[] }).accounts;
    const whats = events.flatMap(({ openItems }) => openItems.map(({ what }) => what));
    expect(whats).toContain('break');
    expect(whats).not.toContain('ledger');
    expect(whats).not.toContain('workbook');
    // Of a day on which no money moved the rest is said all the same.
    const quiet = (await days('list', dateOf(9), '--account', 'A1001')).stdout;
    expect(quiet).toMatch(/: open\n +no money moved on it\n/);
    expect(quiet).toContain('[ ] there is no night of this date');
  });

  it('opens the next day with what it closed with', async () => {
    await house.run({ date: dateOf(1) });
    // The closed day cannot be run again by now, and nobody is told to.
    const past = (await days('list', dateOf(2), '--account', 'A1001')).stdout;
    expect(past).toContain(`they count in the night of ${dateOf(1)}: sign it knowing so, since a`);
    expect(past).not.toContain('run the date again');
    const { stdout } = await days('list', '--json', '--account', 'A1001');
    const listed = (JSON.parse(stdout) as { days: DayFigures[] }).days;
    for (const currency of new Set(listed.map((day) => day.currency))) {
      const [first, second] = listed.filter((day) => day.currency === currency);
      expect(first?.state).toBe('closed');
      expect(second?.opening).toBe(first?.closing);
    }
  });

  it('says with --check what would be signed, with the checklist, and keeps nothing', async () => {
    const before = await rowCounts(house.db);
    const checked = ['--account', 'A1001', '--check'];
    const lines = (text: string) => text.match(/\[[x ]\] .*/g) ?? [];
    for (const [verb, done, date] of [
      ['close', 'closed', dateOf(1)],
      ['lock', 'locked', dateOf(2)],
    ] as const) {
      const { code, stdout, stderr } = await days(verb, date, ...checked);
      expect(code, stderr).toBe(0);
      expect(stdout).toMatch(
        new RegExp(`^A1001: ${date} would be ${done}\n  ${date}: on rev.* \\d`),
      );
      expect(stdout).toMatch(/\nNothing was signed\.\n$/);
      const all = lines((await days('list', date, '--account', 'A1001')).stdout);
      expect(all.some((line) => line.startsWith('[x]'))).toBe(true);
      expect(lines(stdout)).toEqual(all);
      const json = JSON.parse((await days(verb, date, ...checked, '--json')).stdout);
      expect(json).toMatchObject([{ kind: 'would', dates: [date], accountId: 'A1001' }]);
      expect(json[0].checklist).toHaveLength(all.length);
    }
    const refused = await days('close', dateOf(2), ...checked);
    expect([refused.code, refused.stdout]).toEqual([
      1,
      `A1001: not done: ${dateOf(2)} is closed already\nNothing was signed.\n`,
    ]);
    expect(await rowCounts(house.db)).toEqual(before);
  });

  it.each([
    [['close', 'yesterday', '--reason', 'x']],
    [['close', dateOf(1), '--reason', ' ']],
    [['close', dateOf(1), '--revision', 'newest']],
    [['lock', dateOf(1), '--reason', 'x', '--account', 'nobody']],
  ])('refuses %j', async (args) => {
    expect((await days(...args)).code).toBe(2);
  });
});

interface Listed {
  events: { openItems: { what: string }[] }[];
}

const NOTHING = ['0.00', '0.00', '0.00'];
