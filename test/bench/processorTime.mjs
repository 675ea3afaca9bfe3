// Processor time of a process with all its children, those that have ended included: what a server
// spent on whoever asked it, which other work on the machine disturbs less than it does a clock.

import { readdirSync, readFileSync } from 'node:fs';

/** A tick of /proc in milliseconds. */
const TICK_MS = 10;

/** Milliseconds so far; no number where there is no /proc. */
export function processorMs(pid) {
  const own = statOf(pid);
  if (own === null) return Number.NaN;
  const living = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(statOf)
    .filter((stat) => stat?.parent === pid);
  const ticks = own.ticks + own.ended + living.reduce((sum, { ticks }) => sum + ticks, 0);
  return ticks * TICK_MS;
}

/** The name of a program may hold blanks and brackets: what counts stands behind the last one. */
function statOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [parent, user, system, endedUser, endedSystem] = [1, 11, 12, 13, 14].map(
      (place) => fields[place],
    );
    return { parent, ticks: user + system, ended: endedUser + endedSystem };
  } catch {
    return null;
  }
}
