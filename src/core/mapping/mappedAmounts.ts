// How amounts are written in other people's files, and what they are in ours: digits, a point,
// decimals, with a minus where the money goes out. Columns are added up exactly: no float sees an
// amount. Pure. Neighbour: columnMap.ts says which column is read how.

import { plainSpaces } from './mappedTimes.js';

/** How a file writes amounts. */
export interface AmountsWritten {
  readonly decimal: '.' | ',';
  readonly thousands: string;
}

/** Digits, a point, decimals; null where the marks do not stand where they belong. */
export function plainAmount({ decimal, thousands }: AmountsWritten, text: string): string | null {
  const [whole = '', written, ...more] = plainSpaces(text).trim().split(decimal);
  // Databases print 52.0000; a third decimal that says something stays, and is refused later.
  const decimals =
    written !== undefined && /^\d{2}0+$/.test(written) ? written.slice(0, 2) : written;
  if (more.length > 0) return null;
  const groups = thousands === '' ? [whole] : whole.split(thousands);
  const isGrouped = groups.every((group, at) => (at === 0 ? /^\d+$/ : /^\d{3}$/).test(group));
  if (!isGrouped || (groups.length > 1 && (groups[0]?.length ?? 0) > 3)) return null;
  if (decimals !== undefined && !/^\d+$/.test(decimals)) return null;
  return decimals === undefined ? groups.join('') : `${groups.join('')}.${decimals}`;
}

const MINUS = /^[-\u2212]\s*/;

/** Most amounts of a million lines are as ours are, and need no second look. */
const AS_OURS = /^-?\d+\.\d\d$/;

export function isAsOurs(text: string): boolean {
  return AS_OURS.test(text);
}

/** The same, where a minus may stand before it. */
export function signedAmount(written: AmountsWritten, text: string): string | null {
  if (written.decimal === '.' && isAsOurs(text)) return text;
  const bare = plainSpaces(text).trim();
  const amount = plainAmount(written, bare.replace(MINUS, ''));
  return amount !== null && MINUS.test(bare) ? negated(amount) : amount;
}

export function negated(amount: string): string {
  return amount.startsWith('-') ? amount.slice(1) : `-${amount}`;
}

const DECIMALS_MIN = 2;
/** Begun at the first of them alone: a foreign amount may be thousands of zeros and a 1. */
const LAST_ZEROS = /(?<!0)0+$/;

/** What amounts of any number of decimals come to, with as many as that needs, two at least. */
export function sumOf(amounts: readonly string[]): string {
  const decimals = amounts.map((amount) => amount.split('.')[1]?.length ?? 0);
  const scale = Math.max(DECIMALS_MIN, ...decimals);
  const sum = amounts.reduce((total, amount) => total + scaled(amount, scale), 0n);
  const digits = (sum < 0n ? -sum : sum).toString().padStart(scale + 1, '0');
  const beyond = digits.slice(-scale).slice(DECIMALS_MIN).replace(LAST_ZEROS, '');
  const cents = digits.slice(-scale).slice(0, DECIMALS_MIN);
  return `${sum < 0n ? '-' : ''}${digits.slice(0, -scale)}.${cents}${beyond}`;
}

/** Whole minor units of a currency with so many decimals: 1234 of 2 is 12.34. */
export function majorUnits(amount: string, decimals: number): string {
  const [whole = ''] = amount.replace('-', '').split('.');
  const digits = whole.padStart(decimals + 1, '0');
  const cut = digits.length - decimals;
  const written = decimals === 0 ? digits : `${digits.slice(0, cut)}.${digits.slice(cut)}`;
  return sumOf([amount.startsWith('-') ? `-${written}` : written]);
}

function scaled(amount: string, scale: number): bigint {
  const [whole = '', decimals = ''] = amount.split('.');
  return BigInt(whole + decimals.padEnd(scale, '0'));
}
