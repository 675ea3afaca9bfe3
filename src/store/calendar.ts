// Business dates, worked out by PostgreSQL because it knows every zone and every change of clocks:
// date D runs from the cut-off on D to the cut-off on D+1 in the configured zone.

import type { Db } from './db.js';

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

/** The last business date that has ended at `now`. */
export async function lastEndedDate(db: Db, now: Date, zone: Zone): Promise<string> {
  const { rows } = await db.query<{ date: string }>(
    `select max(day)::date as date
     from generate_series(($1::timestamptz at time zone $2)::date - 3,
       ($1::timestamptz at time zone $2)::date, interval '1 day') as day
     where (day::date + 1 + $3::time) at time zone $2 <= $1`,
    [now, zone.timezone, zone.cutOff],
  );
  const date = rows[0]?.date;
  if (!date) throw new Error('no business date has ended');
  return date;
}

/** The database's clock, by which looks and attempts are dated. */
export async function databaseNow(db: Db): Promise<Date> {
  const { rows } = await db.query<{ now: Date }>('select clock_timestamp() as now');
  const now = rows[0]?.now;
  if (!now) throw new Error('the database did not say what time it is');
  return now;
}
