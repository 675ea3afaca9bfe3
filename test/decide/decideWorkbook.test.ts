// Decisions back by Excel, on the built program: the workbook of a night, filled in, goes back row by
// row; what changed, was altered or was decided meanwhile is refused and named.

import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunSummary } from '../../src/core/runs/summary.js';
import type { DecidedRow } from '../../src/decide/decideWorkbook.js';
import { ordersOfInstructions } from '../../src/instructions/decisionsStore.js';
import type { Ended } from '../support/cli.js';
import { tieout } from '../support/cli.js';
import { tieoutHere } from '../support/cliHere.js';
import type { SeparateHouse } from '../support/separateHouse.js';
import { buildSeparateHouse } from '../support/separateHouse.js';
import type { Parts } from '../support/workbookEdits.js';
import { boundRows, edited, editRow, fill, filled, partsOf } from '../support/workbookEdits.js';

let house: SeparateHouse;
let workbook: string;
let breaks: string[];
let held: string[];
let files = 0;

/** As it was built, in a process of its own. */
const built = (...args: string[]): Promise<Ended> => tieout(args, { cwd: house.folder });
const run = (...args: string[]): Promise<Ended> => tieoutHere(args, { cwd: house.folder });

interface Answer {
  check: boolean;
  rows: DecidedRow[];
}

beforeAll(async () => {
  const operations = { capture: 'approve', cancel: 'auto', refund: 'approve', review: 'auto' };
  house = await buildSeparateHouse({ orders: 600, seed: 21, settings: { operations } });
  // Somebody asked for each refund.
  await house.db.query(`update ledger.refund_requests set requested_by = 'Ann'`);
  const night = await run('run', '--json');
  expect(night.code, night.stderr).toBe(3);
  const { reports } = JSON.parse(night.stdout) as RunSummary;
  workbook = reports.find(({ kind }) => kind === 'reconciliation')?.path ?? '';
  const parts = await partsOf(workbook);
  breaks = [...boundRows(parts, 'Breaks').keys()];
  const { rows: waiting } = await house.db.query<{ id: string }>(
    `select instruction_id::text as id from tieout.instructions
     where state = 'held' and hold_reason = 'approval' and operation = 'capture'
     order by instruction_id`,
  );
  held = waiting.map(({ id }) => id);
  expect(breaks.length).toBeGreaterThan(12);
  expect(held.length).toBeGreaterThan(5);
}, 120_000);
afterAll(() => house.end());

function change(edit: (parts: Parts) => void): Promise<string> {
  files += 1;
  return edited(workbook, join(house.folder, `back-${files}.xlsx`), edit);
}

async function decide(file: string, who: string, ...flags: string[]) {
  const ended = await run('decide', file, '--as', who, '--json', ...flags);
  expect(ended.stdout, ended.stderr).not.toBe('');
  return { code: ended.code, ...(JSON.parse(ended.stdout) as Answer) };
}

const results = (rows: readonly DecidedRow[]) => rows.map(({ id, result }) => [id, result]);

const take = (list: string[]): string => list.shift() ?? '';

describe('a workbook that comes back', () => {
  it('is done row by row, and changes nothing when it comes again', async () => {
    const [noted, given, ok, no] = [take(breaks), take(breaks), take(held), take(held)];
    const file = await change((parts) => {
      fill(parts, 'Breaks', noted, { decision: 'note', reason: 'asked the shop <&> "it"' });
      fill(parts, 'Breaks', given, { decision: 'Assign', toWhom: 'Bo', reason: 'has the file' });
      fill(parts, 'Waiting for you', ok, { decision: 'approve' });
      fill(parts, 'Waiting for you', no, { decision: 'reject', reason: 'the shop took it back' });
    });
    // Where the console has people, a name that is none of theirs is told, and done all the same.
    await house.db.query(`insert into tieout.users (name, state, created_at, created_by)
      values ('fiona', 'active', now(), 'test')`);
    const checked = await decide(file, 'Ann', '--check');
    await house.db.query(`delete from tieout.users where name = 'fiona'`);
    expect(checked).toMatchObject({ code: 0, check: true });
    expect(checked.rows[1]?.reason).toBe('assigned; the console knows nobody called Bo');
    expect((await decide(file, 'Ann', '--check')).rows[1]?.reason).toBe('assigned');
    expect(results(checked.rows)).toEqual([noted, given, ok, no].map((id) => [id, 'done']));
    expect(await stateOf(ok)).toBe('held');
    const done = await decide(file, 'Ann');
    expect(done.code, JSON.stringify(done)).toBe(0);
    expect(done.rows.map(({ sheet, decision }) => [sheet, decision])).toEqual([
      ['Breaks', 'note'],
      ['Breaks', 'Assign'],
      ['Waiting for you', 'approve'],
      ['Waiting for you', 'reject'],
    ]);
    expect([await stateOf(ok), await stateOf(no)]).toEqual(['queued', 'withdrawn']);
    expect(await wordsOn(noted)).toEqual([['noted', 'Ann', 'asked the shop <&> "it"']]);
    expect(await wordsOn(given)).toEqual([['assigned', 'Ann', 'to Bo: has the file']]);
    const before = await said();
    const again = await decide(file, 'Ann');
    expect(again.code).toBe(0);
    expect(new Set(again.rows.map(({ result }) => result))).toEqual(new Set(['unchanged']));
    expect(await said()).toEqual(before);
  });

  it('refuses what was decided meanwhile, and lets a second person agree to a waiver', async () => {
    const large = await breakOver('500');
    const file = await change((parts) =>
      fill(parts, 'Breaks', large, { decision: 'waive', reason: 'booked by hand' }),
    );
    const first = await decide(file, 'Ann');
    expect(first.rows[0]).toMatchObject({ result: 'done', isAsked: true });
    expect(first.rows[0]?.reason).toContain('second person');
    expect((await decide(file, 'ann ')).rows[0]).toMatchObject({ result: 'unchanged' });
    // What only asks and what agrees are told apart, also before anything is done.
    const check = await run('decide', file, '--as', 'Bo', '--check');
    expect(check.stdout).toMatch(
      /^ +1 {2}waive, breaks: agreed to as the second person {2}[\d,.]+ [A-Z]{3}$/m,
    );
    expect((await decide(file, 'Bo')).rows[0]).toMatchObject({ result: 'done', isSecond: true });
    expect((await decide(file, 'Ann')).rows[0]).toMatchObject({ result: 'unchanged' });
    const late = await decide(file, 'Cy');
    expect(late.code).toBe(1);
    expect(late.rows[0]?.reason).toContain(
      'it was decided meanwhile: waived as the second person by Bo',
    );
  });

  it('what was typed with an approval is no message of the gateway', async () => {
    const id = take(held);
    const file = await change((parts) =>
      fill(parts, 'Waiting for you', id, { decision: 'approve', reason: 'looked at it' }),
    );
    expect((await decide(file, 'Ann')).rows[0]).toMatchObject({ result: 'done' });
    const { rows } = await house.db.query<{ date: string }>(
      `select max(business_date)::text as date from tieout.runs`,
    );
    const report = await run('report', rows[0]?.date ?? '', '--kind', 'waiting', '--format', 'csv');
    expect(report.code, report.stderr).toBe(0);
    expect(report.stdout).toContain('gateway_message');
    expect(report.stdout.split('\n').filter((line) => line.includes('looked at it'))).toEqual([]);
  });

  it('with a card number in its words it is unchanged again, too, and the number is shown nowhere', async () => {
    const [waived, asked, noted, given] = [
      await breakUpTo('500'),
      await breakOver('500'),
      take(breaks),
      take(breaks),
    ];
    const ok = take(held);
    const card = '4111111111111111';
    const file = await change((parts) => {
      fill(parts, 'Breaks', waived, { decision: 'waive', reason: `paid by ${card}` });
      fill(parts, 'Breaks', asked, { decision: 'waive', reason: `with ${card}` });
      fill(parts, 'Breaks', noted, { decision: 'note', reason: card });
      fill(parts, 'Breaks', given, { decision: 'assign', toWhom: card, reason: `of ${card}` });
      fill(parts, 'Waiting for you', ok, { decision: 'approve', reason: card });
    });
    const masked = '411111******1111';
    // Nor where it is told that the console knows nobody of that name.
    await house.db.query(`insert into tieout.users (name, state, created_at, created_by)
      values ('fiona', 'active', now(), 'test')`);
    const checked = await decide(file, 'Ann', '--check');
    await house.db.query(`delete from tieout.users where name = 'fiona'`);
    expect(checked.rows.find(({ id }) => id === given)?.reason).toBe(
      `assigned; the console knows nobody called ${masked}`,
    );
    expect(JSON.stringify(checked.rows)).not.toContain(card);
    for (const result of ['done', 'unchanged']) {
      const { code, rows } = await decide(file, 'Ann');
      expect([code, rows.map((row) => row.result)]).toEqual([0, Array(5).fill(result)]);
      const words = rows.find(({ id }) => id === given)?.given;
      expect(words).toBe(`to ${masked}: of ${masked}`);
      expect(JSON.stringify(rows)).not.toContain(card);
    }
    expect(await wordsOn(given)).toEqual([['assigned', 'Ann', `to ${masked}: of ${masked}`]]);
    expect((await decide(file, 'Bo')).rows.find(({ id }) => id === asked)).toMatchObject({
      result: 'done',
      isSecond: true,
    });
    const wrong = await change((parts) =>
      fill(parts, 'Breaks', take(breaks), { decision: card, reason: 'x' }),
    );
    expect(JSON.stringify((await decide(wrong, 'Ann')).rows)).not.toContain(card);
  });

  it('does not waive again what was reopened since', async () => {
    const small = await breakUpTo('500');
    const file = await change((parts) =>
      fill(parts, 'Breaks', small, { decision: 'waive', reason: 'rounding' }),
    );
    expect((await decide(file, 'Ann')).rows[0]).toMatchObject({ result: 'done' });
    await run('breaks', 'reopen', small, '--reason', 'no', '--as', 'Bo');
    expect((await decide(file, 'Ann')).rows[0]).toMatchObject({ result: 'unchanged' });
    expect((await decide(file, 'Cy')).rows[0]).toMatchObject({ result: 'refused' });
    expect((await wordsOn(small)).at(-1)).toEqual(['reopened', 'Bo', 'no']);
  });

  it('refuses a row whose break or instruction has changed since, and does the others', async () => {
    const [moved, kept] = [take(breaks), take(breaks)];
    const [order, freed] = [take(held), take(held)];
    const file = await change((parts) => {
      fill(parts, 'Breaks', moved, { decision: 'note', reason: 'seen' });
      fill(parts, 'Breaks', kept, { decision: 'note', reason: 'seen' });
      fill(parts, 'Waiting for you', order, { decision: 'approve' });
      fill(parts, 'Waiting for you', freed, { decision: 'approve' });
    });
    await house.db.query(
      `update tieout.instructions set hold_reason = 'newly_freed', changed_by = 'tieout',
         freed_by = 'accounts[].merchantId' where instruction_id = $1`,
      [freed],
    );
    await house.db.query(
      `update tieout.breaks set actual = actual || '{"amount":"1.23"}' where break_id = $1`,
      [moved],
    );
    await house.db.query(
      `update ledger.orders o set amount = o.amount + 1 from tieout.instructions i
       where i.instruction_id = $1 and o.account_id = i.account_id and o.order_no = i.order_no`,
      [order],
    );
    const { code, rows } = await decide(file, 'Ann');
    expect(code).toBe(1);
    expect(results(rows)).toEqual([
      [moved, 'refused'],
      [kept, 'done'],
      [order, 'refused'],
      [freed, 'refused'],
    ]);
    expect(rows[0]?.reason).toContain('it has changed since it was seen');
    expect(rows[2]?.reason).toContain('it is no longer what you saw');
    expect(rows[3]?.reason).toContain('or waits for another reason: look again');
    expect([await stateOf(order), await stateOf(freed)]).toEqual(['held', 'held']);
  });

  it('refuses a row that was altered elsewhere than in the three columns', async () => {
    const [sum, text, carried, formula, fine] = breaks;
    const file = await change((parts) => {
      for (const id of [sum, text, carried, formula, fine]) {
        fill(parts, 'Breaks', id ?? '', { decision: 'note', reason: 'altered?' });
      }
      editRow(parts, 'Breaks', sum ?? '', (row) => row.replace(/(<v>\d+)\.(\d+<\/v>)/, '$19.$2'));
      editRow(parts, 'Breaks', text ?? '', (row) => row.replace(/>A100\d</, '>A9<'));
      editRow(parts, 'Breaks', carried ?? '', (row) => row.replace(/>break (\d+) /, '>break 9$1 '));
      editRow(parts, 'Breaks', formula ?? '', (row) => row.replace('<v>', '<f>1+1</f><v>'));
    });
    const { code, rows } = await decide(file, 'Ann', '--check');
    expect(code).toBe(1);
    expect(rows.map(({ result }) => result)).toEqual([...Array(4).fill('refused'), 'done']);
    for (const { reason } of rows.slice(0, 4)) expect(reason).toContain('altered elsewhere');
  });

  it('binds by id: sorted, filtered, copied, deleted and inserted rows', async () => {
    const [one, two, twice, torn] = breaks as [string, string, string, string];
    const file = await change((parts) => {
      const rows = boundRows(parts, 'Breaks');
      const of = (id: string) => rows.get(id) ?? '';
      for (const id of [one, two, twice, torn]) {
        editRow(parts, 'Breaks', id, (row) => filled(row, { decision: 'note', reason: 'moved' }));
      }
      // Two change places, each with the numbers of the other; a third and a fourth are copied.
      const [a, b] = [boundRows(parts, 'Breaks').get(one), boundRows(parts, 'Breaks').get(two)];
      const renumbered = (row = '', like: string) =>
        row.replace(/(<row r="|<c r="[A-Z]+)\d+/g, `$1${/<row r="(\d+)"/.exec(like)?.[1]}`);
      editRow(parts, 'Breaks', one, () => renumbered(b, of(one)) + renumbered(a, of(two)));
      const copy = boundRows(parts, 'Breaks').get(twice) ?? '';
      editRow(parts, 'Breaks', twice, () => copy + copy);
      const other = boundRows(parts, 'Breaks').get(torn) ?? '';
      editRow(parts, 'Breaks', torn, () => other + other.replace('>moved<', '>otherwise<'));
      const strange = filled(
        of(one).replace(/<c r="[A-Z]+\d+" s="\d+" t="str"><v>break.*?<\/c>/, ''),
        {
          decision: 'waive',
          reason: 'mine',
        },
      );
      editRow(parts, 'Breaks', torn, (row) => row + strange);
    });
    const { rows } = await decide(file, 'Ann', '--check');
    expect(rows.find(({ id }) => id === one)?.result).toBe('done');
    expect(rows.find(({ id }) => id === two)?.result).toBe('done');
    expect(rows.filter(({ id }) => id === twice).map(({ result }) => result)).toEqual([
      'done',
      'unchanged',
    ]);
    expect(rows.filter(({ id }) => id === torn).map(({ result }) => result)).toEqual([
      'refused',
      'refused',
    ]);
    expect(rows.find(({ id }) => id === '')?.reason).toContain('carries no id');
  });

  it('keeps four eyes: who asked for it cannot approve it, another person can', async () => {
    const { rows: found } = await house.db.query<{ id: string; part: string }>(
      `select instruction_id::text as id, round(refund_amount, 2)::text as part
       from tieout.instructions
       where state = 'held' and operation = 'refund' and hold_reason = 'approval'
       order by refund_amount < amount desc limit 1`,
    );
    const { id = '', part } = found[0] ?? {};
    // What would go back, not what was paid.
    expect(await ordersOfInstructions(house.db, [id], null)).toMatchObject([{ amount: part }]);
    const file = await change((parts) =>
      fill(parts, 'Waiting for you', id, { decision: 'approve' }),
    );
    const { code, rows } = await decide(file, 'ANN');
    expect([code, rows[0]?.result]).toEqual([1, 'refused']);
    expect(rows[0]?.reason).toContain('who asked for it');
    expect((await decide(file, 'Bo')).rows[0]).toMatchObject({ result: 'done' });
    expect((await decide(file, 'Cy')).rows[0]?.reason).toContain('meanwhile: approve by Bo');
  });

  it('says in words what was done, and ends with 2 for what is no workbook of ours', async () => {
    const id = take(breaks);
    const file = await change((parts) =>
      fill(parts, 'Breaks', id, { decision: 'note', reason: 'in words' }),
    );
    const checked = await run('decide', file, '--as', 'Ann', '--check');
    expect(checked.stdout).toContain(
      '1 would be done, 0 refused, 0 unchanged; nothing was changed',
    );
    expect(checked.stdout).toMatch(
      /^ +1 {2}note, breaks {2}(?:[\d,.]+ [A-Z]{3}|1 without an amount)$/m,
    );
    const own =
      /^This workbook is of the night of \d{4}-\d\d-\d\d, revision 1, accounts A1001, A1002; written .+\.$/m;
    expect(checked.stdout).toMatch(own);
    const told = await built('decide', file, '--as', 'Ann');
    expect(told.stdout).toMatch(
      /^Breaks, row \d+: note #\d+ of order \S+, account A\d+, (?:[\d,.]+ [A-Z]{3}|no amount): done, noted$/m,
    );
    expect(told.stdout).toContain('1 done, 0 refused, 0 unchanged');
    const empty = await run('decide', workbook, '--as', 'Ann');
    expect([empty.code, empty.stdout]).toEqual([0, expect.stringMatching(own)]);
    expect(empty.stdout.split('\n').slice(1)).toEqual(['no row is filled: nothing to decide', '']);
    const orders = workbook.replace(/reconciliation-/g, 'orders-');
    for (const wrong of [orders, house.file, join(house.folder, 'nowhere.xlsx')]) {
      const ended = await run('decide', wrong, '--as', 'Ann');
      expect([wrong, ended.code, ended.stdout]).toEqual([wrong, 2, '']);
    }
    const unnamed = await run('decide', file, '--as', ' ');
    expect([unnamed.code, unnamed.stderr]).toEqual([2, expect.stringContaining('who decides')]);
  });
});

async function stateOf(id: string): Promise<string | undefined> {
  const { rows } = await house.db.query<{ state: string }>(
    'select state from tieout.instructions where instruction_id = $1',
    [id],
  );
  return rows[0]?.state;
}

async function wordsOn(id: string): Promise<string[][]> {
  const { rows } = await house.db.query<{ event: string; by: string; reason: string }>(
    `select event, by, reason from tieout.break_events
     where break_id = $1 and by <> 'tieout' order by event_id`,
    [id],
  );
  return rows.map(({ event, by, reason }) => [event, by, reason]);
}

async function said(): Promise<unknown> {
  const { rows } = await house.db.query(
    `select (select count(*) from tieout.break_events) as events,
       (select count(*) from tieout.decisions) as decisions,
       (select count(*) from tieout.batches) as batches`,
  );
  return rows[0];
}

const breakOver = (least: string) => breakOfMoney(least, null);
const breakUpTo = (most: string) => breakOfMoney(null, most);

/** One of those left with so much money in it. */
async function breakOfMoney(least: string | null, most: string | null): Promise<string> {
  const { rows } = await house.db.query<{ id: string }>(
    `select break_id::text as id from tieout.breaks
     where break_id = any ($1) and greatest(amount, tieout.break_stake(kind, expected, actual))
       between coalesce($2::numeric + 0.01, 0) and coalesce($3::numeric, 'infinity') limit 1`,
    [breaks, least, most],
  );
  const [found] = rows;
  if (found === undefined) throw new Error('no such break is left');
  breaks = breaks.filter((id) => id !== found.id);
  return found.id;
}
