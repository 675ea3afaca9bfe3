// Which business days stand on one page: whole ones, the newest first, and where the next page
// begins; and amounts there with the decimals of their currency. Who locks a day where the
// configuration asks for a second person.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wordsFor } from '../../src/web/format.js';
import { newestDays } from '../../src/web/pages/days/days.js';
import { tieoutHere } from '../support/cliHere.js';
import { dateOf } from '../support/night.js';
import type { ConsoleHouse, Visitor } from './consoleHouse.js';
import { openConsole } from './consoleHouse.js';

const rowsOf = (...dates: string[]) => dates.map((date, at) => ({ businessDate: date, at }));
const [OLD, MIDDLE, NEW] = ['2026-11-17', '2026-11-18', '2026-11-19'];

it.each([
  ['all of them where there is room', 9, rowsOf(OLD, NEW, MIDDLE), [NEW, MIDDLE, OLD], null],
  ['whole days only', 3, rowsOf(OLD, MIDDLE, MIDDLE, NEW, NEW), [NEW, NEW], MIDDLE],
  [
    'as many as fit exactly',
    4,
    rowsOf(OLD, MIDDLE, MIDDLE, NEW, NEW),
    [NEW, NEW, MIDDLE, MIDDLE],
    OLD,
  ],
  ['one day at least', 1, rowsOf(MIDDLE, NEW, NEW), [NEW, NEW], MIDDLE],
  ['none where there is none', 1, [], [], null],
])('shows %s', (_what, rows, found, shown, next) => {
  const page = newestDays(found, rows);
  expect(page.days.map(({ businessDate }) => businessDate)).toEqual(shown);
  expect(page.next).toBe(next);
  const ofNewest = page.days.filter(({ businessDate }) => businessDate === NEW);
  expect(ofNewest).toEqual(ofNewest.toSorted((a, b) => a.at - b.at));
});

it.each([
  ['23400.00', 'JPY', '23,400'],
  ['23400.00', 'EUR', '23,400.00'],
  ['1234.50', null, '1,234.50'],
])('%s in %s is %s', (amount, currency, shown) => {
  expect(wordsFor('UTC').amount(amount, currency)).toBe(shown);
});

describe('where tieout.yaml asks for a second person (days.secondPerson)', () => {
  let house: ConsoleHouse;
  let [anna, ben]: Visitor[] = [];
  const date = dateOf(1);
  const lockAll = `/days/all/lock?date=${date}`;

  beforeAll(async () => {
    house = await openConsole({ settings: { days: { secondPerson: true } } });
    const finance = [{ role: 'finance' as const, accountId: null }];
    [anna, ben] = [await house.visitor(finance, 'anna'), await house.visitor(finance, 'ben')];
  }, 120_000);
  afterAll(() => house.end());

  const pageOf = async (who: Visitor | undefined, account: string) =>
    (await who?.get(`/days/${account}/${date}`))?.body ?? '';
  const press = async (who: Visitor | undefined, verb: string, account: string, shown: string) => {
    const fields = { account, date, seen: seenIn(shown), words: 'month end' };
    return (await who?.post(`/days/${verb}`, fields))?.body ?? '';
  };
  const stateOf = async (account: string) => {
    const { rows } = await house.house.db.query(`select tieout.day_state($1, $2) as state`, [
      account,
      date,
    ]);
    return rows[0]?.state;
  };
  const days = (...args: string[]) => tieoutHere(['days', ...args], { cwd: house.house.folder });

  it('what a name on the command line closed is locked by nobody, and reopened', async () => {
    const closed = await days('close', date, '--as', 'cy', '--account', 'A1001');
    expect(closed.code, closed.stdout + closed.stderr).toBe(0);
    const shown = await pageOf(ben, 'A1001');
    expect(shown).toContain('cy is a name that was only claimed: reopen it and close it');
    expect(shown).not.toContain('formaction="/days/lock"');
    expect(await press(ben, 'lock', 'A1001', shown)).toContain('only claimed');
    expect(await press(ben, 'reopen', 'A1001', shown)).toContain('1 of 1 done');
  });

  it('what was closed on one revision is not locked on one with other figures', async () => {
    const { db } = house.house;
    const path = `/nights/${date}/statement`;
    expect(await press(anna, 'close', 'A1001', await pageOf(anna, 'A1001'))).toContain('1 of 1');
    const stale = await pageOf(ben, 'A1001');
    expect(stale).not.toContain('What differs from the figures');
    expect(stale).not.toContain('Close it again');
    await db.query(
      `with newest as (
         select * from tieout.reports where kind = 'reconciliation' order by revision desc limit 1
       ), written as (
         insert into tieout.reports (run_id, kind, format, revision, state, created_at, written_at,
           path, bytes, sha256)
         select run_id, kind, format, revision + 1, state, now(), now(), path, bytes, sha256
         from newest returning report_id
       )
       insert into tieout.statements
       select written.report_id, s.account_id, s.currency, s.ledger_captured + 1,
         s.ledger_refunded, s.gateway_captured, s.gateway_refunded, s.items,
         s.unexplained_captured, s.unexplained_refunded, s.books
       from written, newest join tieout.statements s on s.report_id = newest.report_id`,
    );
    await press(ben, 'lock', 'A1001', stale);
    expect(await stateOf('A1001')).toBe('closed');
    const shown = await pageOf(ben, 'A1001');
    const why =
      'it was prepared on revision 1 of the workbook, and revision 2 has other figures: close it ' +
      'again, on revision 2, and then it can be reviewed';
    for (const words of [`But ${why}`, `Not locked by you: ${why}`, 'id="differs"', '>1.00</td>']) {
      expect(shown).toContain(words);
    }
    expect(shown).not.toContain('formaction="/days/lock"');
    expect((await ben?.get(path))?.body).toContain(`/days/A1001/${date}#differs">What differs</a>`);
    expect((await ben?.get(path))?.body).toContain(`/days/all/close?date=${date}`);
    expect((await ben?.get(lockAll))?.body).toContain(why);
    const closeAll = (await ben?.get(`/days/all/close?date=${date}`))?.body ?? '';
    expect(closeAll).toContain('What differs from the figures that were signed');
    expect(closeAll).toContain(`The button signs ${date}, and no other day, on revision 2`);
    expect((await days('list', date, '--account', 'A1001')).stdout).toMatch(
      /EUR, By the ledger, captured: [\d,.]+, now [\d,.]+ \(difference 1\.00\)/,
    );
    expect(shown).toContain('Close it again: prepared');
    expect(await press(ben, 'close', 'A1001', shown)).toContain('1 of 1 done');
    const again = await pageOf(anna, 'A1001');
    expect(again).not.toContain('What differs from the figures');
    expect(again).toContain('formaction="/days/lock"');
    expect(await press(anna, 'reopen', 'A1001', again)).toContain('1 of 1 done');
  });

  it('who closed a day cannot lock it, by whichever way; another person can', async () => {
    expect(await pageOf(anna, 'A1001')).toContain('a second person must review and lock it');
    for (const account of ['A1001', 'A1002']) {
      const closed = await press(anna, 'close', account, await pageOf(anna, account));
      expect(closed).toContain('1 of 1 done');
    }
    const own = 'anna closed it: a second person locks it';
    const shown = await pageOf(anna, 'A1001');
    expect(shown).toContain(`Not locked by you: ${own}.`);
    expect(shown).not.toContain('formaction="/days/lock"');
    expect(await press(anna, 'lock', 'A1001', shown)).toContain(own);
    // All at once: it is said beside each account, and the press signs nothing.
    const all = (await anna?.get(lockAll))?.body ?? '';
    for (const words of ['Nothing would be signed', own]) expect(all).toContain(words);
    const digest = seenIn((await ben?.get(lockAll))?.body ?? '');
    const pressed = await anna?.post(lockAll, { seen: digest, words: 'month end' });
    expect(pressed?.statusCode).toBe(409);
    // Nobody has checked a name on the command line.
    const typed = await days('lock', date, '--as', 'ben');
    expect(typed.code).toBe(1);
    const claimed = 'a second person, signed in at the console, locks what was closed';
    for (const account of ['A1001', 'A1002']) {
      expect(typed.stdout).toContain(`${account}: not done: ${claimed}`);
      expect(await stateOf(account)).toBe('closed');
    }
    const other = await pageOf(ben, 'A1001');
    expect(other).toContain('formaction="/days/lock"');
    expect(await press(ben, 'lock', 'A1001', other)).toContain('1 of 1 done');
    const rest = seenIn((await ben?.get(lockAll))?.body ?? '');
    const done = await ben?.post(lockAll, { seen: rest, words: 'month end' });
    expect(done?.body).toContain('1 of 1 done');
    expect([await stateOf('A1001'), await stateOf('A1002')]).toEqual(['locked', 'locked']);
  });
});

function seenIn(body: string): string {
  return /name="seen" value="([0-9a-f]{64})"/.exec(body)?.[1] ?? '';
}
