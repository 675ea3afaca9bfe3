// Free text of the gateway (messages, reasons) on its way into reasons, logs and reports: cut,
// without control characters, card numbers masked. Never used for ids and order numbers, which are
// never altered; those that a text may name are given as `keep`.

import { maskCardNumbers } from '../../core/text/masking.js';

const CHARS_MAX = 500;
const CONTROL = /\p{Cc}|\p{Cf}|[\u2028\u2029]/gu;

/** Null for anything that is not a text, and for one with nothing to read in it. */
export function freeText(value: unknown, keep: readonly string[] = []): string | null {
  if (typeof value !== 'string') return null;
  const cut = value.slice(0, CHARS_MAX).replace(CONTROL, ' ').trim();
  return cut === '' ? null : maskCardNumbers(cut, keep);
}
