// The log of a program that runs for months: one JSON object a line, for a collector to read. Owns
// the names of its fields. It must never be given an object to print: a line is words and ids.
// Neighbour: progress.ts chooses between this and lines for people.

import { hostname } from 'node:os';
import type { DestinationStream } from 'pino';
import { pino, stdTimeFunctions } from 'pino';
import type { Log } from '../core/log.js';
import { guardedLog } from '../core/log.js';

export function openJsonLog(
  stream: DestinationStream,
  { version, hide }: { version: string; hide: (text: string) => string },
): Log {
  const logger = pino(
    {
      base: { version, host: hostname(), pid: process.pid },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    stream,
  );
  return guardedLog((line, { level = 'info', ...fields }) => logger[level](fields, line), hide);
}
