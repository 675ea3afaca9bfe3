// Both signatures of a business day stand under the same figures: what is prepared on one revision
// of the workbook is reviewed on another one only where both say the same, else it is closed again.

import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/database/db.js';
import { closeDay, lockDay } from '../../src/days/days.js';
import { dayEvents } from '../../src/days/daysStore.js';
import { NOT_ANSWERED, shownDay } from '../../src/days/shownDay.js';
import { previewSigning, signDays } from '../../src/days/signDay.js';
import { runDigests } from '../../src/report/keptReportsStore.js';
import { verifyWorkbook, workbookLines } from '../../src/verify/verifyWorkbook.js';
import type { FreshDatabase } from '../support/database.js';
import { freshDatabase } from '../support/database.js';

const [DATE, NEXT] = ['2026-11-16', '2026-11-17'];
const [franz, gina] = ['franz', 'gina'].map((name) => ({ name, isClaim: false }));

let fresh: FreshDatabase;
let db: Database;
let accountId = 'A0';
let accounts = 0;
beforeAll(async () => {
  fresh = await freshDatabase();
  db = fresh.db;
});
afterAll(() => fresh.drop());

/** An account of its own with a run on both dates, without a workbook. */
async function nights(): Promise<void> {
  accounts += 1;
  accountId = `A${accounts}`;
  await db.query('delete from tieout.reports');
  await db.query(
    `insert into tieout.runs (business_date, covers, starts_at, ends_at, state, environment,
       settings, settings_sha256, version, created_at, finished_at, summary)
     select day, array[day], day::timestamptz, day::timestamptz + interval '1 day', 'tied_out',
       'test', '{"schedule": {"timezone": "UTC", "cutOff": "00:00"}}', '', '0', now(), now(), '{}'
     from unnest($1::date[]) as day on conflict do nothing`,
    [[DATE, NEXT]],
  );
  await db.query(
    `insert into tieout.run_accounts (run_id, account_id, business_date, merchant_id, state, as_of)
     select run_id, $1, business_date, 'M1', 'tied_out', now() from tieout.runs`,
    [accountId],
  );
}

interface Said {
  captured?: string;
  items?: object[];
  books?: object | null;
}

/** A revision of the workbook of DATE; `says` null: its figures are not on record. */
async function write(revision: number, says: Said | null, currency = 'EUR'): Promise<void> {
  await db.query(
    `insert into tieout.reports (run_id, kind, format, revision, state, created_at, written_at,
       path, bytes, sha256)
     select run_id, 'reconciliation', 'xlsx', $2, 'written', now(), now(), 'x', 1, 'x' || $2::int
     from tieout.runs where business_date = $1 on conflict do nothing`,
    [DATE, revision],
  );
  if (says === null) return;
  const { captured = '10.00', items = [], books = null } = says;
  await db.query(
    `insert into tieout.statements (report_id, account_id, currency, ledger_captured,
       ledger_refunded, gateway_captured, gateway_refunded, items, unexplained_captured,
       unexplained_refunded, books)
     select report_id, $2, $3, $4::numeric, 0, 10, 0, $5, 0, 0, $6
     from tieout.reports where revision = $1`,
    [revision, accountId, currency, captured, JSON.stringify(items), JSON.stringify(books)],
  );
}

const order = (who = franz) => ({
  ...{ accountId, date: DATE ?? '', reason: 'month end', secondPerson: true },
  who: who ?? { name: '', isClaim: false },
});
const shown = async () => (await shownDay(db, accountId, DATE ?? '', NOT_ANSWERED)).day;
const OTHER =
  'it was prepared on revision 1 of the workbook, and revision 2 has other figures: close it ' +
  'again, on revision 2, and then it can be reviewed';

test('a day prepared on one revision is not reviewed on one with other figures', async () => {
  await nights();
  await write(1, {});
  expect(await closeDay(db, order())).toMatchObject({ kind: 'done' });
  expect((await shown()).signedOn).toEqual([]);
  expect(await closeDay(db, order(gina))).toMatchObject({ reason: `${DATE} is closed already` });
  const items = [{ item: 'due', lines: 2, captured: '0.50', refunded: '0.00' }];
  await write(2, { captured: '9.50', items });
  expect(await lockDay(db, order(gina))).toMatchObject({ kind: 'refused', reason: OTHER });
  // With others it is left, and the press that closes takes it.
  const press = { accountIds: [accountId], date: DATE ?? '', who: gina, secondPerson: true };
  const bars = async (verb: 'close' | 'lock') =>
    (await previewSigning(db, { ...press, verb, who: order(gina).who })).days[0]?.bar;
  expect([await bars('lock'), await bars('close')]).toEqual([OTHER, null]);
  expect((await shown()).signedOn).toEqual([
    {
      ...{ revision: 1, newest: 2, events: ['closed'] },
      pages: [
        {
          currency: 'EUR',
          changes: [
            ['By the ledger', 'Captured', '10.00', '9.50', '-0.50'],
            ['On its way: an instruction is under way', 'Lines', '0', '2', '2'],
            ['On its way: an instruction is under way', 'Captured', '0.00', '0.50', '0.50'],
          ].map(([what, figure, signed, newest, difference]) => {
            return { what, figure, signed, newest, difference };
          }),
        },
      ],
    },
  ]);
  // Days after it are closed and locked: it is closed again all the same, and nothing moves.
  await closeDay(db, { ...order(), date: NEXT ?? '' });
  await lockDay(db, { ...order(gina), date: NEXT ?? '' });
  const closing = { ...press, verb: 'close' as const, who: order(gina).who };
  const { digest } = await previewSigning(db, closing);
  expect(await signDays(db, { ...closing, digest, reason: 'revision 2' })).toMatchObject({
    verdicts: [{ kind: 'done', dates: [DATE], workbooks: [{ revision: 2 }] }],
  });
  expect((await shown()).signedOn).toEqual([]);
  expect(await lockDay(db, order(gina))).toMatchObject({ reason: /^gina closed it/ });
  expect(await lockDay(db, order())).toMatchObject({ kind: 'done', dates: [DATE] });
  const events = await dayEvents(db, accountId, DATE ?? '');
  expect(events.map(({ event, by, workbook }) => [event, by, workbook?.revision])).toEqual([
    ['closed', 'franz', 1],
    ['closed', 'gina', 2],
    ['locked', 'franz', 2],
  ]);
  // A later one is told of a locked day, too, and changes nothing of it.
  await write(3, { captured: '9.50', items, books: null });
  expect((await shown()).signedOn).toEqual([]);
  await write(4, {});
  expect((await shown()).signedOn).toMatchObject([{ revision: 2, events: ['closed', 'locked'] }]);
  expect(await closeDay(db, order())).toMatchObject({ reason: `${DATE} is locked already` });
});

test.each([
  ['reviewed on another revision with equal figures', {}, { books: null }, null],
  ['not reviewed where the signed ones are not on record', null, {}, /is not on record/],
  ['not reviewed where the newest are not on record', {}, null, /is not on record/],
])('a day is %s', async (_what, first, second, reason) => {
  await nights();
  await write(1, first);
  await closeDay(db, order());
  await write(2, second);
  const verdict = await lockDay(db, order(gina));
  if (reason === null) expect(verdict).toMatchObject({ kind: 'done' });
  else expect(verdict).toMatchObject({ kind: 'refused', reason: expect.stringMatching(reason) });
});

test('a day without a workbook is reviewed without one, and closed again on its first', async () => {
  await nights();
  await closeDay(db, order());
  await write(1, {});
  expect(await lockDay(db, order(gina))).toMatchObject({
    reason: expect.stringContaining('it was prepared without a workbook, and revision 1 is there'),
  });
  expect(await closeDay(db, order())).toMatchObject({ kind: 'done' });
  expect(await lockDay(db, order(gina))).toMatchObject({ kind: 'done' });
  await nights();
  await closeDay(db, order());
  expect(await lockDay(db, order(gina))).toMatchObject({ kind: 'done' });
});

test('a page that came, and books that began, are told figure by figure', async () => {
  await nights();
  await write(1, {});
  await closeDay(db, order());
  const nothing = { captured: '0.00', refunded: '0.00' };
  const settled = { item: 'settled', lines: 1, captured: '10.00', refunded: '0.00' };
  const books = { from: '2026-11-01', bridge: [settled], unexplained: nothing, other: [] };
  await write(2, { books: { ...books, closing: nothing } });
  await write(2, { captured: '0.00' }, 'USD');
  const [one] = (await shown()).signedOn;
  expect(one?.pages?.map(({ currency }) => currency)).toEqual(['EUR', 'USD']);
  expect(one?.pages?.[0]?.changes).toContainEqual({
    ...{ what: 'Settlement: books kept since', figure: 'From' },
    ...{ signed: null, newest: '2026-11-01', difference: null },
  });
  expect(one?.pages?.[1]?.changes).toEqual([
    {
      ...{ what: 'By the gateway', figure: 'Captured' },
      ...{ signed: '0.00', newest: '10.00', difference: '10.00' },
    },
  ]);
});

test('what a later date sent has the name that its workbook gives it', async () => {
  await nights();
  const item = (name: string, lines: number, captured: string) => {
    return { ...{ item: name, lines, captured }, refunded: '0.00' };
  };
  await write(1, { items: [item('held', 1, '-6.00'), item('later', 1, '-2.00')] });
  await closeDay(db, order());
  const sent = [item('moved_later', 1, '-6.00'), item('later', 1, '-2.00')];
  await write(2, { items: sent });
  const said = async () => {
    const changes = (await shown()).signedOn[0]?.pages?.[0]?.changes;
    return changes?.map(({ what, figure, newest }) => `${what}, ${figure}: ${newest}`);
  };
  const moved = 'Moved since: it counts on a later business date';
  expect(await said()).toEqual([
    `${moved}, Lines: 1`,
    `${moved}, Captured: -6.00`,
    'Waiting for approval, Lines: 0',
    'Waiting for approval, Captured: 0.00',
  ]);
  // What waited for a later night, and came as it was said, is no other figure.
  await closeDay(db, order());
  await write(3, { items: [item('moved_later', 2, '-8.00')] });
  expect(await said()).toBeUndefined();
});

test('a file of an older revision is told whether the newest has other figures', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tieout-'));
  const path = join(folder, 'signed.xlsx');
  await writeFile(path, 'signed');
  await nights();
  await write(1, {});
  const { rows } = await db.query<{ runId: bigint }>(
    `update tieout.reports set sha256 = $1 returning run_id as "runId"`,
    [createHash('sha256').update('signed').digest('hex')],
  );
  const digests = await runDigests(db, rows[0]?.runId ?? 0n);
  await db.query('update tieout.reports set digests = $1', [digests]);
  const said = async () => workbookLines(path, await verifyWorkbook({ db }, path)).slice(1);
  expect(await said()).toEqual([expect.stringMatching(/^What its night recorded/)]);
  await write(2, { captured: '9.50' });
  expect(await said()).toEqual([
    'A newer revision was made: 2. Its statement has other figures than this file:',
    `  ${accountId}, EUR, By the ledger, captured: 10.00, now 9.50 (difference -0.50)`,
    expect.stringContaining('breaks, figures, verdicts, money moved'),
  ]);
  await write(3, {});
  expect((await said())[0]).toBe(
    'A newer revision was made: 3. Its statement has the same figures.',
  );
  await write(4, null);
  expect((await said())[0]).toContain('has the same figures is not on record');
  await rm(folder, { recursive: true });
});
