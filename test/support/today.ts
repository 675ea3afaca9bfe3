// The date of the tests: the one on which their file was begun, until its last test has ended. A
// process may live on for the files of another date.

import { DAY_MS } from '../../src/core/time.js';

/** Longer than the tests of one file take: none of them sees the date change. */
const MIDNIGHT_BERTH_MS = 60_000;

let began = 0;

/** When today began, in UTC as all of these tests: milliseconds since the epoch. */
export function midnight(): number {
  return began;
}

/** Before each file; waits until the next date has begun, where it would begin within the file. */
export async function beginFile(): Promise<void> {
  const left = DAY_MS - (Date.now() % DAY_MS);
  if (left <= MIDNIGHT_BERTH_MS) await new Promise((resolve) => setTimeout(resolve, left + 1));
  began = Math.floor(Date.now() / DAY_MS) * DAY_MS;
}
