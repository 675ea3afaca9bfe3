// The few classes of operating failure that tieout throws. Expected results are unions with a
// `kind` and never come through here. Each class carries the exit code of docs/CONTRACT.md section
// 1, so that no command has to decide it anew. A message must never contain a secret.

import { EXIT, type ExitCode } from './exitCodes.js';

export class TieoutError extends Error {
  readonly exitCode: ExitCode = EXIT.failed;

  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** A configuration or profile that cannot be used: names file, key and what was expected. */
export class ConfigurationError extends TieoutError {
  override readonly exitCode = EXIT.usage;
  readonly file: string;
  readonly key: string;
  readonly problem: string;

  constructor(file: string, key: string, problem: string, options?: { cause?: unknown }) {
    super(`${file}: ${key === '' ? '' : `${key}: `}${problem}`, options);
    this.file = file;
    this.key = key;
    this.problem = problem;
  }
}

/** A command that was called wrongly. */
export class UsageError extends TieoutError {
  override readonly exitCode = EXIT.usage;
}

/** A file given to `tieout import` that is refused as a whole. */
export class InputError extends TieoutError {}

/** A database, queue or gateway that cannot be reached; nothing was lost, the next run goes on. */
export class UnreachableError extends TieoutError {}

/** The database went away, or is not there: what may be done again is, once it is back. */
export class DatabaseAwayError extends UnreachableError {}

/** It is there, and a disk of its server is full: it goes on once somebody made room. */
export class DatabaseFullError extends DatabaseAwayError {}

/** It is there and lets this process not in: somebody has to do something about it first. */
export class DatabaseRefusesError extends DatabaseAwayError {}

/** The run that this process worked on is another's by now: it writes nothing more. */
export class TakenOverError extends TieoutError {}

/** What a run that was told to stop has on record; it did not fail by itself. */
export const STOPPED = 'stopped by a signal; the same command goes on from here';

/** The same of a run whose process died, or lost the database, before the run had ended. */
export const LEFT = 'its process or the database went away before its end; it goes on from here';

/** The user that the process runs as, which a wrapper may have chosen. */
const WHO = 'this user';

/** What the system says of files and folders, as a person says it. */
const FILE_FAILURES: Readonly<Record<string, string>> = {
  EACCES: `${WHO} may not do that here`,
  EPERM: `${WHO} may not do that here`,
  EROFS: 'the disk is read-only',
  ENOENT: 'there is no such file or folder',
  ENOTDIR: 'a part of the path is no folder',
  EISDIR: 'is a folder',
  EEXIST: 'is there already',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota of the disk is used up',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'its links lead in a circle',
};

/** What the system says of a file or folder, which is not named; null where nobody has words. */
function fileTrouble(error: Error & { code: unknown }): string | null {
  return FILE_FAILURES[String(error.code)] ?? null;
}

/** A sentence for a file or folder that cannot be used; null where the error is another. */
export function fileFailure(error: unknown, user?: string): string | null {
  if (!(error instanceof Error) || !('code' in error) || !('path' in error)) return null;
  const why = fileTrouble(error)?.replace(WHO, () => (user ? `user ${user}` : WHO));
  const doing = 'syscall' in error ? ` (${String(error.syscall)})` : '';
  return why === undefined ? null : `${String(error.path)}: ${why}${doing}`;
}

const CURES: Readonly<Record<string, string>> = {
  EROFS: 'mount it writable again',
  ENOSPC: 'make room',
  EDQUOT: 'make room',
  EACCES: 'give it to the user whom tieout runs as',
  EPERM: 'give it to the user whom tieout runs as',
};

/** What fails on the line to a server, in the words that files have, too. */
const LINE_CALLS: ReadonlySet<string> = new Set(['connect', 'read', 'getaddrinfo']);
const LINE_CODES = /^E(?:PIPE|TIMEDOUT|CONN|HOST|NET|ADDR)/;

/**
 * `what` cannot be written, why, and what to do: one cause is one reason, whatever file under way
 * met it. Null where the error is no file system's.
 */
export function unwritableWords(what: string, error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error)) return null;
  const code = String(error.code);
  const isOfLine = 'syscall' in error && LINE_CALLS.has(String(error.syscall));
  if (isOfLine || LINE_CODES.test(code)) return null;
  const why = fileTrouble(error) ?? (/^E[A-Z0-9]+$/.test(code) ? code : null);
  if (why === null) return null;
  const cure = CURES[code];
  return `${what} cannot be written, ${why}${cure === undefined ? '' : `: ${cure}`}`;
}

const DISK_FULL = ['ENOSPC', 'EDQUOT'];

/** Whether a file could not be made or written since its disk is full. */
export function isDiskFull(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && DISK_FULL.includes(String(error.code));
}

/** A write that finds the disk full names no file, so the folders that are written to are named. */
export function inDiskWords(error: unknown, folders: readonly string[]): unknown {
  if (!isDiskFull(error) || 'path' in error) return error;
  const where = folders.join(' or ');
  return new TieoutError(`the disk is full: make room under ${where}`, { cause: error });
}

/** What was thrown, in words; not everything that is thrown is an error. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error);
}
