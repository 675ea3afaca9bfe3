// A shop's own export read as lines of the ledger: which column is what, which words mean which
// state, how amounts and times are written. Pure. It translates and never guesses: a word that the
// map does not know, an amount or a time of another shape is refused with its column and value.
// Neighbours: configColumnMap.ts reads the map, ledgerRow.ts judges what comes out.

import type { RawLine, ValueProblem } from './ledgerRow.js';

export interface ColumnMap {
  readonly separator: string;
  readonly encoding: string;
  /** how amounts are written */
  readonly decimal: '.' | ',';
  readonly thousands: string;
  /** of times that name no zone */
  readonly timezone: string;
  /** null: ISO 8601; else a pattern such as dd.MM.yyyy HH:mm */
  readonly times: string | null;
  /** a line in which one of these is empty goes on with the order above it, and is left out */
  readonly leaveOutWhenEmpty: readonly string[];
  /** by column of the ledger */
  readonly columns: Readonly<Record<string, ColumnSource>>;
}

export type ColumnSource =
  | { readonly kind: 'value'; readonly value: string }
  | {
      readonly kind: 'from';
      readonly from: readonly string[];
      readonly removePrefix: string;
      /** what the value has to look like before anything is taken from it */
      readonly pattern: string | null;
      readonly words: Readonly<Record<string, string>> | null;
    };

/** As a word's meaning: the line is no order for the ledger yet. */
export const LEAVE_OUT = 'leave out';

export type MappedLine =
  | { readonly kind: 'line'; readonly values: RawLine }
  | { readonly kind: 'left_out'; readonly why: string }
  | { readonly kind: 'problem'; readonly problem: ValueProblem };

/** Every column of the file that the map reads. */
export function columnsRead(map: ColumnMap): string[] {
  const named = Object.values(map.columns).flatMap((one) => (one.kind === 'from' ? one.from : []));
  return [...new Set([...map.leaveOutWhenEmpty, ...named])];
}

/** Several columns together make one word, joined by this. */
const JOINED_BY = ' + ';
const AMOUNTS: readonly string[] = ['amount', 'capture_amount'];
const TIMES: readonly string[] = ['placed_at', 'updated_at'];

export function mapLine(map: ColumnMap, given: RawLine): MappedLine {
  for (const column of map.leaveOutWhenEmpty) {
    if ((given[column] ?? '') === '') return { kind: 'left_out', why: `${column} is empty` };
  }
  const values: Record<string, string | null> = {};
  for (const [name, source] of Object.entries(map.columns)) {
    const found = read(map, name, source, given);
    if (found.kind !== 'value') return found;
    values[name] = found.value;
  }
  return { kind: 'line', values };
}

type Found = { kind: 'value'; value: string | null } | Exclude<MappedLine, { kind: 'line' }>;

function read(map: ColumnMap, name: string, source: ColumnSource, given: RawLine): Found {
  if (source.kind === 'value') return { kind: 'value', value: source.value };
  const parts = source.from.map((column) => given[column] ?? '');
  const whole = parts.join(JOINED_BY);
  const refuse = (reason: string): Found => ({
    kind: 'problem',
    problem: { column: source.from.join(JOINED_BY), value: whole, reason },
  });
  if (source.words !== null) {
    const word = wordFor(source.words, parts);
    if (word === null) return refuse(`has no word in the map for ${name}`);
    if (word === LEAVE_OUT) return { kind: 'left_out', why: `${name} is ${whole}` };
    return { kind: 'value', value: word };
  }
  if (whole === '') return { kind: 'value', value: null };
  if (source.pattern !== null && !patternOf(source.pattern).test(whole)) {
    return refuse(`is not of the shape ${source.pattern}: has a spreadsheet changed it?`);
  }
  const prefix = source.removePrefix;
  const bare = whole.startsWith(prefix) ? whole.slice(prefix.length) : whole;
  const shaped = AMOUNTS.includes(name)
    ? plainAmount(map, bare)
    : TIMES.includes(name)
      ? instantOf(map, bare)
      : bare;
  if (shaped !== null) return { kind: 'value', value: shaped };
  return refuse(
    AMOUNTS.includes(name)
      ? `is no amount with "${map.decimal}" before its decimals`
      : `is no time of the shape ${map.times ?? 'ISO 8601'} in ${map.timezone}`,
  );
}

/** The word for these parts, or the one that says * for the last of them. */
function wordFor(words: Readonly<Record<string, string>>, parts: readonly string[]): string | null {
  for (let stars = 0; stars <= parts.length; stars += 1) {
    const key = parts.map((part, at) => (at < parts.length - stars ? part : '*')).join(JOINED_BY);
    if (Object.hasOwn(words, key)) return words[key] ?? null;
  }
  return null;
}

/** Digits, a point, decimals; null where the marks do not stand where they belong. */
function plainAmount({ decimal, thousands }: ColumnMap, text: string): string | null {
  const [whole = '', decimals, ...more] = text.split(decimal);
  if (more.length > 0) return null;
  const groups = thousands === '' ? [whole] : whole.split(thousands);
  const isGrouped = groups.every((group, at) => (at === 0 ? /^\d+$/ : /^\d{3}$/).test(group));
  if (!isGrouped || (groups.length > 1 && (groups[0]?.length ?? 0) > 3)) return null;
  if (decimals !== undefined && !/^\d+$/.test(decimals)) return null;
  return decimals === undefined ? groups.join('') : `${groups.join('')}.${decimals}`;
}

const FIELDS: Readonly<Record<string, string>> = {
  yyyy: '(?<yyyy>\\d{4})',
  MM: '(?<MM>\\d{1,2})',
  dd: '(?<dd>\\d{1,2})',
  HH: '(?<HH>\\d{1,2})',
  mm: '(?<mm>\\d{2})',
  ss: '(?<ss>\\d{2})',
  Z: '(?<Z>Z|[+-]\\d{2}:?\\d{2})',
};

const patterns = new Map<string, RegExp>();

/** A pattern of the map, compiled once. */
function patternOf(text: string): RegExp {
  const known = patterns.get(text) ?? new RegExp(text, 'u');
  patterns.set(text, known);
  return known;
}

const shapes = new Map<string, string>();

/** The shape of a time as a regular expression: dd.MM.yyyy HH:mm. Worked out once a shape. */
export function timePattern(shape: string): string {
  const known = shapes.get(shape) ?? workedOutPattern(shape);
  shapes.set(shape, known);
  return known;
}

function workedOutPattern(shape: string): string {
  const parts = shape.split(/(yyyy|MM|dd|HH|mm|ss|Z)/).map((part) => {
    return FIELDS[part] ?? part.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  });
  return `^${parts.join('')}$`;
}

/** In ISO 8601 with its zone; null where it is not of the shape, or no time of that zone. */
function instantOf(map: ColumnMap, text: string): string | null {
  if (map.times === null) return text;
  const {
    yyyy,
    MM,
    dd,
    HH = '00',
    mm = '00',
    ss = '00',
    Z,
  } = patternOf(timePattern(map.times)).exec(text)?.groups ?? {};
  if (yyyy === undefined || MM === undefined || dd === undefined) return null;
  const two = (part: string): string => part.padStart(2, '0');
  const local = `${yyyy}-${two(MM)}-${two(dd)}T${two(HH)}:${mm}:${ss}`;
  if (Z !== undefined) return `${local}${Z}`;
  const offset = zoneOffset(map.timezone, local);
  return offset === null ? null : `${local}${offset}`;
}

/** Offsets by zone and local hour; a file has few hours beside its lines. */
const offsets = new Map<string, string | null>();
const OFFSETS_KEPT_MAX = 20_000;

/** "+02:00" for a local time; null for one that a change of clocks left out. */
function zoneOffset(timezone: string, local: string): string | null {
  // Clocks change at whole or half hours.
  const key = `${timezone} ${local.slice(0, 14)}${local.slice(14, 16) < '30' ? '00' : '30'}`;
  const known = offsets.get(key);
  if (known !== undefined) return known;
  const offset = workedOutOffset(timezone, local);
  if (offsets.size >= OFFSETS_KEPT_MAX) offsets.clear();
  offsets.set(key, offset);
  return offset;
}

function workedOutOffset(timezone: string, local: string): string | null {
  const asUtc = Date.parse(`${local}Z`);
  if (Number.isNaN(asUtc)) return null;
  // A day that the month does not have would be read as one of the next.
  if (!new Date(asUtc).toISOString().startsWith(local.slice(0, 10))) return null;
  // Both sides of a change are tried; of an hour that comes twice the first one counts.
  const around = [asUtc - 86_400_000, asUtc + 86_400_000].map((at) => offsetAt(timezone, at));
  const fitting = around.filter((minutes) => {
    return offsetAt(timezone, asUtc - minutes * 60_000) === minutes;
  });
  const minutes = fitting.length === 0 ? null : Math.max(...fitting);
  if (minutes === null) return null;
  const size = Math.abs(minutes);
  const text = [Math.floor(size / 60), size % 60].map((part) => String(part).padStart(2, '0'));
  return `${minutes < 0 ? '-' : '+'}${text.join(':')}`;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Minutes that the zone is ahead of UTC at an instant. */
function offsetAt(timezone: string, at: number): number {
  const format =
    formats.get(timezone) ??
    new Intl.DateTimeFormat('en', { timeZone: timezone, timeZoneName: 'longOffset' });
  formats.set(timezone, format);
  const name = format.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const match = /^GMT(?:([+-])(\d{2}):(\d{2}))?/.exec(name);
  const minutes = Number(match?.[2] ?? 0) * 60 + Number(match?.[3] ?? 0);
  return match?.[1] === '-' ? -minutes : minutes;
}
