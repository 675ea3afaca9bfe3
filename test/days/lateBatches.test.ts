// Settlement that came after a workbook was written and before its day was signed: who signs is told,
// and so is whoever looks at the closed day afterwards.

import { expect, it } from 'vitest';
import { closeDay } from '../../src/days/days.js';
import { shownDay, sinceOfOpen } from '../../src/days/shownDay.js';
import { previewSigning } from '../../src/days/signDay.js';
import { db, ownFacts, settled } from '../settlement/facts.js';

ownFacts();

const DATE = '2026-11-20';
const who = { name: 'anna', isClaim: true };

async function writeWorkbook(revision: number): Promise<void> {
  await db.query(
    `insert into tieout.reports (run_id, kind, format, revision, state, created_at, written_at,
       path, bytes, sha256)
     select run_id, 'reconciliation', 'xlsx', $2, 'written', clock_timestamp(), clock_timestamp(),
       'x', 1, 'ab'
     from tieout.runs where business_date = $1`,
    [DATE, revision],
  );
}

/** As retention does at the end of a night. */
async function lookAway(): Promise<void> {
  await db.query(
    `insert into tieout.evidence_removals (month, first_date, last_date, nights, looks, rows, bytes,
       kept_months, by, is_claim)
     select to_char(now(), 'YYYY_MM'), $1, $1, 1, 1, '{}', 1, 1, 'tieout', false`,
    [DATE],
  );
}

async function shown(date = DATE) {
  return shownDay(db, 'A1', date, await sinceOfOpen(db, 'A1', date));
}

async function told(): Promise<string[]> {
  const { day } = await shown();
  return day.lines.filter(({ topic }) => topic === 'batches').map(({ words }) => words);
}

it('is told of the open days before it, which the same press may close', async () => {
  await db.query(
    `with run as (
       insert into tieout.runs (business_date, covers, starts_at, ends_at, state, environment,
         settings, settings_sha256, version, created_at, finished_at, summary)
       values ('2026-11-21', array[date '2026-11-21'], '2026-11-21', '2026-11-22', 'tied_out',
         'test', '{}', 's', '0', now(), now(), '{}') returning run_id, business_date)
     insert into tieout.run_accounts (run_id, account_id, business_date, merchant_id, state, as_of)
     select run_id, 'A1', business_date, 'M1', 'tied_out', now() from run`,
  );
  await writeWorkbook(1);
  const late = await settled({ order: '1', amount: '1.00' });
  const { earlier } = await shown('2026-11-21');
  expect(earlier?.late).toEqual([
    expect.objectContaining({ date: DATE, words: expect.stringContaining(`${late}; 1.00 EUR`) }),
  ]);
});

it('is told before the day is closed and after, until a revision has it and is signed', async () => {
  await settled({ order: '1', amount: '1.00' });
  await writeWorkbook(1);
  // What was booked after the end of the day is of a later statement.
  await settled({ order: '9', amount: '9.00', on: '2026-11-21T00:00:00Z' });
  expect(await told()).toEqual([]);
  const late = await settled(
    { order: '2', amount: '20.00', currency: 'KWD' },
    { type: 'refunded', order: '3', amount: '-5.00', currency: 'KWD' },
    { type: 'fee', order: null, amount: '-1.00', currency: 'KWD' },
    { order: '4', amount: '7.00', currency: 'KWD', on: '2026-11-21T00:00:00Z' },
  );
  const words =
    `1 settlement batch with lines of this day or before (${late}; 20.000 KWD captured; ` +
    '5.000 KWD refunded) came after the newest revision of the workbook was written, and the ' +
    'statement is without it: sign it knowing so, or have the workbook written again first ' +
    '(Reports on the console, Write again)';
  expect(await told()).toEqual([words]);
  const order = { accountIds: ['A1'], date: DATE, who, secondPerson: false };
  const preview = await previewSigning(db, { ...order, verb: 'close' });
  expect(preview.days.map(({ bar }) => bar)).toEqual([null]);
  expect(preview.days[0]?.lines.map((line) => line.words)).toContain(words);
  const close = { accountId: 'A1', date: DATE, who, reason: 'night looked at' };
  const checked = await closeDay(db, { ...close, isCheck: true });
  expect(checked).toMatchObject({
    knowing: expect.arrayContaining([expect.objectContaining({ words })]),
  });

  await closeDay(db, close);
  const since = { accountId: 'A1', what: 'batches', currency: 'KWD', count: 1 };
  const { day } = await shown();
  expect(day.changed).toBe(
    '1 settlement batch of that day came after the revision that was signed had been written',
  );
  expect(day.since?.changes).toEqual([{ ...since, isStated: false }]);
  // The one who reviews it is told as well: what is signed next is still without it.
  expect(await told()).toEqual([words]);
  await writeWorkbook(2);
  expect(await told()).toEqual([]);
  expect((await shown()).day.since?.changes).toEqual(
    expect.arrayContaining([{ ...since, isStated: true }]),
  );
});

it('sends nobody to write a workbook again whose looks are removed', async () => {
  await writeWorkbook(1);
  await settled({ order: '1', amount: '1.00' });
  await lookAway();
  expect(await told()).toEqual([
    expect.stringMatching(/knowing so, since its snapshots are remov/),
  ]);
  const { day } = await shown();
  expect(day.isRemoved).toBe(true);
});
