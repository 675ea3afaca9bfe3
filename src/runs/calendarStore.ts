// Business dates, worked out by PostgreSQL because it knows every zone and every change of clocks:
// date D runs from the cut-off on D to the cut-off on D+1 in the configured zone.

import { DIED } from '../core/runs/owed.js';
import type { Db } from '../database/db.js';
import { statement } from '../database/statements.js';

export interface Zone {
  timezone: string;
  /** HH:MM, the local time at which one business date ends and the next begins */
  cutOff: string;
}

export interface BusinessDay {
  date: string;
  startsAt: Date;
  endsAt: Date;
}

/** The business date with its bounds; one that does not exist is an error of the caller. */
export async function businessDay(db: Db, date: string, zone: Zone): Promise<BusinessDay> {
  const { rows } = await db.query<{ date: string; starts_at: Date; ends_at: Date }>(
    `select $1::date as date,
       ($1::date + $3::time) at time zone $2 as starts_at,
       ($1::date + 1 + $3::time) at time zone $2 as ends_at`,
    [date, zone.timezone, zone.cutOff],
  );
  const row = rows[0];
  if (!row) throw new Error(`no business day for ${date}`);
  return { date: row.date, startsAt: row.starts_at, endsAt: row.ends_at };
}

/** The last business date that has ended, asked of both clocks at one moment. */
export interface LastEnded {
  /** by our clock and by that of the database */
  date: string;
  /** by that of the database alone */
  there: string;
  /** the clock of the database less ours */
  skewMs: number;
}

export async function lastEnded(db: Db, now: Date, zone: Zone): Promise<LastEnded> {
  const { rows } = await db.query<{ date: string | null; there: string; skew_ms: number }>(
    `select tieout.last_ended_date(least($1, asked.at), $2, $3::time) as date,
       tieout.last_ended_date(asked.at, $2, $3::time) as there,
       extract(epoch from asked.at - $1::timestamptz)::float8 * 1000 as skew_ms
     from (select clock_timestamp() as at) as asked`,
    [now, zone.timezone, zone.cutOff],
  );
  const [row] = rows;
  if (!row?.date) throw new Error('no business date has ended');
  return { date: row.date, there: row.there, skewMs: row.skew_ms };
}

/** What the calendar says of the run that is due and of the next one. */
export interface ScheduleFacts {
  tick: Date | null;
  nextTick: Date | null;
  due: string | null;
  nextDue: string | null;
  resumeUntil: Date | null;
  installedAt: Date | null;
  /** the clock of the database less ours */
  skewMs: number;
  /** how often the newest run has ended since the tick */
  ends: number;
  /** how often it was taken up since then, by whoever did not end it */
  deaths: number;
  /** an account is not in the newest run */
  lacksAccounts: boolean;
}

/** `localTicks`: when a run is to begin, as local times of the zone, some before and after. */
export async function scheduleFacts(
  db: Db,
  now: Date,
  schedule: Zone & { resumeUntil: string },
  localTicks: readonly string[],
  accountIds: readonly string[],
): Promise<ScheduleFacts> {
  const { rows } = await db.query<{
    tick: Date | null;
    next_tick: Date | null;
    due: string | null;
    next_due: string | null;
    resume_until: Date | null;
    installed_at: Date | null;
    skew_ms: number;
    ends: bigint;
    deaths: bigint;
    lacks_accounts: boolean;
  }>(statement('runs/scheduleFacts'), [
    now,
    schedule.timezone,
    schedule.cutOff,
    schedule.resumeUntil,
    localTicks,
    accountIds,
    DIED,
  ]);
  const row = rows[0];
  if (!row) throw new Error('the calendar says nothing');
  return {
    tick: row.tick,
    nextTick: row.next_tick,
    due: row.due,
    nextDue: row.next_due,
    resumeUntil: row.resume_until,
    installedAt: row.installed_at,
    skewMs: row.skew_ms,
    ends: Number(row.ends),
    deaths: Number(row.deaths),
    lacksAccounts: row.lacks_accounts,
  };
}
