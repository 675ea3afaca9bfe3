// Business days on a real PostgreSQL: whatever is confirmed, closed and reopened in whatever order,
// each day opens with what the one before closed with, a closed day keeps its figures, and every
// movement of money stands in exactly one day.

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { besideFigures, workedOutClosing } from '../../src/core/runs/businessDay.js';
import type { Database } from '../../src/database/db.js';
import { barToReopen, closeDay, lockDay, reopenDay } from '../../src/days/days.js';
import {
  dayEvents,
  dayFigures,
  lateMovements,
  openItems,
  postMovements,
} from '../../src/days/daysStore.js';
import { NOT_ANSWERED, shownDay } from '../../src/days/shownDay.js';
import { previewSigning, signDays } from '../../src/days/signDay.js';
import { factsOfClose } from '../support/closing.js';
import type { FreshDatabase } from '../support/database.js';
import { freshDatabase } from '../support/database.js';

let fresh: FreshDatabase;
let db: Database;
let accounts = 0;
beforeAll(async () => {
  fresh = await freshDatabase();
  db = fresh.db;
});
afterAll(() => fresh.drop());

const DATES = ['2026-11-16', '2026-11-17', '2026-11-18', '2026-11-19'] as const;
const who = { name: 'anna', isClaim: true };

/** An account with a finished run on each date; runs are shared by all accounts of this file. */
async function account(): Promise<string> {
  accounts += 1;
  const accountId = `A${accounts}`;
  await db.query(
    `insert into tieout.runs (business_date, covers, starts_at, ends_at, state, environment,
       settings, settings_sha256, version, created_at, finished_at, summary)
     select day, array[day], day::timestamptz, day::timestamptz + interval '1 day', 'tied_out',
       'test', '{"schedule": {"timezone": "UTC", "cutOff": "00:00"}}', '', '0', now(), now(), '{}'
     from unnest($1::date[]) as day on conflict do nothing`,
    [DATES],
  );
  await db.query(
    `insert into tieout.run_accounts (run_id, account_id, business_date, merchant_id, state, as_of)
     select run_id, $1, business_date, 'M1', 'tied_out', now() from tieout.runs`,
    [accountId],
  );
  return accountId;
}

/** A movement that the run of `date` sent, and that the newest run knows to be done. */
async function confirm(
  accountId: string,
  date: string,
  operation: 'capture' | 'refund' | 'cancel' | 'payout',
  hundredths: number,
  settledBy: string = date,
): Promise<void> {
  const amount = (hundredths / 100).toFixed(2);
  await db.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica');
    await tx.query(
      `insert into tieout.instructions (run_id, account_id, order_no, operation, transaction_id,
         currency, amount, refund_id, refund_amount, from_state, done_states, state, created_at,
         settled_at, settled_run_id)
       select r.run_id, $1, gen_random_uuid(), $3, gen_random_uuid(), 'EUR', $4::numeric,
         case when $3 = 'refund' then gen_random_uuid()::text end,
         case when $3 = 'refund' then $4::numeric end, 'x', array['y'], 'confirmed', now(), now(),
         (select run_id from tieout.runs where business_date = $5)
       from tieout.runs r where r.business_date = $2`,
      [accountId, date, operation, amount, settledBy],
    );
  });
}

async function writeWorkbook(date: string, revision: number, sha256: string): Promise<void> {
  await db.query(
    `insert into tieout.reports (run_id, kind, format, revision, state, created_at, written_at,
       path, bytes, sha256)
     select run_id, 'reconciliation', 'xlsx', $2, 'written', now(), now(), 'x', 1, $3
     from tieout.runs where business_date = $1`,
    [date, revision, sha256],
  );
}

const all = (accountId: string) => dayFigures(db, [accountId], '0001-01-01', '9999-12-31');

async function expectRolled(accountId: string): Promise<void> {
  const days = await all(accountId);
  for (const [index, day] of days.entries()) {
    expect(day.opening).toBe(days[index - 1]?.closing ?? '0.00');
    expect(day.closing).toBe(workedOutClosing(day));
  }
}

describe('a day', () => {
  test('holds what its run sent, and is adjusted in the next when it was closed by then', async () => {
    const accountId = await account();
    await confirm(accountId, DATES[0], 'capture', 1000);
    await confirm(accountId, DATES[0], 'refund', 250);
    await confirm(accountId, DATES[0], 'cancel', 9900);
    await postMovements(db, accountId);
    const order = { accountId, date: DATES[0], who, reason: 'month end' };
    expect(await closeDay(db, order)).toMatchObject({ kind: 'done', dates: [DATES[0]] });
    await confirm(accountId, DATES[0], 'capture', 77, DATES[1]);
    await confirm(accountId, DATES[0], 'cancel', 6600, DATES[1]);
    await confirm(accountId, DATES[1], 'capture', 500);
    await postMovements(db, accountId);
    const [first, second] = await all(accountId);
    expect(first).toMatchObject({
      ...{ state: 'closed', opening: '0.00', captured: '10.00', refunded: '2.50' },
      ...{ adjustments: '0.00', closing: '7.50', cancelled: '99.00', cutOff: '00:00' },
    });
    expect(second).toMatchObject({
      ...{ state: 'open', opening: '7.50', captured: '5.00', adjustments: '0.77' },
      ...{ closing: '13.27', late: 2, cancelled: '66.00', cancelledLate: '66.00', cancels: 1 },
    });
    expect(await lateMovements(db, accountId, DATES[1])).toMatchObject({
      rows: [{ operation: 'capture', amount: '0.77', belongsTo: DATES[0] }, { amount: '66.00' }],
      count: 2,
    });
  });

  test('closes alone, or by choice with every open one before it, and keeps what was open', async () => {
    const accountId = await account();
    await confirm(accountId, DATES[1], 'capture', 100);
    await db.query(
      `insert into tieout.breaks (account_id, order_no, kind, state, first_seen, first_run_id,
         last_run_id, currency, amount, expected, actual, fingerprint)
       values ($1, 'O1', 'amount_mismatch', 'open', now(), 1, 1, 'EUR', 10,
         '{"amount": "100.00", "currency": "EUR"}', '{"amount": "1000.00", "currency": "EUR"}', '')`,
      [accountId],
    );
    const order = { accountId, date: DATES[2], who, reason: 'week' };
    const { openMoney } = await factsOfClose(db, accountId, DATES[2]);
    expect(openMoney).toEqual([{ currency: 'EUR', amount: '900.00' }]);
    expect(await closeDay(db, order)).toMatchObject({
      ...{ kind: 'refused', reason: expect.stringContaining(`${DATES[0]}, ${DATES[1]}`) },
    });
    const all = { ...order, withEarlier: true };
    expect(await closeDay(db, all)).toMatchObject({ dates: DATES.slice(0, 3) });
    const { rows } = await db.query(
      `select event, by, reason, open_items -> 0 ->> 'amount' as open, link_id is not null as sealed
       from tieout.day_events where account_id = $1`,
      [accountId],
    );
    const kept = { event: 'closed', by: 'anna', reason: 'week', open: '900.00', sealed: true };
    expect(rows).toEqual([kept, kept, kept]);
  });

  test('counts all that is open also where only a part of it is named', async () => {
    const accountId = await account();
    await db.query(
      `insert into tieout.breaks (account_id, order_no, kind, state, first_seen, first_run_id,
         last_run_id, expected, actual, fingerprint)
       select $1, 'O' || n, 'amount_mismatch', 'open', now(), 1, 1, '{}', '{}', ''
       from generate_series(1, 1003) as n`,
      [accountId],
    );
    const { rows, count } = await openItems(db, accountId);
    expect([rows.length, count]).toEqual([1000, 1003]);
    await closeDay(db, { accountId, date: DATES[0], who, reason: 'month end' });
    const [closed] = await dayEvents(db, accountId, DATES[0]);
    expect(closed?.openItems).toHaveLength(1000);
    expect(closed?.openCount).toBe(1003);
    // What was decided before that was kept is not counted for what it may not be.
    await db.transaction(async (tx) => {
      await tx.query('set local session_replication_role = replica');
      await tx.query(
        `update tieout.day_events set open_items = open_items - 1000 where account_id = $1`,
        [accountId],
      );
    });
    expect((await dayEvents(db, accountId, DATES[0]))[0]?.openCount).toBeNull();
  });

  test.each([
    ['closed twice', closeDay, DATES[1], /closed already/],
    ['closed without a run', closeDay, '2026-12-24', /no finished run/],
    ['locked while it is open', lockDay, DATES[2], /only a closed day/],
    ['reopened while it is open', reopenDay, DATES[2], /only a closed day/],
    ['reopened before a later one', reopenDay, DATES[0], new RegExp(`reopen ${DATES[1]} first`)],
  ])('is not %s', async (_name, decide, date, reason) => {
    const accountId = await account();
    await closeDay(db, { accountId, date: DATES[1], who, reason: 'so far', withEarlier: true });
    const verdict = await decide(db, { accountId, date, who, reason: 'try' });
    expect(verdict).toMatchObject({ kind: 'refused', reason: expect.stringMatching(reason) });
  });

  test('that is locked stays', async () => {
    const accountId = await account();
    const order = { accountId, date: DATES[0], who, reason: 'audit' };
    await closeDay(db, order);
    await lockDay(db, order);
    expect(await reopenDay(db, order)).toMatchObject({ kind: 'refused' });
    // Nor is one before a locked day opened again: nobody is sent to open what stays.
    const [earlier, later] = [await account(), { date: DATES[1], who, reason: 'audit' }];
    for (const date of DATES.slice(0, 2)) {
      await closeDay(db, { ...order, accountId: earlier, date });
    }
    await lockDay(db, { ...later, accountId: earlier });
    expect(await barToReopen(db, { accountId: earlier, date: DATES[0] })).toMatch(
      /^\S+, after it, is locked and stays/,
    );
    expect(await reopenDay(db, { ...order, accountId: earlier })).toMatchObject({
      ...{ kind: 'refused', reason: expect.stringContaining(`${DATES[0]} cannot be opened again`) },
    });
    await expect(
      db.query(
        `insert into tieout.day_events (account_id, business_date, event, by, is_claim, reason,
           figures, open_items) values ($1, $2, 'reopened', 'eve', true, 'please', '[]', '[]')`,
        [accountId, DATES[0]],
      ),
    ).rejects.toThrow(/locked/);
  });

  test.each([
    ['the person who closed it', 'anna', false, 'anna', /anna closed it/],
    ['a name that is only claimed', 'anna', false, 'eve', /signed in/, true],
    ['anybody, where the one who closed it is a claim', 'anna', true, 'ben', /only claimed/],
    ['a second person', 'anna', false, 'ben', null],
  ])('that two persons close is locked by %s or not', async (...row) => {
    const [, by, isClaim, name, refused, isClaimed = false] = row;
    const accountId = await account();
    const order = { accountId, date: DATES[0], reason: 'month end', secondPerson: true };
    expect(await closeDay(db, { ...order, who: { name: by, isClaim } })).toMatchObject({
      kind: 'done',
    });
    const verdict = await lockDay(db, { ...order, who: { name, isClaim: isClaimed } });
    const reason = refused === null ? {} : { reason: expect.stringMatching(refused) };
    expect(verdict).toMatchObject({ kind: refused === null ? 'done' : 'refused', ...reason });
  });

  test('has a checklist: its night, the gaps before it, what is open', async () => {
    const accountId = await account();
    await db.query(
      `insert into tieout.breaks (account_id, order_no, kind, state, first_seen, first_run_id,
         last_run_id, expected, actual, fingerprint, currency, amount)
       values ($1, 'O1', 'amount_mismatch', 'open', now(), 1, 1, '{"amount": "7.00"}',
         '{"amount": "5.00"}', '', 'EUR', 2.00)`,
      [accountId],
    );
    const facts = await factsOfClose(db, accountId, DATES[2]);
    expect(facts).toMatchObject({
      ...{ runState: 'tied_out', notCompared: 0, openBreaks: 1, notSettled: 0, unknown: 0 },
      ...{ waiting: 0, gaps: [], isUnexplained: null },
    });
    expect(facts.openMoney).toEqual([{ currency: 'EUR', amount: expect.stringMatching(/^\d/) }]);
    const { gaps } = await factsOfClose(db, accountId, '2026-11-21');
    expect(gaps).toEqual(['2026-11-20', '2026-11-21']);
  });

  test('is not signed with others where one before it is open, nor where nothing can be read', async () => {
    const [one, other] = [await account(), await account()];
    for (const date of DATES.slice(0, 2)) await writeWorkbook(date, 1, 'x');
    await closeDay(db, { accountId: other, date: DATES[0], who, reason: 'done' });
    const order = { accountIds: [one, other], verb: 'close' as const, who, secondPerson: false };
    const barsOf = async (date: string) =>
      (await previewSigning(db, { ...order, date })).days.map(({ bar }) => bar);
    expect(await barsOf(DATES[0])).toEqual([null, 'it is closed already']);
    expect(await barsOf(DATES[1])).toEqual([`days before it are open: ${DATES[0]} first`, null]);
    expect(await barsOf(DATES[2])).toEqual(['it cannot be signed yet', 'it cannot be signed yet']);
    const next = await previewSigning(db, { ...order, date: DATES[1] });
    expect(next.days.map(({ first }) => first)).toEqual([DATES[0], null]);
    const date = DATES[1];
    // The revision that is signed is the one that was looked at, of each account and day.
    const before = await previewSigning(db, { ...order, date });
    const alone = (await shownDay(db, other, date, NOT_ANSWERED)).seen;
    await writeWorkbook(date, 2, 'y');
    const stale = { ...order, date, digest: before.digest, reason: 'month end' };
    expect(await signDays(db, stale)).toMatchObject({ kind: 'changed' });
    const pressed = await closeDay(db, {
      ...{ accountId: other, date, who, reason: 'month end' },
      ...{ since: NOT_ANSWERED, isAsSeen: ({ seen }) => seen === alone },
    });
    expect(pressed).toMatchObject({ kind: 'changed' });
    const { digest } = await previewSigning(db, { ...order, date });
    const signed = await signDays(db, { ...order, date, digest, reason: 'month end' });
    expect(signed).toMatchObject({
      kind: 'decided',
      verdicts: [{ kind: 'done', accountId: other, dates: [DATES[1]] }],
    });
    // A revision that is written later, at whatever time it says, is not the one that was seen.
    await writeWorkbook(date, 3, 'z');
    const [closed] = await dayEvents(db, other, date);
    expect(closed?.workbook).toEqual({ revision: 2, sha256: 'y' });
    const again = await signDays(db, { ...order, date, digest, reason: 'month end' });
    expect(again).toMatchObject({ kind: 'changed' });
  });

  test('that is closed takes no movement, whoever posts it', async () => {
    const accountId = await account();
    await closeDay(db, { accountId, date: DATES[0], who, reason: 'done' });
    await confirm(accountId, DATES[0], 'capture', 100);
    await expect(
      db.query(
        `insert into tieout.day_movements (instruction_id, account_id, order_no, operation,
           currency, amount, belongs_to, posted_to)
         select instruction_id, account_id, order_no, operation, currency, amount, $2, $2
         from tieout.instructions where account_id = $1`,
        [accountId, DATES[0]],
      ),
    ).rejects.toThrow(/closed/);
  });
});

const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('confirm' as const),
      date: fc.nat(DATES.length - 1),
      operation: fc.constantFrom('capture' as const, 'refund' as const, 'cancel' as const),
      amount: fc.integer({ min: 1, max: 999_999 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('close' as const, 'reopen' as const, 'lock' as const),
      date: fc.nat(DATES.length - 1),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('post' as const) }) },
);

test('in any order of confirming, closing and reopening the days roll forward', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 12 }), async (steps) => {
      const accountId = await account();
      const closed = new Map<string, string>();
      let total = 0n;
      for (const one of steps) {
        if (one.kind === 'confirm') {
          await confirm(accountId, DATES[one.date] ?? '', one.operation, one.amount, DATES.at(-1));
          const sign = { capture: 1n, refund: -1n, cancel: 0n }[one.operation];
          total += sign * BigInt(one.amount);
        } else if (one.kind === 'post') await postMovements(db, accountId);
        else {
          const date = DATES[one.date] ?? '';
          const decide = { close: closeDay, reopen: reopenDay, lock: lockDay }[one.kind];
          const withEarlier = one.date % 2 === 0;
          const order = { accountId, date, who, reason: 'generated', withEarlier };
          const verdict = await decide(db, order);
          if (verdict.kind === 'done' && one.kind === 'reopen') closed.delete(date);
        }
        for (const day of await all(accountId)) {
          const figures = JSON.stringify({ ...day, state: '', asOf: '' });
          const kept = closed.get(day.businessDate);
          if (day.state === 'open') continue;
          if (kept !== undefined) expect(figures).toBe(kept);
          closed.set(day.businessDate, figures);
        }
        await expectRolled(accountId);
      }
      await postMovements(db, accountId);
      await expectRolled(accountId);
      const { rows } = await db.query<{ net: bigint }>(
        `select (coalesce(sum(case operation when 'capture' then amount
           when 'refund' then -amount end), 0) * 100)::bigint as net
         from tieout.day_movements where account_id = $1`,
        [accountId],
      );
      expect(rows[0]?.net).toBe(total);
    }),
    { numRuns: 25 },
  );
});

test('what the figures do not hold is not said to be unknown where books of it are kept', () => {
  const without = besideFigures({ hasSettlement: false, hasPayoutUnit: false });
  expect(without).toMatch(/nobody has set whether the .* Not known to tieout: fees/);
  const words = besideFigures({ hasSettlement: true, hasPayoutUnit: true });
  expect(words).toMatch(/In no sum here: fees.*tieout settlement/);
  expect(words).not.toContain('nobody has set');
});

// The last one: its run would be one of every later account.
test('holds what a run settled that was made before one of an earlier date', async () => {
  const accountId = await account();
  // An account that came late was run for this date after the others were for theirs.
  const early = '2026-11-10';
  await db.query(
    `insert into tieout.runs (business_date, covers, starts_at, ends_at, state, environment,
       settings, settings_sha256, version, created_at, finished_at, summary)
     select $1, covers, starts_at, ends_at, state, environment, settings, settings_sha256,
       version, now(), now(), summary from tieout.runs where business_date = $2
     on conflict do nothing`,
    [early, DATES[3]],
  );
  await confirm(accountId, early, 'capture', 300);
  expect(await postMovements(db, accountId)).toBe(1);
  await confirm(accountId, DATES[3], 'capture', 500);
  expect(await postMovements(db, accountId)).toBe(1);
  expect(await postMovements(db, accountId)).toBe(0);
});
