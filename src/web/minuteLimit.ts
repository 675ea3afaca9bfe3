// How often something may happen in a minute, counted by its source: what one address brings about
// takes nothing from the others. Kept in memory, for one process; used by the doors.

/** Sources that are counted at a time; further ones wait for the next minute. */
const SOURCES_MAX = 10_000;
const MINUTE_MS = 60_000;

/** Whether a source may once more in this minute; it may `max` times. */
export function minuteLimit(now: () => Date, max: number): (source: string) => boolean {
  let minute = 0;
  const counts = new Map<string, number>();
  return (source) => {
    const present = Math.floor(now().getTime() / MINUTE_MS);
    if (present !== minute) counts.clear();
    minute = present;
    const count = (counts.get(source) ?? 0) + 1;
    if (count === 1 && counts.size >= SOURCES_MAX) return false;
    counts.set(source, count);
    return count <= max;
  };
}
