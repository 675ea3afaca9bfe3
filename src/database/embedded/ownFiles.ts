// Files in a folder that another account may write in, while this process is root: whoever has the
// folder can put a link, a pipe or a second name of a foreign file where ours is expected. Nothing
// is followed, nothing is waited for, and what is no plain file of one name is refused before a
// byte is read or written. Used by the embedded server's rooms alone.

import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { UnreachableError } from '../../core/errors.js';

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;
const MODE = 0o600;

/** For what the server says; made where it is not there. */
export function openForLog(path: string): number {
  return openOwn(path, O_WRONLY | O_APPEND | O_CREAT);
}

/** Throws as readFileSync does where there is none. */
export function readOwn(path: string): Buffer {
  return withOwn(path, O_RDONLY, (file) => readFileSync(file));
}

/** Of a file that is there. */
export function overwriteOwn(path: string, text: string): void {
  withOwn(path, O_WRONLY, (file) => {
    ftruncateSync(file, 0);
    writeFileSync(file, text);
  });
}

function withOwn<T>(path: string, flags: number, work: (file: number) => T): T {
  const file = openOwn(path, flags);
  try {
    return work(file);
  } finally {
    closeSync(file);
  }
}

function openOwn(path: string, flags: number): number {
  let file: number;
  try {
    file = openSync(path, flags | O_NOFOLLOW | O_NONBLOCK, MODE);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : '';
    // A link; a pipe that nobody reads.
    if (code === 'ELOOP' || code === 'ENXIO') throw foreign(path);
    throw error;
  }
  const found = fstatSync(file);
  if (found.isFile() && found.nlink === 1) return file;
  closeSync(file);
  throw foreign(path);
}

function foreign(path: string): UnreachableError {
  return new UnreachableError(
    `${path} is a link, a pipe or another name of a file: somebody put it there. Look who could, ` +
      'and remove it; a folder that only this user may write in keeps it from coming again',
  );
}
