// How times are written in other people's files, and what they are in ISO 8601 with a zone: shapes
// such as dd.MM.yyyy HH:mm, names of months, local times of a zone. Pure. Neighbour: columnMap.ts
// says which column is read how.

import { minutesAhead } from '../time.js';

/** How a file writes times. */
export interface TimesWritten {
  /** of times that name no zone */
  readonly timezone: string;
  /** null: ISO 8601; else shapes such as dd.MM.yyyy HH:mm: the first that fits counts */
  readonly times: readonly string[] | null;
}

/** Spaces that programs put between digits, and before AM, are spaces. */
export function plainSpaces(text: string): string {
  return text.replace(/[\u00a0\u2009\u202f]/g, ' ');
}

const FIELDS: Readonly<Record<string, string>> = {
  yyyy: '(?<yyyy>\\d{4})',
  MMMM: '(?<name>\\p{L}{3,9})',
  MMM: '(?<name>\\p{L}{3,4})\\.?',
  MM: '(?<MM>\\d{1,2})',
  M: '(?<MM>\\d{1,2})',
  dd: '(?<dd>\\d{1,2})',
  d: '(?<dd>\\d{1,2})',
  HH: '(?<HH>\\d{1,2})',
  H: '(?<HH>\\d{1,2})',
  hh: '(?<hh>\\d{1,2})',
  h: '(?<hh>\\d{1,2})',
  a: '(?<a>[AaPp])\\.?[Mm]\\.?',
  mm: '(?<mm>\\d{2})',
  ss: '(?<ss>\\d{2})',
  Z: '(?<Z>Z|[+-]\\d{2}:?\\d{2})',
};

/** What a shape is made of; letters in single quotes mean themselves. */
const TOKENS = /('[^']*'|yyyy|MMMM|MMM|MM|M|dd|d|HH|H|hh|h|mm|ss|a|Z)/;

/** By the first letters of the name, in English and German. */
const MONTHS: Readonly<Record<string, string>> = {
  ...{ jan: '01', feb: '02', mar: '03', mär: '03', apr: '04', may: '05', mai: '05', jun: '06' },
  ...{ jul: '07', aug: '08', sep: '09', oct: '10', okt: '10', nov: '11', dec: '12', dez: '12' },
};

const patterns = new Map<string, RegExp>();

/** A pattern of the map, compiled once. */
export function patternOf(text: string): RegExp {
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
  const parts = shape.split(TOKENS).map((part) => {
    const literal = /^'.*'$/.test(part) ? part.slice(1, -1) : part;
    return FIELDS[part] ?? literal.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  });
  return `^${parts.join('')}$`;
}

/** In ISO 8601 with its zone; null where it is of no shape, or no time of that zone. */
export function instantOf(map: TimesWritten, text: string): string | null {
  if (map.times === null) return zonelessShape(text) === null ? text : null;
  const fitting = firstFitting(map.times, text);
  return fitting === null ? null : shapedInstant(map, fitting.found);
}

interface Fitting {
  readonly shape: string;
  readonly found: Readonly<Record<string, string>>;
}

function firstFitting(times: readonly string[], text: string): Fitting | null {
  const plain = plainSpaces(text).trim().replace(/ {2,}/g, ' ');
  for (const shape of times) {
    const found = patternOf(timePattern(shape)).exec(plain)?.groups;
    if (found !== undefined) return { shape, found };
  }
  return null;
}

/** The shape that reads a time in ISO 8601 without its zone; null: it is none. */
function zonelessShape(text: string): string | null {
  const found = /^\d{4}-\d\d-\d\d(?:([T ])\d\d:\d\d(:\d\d)?)?$/.exec(text.trim());
  if (found === null) return null;
  const [, between, seconds] = found;
  if (between === undefined) return 'yyyy-MM-dd';
  return `yyyy-MM-dd${between === 'T' ? "'T'" : ' '}HH:mm${seconds === undefined ? '' : ':ss'}`;
}

/** Why `instantOf` says null. */
export function timeRefusal({ times, timezone }: TimesWritten, text: string): string {
  if (times === null) {
    const shape = zonelessShape(text);
    if (shape === null) return `is no time of the shape ISO 8601 in ${timezone}`;
    return `names no zone: with times: "${shape}" in the map it is a time in ${timezone}`;
  }
  const fitting = times.length > 1 ? firstFitting(times, text) : null;
  // The next shape is not tried: some days of a month would be read by one, some by the other.
  return fitting === null
    ? `is no time of the shape ${times.join(' or ')} in ${timezone}`
    : `is no time in ${timezone} by the shape ${fitting.shape}, the first one that fits`;
}

function shapedInstant(map: TimesWritten, found: Readonly<Record<string, string>>): string | null {
  const { yyyy, dd, mm = '00', ss = '00', Z } = found;
  const MM = found.MM ?? MONTHS[(found.name ?? '').slice(0, 3).toLowerCase()];
  const HH = hourOf(found);
  if (yyyy === undefined || MM === undefined || dd === undefined || HH === null) return null;
  const two = (part: string): string => part.padStart(2, '0');
  const local = `${yyyy}-${two(MM)}-${two(dd)}T${two(HH)}:${mm}:${ss}`;
  if (Z !== undefined) return `${local}${Z}`;
  const offset = zoneOffset(map.timezone, local);
  return offset === null ? null : `${local}${offset}`;
}

/** Of 24 hours; 12 AM is midnight. */
function hourOf({ HH, hh, a }: Readonly<Record<string, string>>): string | null {
  if (hh === undefined) return HH ?? '00';
  const hour = Number(hh);
  if (a === undefined || hour < 1 || hour > 12) return null;
  return String((hour % 12) + (a.toLowerCase() === 'p' ? 12 : 0));
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
  const around = [asUtc - 86_400_000, asUtc + 86_400_000].map((at) => minutesAhead(timezone, at));
  const fitting = around.filter((minutes) => {
    return minutesAhead(timezone, asUtc - minutes * 60_000) === minutes;
  });
  const minutes = fitting.length === 0 ? null : Math.max(...fitting);
  if (minutes === null) return null;
  const size = Math.abs(minutes);
  const text = [Math.floor(size / 60), size % 60].map((part) => String(part).padStart(2, '0'));
  return `${minutes < 0 ? '-' : '+'}${text.join(':')}`;
}
