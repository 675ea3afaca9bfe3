// A quarter of nights on a real database with a clock that is given: clocks go back in it, nights
// fail, pages are not answered, and of hundreds of reservations no one lapses unannounced, none is
// announced twice, and none of those that were taken in time is.

import { afterEach, describe, expect, it } from 'vitest';
import { warnOfLapses } from '../../src/authorisations/warnOfLapses.js';
import type { Database } from '../../src/database/db.js';
import { freshDatabase } from '../support/database.js';

const drops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const drop of drops.splice(0)) await drop();
});

const ORDERS = 300;
/** From the tick to the end of a night. */
const NIGHT_MS = 40 * 60_000;
/** A page of every night is not answered; each order stands on one of so many. */
const PAGES = 9;

interface Quarter {
  validHours: number;
  warnHours: number;
  /** the days of the week with a night, Monday is 1 */
  weekdays: readonly number[];
}

const ACCOUNT = { merchantId: 'M1', accountId: 'A1', signingKey: 'k', liveFrom: null };

interface Told {
  order_no: string;
  lapses_at: Date;
  taken_at: Date | null;
  warned_at: Date | null;
  /** when a night had first seen it */
  first_seen: Date | null;
}

/** Every order of the quarter with when it was told, and how many the messages count. */
async function simulate(rules: Quarter): Promise<{ rows: Told[]; counted: number; ticks: Date[] }> {
  const { db, drop } = await freshDatabase();
  drops.push(drop);
  await db.query(
    'create table public.sim (order_no text collate "C" primary key, page_no int, ' +
      'made_at timestamptz, lapses_at timestamptz, taken_at timestamptz, first_seen timestamptz)',
  );
  // Spread over the quarter without any order; a third is never taken, most in time, some late.
  await db.query(
    `insert into public.sim
     select 'O' || lpad(n::text, 5, '0'), n % $2, made.at, made.at + $3 * interval '1 hour',
       case when n % 3 > 0 then made.at + (n * 7919 % 1000) / 900.0 * $3 * interval '1 hour' end,
       null
     from generate_series(1, $1) as n
     cross join lateral (select timestamptz '2026-09-20T00:00:00Z'
       + (n * 104729 % 129600) * interval '1 minute' as at) made`,
    [ORDERS, PAGES, rules.validHours],
  );
  const ticks = await ticksOf(db, rules);
  const config = { accounts: [ACCOUNT], authorisations: { A1: rules } };
  for (const [at, tick] of ticks.entries()) {
    const ended = new Date(tick.getTime() + NIGHT_MS);
    // Of some dates there is no night at all.
    if (at % 11 !== 10) await look(db, tick, ended, at % PAGES);
    await db.transaction((tx) =>
      warnOfLapses(tx, config, { now: ended, nextNight: ticks[at + 1] ?? null }),
    );
  }
  const { rows } = await db.query<Told>(
    `select s.order_no, s.lapses_at, s.taken_at, w.warned_at, s.first_seen
     from public.sim s left join tieout.lapse_warnings w using (order_no) order by order_no`,
  );
  const told = await db.query<{ counted: bigint }>(
    `select coalesce(sum((body ->> 'reservations')::bigint), 0)::bigint as counted
     from tieout.outbox where event = 'reservations_lapse'`,
  );
  return { rows, counted: Number(told.rows[0]?.counted), ticks };
}

async function ticksOf(db: Database, { weekdays }: Quarter): Promise<Date[]> {
  const { rows } = await db.query<{ tick: Date }>(
    `select (day::date + time '04:15') at time zone 'Europe/Berlin' as tick
     from generate_series(date '2026-09-20', date '2026-12-31', interval '1 day') as day
     where extract(isodow from day) = any ($1::int[])`,
    [weekdays],
  );
  return rows.map(({ tick }) => tick);
}

/** A night as its steps leave it: what is still reserved is shown, save on one page. */
async function look(db: Database, tick: Date, ended: Date, failedPage: number): Promise<void> {
  const { rows } = await db.query<{ pull_id: bigint }>(
    `with run as (
       insert into tieout.runs (business_date, covers, starts_at, ends_at, state, environment,
         settings, settings_sha256, version, created_at)
       values ($1::timestamptz::date - 1, array[$1::timestamptz::date - 1], $1::timestamptz
         - interval '28 hours', $1, 'failed', 'test', '{}', '', '0', $1) returning run_id)
     insert into tieout.pulls (run_id, kind, as_of, finished_at)
     select run_id, 'night', $1, $2 from run returning pull_id`,
    [tick, ended],
  );
  const pullId = rows[0]?.pull_id;
  await db.query(
    `insert into tieout.run_accounts (run_id, account_id, business_date, merchant_id, state,
       pull_id, as_of)
     select run_id, 'A1', business_date, 'M1', 'running', $1, $2
     from tieout.pulls join tieout.runs using (run_id) where pull_id = $1`,
    [pullId, tick],
  );
  await db.query(
    `insert into tieout.pages (pull_id, account_id, page_no, state, orders, entries, attempts,
       reason, answered_at)
     select $1, 'A1', n, case when n = $2 then 'failed' else 'answered' end, 1,
       case when n <> $2 then 1 end, 1, case when n = $2 then 'no answer' end,
       case when n <> $2 then $3::timestamptz end
     from generate_series(0, $4 - 1) as n`,
    [pullId, failedPage, ended, PAGES],
  );
  await db.query(
    `insert into tieout.asked_orders (pull_id, account_id, order_no, page_no, in_ledger, currency,
       amount, expected, placed_at)
     select $1, 'A1', order_no, page_no, true, 'EUR', 10.00, 'captured', made_at
     from public.sim where made_at < $2 and greatest(lapses_at, taken_at) > $2 - interval '7 days'`,
    [pullId, tick],
  );
  await db.query(
    `insert into tieout.look_entries (pull_id, account_id, page_no, position, order_no, is_extra,
       is_asked, transaction_id, currency, amount, state, payment_status, found, query_result,
       transaction_at, fraud_rejected)
     select $1, 'A1', page_no, 0, order_no, false, true, 'T' || order_no, 'EUR', 10.00,
       case when taken_at <= $2 then 'captured' when lapses_at <= $2 then 'declined'
         else 'authorised' end, '2000', true, '1', made_at, false
     from public.sim where made_at < $2 and page_no <> $3
       and greatest(lapses_at, taken_at) > $2 - interval '7 days'`,
    [pullId, tick, failedPage],
  );
  await db.query(
    `update public.sim set first_seen = $1
     where first_seen is null and made_at < $2 and page_no <> $3`,
    [ended, tick, failedPage],
  );
}

const HOUR_MS = 3_600_000;
const DAILY = [1, 2, 3, 4, 5, 6, 7];

describe('no reservation of a quarter lapses unannounced', () => {
  it.each<[string, Quarter]>([
    ['of a week, told a day before', { validHours: 168, warnHours: 24, weekdays: DAILY }],
    ['of a week, told in the night before', { validHours: 168, warnHours: 0, weekdays: DAILY }],
    ['by nights of working days', { validHours: 168, warnHours: 24, weekdays: [1, 2, 3, 4, 5] }],
  ])('%s', async (_, rules) => {
    const { rows, counted, ticks } = await simulate(rules);
    const last = ticks.at(-1) ?? new Date(0);
    const lapsed = rows.filter(({ lapses_at, taken_at }) => {
      return lapses_at < last && (taken_at === null || taken_at > lapses_at);
    });
    expect(lapsed.length).toBeGreaterThan(100);
    const late = lapsed.filter(({ lapses_at, warned_at }) => {
      const latest = lapses_at.getTime() - rules.warnHours * HOUR_MS;
      return warned_at === null || warned_at.getTime() > latest;
    });
    expect(late).toEqual([]);
    // Once each: the messages count as many as were told of.
    expect(counted).toBe(rows.filter(({ warned_at }) => warned_at !== null).length);
    expect(new Set(rows.map(({ order_no }) => order_no)).size).toBe(rows.length);
    // Of a long time ahead nobody is told: two nights, a weekend, and one that was left out.
    const early = rows.filter(({ lapses_at, warned_at }) => {
      return warned_at !== null && lapses_at.getTime() - warned_at.getTime() > 5 * 24 * HOUR_MS;
    });
    expect(early).toEqual([]);
    const takenEarly = rows.filter(({ taken_at, lapses_at }) => {
      return taken_at !== null && lapses_at.getTime() - taken_at.getTime() > 120 * HOUR_MS;
    });
    expect(takenEarly.filter(({ warned_at }) => warned_at !== null)).toEqual([]);
    expect(takenEarly.length).toBeGreaterThan(25);
  });

  it('of less than a day: in the first night that saw them', async () => {
    const rules = { validHours: 30, warnHours: 24, weekdays: DAILY };
    const { rows, ticks } = await simulate(rules);
    const last = ticks.at(-1) ?? new Date(0);
    const seen = rows.filter(({ lapses_at, first_seen, taken_at }) => {
      const isShown = first_seen !== null && first_seen.getTime() - NIGHT_MS < lapses_at.getTime();
      return isShown && lapses_at < last && (taken_at === null || taken_at > lapses_at);
    });
    expect(seen.length).toBeGreaterThan(60);
    expect(
      seen.filter(({ warned_at, first_seen }) => warned_at?.getTime() !== first_seen?.getTime()),
    ).toEqual([]);
  });
});
