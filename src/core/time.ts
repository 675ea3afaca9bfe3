// The length of a day, the names of time zones, how far each is ahead, and the dates there. Pure.

export const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** A name that the zone database of this Node knows. */
export function isTimezone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== null;
  } catch {
    return false;
  }
}

/** Of three letters, and no abbreviations to PostgreSQL. */
const ALIKE = new Set(['UTC', 'GMT', 'UCT', 'PRC', 'ROC', 'ROK']);

/**
 * Why a name is no zone by which dates are counted; null: it is one. Abbreviations and offsets are
 * read by PostgreSQL in a way of its own: CET has no summer there, and +02:00 is west of Greenwich.
 */
export function timezoneProblem(name: string): string | null {
  const isAbbreviation = /^[a-z]{3}$/i.test(name) && !ALIKE.has(name.toUpperCase());
  if (isAbbreviation || /^[+-][\d:]{1,8}$/.test(name)) {
    return (
      `${name} is an abbreviation or an offset, which the database reads in its own way: write ` +
      'the zone of a place, such as Europe/Berlin, or UTC; without summer time Etc/GMT+5 is UTC-5'
    );
  }
  return isTimezone(name) ? null : 'is no timezone such as Europe/Berlin or UTC';
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Clocks are put on or back at quarters of an hour only; to ask the zone costs much more. */
const QUARTER_MS = 15 * MINUTE_MS;
const KEPT_MAX = 10_000;
const kept = new Map<string, number>();

/** Minutes that the zone is ahead of UTC at an instant, in milliseconds since 1970. */
export function minutesAhead(timezone: string, at: number): number {
  const quarter = Math.floor(at / QUARTER_MS);
  const key = `${timezone} ${quarter}`;
  const known = kept.get(key);
  if (known !== undefined) return known;
  const ahead = askedAhead(timezone, quarter * QUARTER_MS);
  if (kept.size >= KEPT_MAX) kept.clear();
  kept.set(key, ahead);
  return ahead;
}

function askedAhead(timezone: string, at: number): number {
  const format =
    formats.get(timezone) ??
    new Intl.DateTimeFormat('en', { timeZone: timezone, timeZoneName: 'longOffset' });
  formats.set(timezone, format);
  const name = format.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const match = /^GMT(?:([+-])(\d{2}):(\d{2}))?/.exec(name);
  const minutes = Number(match?.[2] ?? 0) * 60 + Number(match?.[3] ?? 0);
  return match?.[1] === '-' ? -minutes : minutes;
}

/** The date that the calendar of the zone shows, 2026-11-19. */
export function dateIn(timezone: string, at: Date): string {
  const local = at.getTime() + minutesAhead(timezone, at.getTime()) * MINUTE_MS;
  return new Date(local).toISOString().slice(0, 10);
}

/**
 * The instant at which the date begins in the zone: its midnight, the first where the clocks show
 * it twice; where they skip it, the moment at which they are put on.
 */
export function startOfDay(date: string, timezone: string): Date {
  const local = Date.parse(date);
  const offsets = [local - DAY_MS, local + DAY_MS].map((at) => minutesAhead(timezone, at));
  const midnights = offsets.flatMap((ahead) => {
    const at = local - ahead * MINUTE_MS;
    return minutesAhead(timezone, at) === ahead ? [at] : [];
  });
  const skipped = local - Math.min(...offsets) * MINUTE_MS;
  return new Date(midnights.length === 0 ? skipped : Math.min(...midnights));
}
