// The name of the user of this machine: what a decision of the command line claims, and what is
// said of a file that cannot be used. Containers run programs under numbers that no list of users
// has.
// Neighbours: context.ts, setup/users.ts.

import { userInfo } from 'node:os';

/** `anna`; `uid 54321` where the machine knows no name for it. */
export function machineUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
