// Processor time of a process with all its children, those that have ended included: what a server
// spent on whoever asked it, which other work on the machine disturbs less than it does a clock.

import { readdirSync, readFileSync } from 'node:fs';

/** A tick of /proc in milliseconds. */
const TICK_MS = 10;

/** Milliseconds so far, of processes with one thread each; no number where there is no /proc. */
export function processorMs(pid) {
  const own = statOf(pid);
  if (own === null) return Number.NaN;
  const living = readdirSync('/proc').filter(
    (name) => /^\d+$/.test(name) && parentOf(name) === pid,
  );
  // Those that have ended are counted in ticks.
  return [...living, pid].reduce((sum, one) => sum + computed(one), own.ended * TICK_MS);
}

/** No number where the process is gone. */
export function parentOf(pid) {
  return statOf(pid)?.parent ?? Number.NaN;
}

/** To the nanosecond where the kernel counts so; nothing where the process is gone. */
function computed(pid) {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
  } catch {
    return (statOf(pid)?.ticks ?? 0) * TICK_MS;
  }
}

/** The name of a program may hold blanks and brackets: what counts stands behind the last one. */
function statOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const [parent, user, system, endedUser, endedSystem] = [1, 11, 12, 13, 14].map((place) =>
      Number(fields[place]),
    );
    return { parent, ticks: user + system, ended: endedUser + endedSystem };
  } catch {
    return null;
  }
}
