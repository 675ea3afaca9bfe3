// What the readers of configuration share: the text of a file, whether a cron expression is one,
// and that nothing changes later. Used by config.ts and mapFile.ts.

import { readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { ConfigurationError } from '../core/errors.js';

/** Where a file is named by a key of another. */
interface NamedBy {
  readonly file: string;
  readonly key: string;
}

/** Throws a ConfigurationError that says why a file cannot be read, and how that is mended. */
export function readText(file: string, bytesMax: number, namedBy?: NamedBy): string {
  const refuse = (problem: string, options?: { cause: unknown }) =>
    namedBy === undefined
      ? new ConfigurationError(file, '', problem, options)
      : new ConfigurationError(namedBy.file, namedBy.key, `${file} ${problem}`, options);
  try {
    const found = statSync(file);
    // To read a pipe is to wait for whoever writes, for ever.
    if (!found.isFile() && !found.isDirectory()) {
      throw refuse('cannot be read: it is no plain file');
    }
    if (found.size > bytesMax) throw refuse(`is larger than ${bytesMax} bytes`);
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    throw refuse(unreadable(error), { cause: error });
  }
}

/** False, too, where a path can name no file: it is too long, or holds a NUL. */
export function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function unreadable(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : '';
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return 'does not exist';
    case 'EISDIR':
      return 'cannot be read: it is a folder';
    case 'EACCES':
    case 'EPERM':
      return (
        'cannot be read: this user may not. Run tieout as the user that it is installed for, or ' +
        'let this one read it, as root: `chgrp GROUP FILE` and `chmod 640 FILE`, and ' +
        '`chmod g+x` on its folder'
      );
    default:
      return 'cannot be read as UTF-8 text';
  }
}

export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const part of Object.values(value)) deepFreeze(part);
  return Object.freeze(value);
}

/** Each night at a time, or on some days of the week. */
const PLAIN = /^[0-5]?\d ([01]?\d|2[0-3]) \* \* (\*|[0-7](-[0-7])?)$/;

/**
 * What is wrong with it, in words; null: nothing. The library is loaded only for what is not
 * plainly one, since every command reads the configuration.
 */
export function cronProblem(expression: string): string | null {
  if (PLAIN.test(expression)) return null;
  const { default: cron } = createRequire(import.meta.url)('node-cron') as NodeCron;
  const { valid, errors } = cron.validateDetailed(expression);
  if (valid) return null;
  const why = errors[0]?.message ?? 'it has no meaning';
  return `"${expression}" is not a cron expression such as "15 4 * * *": ${why}`;
}

type NodeCron = typeof import('node-cron');
