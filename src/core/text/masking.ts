// Hides what looks like a card number in free text: 13 to 19 digits that pass the Luhn check, also
// when spaces or hyphens group them, keep their first six and last four digits. It must never touch
// an identifier: about one order number in ten passes Luhn too, so those that the text may name are
// given as `keep`. Pure; used for reports, logs and pages, never on what goes to the database.

import { isOfId } from './keptIds.js';

const CARD_DIGITS_MIN = 13;
const CARD_DIGITS_MAX = 19;
const SHOWN_FIRST = 6;
const SHOWN_LAST = 4;

/** Digits in groups with one space (also a no-break one) or hyphen between them. */
const DIGIT_GROUPS = /\d+(?:[ \u00a0-]\d+)*/g;

/** Most text has no such stretch; looking for one first costs little. */
const DIGITS_ENOUGH = /\d(?:[ \u00a0-]?\d){12}/;

interface Digit {
  /** Where the digit stands in the text. */
  at: number;
  value: number;
  /** First digit of its group, last digit of its group: a card number starts and ends on them. */
  opens: boolean;
  closes: boolean;
}

/** Whether a text has digits enough for a card number; most have not. */
export function mayHoldCardNumber(text: string): boolean {
  return DIGITS_ENOUGH.test(text);
}

/** The text with the middle digits of card-like numbers as `*`; equal text when there are none. */
export function maskCardNumbers(text: string, keep: readonly string[] = []): string {
  if (!mayHoldCardNumber(text)) return text;
  const hidden = new Set<number>();
  for (const match of text.matchAll(DIGIT_GROUPS)) {
    if (match[0].length < CARD_DIGITS_MIN) continue;
    const digits = readDigits(match[0], match.index);
    for (const [first, last] of cardWindows(digits)) {
      const [from, to] = [digits[first]?.at ?? 0, digits[last]?.at ?? 0];
      if (isOfId(text, keep, from, to) || isOfDigest(text, from, to)) continue;
      // Windows may overlap; hiding the middle of each one hides the middle of the true number.
      for (let i = first + SHOWN_FIRST; i <= last - SHOWN_LAST; i += 1) {
        hidden.add(digits[i]?.at ?? 0);
      }
    }
  }
  if (hidden.size === 0) return text;
  return Array.from({ length: text.length }, (_, at) => (hidden.has(at) ? '*' : text[at])).join('');
}

/** Longer than a card number with its separators, and than an id that is kept. */
const BEHIND = 600;

/**
 * The beginning of a text, masked before it is cut: half a card number would not be known for one.
 * `clean` hides other things before, and may make the text shorter; of a long text no more is read
 * than this takes, and what stands at the end of that is not shown.
 */
export function maskedStart(
  text: string,
  lengthMax: number,
  keep: readonly string[] = [],
  clean = (read: string): string => read,
): string {
  const read = text.slice(0, lengthMax + BEHIND);
  const masked = maskCardNumbers(clean(read), keep);
  const whole = read.length < text.length ? Math.max(0, masked.length - BEHIND) : masked.length;
  return masked.slice(0, Math.min(lengthMax, whole));
}

/** A digest of 40 hex signs or more, such as the end of a chain: a number of 13 stands in many. */
const DIGEST_LENGTH_MIN = 40;
const HEX = /[0-9a-f]/;

function isOfDigest(text: string, from: number, to: number): boolean {
  let [start, end] = [from, from];
  // No further than it takes to tell: the text may be a long one.
  while (from - start < DIGEST_LENGTH_MIN && HEX.test(text[start - 1] ?? '')) start -= 1;
  while (end - to < DIGEST_LENGTH_MIN && HEX.test(text[end] ?? '')) end += 1;
  return end > to && end - start >= DIGEST_LENGTH_MIN;
}

function readDigits(groups: string, offset: number): Digit[] {
  const digits: Digit[] = [];
  for (let i = 0; i < groups.length; i += 1) {
    const value = groups.charCodeAt(i) - 48;
    if (value < 0 || value > 9) continue;
    const opens = i === 0 || !isDigit(groups, i - 1);
    const closes = i === groups.length - 1 || !isDigit(groups, i + 1);
    digits.push({ at: offset + i, value, opens, closes });
  }
  return digits;
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 48 && code <= 57;
}

/** First and last index of every stretch of whole groups that could be a card number. */
function* cardWindows(digits: readonly Digit[]): Generator<[first: number, last: number]> {
  for (let first = 0; first + CARD_DIGITS_MIN <= digits.length; first += 1) {
    if (!digits[first]?.opens) continue;
    const end = Math.min(first + CARD_DIGITS_MAX, digits.length);
    for (let last = first + CARD_DIGITS_MIN - 1; last < end; last += 1) {
      if (digits[last]?.closes && passesLuhn(digits, first, last)) yield [first, last];
    }
  }
}

function passesLuhn(digits: readonly Digit[], first: number, last: number): boolean {
  let sum = 0;
  for (let i = last; i >= first; i -= 1) {
    const value = digits[i]?.value ?? 0;
    const doubled = (last - i) % 2 === 1 ? value * 2 : value;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}
