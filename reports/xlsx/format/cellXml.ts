// A cell as the XML that a sheet holds. It must never let a text through unescaped, nor a number
// that is none. Pure; neighbours: workbook.ts writes the cells of single rows, rowXml.ts has a
// shorter way for rows by the million.

import { finiteNumber } from '../cells.js';
import type { CellStyle } from './styleSheet.js';
import { escaped } from './xml.js';

/** One of our own formulas with the value that it has when the file is written. */
interface Formula {
  formula: string;
  result: number | string;
}

export interface Cell {
  /** null: nothing, in a cell that has a style */
  value: string | number | Date | Formula | null;
  style: CellStyle;
}

/** The number of a style in the file. */
export type StyleOf = (style: CellStyle) => number;

/** `27` is `AA`. */
export function columnLetters(number: number): string {
  if (number < 1) throw new Error(`a sheet has no column ${number}`);
  const rest = Math.floor((number - 1) / 26);
  return (rest > 0 ? columnLetters(rest) : '') + String.fromCharCode(65 + ((number - 1) % 26));
}

/** A cell in full, without its place; empty where there is none. */
export function cellXml(cell: Cell | null, styleOf: StyleOf): string {
  if (cell === null) return '';
  const { value } = cell;
  if (value === null) return blankXml(cell.style, styleOf);
  const style = styleOf(cell.style);
  if (typeof value === 'number') return `${opening(style)}${finiteNumber(value)}</v></c>`;
  if (typeof value === 'string') return `${opening(style, 'str')}${escaped(value)}</v></c>`;
  if (value instanceof Date) return `${opening(style)}${serialOf(value)}</v></c>`;
  const { formula, result } = value;
  const isText = typeof result === 'string';
  const shown = isText ? escaped(result) : finiteNumber(result);
  const type = isText ? ' t="str"' : '';
  return `" s="${style}"${type}><f>${escaped(formula)}</f><v>${shown}</v></c>`;
}

/** A cell that has a style and nothing in it. */
export function blankXml(style: CellStyle, styleOf: StyleOf): string {
  return `" s="${styleOf(style)}"/>`;
}

export function opening(style: number, type?: 'str'): string {
  return type === undefined ? `" s="${style}"><v>` : `" s="${style}" t="${type}"><v>`;
}

const DAY_SECONDS = 86_400;
/** 1970-01-01 as a spreadsheet counts days. */
const EPOCH_DAYS = 25_569;
/** A second is 0.0000116 of a day; a spreadsheet shows no finer time than a thousandth of it. */
const PARTS_A_DAY = 1_000_000_000;

/** An instant of the wall clock, in whole seconds, as a spreadsheet counts time. */
export function serialOf(wall: Date): string {
  const seconds = finiteNumber(wall.getTime()) / 1000;
  const days = Math.floor(seconds / DAY_SECONDS);
  const second = Math.floor(seconds - days * DAY_SECONDS);
  if (days + EPOCH_DAYS < 0) return String(EPOCH_DAYS + seconds / DAY_SECONDS);
  return `${EPOCH_DAYS + days}.${decimalsOf(second)}`;
}

function decimalsOf(second: number): string {
  const parts = Math.round((second * PARTS_A_DAY) / DAY_SECONDS);
  const thousands = Math.floor(parts / 1000);
  return three(Math.floor(thousands / 1000)) + three(thousands % 1000) + three(parts % 1000);
}

/**
 * A whole number as text. The engine keeps the texts of thousands of numbers that it was asked for
 * lately; a million rows that are numbered once are better put together of few texts.
 */
export function countText(count: number): string {
  if (count < 1000) return String(count);
  return String(Math.floor(count / 1000)) + three(count % 1000);
}

const THREE_DIGITS = Array.from({ length: 1000 }, (_, n) => String(n).padStart(3, '0'));

function three(below1000: number): string {
  return THREE_DIGITS[below1000] ?? '';
}
