// Free text of the gateway (messages, reasons) on its way into reasons, logs and reports: one line,
// card numbers masked, cut. Never used for ids and order numbers, which are never altered; those
// that a text may name are given as `keep`.

import { oneLine } from '../../core/log.js';

const CHARS_MAX = 500;

/** Null for anything that is not a text, and for one with nothing to read in it. */
export function freeText(value: unknown, keep: readonly string[] = []): string | null {
  return typeof value === 'string' ? oneLine(value, CHARS_MAX, keep) || null : null;
}
