// The length of a day, and the names of time zones. Pure.

export const DAY_MS = 86_400_000;

/** A name that the zone database of this Node knows. */
export function isTimezone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== null;
  } catch {
    return false;
  }
}
