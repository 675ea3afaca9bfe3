// A shop's own export read as lines of the ledger: which column is what, which words mean which
// state, how amounts and times are written. Pure. It translates and never guesses: a word that the
// map does not know, an amount or a time of another shape is refused with its column and value.
// Neighbours: mapFile.ts reads the map, ledgerRow.ts judges what comes out.

import type { RawLine, ValueProblem } from './ledgerRow.js';

/** Which table of the ledger the lines are for. */
export const MAPPED_TABLES = ['orders', 'refunds'] as const;
export type MappedTable = (typeof MAPPED_TABLES)[number];

export interface ColumnMap {
  readonly table: MappedTable;
  readonly separator: string;
  readonly encoding: string;
  /** how amounts are written */
  readonly decimal: '.' | ',';
  readonly thousands: string;
  /** of times that name no zone */
  readonly timezone: string;
  /** null: ISO 8601; else shapes such as dd.MM.yyyy HH:mm: the first that fits counts */
  readonly times: readonly string[] | null;
  /** a line in which one of these is empty goes on with the order above it, and is left out */
  readonly leaveOutWhenEmpty: readonly string[];
  /** by column of the file: words with which a line is no order of the gateway: a free one */
  readonly leaveOutWhen: Readonly<Record<string, readonly string[]>>;
  /** by column of the file: only lines with one of these words are taken */
  readonly onlyWhen: Readonly<Record<string, readonly string[]>>;
  /** a column that holds a list: each entry makes a line, its parts are columns of their own */
  readonly each: ListColumn | null;
  /** by column of the ledger */
  readonly columns: Readonly<Record<string, ColumnSource>>;
}

/** `amount:5.00|reason:torn;amount:3.00|reason:` in the column refund_items, say. */
export interface ListColumn {
  readonly column: string;
  readonly entries: string;
  readonly parts: string;
  readonly names: string;
}

export type ColumnSource =
  | { readonly kind: 'value'; readonly value: string }
  /** the latest of several times; columns that the file does not have are passed over */
  | { readonly kind: 'latest'; readonly latest: readonly string[] }
  | {
      readonly kind: 'from';
      readonly from: readonly string[];
      /** between the values of several columns */
      readonly join: string;
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

/** Every column of the file that the map reads, and whether the file may lack it. */
export function columnsRead(map: ColumnMap): { name: string; nullable: boolean }[] {
  const sources = Object.values(map.columns);
  const needed = new Set([
    ...map.leaveOutWhenEmpty,
    ...Object.keys(map.leaveOutWhen),
    ...Object.keys(map.onlyWhen),
    ...(map.each === null ? [] : [map.each.column]),
    ...sources.flatMap((one) => (one.kind === 'from' ? one.from : [])),
  ]);
  const inList = [...needed].filter((name) => isPartOfList(map, name));
  for (const name of inList) needed.delete(name);
  const perhaps = sources.flatMap((one) => (one.kind === 'latest' ? one.latest : []));
  const optional = [...new Set(perhaps)].filter((name) => !needed.has(name));
  return [
    ...[...needed].map((name) => ({ name, nullable: false })),
    ...optional.map((name) => ({ name, nullable: true })),
  ];
}

/** `refund_items.amount`: a part of an entry of the list, no column of the file. */
function isPartOfList({ each }: ColumnMap, name: string): boolean {
  return each !== null && name.startsWith(`${each.column}.`);
}

/** Several columns together make one word, joined by this where nothing else is said. */
export const JOINED_BY = ' + ';
const AMOUNTS: readonly string[] = ['amount', 'capture_amount', 'refund_amount'];
const TIMES: readonly string[] = ['placed_at', 'updated_at', 'requested_at'];

/** The lines that one line of the file makes: one, or one for each entry of its list. */
export function mapLines(map: ColumnMap, given: RawLine): MappedLine[] {
  const { each } = map;
  if (each === null) return [mapLine(map, given)];
  const list = given[each.column] ?? '';
  if (list === '') return [{ kind: 'left_out', why: `${each.column} is empty` }];
  return list
    .split(each.entries)
    .filter((entry) => entry.trim() !== '')
    .map((entry) => mapLine(map, { ...given, ...partsOf(each, entry) }));
}

function partsOf({ column, parts, names }: ListColumn, entry: string): RawLine {
  const values: Record<string, string> = {};
  for (const part of entry.split(parts)) {
    const [name = ''] = part.split(names, 1);
    values[`${column}.${name.trim()}`] = part.slice(name.length + names.length).trim();
  }
  return values;
}

export function mapLine(map: ColumnMap, given: RawLine): MappedLine {
  for (const column of map.leaveOutWhenEmpty) {
    if ((given[column] ?? '') === '') return { kind: 'left_out', why: `${column} is empty` };
  }
  for (const [column, words] of Object.entries(map.leaveOutWhen)) {
    const word = given[column] ?? '';
    if (words.includes(word)) return { kind: 'left_out', why: `${column} is ${word || 'empty'}` };
  }
  for (const [column, words] of Object.entries(map.onlyWhen)) {
    const word = given[column] ?? '';
    if (!words.includes(word)) return { kind: 'left_out', why: `${column} is ${word || 'empty'}` };
  }
  const values: Record<string, string | null> = {};
  for (const [name, source] of Object.entries(map.columns)) {
    if (source.kind === 'latest' && !source.latest.some((column) => column in given)) continue;
    const found = read(map, name, source, given);
    if (found.kind !== 'value') return found;
    values[name] = found.value;
  }
  return { kind: 'line', values };
}

type Found = { kind: 'value'; value: string | null } | Exclude<MappedLine, { kind: 'line' }>;

function read(map: ColumnMap, name: string, source: ColumnSource, given: RawLine): Found {
  if (source.kind === 'value') return { kind: 'value', value: source.value };
  if (source.kind === 'latest') return latest(map, source.latest, given);
  const parts = source.from.map((column) => given[column] ?? '');
  const whole = parts.join(source.join);
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
      : timeRefusal(map),
  );
}

function timeRefusal({ times, timezone }: ColumnMap): string {
  return `is no time of the shape ${times?.join(' or ') ?? 'ISO 8601'} in ${timezone}`;
}

/** The latest of the times that are there. */
function latest(map: ColumnMap, columns: readonly string[], given: RawLine): Found {
  let newest: string | null = null;
  for (const column of columns) {
    const text = given[column] ?? '';
    if (text === '') continue;
    const time = instantOf(map, text);
    if (time === null || Number.isNaN(Date.parse(time))) {
      return { kind: 'problem', problem: { column, value: text, reason: timeRefusal(map) } };
    }
    if (newest === null || Date.parse(time) > Date.parse(newest)) newest = time;
  }
  return { kind: 'value', value: newest };
}

/** The word for these parts, or the one that says * for the last of them, one or many. */
function wordFor(words: Readonly<Record<string, string>>, parts: readonly string[]): string | null {
  for (let stars = 0; stars <= parts.length; stars += 1) {
    const known = parts.slice(0, parts.length - stars);
    const spelled = [Array<string>(stars).fill('*'), stars > 0 ? ['*'] : []];
    for (const rest of spelled) {
      const key = [...known, ...rest].join(JOINED_BY);
      if (Object.hasOwn(words, key)) return words[key] ?? null;
    }
  }
  return null;
}

/** Spaces that programs put between digits, and before AM, are spaces. */
function plainSpaces(text: string): string {
  return text.replace(/[\u00a0\u2009\u202f]/g, ' ');
}

/** Digits, a point, decimals; null where the marks do not stand where they belong. */
function plainAmount({ decimal, thousands }: ColumnMap, text: string): string | null {
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
  const parts = shape.split(TOKENS).map((part) => {
    const literal = /^'.*'$/.test(part) ? part.slice(1, -1) : part;
    return FIELDS[part] ?? literal.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  });
  return `^${parts.join('')}$`;
}

/** In ISO 8601 with its zone; null where it is of no shape, or no time of that zone. */
function instantOf(map: ColumnMap, text: string): string | null {
  if (map.times === null) return text;
  const plain = plainSpaces(text).trim().replace(/ {2,}/g, ' ');
  for (const shape of map.times) {
    const found = patternOf(timePattern(shape)).exec(plain)?.groups;
    if (found !== undefined) return shapedInstant(map, found);
  }
  return null;
}

function shapedInstant(map: ColumnMap, found: Readonly<Record<string, string>>): string | null {
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
