// Card numbers in words that a person or a file brings, before they are stored: in whatever digits
// and separators they are spelled, of the lengths and beginnings that cards have, their middle is
// taken out. Wider than masking.ts, which has to leave figures and dates of our own pages alone;
// ids that a ledger or gateway gave are given as `keep`. Pure.

import { isOfId } from './keptIds.js';

interface Sign {
  /** Where it stands in the text, and where the next one begins. */
  from: number;
  to: number;
  /** null: between digits */
  digit: number | null;
}

export const CARD_LENGTH_MIN = 13;
const LENGTH_MAX = 19;
const SHOWN_FIRST = 6;
const SHOWN_LAST = 4;
/** More of anything else between two digits, and they belong to two numbers. */
const BETWEEN_MAX = 6;

/** An escaped sign of an address (escaped again, too) or of a page, a tag, or one sign. */
const SIGNS = new RegExp(
  [
    '%(?:25)*(?<hex>[0-9a-f]{2})',
    '&#(?<code>\\d{1,7});',
    '&#x(?<point>[0-9a-f]{1,6});',
    '&nbsp;',
    '<[^<>]{1,20}>',
    '.',
  ].join('|'),
  'gisu',
);
const DIGIT_LIKE = /\p{N}/gu;
const LETTER = /[\p{L}\p{M}]/u;

/** Beginnings and lengths of cards, by the issuer's number (ISO/IEC 7812 ranges in use). */
const KINDS: readonly [beginning: RegExp, ...lengths: number[]][] = [
  [/^4/, 13, 16, 19],
  [/^(?:5[0-9]|2[2-7]|6[0-9]|8[0-9]|35|9[0-9])/, 16, 17, 18, 19],
  [/^(?:5018|5020|5038|5612|5893|6304|6759|676[1-3])/, 13, 14, 15],
  [/^3[47]/, 15],
  [/^3(?:0|6|8|9)/, 14, 16, 19],
];

/** The text without the middle digits of card numbers; equal text where there are none. */
export function withoutCards(text: string, keep: readonly string[] = []): string {
  // Most words have too few digits of any kind; to look through every sign of a file costs.
  if ((text.match(DIGIT_LIKE)?.length ?? 0) < CARD_LENGTH_MIN) return text;
  const hidden: Sign[] = [];
  for (const stretch of stretches(text)) {
    for (const [first, last] of windows(stretch)) {
      const [from, to] = [stretch[first]?.from ?? 0, stretch[last]?.to ?? 0];
      const span = text.slice(from, to);
      if (keep.some((id) => id.includes(span)) || isOfId(text, keep, from, to - 1)) continue;
      hidden.push(...stretch.slice(first + SHOWN_FIRST, last + 1 - SHOWN_LAST));
    }
  }
  let shown = '';
  let at = 0;
  for (const { from, to } of hidden.sort((a, b) => a.from - b.from)) {
    if (from < at) continue;
    shown += `${text.slice(at, from)}*`;
    at = to;
  }
  return shown + text.slice(at);
}

/** Digits that may belong together, each stretch on its own. */
function* stretches(text: string): Generator<Sign[]> {
  let digits: Sign[] = [];
  let between = 0;
  for (const match of text.matchAll(SIGNS)) {
    const sign = read(match);
    if (sign.digit !== null) {
      digits.push(sign);
      between = 0;
      continue;
    }
    between += 1;
    if (between <= BETWEEN_MAX && !LETTER.test(plain(match))) continue;
    if (digits.length >= CARD_LENGTH_MIN) yield digits;
    digits = [];
  }
  if (digits.length >= CARD_LENGTH_MIN) yield digits;
}

function read(match: RegExpMatchArray): Sign {
  const from = match.index ?? 0;
  return { from, to: from + match[0].length, digit: digitOf(plain(match)) };
}

/** The sign itself, however it is escaped; what is none of these is as it stands. */
function plain(match: RegExpMatchArray): string {
  const { hex, code, point } = match.groups ?? {};
  if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
  const number = code === undefined ? Number.parseInt(point ?? '', 16) : Number(code);
  if (Number.isInteger(number) && number <= 0x10ffff) return String.fromCodePoint(number);
  return match[0].length > 2 ? ' ' : match[0];
}

/** Of any script: full-width, circled and mathematical ones are their plain digit in NFKC. */
function digitOf(sign: string): number | null {
  const normal = sign.normalize('NFKC');
  if (/^[0-9]$/.test(normal)) return Number(normal);
  if (!/^\p{Nd}$/u.test(normal)) return null;
  // Digits of a script stand in a row from its zero on, at ten places.
  const code = normal.codePointAt(0) ?? 0;
  let value = 0;
  while (value < 9 && /^\p{Nd}$/u.test(String.fromCodePoint(code - value - 1))) value += 1;
  return value;
}

/** First and last digit of every stretch that could be a card number, from edge to edge. */
function* windows(digits: readonly Sign[]): Generator<[number, number]> {
  const joined = (at: number): boolean =>
    at > 0 && at < digits.length && digits[at - 1]?.to === digits[at]?.from;
  const all = digits.map(({ digit }) => digit).join('');
  for (let first = 0; first + CARD_LENGTH_MIN <= digits.length; first += 1) {
    if (joined(first)) continue;
    for (let length = CARD_LENGTH_MIN; length <= LENGTH_MAX; length += 1) {
      if (first + length > digits.length || joined(first + length)) continue;
      const number = all.slice(first, first + length);
      if (isCard(number)) yield [first, first + length - 1];
    }
  }
}

function isCard(number: string): boolean {
  const fits = KINDS.some(([start, ...lengths]) => {
    return lengths.includes(number.length) && start.test(number);
  });
  if (!fits) return false;
  const sum = [...number].reverse().reduce((total, digit, at) => {
    const value = at % 2 === 1 ? Number(digit) * 2 : Number(digit);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}
