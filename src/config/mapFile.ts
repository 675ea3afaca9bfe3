// Reads the map of `tieout import orders|refunds|settlement --map FILE`: YAML, every key known,
// every pattern and zone tried before the first line is read. What a map means is
// core/mapping/columnMap.ts's.

import { z } from 'zod';
import { ConfigurationError } from '../core/errors.js';
import { type Column, ORDER_COLUMNS, REFUND_COLUMNS } from '../core/ledger/ledgerRow.js';
import type { ColumnMap, ColumnSource, MappedTable } from '../core/mapping/columnMap.js';
import {
  columnsRead,
  isAmountColumn,
  JOINED_BY,
  LEAVE_OUT,
  MAPPED_TABLES,
} from '../core/mapping/columnMap.js';
import { timePattern } from '../core/mapping/mappedTimes.js';
import { EXPECTED_STATES } from '../core/orders/order.js';
import { LINE_TYPES, SETTLEMENT_COLUMNS } from '../core/settlement/settlementLine.js';
import { readYaml, schemaFault } from '../core/text/readYaml.js';
import { isTimezone } from '../core/time.js';
import { flag } from './shapes.js';
import { readText } from './values.js';

const MAP_BYTES_MAX = 1 << 18;

const text = z.string().min(1, 'must not be empty');
const names = z.union([text.transform((name) => [name]), z.array(text).min(1).max(8)]);
const negate = flag.default(false);
const sign = z
  .strictObject({ from: text, words: z.record(z.string(), z.enum(['in', 'out'])) })
  .nullable()
  .default(null);
const source = z.union([
  z.strictObject({ value: text }).transform(({ value }) => ({ kind: 'value' as const, value })),
  z
    .strictObject({ latest: names })
    .transform(({ latest }) => ({ kind: 'latest' as const, latest })),
  z
    .strictObject({
      from: names,
      join: text.default(JOINED_BY),
      removePrefix: z.string().default(''),
      pattern: text.refine(isPattern, 'is no regular expression').nullable().default(null),
      words: z.record(z.string(), z.string()).nullable().default(null),
      negate,
      sign,
    })
    .transform((given) => ({ kind: 'from' as const, ...given })),
  z
    .strictObject({ credit: text, debit: text, negate })
    .transform((given) => ({ kind: 'pair' as const, ...given })),
  z
    .strictObject({ sum: names, negate, sign })
    .transform((given) => ({ kind: 'sum' as const, ...given })),
  z
    .strictObject({ fileName: text.refine(hasOneGroup, 'must be a pattern with one group') })
    .transform(({ fileName }) => ({ kind: 'fileName' as const, fileName })),
]);

const wordsByColumn = z.record(z.string(), z.array(z.string()).min(1).max(100)).default({});
const list = z.strictObject({
  column: text,
  entries: text.default(';'),
  parts: text.default('|'),
  names: text.default(':'),
});

/** Where a value stands in a line, from 1 on. */
const place = z.int().min(1).max(1_000);
const trailer = z.strictObject({
  starts: text,
  lines: place.nullable().default(null),
  totals: z.record(z.string(), place).default({}),
});
const minorUnits = z
  .union([z.boolean(), z.record(z.string().regex(/^[A-Z]{3}$/), z.int().min(0).max(4))])
  .default(false)
  .transform((given) => (typeof given === 'boolean' ? (given ? {} : null) : given));

const ENCODINGS = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252', 'iso-8859-15'] as const;

const mapSchema = z.strictObject({
  table: z.enum(MAPPED_TABLES).default('orders'),
  separator: z.enum([',', ';', '\t', '|']).default(','),
  encoding: z.enum(ENCODINGS).default('utf-8'),
  decimal: z.enum(['.', ',']).default('.'),
  thousands: z.enum(['', '.', ',', ' ', "'"]).default(''),
  timezone: text.refine(isTimezone, 'is no timezone such as Europe/Berlin').default('UTC'),
  times: z
    .union([text.transform((shape) => [shape]), z.array(text).min(1).max(8)])
    .refine(areTimeShapes, 'must be iso, or shapes with year, month, day: dd.MM.yyyy HH:mm')
    .default(['iso'])
    .transform((shapes) => (shapes[0] === 'iso' ? null : shapes)),
  leaveOutWhenEmpty: z.array(text).max(8).default([]),
  leaveOutWhen: wordsByColumn,
  onlyWhen: wordsByColumn,
  headerLine: z.int().min(1).max(1_000).default(1),
  trailer: trailer.nullable().default(null),
  minorUnits,
  each: list.nullable().default(null),
  columns: z.record(z.string(), source),
});

/** Throws ConfigurationError naming file and key. */
export function loadColumnMap(file: string, table: MappedTable = 'orders'): ColumnMap {
  const { value, lineOf } = readYaml(readText(file, MAP_BYTES_MAX), file);
  const read = mapSchema.safeParse(value);
  if (!read.success) throw schemaFault(file, read.error.issues, lineOf);
  if (read.data.table !== table) {
    throw new ConfigurationError(
      file,
      'table',
      `is ${read.data.table}, this import is ${table}: tieout import ${read.data.table}`,
    );
  }
  requireColumns(read.data, file);
  return read.data;
}

const COLUMNS_OF: Readonly<Record<MappedTable, readonly Column[]>> = {
  orders: ORDER_COLUMNS,
  refunds: REFUND_COLUMNS,
  settlement: SETTLEMENT_COLUMNS,
};

function requireColumns(map: ColumnMap, file: string): void {
  const columns = COLUMNS_OF[map.table];
  const known = columns.map(({ name }) => name);
  const odd = Object.keys(map.columns).find((name) => !known.includes(name));
  if (odd !== undefined) {
    const problem = `is no column of ${map.table}: ${known.join(', ')}`;
    throw new ConfigurationError(file, `columns.${odd}`, problem);
  }
  const missing = columns.find(({ name, nullable }) => !nullable && !(name in map.columns));
  if (missing !== undefined) {
    throw new ConfigurationError(file, `columns.${missing.name}`, 'must be given');
  }
  if (map.decimal === map.thousands) {
    throw new ConfigurationError(file, 'thousands', 'must not be the mark of the decimals');
  }
  const early = Object.entries(map.columns).find(([name, one]) => {
    return one.kind === 'latest' && !name.endsWith('_at');
  });
  if (early !== undefined) {
    throw new ConfigurationError(file, `columns.${early[0]}`, 'is no time: latest is for times');
  }
  const odder = Object.entries(map.columns).find(([name, one]) => {
    return isAmountOnly(one) && !isAmountColumn(name);
  });
  if (odder !== undefined) {
    const problem = 'is no amount: credit and debit, sum, negate and sign are for amounts';
    throw new ConfigurationError(file, `columns.${odder[0]}`, problem);
  }
  if (map.minorUnits !== null && !('currency' in map.columns || 'settle_currency' in map.columns)) {
    const problem = 'hang on the currency, which the map does not read';
    throw new ConfigurationError(file, 'minorUnits', problem);
  }
  if (columnsRead(map).length === 0) {
    throw new ConfigurationError(file, 'columns', 'must read at least one column of the file');
  }
  requireWords(map, file, 'expected', EXPECTED_STATES);
  requireWords(map, file, 'type', LINE_TYPES);
}

function isAmountOnly(one: ColumnSource): boolean {
  if (one.kind === 'from') return one.negate || one.sign !== null;
  return one.kind === 'pair' || one.kind === 'sum';
}

/** What the words of this column mean has to be something that it may hold. */
function requireWords(map: ColumnMap, file: string, name: string, may: readonly string[]): void {
  const source = map.columns[name];
  const meanings = source?.kind === 'from' ? Object.values(source.words ?? {}) : [];
  const allowed = [...may, LEAVE_OUT];
  const wrong = meanings.find((meaning) => !allowed.includes(meaning));
  if (wrong === undefined) return;
  const problem = `${wrong} is none of ${allowed.join(', ')}`;
  throw new ConfigurationError(file, `columns.${name}.words`, problem);
}

function hasOneGroup(pattern: string): boolean {
  return isPattern(pattern) && new RegExp(`${pattern}|`, 'u').exec('')?.length === 2;
}

function isPattern(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}

function areTimeShapes(shapes: readonly string[]): boolean {
  return (shapes.length === 1 && shapes[0] === 'iso') || shapes.every(isTimeShape);
}

function isTimeShape(shape: string): boolean {
  const pattern = timePattern(shape);
  const has = (...names: string[]): boolean =>
    names.some((name) => pattern.includes(`(?<${name}>`));
  // A part that stands there twice is no pattern.
  return has('yyyy') && has('MM', 'name') && has('dd') && isPattern(pattern);
}
