// Turns values into what a spreadsheet cell may hold: clean text, exact money, dates in the run's
// time zone. It must never let an object through (an object can become a live formula or a link)
// nor a number that a spreadsheet would round. Pure; neighbours: workbook.ts writes the cells.

import { decimalsOf } from '../../src/core/currency.js';
import type { Hundredths } from '../../src/core/money.js';
import { parseSum } from '../../src/core/money.js';
import { cutText } from '../../src/core/text/heldText.js';
import { maskCardNumbers } from '../../src/core/text/masking.js';

/** The longest text that a cell holds, counted in UTF-16 units. */
export const CELL_TEXT_MAX = 32_767;
export const CUT_MARK = ' …[cut]';
/** A double keeps this many decimal digits exactly, and so does a spreadsheet. */
const EXACT_DIGITS = 15;

/** Control characters, noncharacters and lone surrogates: XML forbids them or readers choke. */
const UNPRINTABLE = /(?![\n\t])\p{Cc}|[\ufffe\uffff]|\p{Cs}/gu;
/** Readers turn `_x0041_` into `A`; its underscore is written as `_x005F_` so that it stays. */
const XML_ESCAPE_LOOKALIKE = /_(?=x[0-9A-Fa-f]{4}_)/g;
const AMOUNT = /^-?\d+\.\d\d$/;

/** Text as it is, for identifiers: cleaned and cut, never masked. */
export function idText(value: unknown): string {
  return cellText(cleanText(value)).replace(XML_ESCAPE_LOOKALIKE, '_x005F_');
}

/** Free text: cleaned, masked where it looks like a card number, cut. */
export function freeText(value: unknown, keep: readonly string[] = []): string {
  return cellText(maskCardNumbers(cleanText(value), keep)).replace(XML_ESCAPE_LOOKALIKE, '_x005F_');
}

/** The characters of a value that every reader can show. */
export function cleanText(value: unknown): string {
  return String(value).replace(/\r\n?/g, '\n').replace(UNPRINTABLE, '');
}

function cellText(text: string): string {
  if (text.length <= CELL_TEXT_MAX) return text;
  return cutText(text, CELL_TEXT_MAX - CUT_MARK.length) + CUT_MARK;
}

/** Money as a number where a double is exact, else as the text itself. */
export function moneyCell(amount: string): number | string {
  if (!AMOUNT.test(amount)) return freeText(amount);
  return fitsNumber(amount) ? Number(amount) : amount;
}

/** Whether an amount is one and has no more digits than a double keeps. */
export function fitsNumber(amount: string): boolean {
  return AMOUNT.test(amount) && isShort(amount);
}

function isShort(amount: string): boolean {
  return amount.length <= EXACT_DIGITS + '.'.length || significantDigits(amount) <= EXACT_DIGITS;
}

function significantDigits(amount: string): number {
  return amount.replace(/[-.]/g, '').replace(/^0+/, '').length;
}

/** Whether a sum stays exact with it in a cell: text that is no amount counts as nothing there. */
export function addsExactly(amount: string | null): boolean {
  return amount === null || isShort(amount) || !AMOUNT.test(amount);
}

/** A shown amount as hundredths, sign included; what is no amount counts as nothing. */
export function hundredthsOf(amount: string | null): Hundredths {
  if (amount === null) return 0n;
  return parseSum(amount) ?? 0n;
}

/** NaN and Infinity would be written as they are and make the file unreadable. */
export function finiteNumber(value: number): number {
  if (!Number.isFinite(value)) throw new RangeError(`a report cannot show the number ${value}`);
  return value;
}

/** Yen read better without ".00", and the ledger gives them none; anything else keeps its cents. */
export function isWholeMoney(currency: string | null, amount: string): boolean {
  return currency !== null && amount.endsWith('.00') && decimalsOf(currency, {}) === 0;
}

/** Makes instants into the wall time of a zone; cells hold that as if it were UTC. */
export type WallClock = (at: Date) => Date;

const QUARTER_MS = 15 * 60_000;
const OFFSETS_KEPT = 10_000;

/** A wall clock for one zone. Offsets change only on quarter hours, so each is asked for once. */
export function wallClock(timezone: string): WallClock {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: timezone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  const offsets = new Map<number, number>();
  return (at) => {
    const ms = finiteNumber(at.getTime());
    const quarter = Math.floor(ms / QUARTER_MS);
    let offset = offsets.get(quarter);
    if (offset === undefined) {
      if (offsets.size >= OFFSETS_KEPT) offsets.clear();
      offset = offsetAt(format, quarter * QUARTER_MS);
      offsets.set(quarter, offset);
    }
    // Whole seconds: a spreadsheet serial cannot hold milliseconds without showing rounding.
    return new Date(Math.floor((ms + offset) / 1000) * 1000);
  };
}

function offsetAt(format: Intl.DateTimeFormat, ms: number): number {
  const part: Record<string, number> = {};
  for (const { type, value } of format.formatToParts(ms)) part[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
  return Date.UTC(year, month - 1, day, hour, minute, second) - ms;
}

/** `2026-11-19` as the date that a cell holds; null for anything else. */
export function dateCell(text: string): Date | null {
  const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
  return match
    ? new Date(Date.UTC(Number(match[1]), Number(match[2]) - 1, Number(match[3])))
    : null;
}

/** The wall time as text, for headings: `2026-11-20 04:16:02`. */
export function wallText(clock: WallClock, at: Date): string {
  return clock(at).toISOString().slice(0, 19).replace('T', ' ');
}
