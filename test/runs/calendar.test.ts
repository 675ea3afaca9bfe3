// The calendar over thirty years in twelve zones: whatever a zone does to its clocks, each business
// date there was gets exactly one run, at the time the schedule says. What PostgreSQL works out in
// one statement is held against the time zones that Node knows, and against what is owed.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { whatIsOwed } from '../../src/core/runs/owed.js';
import { DAY_MS, minutesAhead, timezoneProblem } from '../../src/core/time.js';
import { businessDay, lastEnded } from '../../src/runs/calendarStore.js';
import { coveredDates } from '../../src/runs/runsStore.js';
import type { FreshDatabase } from '../support/database.js';
import { freshDatabase } from '../support/database.js';

/** Zone, time of the tick, cut-off: where a zone changes its clocks, at that very hour. */
const ZONES: readonly (readonly [string, string, string])[] = [
  ['Europe/Berlin', '02:30', '02:30'],
  ['Europe/Dublin', '01:30', '00:00'],
  ['Europe/London', '04:15', '01:30'],
  ['America/New_York', '02:30', '00:00'],
  ['America/Sao_Paulo', '00:30', '00:00'],
  ['America/Santiago', '00:15', '00:00'],
  ['America/St_Johns', '00:30', '00:01'],
  ['Australia/Lord_Howe', '02:15', '02:10'],
  ['Australia/Sydney', '02:59', '02:00'],
  ['Asia/Beirut', '00:10', '00:00'],
  ['Asia/Kolkata', '04:15', '00:00'],
  ['Pacific/Apia', '04:15', '00:00'],
];
const HALVES = ['2026-01-15T12:00:00Z', '2026-07-15T12:00:00Z'];
const [FIRST, LAST] = ['1996-01-01', '2025-12-31'];

interface Tick {
  zone: string;
  at: Date;
  due: string;
  shown: string;
}

const TICKS = `
  select zone, extract(epoch from at) * 1000 as at, due,
    to_char(at at time zone zone, 'YYYY-MM-DD HH24:MI') as shown
  from (select zone, cut, at, tieout.last_ended_date(at, zone, cut) as due
    from (select zone, cut::time as cut, (day::date + tick::time) at time zone zone as at
      from jsonb_to_recordset($1) as z (zone text, tick text, cut text),
        generate_series($2::date, $3::date, interval '1 day') as day) as ticks) as dated
  order by zone, at`;

let database: FreshDatabase;
const byZone = new Map<string, Tick[]>();

beforeAll(async () => {
  database = await freshDatabase();
  const zones = ZONES.map(([zone, tick, cut]) => ({ zone, tick, cut }));
  const { rows } = await database.db.query<Tick & { at: string }>(TICKS, [
    JSON.stringify(zones),
    FIRST,
    LAST,
  ]);
  for (const row of rows) {
    const list = byZone.get(row.zone) ?? [];
    list.push({ ...row, at: new Date(Number(row.at)) });
    byZone.set(row.zone, list);
  }
});

afterAll(() => database.drop());

const dayAfter = (date: string): string =>
  new Date(Date.parse(`${date}T00:00:00Z`) + DAY_MS).toISOString().slice(0, 10);

describe.each(ZONES)('thirty years of nights in %s, at %s, cut off at %s', (zone, tickTime) => {
  it('have one run a date', () => {
    const ticks = byZone.get(zone) ?? [];
    expect(ticks.length).toBe(10_958);
    const runs: string[] = [];
    const again: string[] = [];
    let newest: string | null = null;
    const at = (now: Date, { at: tick, due }: Tick) =>
      whatIsOwed({
        ...{ now, tick, due, nextDue: due, resumeUntil: tick, installedAt: null },
        run: run(newest),
      });
    for (const tick of ticks) {
      const owed = at(tick.at, tick);
      // A date that the zone left out has a tick of its own, at which nothing new is owed.
      if (owed.kind !== 'begin') continue;
      runs.push(owed.date);
      newest = owed.date;
      // The hour comes again, or another clock fires late: nothing is owed any more.
      for (const hours of [0, 1, 2]) {
        const { kind } = at(new Date(tick.at.getTime() + hours * 3_600_000), tick);
        if (kind !== 'nothing') again.push(owed.date);
      }
    }
    expect(again).toEqual([]);
    const gaps = runs.slice(1).filter((date, place) => date !== dayAfter(runs[place] ?? ''));
    expect(gaps).toEqual(zone === 'Pacific/Apia' ? ['2011-12-31'] : []);
  });

  it('begin when the clocks of the zone say so, or as much later as they were put forward', () => {
    const ticks = byZone.get(zone) ?? [];
    const moved = ticks.filter((tick, place) => {
      const before = ticks[place - 1];
      return before !== undefined && tick.at.getTime() - before.at.getTime() !== DAY_MS;
    });
    const format = new Intl.DateTimeFormat('sv-SE', {
      timeZone: zone,
      dateStyle: 'short',
      timeStyle: 'short',
    });
    for (const { at, shown } of moved) expect(format.format(at)).toBe(shown);
    const late = ticks.filter(({ shown }) => shown.slice(11) !== tickTime);
    expect(late.every(({ shown }) => shown.slice(11) > tickTime)).toBe(true);
    expect(moved.length > 0 || zone === 'Asia/Kolkata').toBe(true);
  });
});

function run(date: string | null) {
  if (date === null) return null;
  const isAtWork = false;
  const rest = {
    isAtWork,
    wasStopped: false,
    isLeftAlone: false,
    lacksAccounts: false,
    ends: 1,
    endedAt: null,
  };
  return { date, state: 'tied_out' as const, ...rest };
}

describe('a date that a zone left out', () => {
  const zone = { timezone: 'Pacific/Apia', cutOff: '00:00' };

  it('has no night, and is not covered by one', async () => {
    const { db } = database;
    const at = async (time: string) => (await lastEnded(db, new Date(time), zone)).date;
    // Samoa went from the 29th, UTC-10, to the 31st, UTC+14.
    expect(await at('2011-12-30T09:59:59Z')).toBe('2011-12-28');
    expect(await at('2011-12-30T10:00:00Z')).toBe('2011-12-29');
    expect(await at('2011-12-31T10:00:00Z')).toBe('2011-12-31');
    const { startsAt, endsAt } = await businessDay(db, '2011-12-30', zone);
    expect(endsAt).toEqual(startsAt);
    expect(await coveredDates(db, '2011-12-30', zone)).toEqual([]);
  });
});

describe('the last date that has ended', () => {
  const zone = { timezone: 'UTC', cutOff: '00:00' };
  const asked = async (aheadMs: number) =>
    lastEnded(database.db, new Date(Date.now() + aheadMs), zone);

  it('is the one of the clock that is behind, and the other is told of the same moment', async () => {
    const ahead = await asked(26 * 3_600_000);
    expect(ahead.date).toBe(ahead.there);
    expect(Math.round(ahead.skewMs / 3_600_000)).toBe(-26);
    const behind = await asked(-26 * 3_600_000);
    expect(behind.date < behind.there).toBe(true);
    expect(Math.round(behind.skewMs / 3_600_000)).toBe(26);
  });
});

describe('the time until which a night is resumed', () => {
  it.each([
    ['2026-11-21 04:15', '06:30', '2026-11-21T05:30:00.000Z'],
    ['2026-11-21 23:30', '06:30', '2026-11-22T05:30:00.000Z'],
    ['2026-11-21 06:30', '06:30', '2026-11-22T05:30:00.000Z'],
    // The clocks are put forward or back in between.
    ['2026-03-28 23:30', '06:30', '2026-03-29T04:30:00.000Z'],
    ['2026-10-24 23:30', '02:30', '2026-10-25T01:30:00.000Z'],
    ['2026-03-29 00:30', '02:30', '2026-03-29T01:30:00.000Z'],
  ])('of one that began at %s is the next %s', async (tick, until, expected) => {
    const { rows } = await database.db.query<{ at: Date }>(
      `select tieout.resume_end($1, 'Europe/Berlin', $2) as at`,
      [tick, until],
    );
    expect(rows[0]?.at.toISOString()).toBe(expected);
  });
});

describe('a name of a zone that a setting may have', () => {
  it('is read alike by both, be it one of the database, or an abbreviation of its', async () => {
    const { rows } = await database.db.query<{ name: string; ahead: number[] }>(
      `select name, array(
         select extract(epoch from (at at time zone name) - (at at time zone 'UTC'))::int / 60
         from unnest($1::timestamptz[]) as at) as ahead
       from (select name from pg_timezone_names where name !~ '/'
         union select abbrev from pg_timezone_abbrevs) as known`,
      [HALVES],
    );
    const taken = rows.filter(({ name }) => timezoneProblem(name) === null);
    for (const { name, ahead } of taken) {
      const ours = HALVES.map((at) => minutesAhead(name, Date.parse(at)));
      expect([name, ...ours]).toEqual([name, ...ahead]);
    }
    expect(taken.map(({ name }) => name)).toEqual(expect.arrayContaining(['UTC', 'GMT', 'Japan']));
    for (const name of ['CET', 'met', 'EST', 'IST', '+02:00', 'Mars']) {
      expect([name, timezoneProblem(name) === null]).toEqual([name, false]);
    }
    expect(timezoneProblem('CET')).toMatch(/^CET is an abbreviation .* such as Europe\/Berlin/);
  });
});
