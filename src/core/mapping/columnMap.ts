// A shop's own export read as lines of the ledger: which column is what, which words mean which
// state, how amounts and times are written. Pure. It translates and never guesses: a word that the
// map does not know, an amount or a time of another shape is refused with its column and value.
// Neighbours: mapFile.ts reads the map; ledgerRow.ts and settlementLine.ts judge what comes out.

import { type CurrencyDecimals, decimalsOf } from '../currency.js';
import type { RawLine, ValueProblem } from '../ledger/ledgerRow.js';
import {
  type AmountsWritten,
  isAsOurs,
  majorUnits,
  negated,
  plainAmount,
  signedAmount,
  sumOf,
} from './mappedAmounts.js';
import { instantOf, patternOf, type TimesWritten, timeRefusal } from './mappedTimes.js';
import type { Trailer } from './trailer.js';

/** What the lines are for: a table of the ledger, or the acquirer's settlement. */
export const MAPPED_TABLES = ['orders', 'refunds', 'settlement'] as const;
export type MappedTable = (typeof MAPPED_TABLES)[number];

export interface ColumnMap extends AmountsWritten, TimesWritten {
  readonly table: MappedTable;
  readonly separator: string;
  readonly encoding: string;
  /** a line in which one of these is empty goes on with the order above it, and is left out */
  readonly leaveOutWhenEmpty: readonly string[];
  /** by column of the file: words with which a line is no order of the gateway: a free one */
  readonly leaveOutWhen: Readonly<Record<string, readonly string[]>>;
  /** by column of the file: only lines with one of these words are taken */
  readonly onlyWhen: Readonly<Record<string, readonly string[]>>;
  /** the line that names the columns; what stands above it is passed over */
  readonly headerLine: number;
  /** the last line, where it says what stands above it */
  readonly trailer: Trailer | null;
  /** null: amounts are as they are; else whole minor units, with decimals that ISO 4217 has not */
  readonly minorUnits: CurrencyDecimals | null;
  /** a column that holds a list: each entry makes a line, its parts are columns of their own */
  readonly each: ListColumn | null;
  /** by column of the ledger */
  readonly columns: Readonly<Record<string, ColumnSource>>;
}

/** `amount:5.00|reason:torn;amount:3.00|reason:` in the column refund_items, say. */
interface ListColumn {
  readonly column: string;
  readonly entries: string;
  readonly parts: string;
  readonly names: string;
}

export type ColumnSource =
  | { readonly kind: 'value'; readonly value: string }
  /** the latest of several times; columns that the file does not have are passed over */
  | { readonly kind: 'latest'; readonly latest: readonly string[] }
  /** an amount in two columns: what comes in less what goes out */
  | {
      readonly kind: 'pair';
      readonly credit: string;
      readonly debit: string;
      readonly negate: boolean;
    }
  /** an amount in several columns */
  | {
      readonly kind: 'sum';
      readonly sum: readonly string[];
      readonly negate: boolean;
      readonly sign: SignWord | null;
    }
  /** what the one group of a pattern finds in the name of the file */
  | { readonly kind: 'fileName'; readonly fileName: string }
  | {
      readonly kind: 'from';
      readonly from: readonly string[];
      /** between the values of several columns */
      readonly join: string;
      readonly removePrefix: string;
      /** what the value has to look like before anything is taken from it */
      readonly pattern: string | null;
      readonly words: Readonly<Record<string, string>> | null;
      /** of an amount: what stands there with the other sign */
      readonly negate: boolean;
      readonly sign: SignWord | null;
    };

/** Of an amount without a sign: the column with the word for it. */
interface SignWord {
  readonly from: string;
  readonly words: Readonly<Record<string, 'in' | 'out'>>;
}

/** As a word's meaning: the line is no order for the ledger yet. */
export const LEAVE_OUT = 'leave out';

type MappedLine =
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
    ...Object.keys(map.trailer?.totals ?? {}),
    ...sources.flatMap(columnsOf),
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

/** The columns that the file has to have for it. */
function columnsOf(source: ColumnSource): readonly string[] {
  if (source.kind === 'pair') return [source.credit, source.debit];
  if (source.kind !== 'from' && source.kind !== 'sum') return [];
  const columns = source.kind === 'from' ? source.from : source.sum;
  return source.sign === null ? columns : [...columns, source.sign.from];
}

/** `refund_items.amount`: a part of an entry of the list, no column of the file. */
function isPartOfList({ each }: ColumnMap, name: string): boolean {
  return each !== null && name.startsWith(`${each.column}.`);
}

/** Several columns together make one word, joined by this where nothing else is said. */
export const JOINED_BY = ' + ';
const AMOUNTS = ['amount', 'capture_amount', 'refund_amount', 'net', 'gross', 'fee'];
const TIMES = ['placed_at', 'updated_at', 'requested_at', 'booked_at'];

export function isAmountColumn(name: string): boolean {
  return AMOUNTS.includes(name);
}

/** The lines that one line of the file makes: one, or one for each entry of its list. */
export function mapLines(map: ColumnMap, given: RawLine, fileName: string): MappedLine[] {
  const { each } = map;
  if (each === null) return [mapLine(map, given, fileName)];
  const list = given[each.column] ?? '';
  if (list === '') return [{ kind: 'left_out', why: `${each.column} is empty` }];
  return list
    .split(each.entries)
    .filter((entry) => entry.trim() !== '')
    .map((entry) => mapLine(map, { ...given, ...partsOf(each, entry) }, fileName));
}

function partsOf({ column, parts, names }: ListColumn, entry: string): RawLine {
  const values: Record<string, string> = {};
  for (const part of entry.split(parts)) {
    const [name = ''] = part.split(names, 1);
    values[`${column}.${name.trim()}`] = part.slice(name.length + names.length).trim();
  }
  return values;
}

/** Listed once a map, and not once a line of a million. */
const entriesOfMaps = new WeakMap<ColumnMap, ReturnType<typeof listEntries>>();

function entriesOf(map: ColumnMap): ReturnType<typeof listEntries> {
  const known = entriesOfMaps.get(map);
  if (known !== undefined) return known;
  const entries = listEntries(map);
  entriesOfMaps.set(map, entries);
  return entries;
}

function listEntries(map: ColumnMap) {
  const { columns, leaveOutWhen, onlyWhen } = map;
  const all = Object.entries(columns);
  const bare = all.flatMap(([name, source]) => {
    const column = bareColumn(source);
    return column === null ? [] : [{ name, column, how: shapeOf(map, name) }];
  });
  const passed = bare.filter(({ how }) => how === 'text');
  const ofMoney = bare.filter(({ how }) => how === 'money');
  return {
    // Most columns of a million lines are taken as they are.
    passed,
    ofMoney,
    columns: all.filter(([name]) => !passed.some((one) => one.name === name)),
    leaveOutWhen: Object.entries(leaveOutWhen),
    onlyWhen: Object.entries(onlyWhen),
  };
}

/** The one column whose text is all that there is to say of it. */
function bareColumn(source: ColumnSource): string | null {
  if (source.kind !== 'from' || source.from.length !== 1) return null;
  const { words, pattern, removePrefix, sign, negate } = source;
  const isBare = words === null && pattern === null && removePrefix === '' && sign === null;
  return isBare && !negate ? (source.from[0] ?? null) : null;
}

function shapeOf(map: ColumnMap, name: string): 'text' | 'money' | 'other' {
  if (isAmountColumn(name)) {
    const isOurs = map.table === 'settlement' && map.decimal === '.' && map.minorUnits === null;
    return isOurs ? 'money' : 'other';
  }
  return TIMES.includes(name) && map.times !== null ? 'other' : 'text';
}

export function mapLine(map: ColumnMap, given: RawLine, fileName = ''): MappedLine {
  for (const column of map.leaveOutWhenEmpty) {
    if ((given[column] ?? '') === '') return { kind: 'left_out', why: `${column} is empty` };
  }
  const { columns, passed, ofMoney, leaveOutWhen, onlyWhen } = entriesOf(map);
  for (const [column, words] of leaveOutWhen) {
    const word = given[column] ?? '';
    if (words.includes(word)) return { kind: 'left_out', why: `${column} is ${word || 'empty'}` };
  }
  for (const [column, words] of onlyWhen) {
    const word = given[column] ?? '';
    if (!words.includes(word)) return { kind: 'left_out', why: `${column} is ${word || 'empty'}` };
  }
  const values: Record<string, string | null> = {};
  for (const { name, column } of passed) values[name] = given[column] || null;
  for (const { name, column } of ofMoney) {
    const amount = given[column] ?? '';
    if (isAsOurs(amount)) values[name] = amount;
  }
  for (const [name, source] of columns) {
    if (name in values) continue;
    if (source.kind === 'latest' && !source.latest.some((column) => column in given)) continue;
    const found =
      source.kind === 'fileName'
        ? ofFileName(map, name, source.fileName, fileName)
        : read(map, name, source, given);
    if (found.kind !== 'value') return found;
    values[name] = found.value;
  }
  if (map.minorUnits !== null) toMajorUnits(values, map.minorUnits);
  return { kind: 'line', values };
}

/** In place: of a currency that nobody knows it stays, and is refused with that currency. */
function toMajorUnits(values: Record<string, string | null>, decimals: CurrencyDecimals): void {
  for (const name of AMOUNTS) {
    const amount = values[name] ?? '';
    if (amount === '') continue;
    const { currency, settle_currency: settled } = values;
    const ofSettled = ['net', 'gross', 'fee'].includes(name);
    const code = ofSettled ? settled || currency : currency || settled;
    const digits = decimalsOf(code ?? '', decimals);
    if (digits !== null) values[name] = majorUnits(amount, digits);
  }
}

function ofFileName(map: ColumnMap, name: string, pattern: string, fileName: string): Found {
  const value = patternOf(pattern).exec(fileName)?.[1] ?? '';
  const shaped = TIMES.includes(name) ? instantOf(map, value) : value;
  if (value !== '' && shaped !== null) return { kind: 'value', value: shaped };
  const reason =
    value === '' ? `is no file name of the shape ${pattern} (fileName)` : timeRefusal(map, value);
  return { kind: 'problem', problem: { column: name, value: value || fileName, reason } };
}

type Found = { kind: 'value'; value: string | null } | Exclude<MappedLine, { kind: 'line' }>;

function read(
  map: ColumnMap,
  name: string,
  source: Exclude<ColumnSource, { kind: 'fileName' }>,
  given: RawLine,
): Found {
  if (source.kind === 'value') return { kind: 'value', value: source.value };
  if (source.kind === 'latest') return latest(map, source.latest, given);
  if (source.kind !== 'from') return added(map, source, given);
  const [only = ''] = source.from;
  const isOne = source.from.length === 1;
  const parts = isOne ? [given[only] ?? ''] : source.from.map((column) => given[column] ?? '');
  const whole = isOne ? (parts[0] ?? '') : parts.join(source.join);
  const refuse = (reason: string): Found => ({
    kind: 'problem',
    problem: { column: source.from.join(JOINED_BY), value: whole, reason },
  });
  if (source.words !== null) {
    const word = wordFor(source.words, parts);
    if (word === null) return refuse(`has no word in the map for ${name}`);
    if (word === LEAVE_OUT) return { kind: 'left_out', why: `${name} is ${whole}` };
    return { kind: 'value', value: word === '' ? null : word };
  }
  if (whole === '') return { kind: 'value', value: null };
  if (source.pattern !== null && !patternOf(source.pattern).test(whole)) {
    return refuse(`is not of the shape ${source.pattern}: has a spreadsheet changed it?`);
  }
  const prefix = source.removePrefix;
  const bare = whole.startsWith(prefix) ? whole.slice(prefix.length) : whole;
  const shaped = isAmountColumn(name)
    ? amountOf(map, bare, source.negate)
    : TIMES.includes(name)
      ? instantOf(map, bare)
      : bare;
  if (shaped !== null) return withSign(source.sign, shaped, given);
  return refuse(isAmountColumn(name) ? amountRefusal(map) : timeRefusal(map, bare));
}

/** The ledger's amounts have no sign, save where the map turns it. */
function amountOf(map: ColumnMap, text: string, negate: boolean): string | null {
  if (!negate && map.table !== 'settlement') return inUnits(map, plainAmount(map, text));
  const amount = inUnits(map, signedAmount(map, text));
  return amount !== null && negate ? negated(amount) : amount;
}

/** Minor units have no decimals. */
function inUnits({ minorUnits }: ColumnMap, amount: string | null): string | null {
  return minorUnits !== null && amount?.includes('.') ? null : amount;
}

/** An amount with a minus beside the word for its sign says it twice: nobody knows which. */
function withSign(sign: SignWord | null, amount: string, given: RawLine): Found {
  if (sign === null) return { kind: 'value', value: amount };
  const word = given[sign.from] ?? '';
  const way = Object.hasOwn(sign.words, word) ? sign.words[word] : undefined;
  const refuse = (reason: string): Found => ({
    kind: 'problem',
    problem: { column: sign.from, value: word, reason },
  });
  if (way === undefined) return refuse('has no word in the map for the sign (in or out)');
  if (amount.startsWith('-')) return refuse(`stands beside ${amount}, which has a sign of its own`);
  return { kind: 'value', value: way === 'out' ? negated(amount) : amount };
}

/** Columns added up; null where all of them are empty. */
function added(
  map: ColumnMap,
  source: Extract<ColumnSource, { kind: 'pair' | 'sum' }>,
  given: RawLine,
): Found {
  const columns = source.kind === 'sum' ? source.sum : [source.credit, source.debit];
  const parts: string[] = [];
  for (const column of columns) {
    const text = given[column] ?? '';
    if (text.trim() === '') continue;
    const amount = inUnits(map, signedAmount(map, text));
    if (amount === null) {
      return { kind: 'problem', problem: { column, value: text, reason: amountRefusal(map) } };
    }
    parts.push(source.kind === 'pair' && column === source.debit ? negated(amount) : amount);
  }
  if (parts.length === 0) return { kind: 'value', value: null };
  const sum = sumOf(parts);
  const value = source.negate ? negated(sum) : sum;
  return withSign(source.kind === 'sum' ? source.sign : null, value, given);
}

function amountRefusal({ decimal, minorUnits }: ColumnMap): string {
  if (minorUnits !== null) return 'is no whole number of minor units, which the map says it is';
  return `is no amount with "${decimal}" before its decimals`;
}

/** The latest of the times that are there. */
function latest(map: ColumnMap, columns: readonly string[], given: RawLine): Found {
  let newest: string | null = null;
  for (const column of columns) {
    const text = given[column] ?? '';
    if (text === '') continue;
    const time = instantOf(map, text);
    if (time === null || Number.isNaN(Date.parse(time))) {
      return { kind: 'problem', problem: { column, value: text, reason: timeRefusal(map, text) } };
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
