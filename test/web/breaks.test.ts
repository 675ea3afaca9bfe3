// The list of breaks on the console against the answers that commands and workbook give to the same
// question: how old a break is, which ones a filter names, and which is the largest.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addToAges, noAges } from '../../reports/pictures.js';
import type { BreakFilter } from '../../src/breaks/breaksStore.js';
import { countBreaks, findBreaks } from '../../src/breaks/breaksStore.js';
import { dueRuleOf } from '../../src/breaks/dueRule.js';
import { filterOf } from '../../src/cli/breaks/breakFilter.js';
import { breakLines } from '../../src/cli/breaks/breaksText.js';
import { shownLine } from '../../src/cli/terminal.js';
import { AGES } from '../../src/core/breaks/breakAge.js';
import { DAY_MS, dateIn, startOfDay } from '../../src/core/time.js';
import { breakRows } from '../../src/report/reportRowsStore.js';
import { newestRun } from '../../src/runs/runsStore.js';
import type { ConsoleHouse, Visitor } from './consoleHouse.js';
import { openConsole, refusalOf, shownBreak } from './consoleHouse.js';
import type { PlantedBreak } from './plantedBreaks.js';
import { plantBreak } from './plantedBreaks.js';

const TIMEZONE = 'America/New_York';

/** Seen so many days before the midnight of today there, and where everybody counts it. */
const TABLE: readonly (readonly [days: number, age: string])[] = [
  [-0.5, 'up to 1 day'],
  [0, 'up to 1 day'],
  [0.5, 'up to 1 day'],
  [0.9, 'up to 1 day'],
  [1, 'up to 1 day'],
  [1.86, '2 to 7 days'],
  [6.9, '2 to 7 days'],
  [7.1, '8 to 30 days'],
  [7.86, '8 to 30 days'],
  [29.9, '8 to 30 days'],
  [30.5, '31 to 90 days'],
  [89.9, '31 to 90 days'],
  [90.5, 'over 90 days'],
];

let place: ConsoleHouse;
let finance: Visitor;
beforeAll(async () => {
  place = await openConsole({ settings: { schedule: { timezone: TIMEZONE } } });
  place.clock.now = new Date(midnight().getTime() + (3.25 / 24) * DAY_MS);
  finance = await place.withRole('finance');
  const { db } = place.app;
  await db.query(`update tieout.breaks set state = 'resolved' where state = 'open'`);
  for (const [days] of TABLE) await openBreak({ orderNo: nameOf(days), days });
}, 120_000);
afterAll(() => place.end());

describe('an amount that is none', () => {
  it('is said where it was typed, and nothing is decided about all that match then', async () => {
    const { body } = await finance.get('/breaks?from=abc&to=9100');
    expect(body).toContain('role="alert">Amount from &quot;abc&quot; cannot be read as an amount');
    expect(body).toMatch(/name="from" value="abc"/);
    expect(body).not.toContain('/breaks/all/');
    const { body: read } = await finance.get('/breaks?from=0,5');
    expect([read.includes('role="alert"'), read.includes('/breaks/all/waive')]).toEqual([
      false,
      true,
    ]);
    expect((await finance.get('/breaks/all/waive?from=abc')).statusCode).toBe(400);
    expect((await finance.post('/breaks/all/waive?from=abc', { seen: 'a' })).statusCode).toBe(303);
  });
});

describe('by when somebody has to act on a break', () => {
  const ofRows = (body: string) =>
    [
      ...body.matchAll(
        /<th scope="row"><a href="\/orders\/[^/]+\/([^"]+)".*?data-name="Due">(.*?)<\/td>/gs,
      ),
    ].map(([, orderNo = '', due = '']) => [
      decodeURIComponent(orderNo),
      due.replace(/<[^>]+>/g, ''),
    ]);

  it('is a column of the list as of the workbook, and a filter of what is overdue', async () => {
    const rows = await workbookRows();
    const said = rows.map(({ orderNo, due, isOverdue }) => [
      orderNo,
      `${due}${isOverdue ? ', overdue' : ''}`,
    ]);
    const listed = ofRows((await finance.get('/breaks')).body);
    expect(listed.sort()).toEqual(said.sort());
    const late = rows.filter(({ isOverdue }) => isOverdue);
    expect([late.length > 0, late.length < rows.length]).toEqual([true, true]);
    const { body } = await finance.get('/breaks?due=overdue');
    expect(
      ofRows(body)
        .map(([no]) => no)
        .sort(),
    ).toEqual(late.map((row) => row.orderNo).sort());
    // With an age beside it: what is both.
    const old = await finance.get('/breaks?due=overdue&age=2-7');
    expect(ofRows(old.body).map(([no]) => no)).not.toContain(nameOf(90.5));
    const one = await finance.get(`/breaks/${late[0]?.breakId}`);
    expect(one.body.replaceAll(/<[^>]+>/g, '')).toContain(`Due ${late[0]?.due}, overdue.`);
  });

  it('stands on the first page: what is overdue with its money, and by whom', async () => {
    const late = (await workbookRows()).filter(({ isOverdue }) => isOverdue);
    const { body } = await finance.get('/');
    const words = `<strong>${late.length}</strong> <a href="/breaks?due=overdue">`;
    expect(body).toContain(`${words}open breaks are overdue</a>: ${late.length}.00 EUR`);
    expect(body).toContain(`<a href="/breaks?due=overdue&amp;owner=-">${late.length}</a>`);
  });
});

describe('the age of a break', () => {
  it.each(TABLE)(
    'of a break seen %s days before today is the same to everybody: %s',
    async (days, words) => {
      const orderNo = nameOf(days);
      const holding = [];
      for (const age of AGES) {
        const [listed, found] = [
          await consoleOrders(`age=${encodeURIComponent(age.name)}`),
          await commandAge(age.name),
        ];
        if (listed.includes(orderNo)) holding.push(`console ${age.words}`);
        if (found.includes(orderNo)) holding.push(`commands ${age.words}`);
      }
      const [row] = (await workbookRows()).filter((one) => one.orderNo === orderNo);
      const ages = noAges();
      addToAges(ages, row === undefined ? [] : [row]);
      holding.push(`workbook ${AGES[ages.indexOf(1)]?.words}`);
      expect(holding).toEqual([`console ${words}`, `commands ${words}`, `workbook ${words}`]);
    },
  );

  it('is the number of dates since on the list, on the terminal and in the workbook', async () => {
    const expected = TABLE.map(([days]) => [nameOf(days), Math.max(0, Math.ceil(days))]).sort();
    const { body } = await finance.get('/breaks');
    const listed = [
      ...body.matchAll(
        /<th scope="row"><a href="\/orders\/[^/]+\/([^"]+)".*?data-name="Age \(days\)">(\d+)</gs,
      ),
    ].map(([, orderNo = '', days]) => [decodeURIComponent(orderNo), Number(days)]);
    expect(listed.sort()).toEqual(expected);
    const found = await findBreaks(place.app.db, { states: ['open'] }, { limit: 100, offset: 0 });
    const plain = { zone: TIMEZONE, hasColours: false };
    const lines = breakLines(found, ageClock()).map((line) => shownLine(line, plain));
    for (const [name, days] of expected) {
      expect(lines.find((line) => line.includes(` ${name} `))).toMatch(` ${days} d `);
    }
    const rows = await workbookRows();
    expect(rows.map(({ orderNo, ageDays }) => [orderNo, ageDays]).sort()).toEqual(expected);
  });

  it('is counted alike on the first page, in groups and in the workbook', async () => {
    const expected = AGES.map((age) => TABLE.filter(([, words]) => words === age.words).length);
    const { body } = await finance.get('/');
    const bars = AGES.map(({ words }) =>
      Number(new RegExp(`>${words}</a></th><td class="figure">(\\d+)<`).exec(body)?.[1]),
    );
    expect(bars).toEqual(expected);
    const { db } = place.app;
    const groups = await countBreaks(db, { states: ['open'] }, 'age', ageClock(), 10);
    expect(AGES.map(({ name }) => groups.find(({ key }) => key === name)?.breaks)).toEqual(
      expected,
    );
    const ages = noAges();
    addToAges(ages, await workbookRows());
    expect(ages).toEqual(expected);
  });
});

describe('the page of a break', () => {
  it('shows what the gateway shows beside it, and names no person whole', async () => {
    const { rows } = await place.app.db.query<{ id: string }>(
      `select b.break_id::text as id from tieout.breaks b where exists (
         select from tieout.look_entries e
         where e.account_id = b.account_id and e.order_no = b.order_no) limit 1`,
    );
    const { body } = await finance.get(`/breaks/${rows[0]?.id}`);
    expect(body).toContain('<li>site: https://shop.example</li>');
    expect(body).toContain('<li>3-D Secure: 0</li>');
    expect(body).toMatch(/<li>fraud checks: sandbox, address ACCEPT, velocity \w+<\/li>/);
    expect(body).toMatch(/<li>shopper: .\*\*\*@\S+, \*\*\*\d+<\/li>/);
    expect(body).toMatch(/<li>delivery: .*\*\*\*.*<\/li>/);
  });

  it('says nothing of an order that no answer showed', async () => {
    const [unseen] = await findBreaks(place.app.db, { text: nameOf(1) }, { limit: 1, offset: 0 });
    const { body } = await finance.get(`/breaks/${unseen?.breakId}`);
    expect(body).toContain('What each side says');
    expect(body).not.toContain('persons are masked');
  });
});

describe('the list of breaks', () => {
  beforeAll(async () => {
    await openBreak({ orderNo: 'S-EUR-SMALL', amount: '98.52', note: 'seen by Bert' });
    await openBreak({ orderNo: 'S-EUR-LARGE', amount: '9100.00', owner: 'bert' });
    await openBreak({ orderNo: 'S-EUR-MIDDLE', amount: '230.00' });
    await openBreak({ orderNo: 'S-AED-SMALL', amount: '12000.00', currency: 'AED' });
    await openBreak({ orderNo: 'S-AED-LARGE', amount: '101000.00', currency: 'AED' });
    await openBreak({ orderNo: 'S-UNKNOWN', amount: null, currency: null });
  });

  it('has the largest of a currency first, by value', async () => {
    expect(await consoleOrders('sort=amount&text=S-')).toEqual([
      'S-AED-LARGE',
      'S-AED-SMALL',
      'S-EUR-LARGE',
      'S-EUR-MIDDLE',
      'S-EUR-SMALL',
      'S-UNKNOWN',
    ]);
  });

  it.each<[string, string, BreakFilter]>([
    ['an amount', 'from=98.53&to=9100', { minAmount: '98.53', maxAmount: '9100.00' }],
    ['an owner', 'owner=bert', { owner: 'bert' }],
    ['nobody', 'owner=-&text=S-', { owner: null, text: 'S-' }],
    ['a currency', 'currency=AED', { currency: 'AED' }],
    ['a part of a number', 'text=s-eur', { text: 's-eur' }],
    ['a word of a note', 'text=bert', { text: 'bert' }],
    ['a transaction', 'text=TX-S-EUR-SMALL', { text: 'TX-S-EUR-SMALL' }],
    ['a candidate', 'text=OTHER-S-EUR-L', { text: 'OTHER-S-EUR-L' }],
    // What a snapshot is stored as is nothing that a person searches for.
    ['the name of a field', 'text=transaction', { text: 'transaction' }],
    ['an age', 'sort=order&age=0-1&owner=bert', { owner: 'bert' }],
  ])('finds by %s what a command finds', async (_what, query, filter) => {
    const [listed, found] = [
      await consoleOrders(query),
      await findBreaks(place.app.db, { states: ['open'], ...filter }, { limit: 100, offset: 0 }),
    ];
    expect(listed.toSorted()).toEqual(found.map(({ orderNo }) => orderNo).toSorted());
  });

  it('offers as owners who may work on them, and marks who has some and may not', async () => {
    await place.visitor([{ role: 'operator', accountId: null }], 'oda');
    await place.visitor([{ role: 'finance', accountId: 'A1002' }], 'fred');
    for (const role of ['viewer', 'approver', 'admin'] as const) {
      await place.visitor([{ role, accountId: null }], `no-${role}`);
    }
    const { body } = await finance.get('/breaks');
    const offered =
      /<select name="owner"><option value>choose(.*?)<\/select>/s.exec(body)?.[1] ?? '';
    expect(offered).toContain('<option value="oda">oda</option>');
    expect(offered).toContain('<option value="fred">fred (only A1002)</option>');
    expect(offered).toContain('<option value="bert">bert (may not work on them here)</option>');
    expect(offered).not.toMatch(/no-(viewer|approver|admin)/);
    // A form may say any name: one that is not on the list is refused by name.
    const id = (await workbookRows())[0]?.breakId ?? '';
    const odd = await finance.post('/breaks/assign', { id, owner: 'nobody-here' });
    expect(await refusalOf(finance, odd)).toContain(
      'Nobody called &quot;nobody-here&quot; works on',
    );
    const all = { seen: 'a'.repeat(64) };
    const set = await finance.post('/breaks/all/assign?whom=nobody-here', all);
    expect(await refusalOf(finance, set)).toContain(
      'Nobody called &quot;nobody-here&quot; works on',
    );
    const ofOne = (await finance.get('/breaks?account=A1001')).body;
    expect(ofOne).toContain('<option value="oda">oda</option>');
    expect(ofOne).not.toContain('fred');
  });

  it('finds an owner and a reason in words, as the commands do', async () => {
    expect((await consoleOrders('text=bert')).toSorted()).toEqual(['S-EUR-LARGE', 'S-EUR-SMALL']);
    expect(await consoleOrders('text=transaction')).toEqual([]);
  });
});

describe('a waiver that waits for its second person', () => {
  const plain = (body: string) => body.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');
  const boxOf = (body: string) =>
    plain(/<fieldset class="decide">.*?<\/fieldset>/s.exec(body)?.[0] ?? '');
  const idOf = async (orderNo: string) => {
    const [found] = await findBreaks(place.app.db, { orderNo }, { limit: 1, offset: 0 });
    return found?.breakId ?? '';
  };
  let approver: Visitor;
  beforeAll(async () => {
    approver = await place.withRole('approver');
    for (const orderNo of ['W-ONE', 'W-TWO', 'W-THREE']) {
      await openBreak({ orderNo, amount: '879.00' });
      const id = await shownBreak(finance, await idOf(orderNo));
      await finance.post('/breaks/waive', { id, words: 'paid by bank' });
    }
  });

  it('is a state of its own, and who asked for what stands above the button', async () => {
    const id = await idOf('W-ONE');
    const { body: list } = await approver.get('/breaks?text=W-ONE');
    expect(list).toContain('<span class="state waiver_asked">waits for a second person</span>');
    const { body } = await approver.get(`/breaks/${id}`);
    expect(body).toContain('<span class="state waiver_asked">waits for a second person</span>');
    expect(boxOf(body)).toMatch(
      new RegExp(
        `^ Decide ${finance.name} asked for a waiver of 879\\.00 EUR on 20.*: paid by bank`,
      ),
    );
    expect(boxOf(body)).toMatch(/Reason .*Agree to waiver Refuse waiver $/);
    // Of a break that nobody asked about there is nothing to agree to.
    await openBreak({ orderNo: 'W-NONE', amount: '879.00' });
    expect(boxOf((await approver.get(`/breaks/${await idOf('W-NONE')}`)).body)).toBe('');
    // Who asked may only take it back.
    expect(boxOf((await finance.get(`/breaks/${id}`)).body)).toMatch(
      /Somebody else agrees or refuses.* Take the request back $/,
    );
  });

  it('is refused with a reason that stays in its life, and is asked for anew', async () => {
    const id = await idOf('W-ONE');
    const shown = await shownBreak(approver, id);
    expect(
      plain((await approver.post('/breaks/reopen', { id: shown, words: 'no' })).body),
    ).toContain('the waiver that was asked for is refused: the break stays open');
    const { body } = await approver.get(`/breaks/${id}`);
    expect(plain(body)).toMatch(new RegExp(`waiver refused ${approver.name} .* no `));
    expect(body).toContain('<span class="state open">open</span>');
    // What was shown before somebody said no is not agreed to.
    const late = await approver.post('/breaks/waive', { id: shown, words: 'yes' });
    expect(await refusalOf(approver, late)).toContain('it was decided meanwhile: waiver refused');
    // A waiver is not taken back by who only agrees to it.
    const waived = await shownBreak(finance, await idOf('1 days'));
    await finance.post('/breaks/waive', { id: waived, words: 'a euro' });
    const again = await shownBreak(approver, await idOf('1 days'));
    const denied = await approver.post('/breaks/reopen', { id: again, words: 'no' });
    expect(await refusalOf(approver, denied)).toContain('finance takes waivers back');
  });

  it('is refused together with the others of the tray', async () => {
    const tray = await approver.get('/breaks?state=waiver_asked');
    expect(tray.body).toContain('href="/breaks/all/reopen?state=waiver_asked">refuse all</a>');
    const link = '/breaks/all/reopen?state=waiver_asked';
    const preview = (await approver.get(link)).body;
    expect(plain(preview)).toContain('will be open still, the waiver refused');
    const seen = /name="seen" value="([0-9a-f]{64})"/.exec(preview)?.[1] ?? '';
    const done = await approver.post(link, { seen, words: 'not by bank' });
    expect(plain(done.body)).toContain('2 open still, the waiver refused: 1,758.00 EUR.');
    expect(await consoleOrders('state=waiver_asked')).toEqual([]);
  });
});

describe('money at risk', () => {
  it('says what of it may be the same money again: of orders in more than one break', async () => {
    const said = async () =>
      (await finance.get('/')).body.replaceAll(/<[^>]+>/g, '').replaceAll(/\s+/g, ' ');
    expect(await said()).not.toContain('in more than one open break');
    await openBreak({ orderNo: 'TWICE', amount: '500.00' });
    await openBreak({ orderNo: 'TWICE', amount: '400.00', kind: 'outcome_unknown' });
    await openBreak({ orderNo: 'THRICE', amount: '7.00' });
    await openBreak({ orderNo: 'THRICE', amount: '2.00', kind: 'outcome_unknown' });
    await openBreak({ orderNo: 'THRICE', amount: '1.00', kind: 'instruction_rejected' });
    await openBreak({ orderNo: 'TWO', amount: '3.00' });
    await openBreak({ orderNo: 'TWO', amount: '4.00', currency: 'USD', kind: 'outcome_unknown' });
    expect(await said()).toContain(
      '2 orders stand in more than one open break with money of one currency (THRICE, TWICE): ' +
        'the breaks beside the largest of each come to 403.00 EUR, which is counted above and may be the same money again.',
    );
    // Each is listed, and the figure above is the sum of what is.
    expect(await consoleOrders('text=TWICE')).toEqual(['TWICE', 'TWICE']);
  });
});

/** The orders that a page of the list shows, in its order. */
async function consoleOrders(query: string): Promise<string[]> {
  const { statusCode, body } = await finance.get(`/breaks?${query}`);
  expect(statusCode).toBe(200);
  return [...body.matchAll(/<th scope="row"><a href="\/orders\/[^/]+\/([^"]+)"/g)].map(
    ([, orderNo = '']) => decodeURIComponent(orderNo),
  );
}

async function commandAge(age: string): Promise<string[]> {
  const filter = filterOf({ age }, ageClock(), ['open']);
  const found = await findBreaks(place.app.db, filter, { limit: 100, offset: 0 });
  return found.map(({ orderNo }) => orderNo);
}

async function workbookRows() {
  const run = await newestRun(place.app.db);
  const rows = [];
  const at = { asOf: place.clock.now, rule: dueRuleOf(place.app.config) };
  for await (const some of breakRows(place.app.db, run?.runId ?? 0n, at)) {
    rows.push(...some);
  }
  return rows;
}

function openBreak({ days = 0, ...one }: Omit<PlantedBreak, 'seen'> & { days?: number }) {
  const seen = new Date(midnight().getTime() - days * DAY_MS);
  return plantBreak(place.app.db, { ...one, seen });
}

/** When today begins in the schedule's zone. */
function midnight(): Date {
  return startOfDay(dateIn(TIMEZONE, place.clock.now), TIMEZONE);
}

const ageClock = () => ({ at: place.clock.now, timezone: TIMEZONE });
function nameOf(days: number): string {
  return `${days} days`;
}
