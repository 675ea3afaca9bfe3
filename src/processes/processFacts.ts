// What the system says of a process by its number: when it began, and by which command. A number
// alone is never trusted, since numbers are used again.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/** A mark that two processes with the same pid do not share; '' when there is no such process. */
export function processBirth(pid: number): string {
  if (!existsSync('/proc/self/stat')) return ps(pid, 'lstart=');
  const stat = readText(`/proc/${pid}/stat`);
  // The name in parentheses may itself hold spaces; the start time is the 20th field after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' ? '' : (fields[19] ?? '');
}

/** The words of a process's command line, or its whole text where only ps can tell. */
export function commandOf(pid: number): string[] | string {
  if (!existsSync('/proc/self/cmdline')) return ps(pid, 'command=');
  return readText(`/proc/${pid}/cmdline`).split('\0');
}

function ps(pid: number, column: string): string {
  try {
    return execFileSync('ps', ['-p', String(pid), '-o', column], { encoding: 'utf8' }).trim();
  } catch {
    return '';
  }
}

/** Empty where there is none: not every system tells. */
export function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
