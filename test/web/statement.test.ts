// The page of the statement: it leads from the ledger to the gateway with nothing left, shows who
// closed and locked the day and on which revision, and says so when a later revision says otherwise.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { letGoWords } from '../../src/core/instructions/breaker.js';
import { closeDay } from '../../src/days/days.js';
import { previewSigning, signDays } from '../../src/days/signDay.js';
import { queueReports } from '../../src/report/reportsStore.js';
import { writeReport } from '../../src/report/writeReport.js';
import { findRun } from '../../src/runs/runsStore.js';
import { dateOf } from '../support/night.js';
import type { ConsoleHouse, Visitor } from './consoleHouse.js';
import { openConsole, refusalOf, shownBreak } from './consoleHouse.js';

let house: ConsoleHouse;
let viewer: Visitor;
const url = `/nights/${dateOf(1)}/statement`;

beforeAll(async () => {
  house = await openConsole({ orders: 300 });
  viewer = await house.withRole('viewer');
}, 120_000);

afterAll(() => house.end());

it('leads from the ledger to the gateway, item by item', async () => {
  const { statusCode, body } = await viewer.get(url);
  expect(statusCode).toBe(200);
  expect(body).toContain('Unexplained: 0.00 in every account and currency.');
  expect(body).toContain('By the ledger');
  expect(body).toContain(`<a href="${url}/lines?account=A1001&amp;currency=`);
  const [night] = [await viewer.get(`/nights/${dateOf(1)}`)];
  expect(night.body).toContain(url);
});

it('shows only the accounts of the reader', async () => {
  const other = await house.withRole('viewer', 'A1002');
  const { body } = await other.get(url);
  expect(body).toContain('A1002');
  expect(body).not.toContain('A1001');
});

it('says at its head whether the day can be signed, as the page of the day does', async () => {
  const finance = await house.withRole('finance');
  const [head = ''] = /<ul class="signing".*?<h2>/s.exec((await finance.get(url)).body) ?? [];
  for (const accountId of ['A1001', 'A1002']) {
    const day = `/days/${accountId}/${dateOf(1)}`;
    const [, own = ''] =
      /<p class="sentence".*?(this day can be signed: .*?)<\/p>/is.exec(
        (await finance.get(day)).body,
      ) ?? [];
    expect(own).toMatch(/: <strong>(yes|not yet)<\/strong>/);
    expect(head).toContain(own.replace('This', 'this'));
    expect(head).toContain(`<a href="${day}">`);
  }
  expect(head).toContain(`<a href="/days/all/close?date=${dateOf(1)}">`);
  const looked = (await viewer.get(url)).body;
  expect(looked).toContain('Account A1001: this day can be signed');
  expect(looked).not.toContain('/days/all/close');
  expect(looked).toContain('Finance signs');
});

const CHANGED_DAY =
  'What was shown has changed since: nothing was signed. It stands below as it is now.';

function seenIn(body: string): string {
  return /name="seen" value="([0-9a-f]{64})"/.exec(body)?.[1] ?? '';
}

it('lets one press sign the day of every account, after its checklists were shown', async () => {
  const { db } = house.house;
  const [finance, second] = [await house.withRole('finance'), await house.withRole('finance')];
  const close = `/days/all/close?date=${dateOf(1)}`;
  const lock = `/days/all/lock?date=${dateOf(1)}`;
  const states = async () => {
    const { rows } = await db.query<{ state: string }>(
      `select tieout.day_state(a, $1) as state from unnest($2::text[]) as a`,
      [dateOf(1), ['A1001', 'A1002']],
    );
    return rows.map(({ state }) => state);
  };
  const shown = (await finance.get(close)).body;
  expect(shown).toContain('for 2 accounts');
  expect(shown.match(/the statement leaves nothing unexplained/g)).toHaveLength(2);
  const [revision = 'none'] = /revision \d+ of the workbook, sha256 [\da-f]{12}/.exec(shown) ?? [];
  expect(shown.split(`Who signs now signs on ${revision}`)).toHaveLength(3);
  expect((await finance.get(lock)).body).toContain('Nothing would be signed');
  // What changed since it was shown is shown again, and nothing is done.
  const stale = await finance.post(close, { seen: '0'.repeat(64), words: 'month end' });
  expect([stale.statusCode, await states()]).toEqual([409, ['open', 'open']]);
  const done = await finance.post(close, { seen: seenIn(shown), words: 'month end' });
  for (const said of ['2 of 2 done', `on ${revision}`]) expect(done.body).toContain(said);
  const { rows } = await db.query(
    `select account_id, event, by, reason from tieout.day_events order by account_id`,
  );
  expect(rows).toEqual(
    ['A1001', 'A1002'].map((account_id) => {
      return { account_id, event: 'closed', by: finance.name, reason: 'month end' };
    }),
  );
  // Where two persons have to sign, who closed it is told so before the press.
  const barsOf = async ({ name }: Visitor) => {
    const who = { name, isClaim: false };
    const asked = { accountIds: ['A1001', 'A1002'], date: dateOf(1), verb: 'lock' as const };
    const { days } = await previewSigning(db, { ...asked, who, secondPerson: true });
    return days.map(({ bar }) => bar);
  };
  const own1 = `${finance.name} closed it: a second person locks it`;
  expect(await barsOf(finance)).toEqual([own1, own1]);
  expect(await barsOf(second)).toEqual([null, null]);
  // Who may see one account signs that one; nobody reopens many at once.
  const own = (await (await house.withRole('finance', 'A1002')).get(lock)).body;
  expect(own).toContain('for 1 account');
  expect(own).not.toContain('A1001');
  expect((await second.get(url)).body).toContain(`<a href="${lock}">`);
  const review = (await second.get(lock)).body;
  expect(review).toContain('for 2 accounts');
  for (const accountId of ['A1001', 'A1002']) {
    const fields = { account: accountId, date: dateOf(1), words: 'once more' };
    expect((await finance.post('/days/reopen', fields)).body).toContain('1 of 1 done');
  }
  const late = await second.post(lock, { seen: seenIn(review), words: 'reviewed' });
  expect([late.statusCode, await states()]).toEqual([409, ['open', 'open']]);
});

it('leads finance to what to see before the day is closed', async () => {
  const finance = await house.withRole('finance');
  const { body } = await finance.get(`/days/A1001/${dateOf(1)}`);
  const [sentence = ''] = /<p class="sentence".*?<\/p>/s.exec(body) ?? [];
  expect(sentence).toMatch(/can be signed: <strong>yes<\/strong>, knowing what is still open/);
  expect(sentence).toContain('<a href="/breaks?account=A1001">');
  expect(sentence).toContain('<a href="/instructions?account=A1001">');
  expect(body.indexOf('Prepared: day closed not yet')).toBeGreaterThan(body.indexOf(sentence));
  expect(body).toContain('Before it is closed');
  expect(body).toContain('the statement leaves nothing unexplained');
  expect(body).toContain('Close it: prepared');
  expect(body).toContain('may lock it too: the same name then stands under both');
});

it('signs one account only as its day was shown, and shows what changed first', async () => {
  const { db } = house.house;
  const finance = await house.withRole('finance');
  const path = `/days/A1001/${dateOf(1)}`;
  const state = async () => {
    const { rows } = await db.query<{ state: string }>(
      `select tieout.day_state('A1001', $1) as state`,
      [dateOf(1)],
    );
    return rows[0]?.state;
  };
  const press = async (verb: 'close' | 'lock', seen: string) => {
    const fields = { account: 'A1001', date: dateOf(1), words: 'month end' };
    return finance.post(`/days/${verb}`, { ...fields, ...(seen === '' ? {} : { seen }) });
  };
  const { rows: open } = await db.query<{ id: bigint }>(
    `select min(break_id) as id from tieout.breaks where account_id = 'A1001' and state = 'open'`,
  );
  const become = (to: string) =>
    db.query('update tieout.breaks set state = $2 where break_id = $1', [open[0]?.id, to]);
  const before = seenIn((await finance.get(path)).body);
  await become('resolved');
  for (const seen of [before, '']) {
    const refusal = await refusalOf(finance, await press('close', seen));
    expect([refusal, await state()]).toEqual([CHANGED_DAY, 'open']);
  }
  const done = await press('close', seenIn((await finance.get(path)).body));
  expect([done.body.includes('1 of 1 done'), await state()]).toEqual([true, 'closed']);
  const review = seenIn((await finance.get(path)).body);
  await become('open');
  const refusal = await refusalOf(finance, await press('lock', review));
  expect([refusal, await state()]).toEqual([CHANGED_DAY, 'closed']);
  const reopen = { account: 'A1001', date: dateOf(1), words: 'once more' };
  expect((await finance.post('/days/reopen', reopen)).body).toContain('1 of 1 done');
});

it('and the night tell nobody to type a command: what the console has is a link', async () => {
  const { db } = house.house;
  await db.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica');
    await tx.query(
      `update tieout.runs set summary = jsonb_set(summary, '{notices}', coalesce(summary -> 'notices',
         '[]') || $1::jsonb) where business_date = $2`,
      [
        JSON.stringify([
          { accountId: 'A1001', kind: 'not_sent', about: '', text: letGoWords('A1001') },
          { accountId: 'A1001', kind: 'not_sent', about: '', text: 'look at `tieout doctor`' },
          {
            ...{ accountId: 'A1001', kind: 'live_from_ahead', about: '' },
            text: 'lies ahead: 2026-11-26T03:15:30.250Z',
          },
        ]),
        dateOf(1),
      ],
    );
  });
  const { body } = await viewer.get(`/nights/${dateOf(1)}`);
  expect(body).toContain('to resume: <a href="/brake">Resume sending</a>');
  expect(body).toContain('look at (ask the operator to run: <code>tieout doctor</code>)');
  expect(body).toContain('lies ahead: 2026-11-26 03:15:30 UTC');
});

it('goes on to the settlement where its books were kept, red where they leave money', async () => {
  const { db } = house.house;
  const books = (left: string) =>
    db.query(
      'update tieout.statements set books = $1::jsonb where account_id = $2 and currency = $3',
      [
        JSON.stringify({
          from: '2026-11-01',
          bridge: [{ item: 'settled', lines: 7, captured: '1234.50', refunded: '0.00' }],
          unexplained: { captured: left, refunded: '0.00' },
          other: [{ item: 'no_movement', lines: 1, captured: '-9.00', refunded: '0.00' }],
          closing: { captured: '-9.00', refunded: '0.00' },
        }),
        ...['A1001', 'EUR'],
      ],
    );
  const finance = await house.withRole('finance');
  const day = `/days/A1001/${dateOf(1)}`;
  await books('0.00');
  const shown = (await viewer.get(url)).body;
  expect(shown).toContain('Settlement, books kept since 2026-11-01');
  expect(shown).toMatch(/Settled by the acquirer<\/th>.*?7.*?1,234\.50/s);
  // So long a name breaks into lines, where the window is narrow.
  expect(shown).toContain('<th scope="row" class="words">At the gateway, not settled:');
  expect(shown).toContain('Unexplained: 0.00 in every account and currency.');
  expect((await finance.get(day)).body).toContain('the statement leaves nothing unexplained');
  await books('3.00');
  expect((await viewer.get(url)).body).toContain('Unexplained money in A1001 EUR: do not sign.');
  expect((await finance.get(day)).body).toContain('the statement leaves money unexplained');
  await db.query('update tieout.statements set books = null');
});

it('says who closed the day on which revision, and when that is no longer what is said', async () => {
  const { db } = house.house;
  const finance = await house.withRole('finance');
  const who = { name: finance.name, isClaim: false };
  const order = { accountId: 'A1001', date: dateOf(1), who, reason: 'month end' };
  // What came after the night is named before anybody signs, and not held against who did.
  const insert = (orderNo: string, placed: string, currency = 'EUR') =>
    db.query(
      `insert into ledger.orders (account_id, order_no, currency, amount, expected, placed_at)
       select 'A1001', $1, $2, 5, 'authorised', ${placed} from tieout.runs`,
      [orderNo, currency],
    );
  const day = `/days/A1001/${dateOf(1)}`;
  expect((await finance.get(day)).body).toContain('✓ no order or refund request of this day');
  await insert('EARLY-1', 'starts_at');
  await db.query(
    `insert into ledger.refund_requests (account_id, refund_id, order_no, refund_amount,
       requested_at)
     select 'A1001', gen_random_uuid(), 'EARLY-1', 2, starts_at from tieout.runs`,
  );
  const late =
    '1 order and 1 refund request of this day came or changed after its night had looked, and the ' +
    'statement is without them; they count in the next night: sign it knowing so, or run the date ' +
    'again first (“Run again” on the console)';
  for (const path of [url, day, `/days/all/close?date=${dateOf(1)}`]) {
    expect((await finance.get(path)).body).toContain(late);
  }
  expect((await finance.get(day)).body).toContain(
    '<a href="/orders/A1001/EARLY-1">EARLY-1</a>, refund ',
  );
  // Who only looks does not have the ledger read for what is said to who signs.
  const looked = (await viewer.get(url)).body;
  expect(looked).toContain('Account A1001: this day can be signed');
  expect(looked).not.toContain('came or changed after its night');
  const closed = await closeDay(db, order);
  expect(closed).toMatchObject({
    kind: 'done',
    knowing: expect.arrayContaining([expect.objectContaining({ topic: 'ledger' })]),
  });
  const other = await house.withRole('finance');
  const [own, reviewed] = [finance, other].map((one) => one.get(`/days/A1001/${dateOf(1)}`));
  expect((await own)?.body).toContain('the same person has prepared and reviewed it');
  const review = (await reviewed)?.body;
  expect(review).toContain('Before it is locked, as it stands now');
  expect(review).toMatch(/✗ <a href="\/breaks\?account=A1001">\d+ breaks are open/);
  expect(review).toContain('Who locks it has reviewed it.');
  const signed = await viewer.get(url);
  expect(signed.body).toContain(`by ${finance.name}`);
  expect(signed.body).toMatch(/on revision \d/);
  expect(signed.body).not.toContain('What was signed has changed');
  expect(signed.body).not.toContain('has changed since');
  // At once, before any later revision: a break opened again, an order that came since.
  const { rows } = await db.query<{ id: string; currency: string }>(
    `select break_id::text as id, currency from tieout.breaks
     where account_id = 'A1001' and state = 'open' order by break_id limit 1`,
  );
  const touched = rows[0]?.currency ?? '';
  house.clock.now = new Date();
  const press = async (who: Visitor, verb: string) => {
    const id = await shownBreak(who, rows[0]?.id ?? '');
    return (await who.post(`/breaks/${verb}`, { id, words: 'rounding' })).body;
  };
  for (const one of [finance, other]) expect(await press(one, 'waive')).toContain('1 of 1 done');
  expect((await viewer.get(url)).body).not.toContain('has changed since');
  expect(await press(finance, 'reopen')).toContain('1 of 1 done');
  expect((await viewer.get(url)).body).toContain('the day was closed: 1 break was opened again.');
  await insert('LATE-1', 'starts_at', touched);
  await insert('NEXT-1', 'ends_at');
  const came = 'it was closed: 1 break was opened again, 1 order of that day is new or different.';
  for (const path of [url, `/days/A1001/${dateOf(1)}`]) {
    // At its head, and on the statement beside what it touches.
    expect((await finance.get(path)).body.split('<section')[0]).toContain(came);
  }
  // It is told of the currency that it touches, and whether the figures above have it.
  const sectionOf = async (currency: string) => {
    const sections = (await viewer.get(url)).body.split('<section aria-label="Statement of ');
    return sections.find((one) => one.startsWith(`A1001 in ${currency}"`)) ?? '';
  };
  expect(await sectionOf(touched)).toMatch(/different\. It is not in the figures of revision \d;/);
  const quiet = touched === 'JPY' ? 'EUR' : 'JPY';
  expect(await sectionOf(quiet)).toContain('By the ledger');
  expect(await sectionOf(quiet)).not.toContain('has changed since');
  // The look of the night may be removed: then nobody knows what came late, the rest is told.
  const asOwner = (sql: string) =>
    db.transaction(async (tx) => {
      await tx.query('set local session_replication_role = replica');
      await tx.query(sql);
    });
  await asOwner(
    `insert into tieout.removed_looks (pull_id, account_id, removal_id, link_id, facts,
       facts_sha256)
     select distinct pull_id, account_id, 1, 1, 0, '' from tieout.run_accounts
     where pull_id is not null`,
  );
  for (const path of [url, day]) {
    const page = (await finance.get(path)).body;
    expect(page).toMatch(/[Cc]hanged since (it|the day) was closed: 1 break was opened again\./);
    expect(page).not.toContain('no order or refund request of this day');
    expect(page).not.toContain('came or changed after its night');
  }
  await asOwner('delete from tieout.removed_looks');
  // A view whose columns are texts says the same; of one that does not answer it is said.
  await db.query('alter table ledger.orders rename to orders_kept');
  await db.query('create sequence asked');
  for (const [divisor, words] of [
    [1, '1 break was opened again, 1 order of that day is new or different.'],
    [0, 'the ledger did not answer in time'],
  ] as const) {
    await db.query(
      `create or replace view ledger.orders as select account_id, order_no, currency,
         (amount / case when nextval('asked') > 0 then ${divisor} end)::text as amount, expected, transaction_id,
         capture_amount::text as capture_amount, review_decision,
         to_char(placed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as placed_at,
         updated_at
       from ledger.orders_kept`,
    );
    for (const path of [url, `/days/A1001/${dateOf(1)}`]) {
      const page = await finance.get(path);
      expect([page.statusCode, page.body]).toEqual([200, expect.stringContaining(words)]);
    }
  }
  // Of a ledger that does not answer each press and page waits once, not with each account.
  const asked = async () => (await db.query<{ n: bigint }>(`select nextval('asked') as n`)).rows;
  const both = { accountIds: ['A1001', 'A1002'], date: dateOf(1), verb: 'close' as const, who };
  const press2 = { ...both, secondPerson: false };
  const { digest } = await previewSigning(db, press2);
  const [before] = await asked();
  const verdicts = await signDays(db, { ...press2, reason: 'month end', digest });
  expect(verdicts).toMatchObject({ verdicts: [{ kind: 'done', accountId: 'A1002' }] });
  const [after] = await asked();
  expect((after?.n ?? 0n) - (before?.n ?? 0n)).toBe(2n);
  await db.query('drop view ledger.orders');
  await db.query('drop sequence asked');
  await db.query('alter table ledger.orders_kept rename to orders');

  const run = await findRun(db, dateOf(1));
  await db.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica');
    await tx.query(
      `update tieout.look_entries set amount = amount + 1
       where account_id = 'A1001' and order_no = (
         select min(e.order_no) from tieout.look_entries e
         where e.account_id = 'A1001' and e.state = 'captured' and not e.is_extra
           and not exists (select from tieout.verdicts v
             where v.account_id = e.account_id and v.order_no = e.order_no))`,
    );
  });
  const ids = await queueReports(db, run?.runId ?? 0n, ['reconciliation'], new Date());
  for (const id of ids) await writeReport(house.app, id);
  const { body } = await viewer.get(url);
  expect(body).toContain('What was signed has changed');
  expect(body).toContain('do not sign');
  const ofDay = (await viewer.get(`/days/A1001/${dateOf(1)}`)).body;
  expect(ofDay).toContain('the newest revision of its workbook has other figures');
  expect(body).toMatch(/n the figures of revision \d/);
  // A page that the signed revision did not have is not what was signed either.
  expect(await sectionOf('JPY')).toContain('by person');
  expect(await sectionOf('JPY')).not.toContain('What was signed has changed');
  await db.query(
    `delete from tieout.statements s using tieout.reports p
     where p.report_id = s.report_id and p.run_id = $1 and s.account_id = 'A1001'
       and s.currency = 'JPY' and p.revision < (
         select max(revision) from tieout.reports where run_id = $1 and kind = 'reconciliation')`,
    [run?.runId],
  );
  expect(await sectionOf('JPY')).toContain('What was signed has changed');
});
