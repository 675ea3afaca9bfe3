// What can be known of a PostgreSQL server from outside: its pid file and its process. It must
// never trust a pid alone, since pids are used again. Neighbour: embedded.ts decides by it.

import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { commandOf } from '../../processes/processFacts.js';
import { SOCKET_PORT } from '../connection.js';
import { overwriteOwn, readOwn } from './ownFiles.js';

export const SOCKET_NAME = `.s.PGSQL.${SOCKET_PORT}`;
const PID_FILE = 'postmaster.pid';
/** No process can have it, so PostgreSQL sees a dead predecessor. */
const IMPOSSIBLE_PID = 2_147_483_647;

interface Postmaster {
  pid: number;
  socketFolder: string;
}

/** The pid file of a data folder; null when no server has left one. */
export function readPostmaster(dataFolder: string): Postmaster | null {
  const lines = linesOf(join(dataFolder, PID_FILE));
  const pid = Number(lines[0]);
  // Lines of the file: pid, data folder, start time, port, socket folder, address, key, status.
  return Number.isInteger(pid) && pid > 0 ? { pid, socketFolder: lines[4] ?? '' } : null;
}

/** Whether this very process is the server of this data folder (and not a later namesake). */
export function isServerOf(pid: number, dataFolder: string): boolean {
  return commandOf(pid).includes(dataFolder);
}

/**
 * Unblocks a start after a kill when the old pid has gone to another process: PostgreSQL would
 * take that one for a living server. The pid file is kept and only its pid replaced, because the
 * rest of it lets PostgreSQL refuse while a backend of the old server is still at work.
 */
export function disarmStalePid(dataFolder: string, socketFolder: string): void {
  const stale = readPostmaster(dataFolder);
  if (stale !== null && !isServerOf(stale.pid, dataFolder)) {
    const file = join(dataFolder, PID_FILE);
    const [, ...rest] = linesOf(file);
    overwriteOwn(file, [IMPOSSIBLE_PID, ...rest].join('\n'));
  }
  const socketLock = join(socketFolder, `${SOCKET_NAME}.lock`);
  if (existsSync(socketLock) && !isServerOf(Number(linesOf(socketLock)[0]), dataFolder)) {
    rmSync(socketLock, { force: true });
  }
}

function linesOf(file: string): string[] {
  try {
    return readOwn(file).toString('utf8').split('\n');
  } catch {
    return [];
  }
}
