// Figures and times as the console prints them: instants in the configured zone, amounts and counts
// in groups of three, free text without what looks like a card number. Pure.

import { oneLine } from '../core/log.js';
import { amountIn, grouped } from '../core/text/amounts.js';
import { maskCardNumbers } from '../core/text/masking.js';
import { withZonedTimes } from '../core/text/zonedTimes.js';

export interface Words {
  zone: string;
  /** "2026-11-20 04:16" in the configured zone; a dash for nothing. */
  at(instant: Date | string | null): string;
  /** "1,234,567.00", or "1,234,567" of yen: each with its currency; a dash for nothing. */
  amount(text: string | null, currency: string | null): string;
  count(number: number | bigint): string;
  /** Free text, masked; `keep` are identifiers in it that must stay whole. */
  free(text: string | null, keep?: readonly string[]): string;
  /** The same of a reason that tieout gave: instants in it stand in the configured zone. */
  reason(text: string | null, keep?: readonly string[]): string;
}

const DASH = '\u2013';

/** Making a clock of a zone costs more than a page of times: one a zone, for all requests. */
const made = new Map<string, Words>();

export function wordsFor(timezone: string): Words {
  const words = made.get(timezone) ?? wordsOf(timezone);
  made.set(timezone, words);
  return words;
}

function wordsOf(timezone: string): Words {
  const clock = new Intl.DateTimeFormat('sv-SE', {
    timeZone: timezone,
    dateStyle: 'short',
    timeStyle: 'short',
  });
  return {
    zone: timezone,
    at: (instant) => {
      if (instant === null) return DASH;
      const date = typeof instant === 'string' ? new Date(instant) : instant;
      return Number.isNaN(date.getTime()) ? DASH : clock.format(date);
    },
    amount: (text, currency) => {
      if (text === null) return DASH;
      return currency === null ? grouped(text) : amountIn(text, currency);
    },
    count: (number) => grouped(number.toString()),
    free: (text, keep = []) => maskCardNumbers(text ?? '', keep),
    reason: (text, keep = []) => maskCardNumbers(withZonedTimes(text ?? '', timezone), keep),
  };
}

const UNITS = ['bytes', 'KB', 'MB', 'GB'];

export function sizeText(bytes: bigint): string {
  let size = Number(bytes);
  let unit = 0;
  while (size >= 1000 && unit < UNITS.length - 1) {
    size /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? size : size.toFixed(1)} ${UNITS[unit]}`;
}

const LINE_MAX = 300;

/** What came from outside as part of one line of the log: no line breaks, no colours, no cards. */
export function forLog(text: string): string {
  return oneLine(text, LINE_MAX);
}
