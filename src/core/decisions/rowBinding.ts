// What a row of a workbook carries so that a decision about it can come back: whose row it is, a
// digest of what was seen, the last word of a person until then, and a seal over all of it and over
// what its cells show. Spreadsheets write the same values in many ways; two that a reader takes for
// one are one here. Pure.

import { createHmac, timingSafeEqual } from 'node:crypto';

/** What a decision about a row is bound to. */
export interface RowBinding {
  readonly of: 'break' | 'instruction';
  /** the number of the break or instruction */
  readonly id: string;
  /** the newest event of the break, or decision about the instruction, then; 0: none */
  readonly last: string;
  /** the digest of what was seen, in hexadecimal */
  readonly seen: string;
}

/** How a column's values are compared. */
export type ShownKind = 'text' | 'number' | 'instant' | 'date';

/** A value as a cell of a file holds it; a date of a spreadsheet is the number of its days. */
export type ShownValue = string | number | Date | null;

const BETWEEN = '\u001f';

/** One line: the binding in the clear, and its seal with what the cells show. */
export function sealRow(secret: string, binding: RowBinding, shown: readonly string[]): string {
  const plain = plainText(binding);
  return `${plain} ${sealOf(secret, plain, shown)}`;
}

const SEALED = /^(break|instruction) (\d{1,18}) (\d{1,18}) ([0-9a-f]{64}) ([0-9a-f]{64})$/;

/** Null: that is no binding of ours. `isWhole`: it and the cells are those that were written. */
export function openRow(
  secret: string,
  text: string,
  shown: readonly string[],
): { binding: RowBinding; isWhole: boolean } | null {
  const [, of = '', id = '', last = '', seen = '', seal = ''] = SEALED.exec(text.trim()) ?? [];
  if (seal === '') return null;
  const binding = { of: of === 'break' ? 'break' : 'instruction', id, last, seen } as const;
  const expected = sealOf(secret, plainText(binding), shown);
  return { binding, isWhole: timingSafeEqual(Buffer.from(seal), Buffer.from(expected)) };
}

function plainText({ of, id, last, seen }: RowBinding): string {
  return `${of} ${id} ${last} ${seen}`;
}

function sealOf(secret: string, plain: string, shown: readonly string[]): string {
  const text = [plain, ...shown].join(BETWEEN);
  return createHmac('sha256', Buffer.from(secret, 'hex')).update(text, 'utf8').digest('hex');
}

/** What a cell shows, the same however a program writes it. */
export function shownText(kind: ShownKind, value: ShownValue): string {
  if (value === null) return '';
  if (value instanceof Date) return `at ${Math.round(value.getTime() / 1000)}`;
  const isTime = kind === 'instant' || kind === 'date';
  if (typeof value === 'number') return isTime ? ofDays(value) : numberText(value);
  const text = unescaped(value).replace(/\s+/gu, ' ').trim();
  if (isTime && text !== '') return ofIso(text);
  // A number that stands as text is that number to some programs.
  return /^-?\d{1,15}(\.\d{1,15})?$/.test(text) && isKept(text) ? numberText(Number(text)) : text;
}

/** "0010" is no number: its zeros would be lost. */
function isKept(text: string): boolean {
  return /^-?(0|[1-9]\d*)(\.\d+)?$/.test(text) && text.replace(/\D/g, '').length <= EXACT_DIGITS;
}

/** A spreadsheet keeps so many digits, and programs write the rest as they like. */
const EXACT_DIGITS = 15;

function numberText(value: number): string {
  const exact = Number(value.toPrecision(EXACT_DIGITS));
  return Object.is(exact, -0) ? '0' : String(exact);
}

const DAY_SECONDS = 86_400;
/** 1970-01-01 as a spreadsheet counts days. */
const EPOCH_DAYS = 25_569;

/** To the second, which is what is written; programs round what is finer. */
function ofDays(days: number): string {
  return `at ${Math.round((days - EPOCH_DAYS) * DAY_SECONDS)}`;
}

/** A date without a time of day is its midnight, as the number of its days is. */
function ofIso(text: string): string {
  const [, day, time = 'T00:00'] = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d.*?)?Z?$/.exec(text) ?? [];
  const ms = day === undefined ? NaN : Date.parse(`${day}${time}Z`);
  return Number.isNaN(ms) ? text : `at ${Math.round(ms / 1000)}`;
}

/** The format writes a character that it cannot hold as `_x000D_`. */
function unescaped(text: string): string {
  return text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}
