// Loaded into a measured process before anything else: writes the most memory that it ever had
// resident, in kilobytes, and its processor time in milliseconds to file descriptor 3 when it
// leaves.

import { readFileSync, writeSync } from 'node:fs';

process.on('exit', () => {
  const [, peak] = /^VmHWM:\s+(\d+) kB$/m.exec(statusOf()) ?? [];
  const { user, system } = process.cpuUsage();
  writeSync(3, `${peak ?? process.resourceUsage().maxRSS} ${(user + system) / 1000}`);
});

/** Only Linux has the file; elsewhere the process's own count serves. */
function statusOf() {
  try {
    return readFileSync('/proc/self/status', 'utf8');
  } catch {
    return '';
  }
}
